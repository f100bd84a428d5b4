//! Entries of queues: commands of 64 bytes, completions of 16 (Base 2.0, sections 3.3.3 and 4.2).

use crate::status::Status;

/// A submission queue entry (Base, figure "Common Command Format"), as sixteen dwords.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Submission(pub(crate) [u32; 16]);

const _: () = assert!(size_of::<Submission>() == 64);

/// Opcodes of the NVM command set (NVM 1.0, figure "Opcodes").
pub(crate) const FLUSH: u8 = 0x00;
pub(crate) const WRITE: u8 = 0x01;
pub(crate) const READ: u8 = 0x02;
pub(crate) const DATASET_MANAGEMENT: u8 = 0x09;
/// Admin opcodes (Base, figure "Opcodes for Admin Commands").
pub(crate) const DELETE_SUBMISSION_QUEUE: u8 = 0x00;
pub(crate) const CREATE_SUBMISSION_QUEUE: u8 = 0x01;
pub(crate) const DELETE_COMPLETION_QUEUE: u8 = 0x04;
pub(crate) const CREATE_COMPLETION_QUEUE: u8 = 0x05;
pub(crate) const ABORT: u8 = 0x08;
pub(crate) const SET_FEATURES: u8 = 0x09;
pub(crate) const DOORBELL_BUFFER_CONFIG: u8 = 0x7c;

/// Force Unit Access (NVM, Write, dword 12 bit 30).
pub(crate) const FORCE_UNIT_ACCESS: u32 = 1 << 30;
/// PSDT: SGLs for the data (Base, figure "Common Command Format", dword 0 bits 15:14).
pub(crate) const SGL: u32 = 1 << 14;
/// Deallocate (NVM, Dataset Management, dword 11 bit 2).
pub(crate) const DEALLOCATE: u32 = 1 << 2;

impl Submission {
    /// A command with the given opcode and id on a namespace; everything else zero.
    #[inline(always)]
    pub(crate) fn new(opcode: u8, id: u16, namespace: u32) -> Self {
        let mut entry = Submission::default();
        entry.0[0] = u32::from(opcode) | u32::from(id) << 16;
        entry.0[1] = namespace;
        entry
    }

    /// The same with its data (PRP 1 and 2, dwords 6 to 9).
    #[inline(always)]
    pub(crate) fn with_data(mut self, (first, second): (u64, u64)) -> Self {
        self.0[6] = first as u32;
        self.0[7] = (first >> 32) as u32;
        self.0[8] = second as u32;
        self.0[9] = (second >> 32) as u32;
        self
    }

    /// The same with its data as one SGL Data Block descriptor (Base 2.0, section 4.1.2), which is all zero but for the place
    /// and the length; PSDT (dword 0, bits 15:14) says so.
    #[inline(always)]
    pub(crate) fn with_sgl(mut self, address: u64, len: u32) -> Self {
        self.0[0] |= SGL;
        self.with_data((address, u64::from(len)))
    }

    /// The same with dwords 10 to 15.
    #[inline(always)]
    pub(crate) fn with_dwords(mut self, dwords: [u32; 6]) -> Self {
        self.0[10..16].copy_from_slice(&dwords);
        self
    }

    /// Create I/O Completion Queue (Base, section 5.4): polled, in one piece of memory.
    pub(crate) fn create_completion_queue(id: u16, queue: u16, entries: u32, at: u64) -> Self {
        const CONTIGUOUS: u32 = 1;
        let size = u32::from(queue) | (entries - 1) << 16;
        Submission::new(CREATE_COMPLETION_QUEUE, id, 0).with_data((at, 0)).with_dwords([size, CONTIGUOUS, 0, 0, 0, 0])
    }

    /// Create I/O Submission Queue (Base, section 5.5): in one piece of memory, of the completion queue of the same number.
    pub(crate) fn create_submission_queue(id: u16, queue: u16, entries: u32, at: u64) -> Self {
        const CONTIGUOUS: u32 = 1;
        let size = u32::from(queue) | (entries - 1) << 16;
        Submission::new(CREATE_SUBMISSION_QUEUE, id, 0).with_data((at, 0)).with_dwords([
            size,
            CONTIGUOUS | u32::from(queue) << 16,
            0,
            0,
            0,
            0,
        ])
    }

    /// Delete of an I/O queue (Base, sections 5.6 and 5.7).
    pub(crate) fn delete_queue(opcode: u8, id: u16, queue: u16) -> Self {
        Submission::new(opcode, id, 0).with_dwords([u32::from(queue), 0, 0, 0, 0, 0])
    }

    /// Set Features, Number of Queues (Base, feature 07h): so many of each kind, counted from 0 on the wire.
    pub(crate) fn set_queue_count(id: u16, pairs: u16) -> Self {
        const NUMBER_OF_QUEUES: u32 = 0x07;
        let below = u32::from(pairs.max(1) - 1);
        Submission::new(SET_FEATURES, id, 0).with_dwords([NUMBER_OF_QUEUES, below | below << 16, 0, 0, 0, 0])
    }

    /// Abort of the command `of` on a submission queue (Base, section 5.1).
    pub(crate) fn abort(id: u16, queue: u16, of: u16) -> Self {
        Submission::new(ABORT, id, 0).with_dwords([u32::from(queue) | u32::from(of) << 16, 0, 0, 0, 0, 0])
    }

    /// Doorbell Buffer Config (Base, section 5.8): the page of doorbells and the page of event indexes.
    pub(crate) fn doorbell_buffers(id: u16, doorbells: u64, events: u64) -> Self {
        Submission::new(DOORBELL_BUFFER_CONFIG, id, 0).with_data((doorbells, events))
    }
}

/// A completion queue entry (Base, figure "Common Completion Queue Entry Layout").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Dword 0: what the command returns.
    pub(crate) result: u32,
    /// Command id (dword 3, bits 15:0).
    pub(crate) id: u16,
    /// Status (dword 3, bits 31:17).
    pub(crate) status: Status,
}

/// Length of a completion, bytes.
pub(crate) const COMPLETION_BYTES: usize = 16;

/// Phase tag of a completion's dword 3 (bit 16).
#[inline(always)]
pub(crate) fn phase_of(dword_3: u32) -> bool {
    dword_3 >> 16 & 1 == 1
}

impl Completion {
    /// Of dwords 0 and 3.
    #[inline(always)]
    pub(crate) fn of(result: u32, dword_3: u32) -> Self {
        Completion { result, id: dword_3 as u16, status: Status::of((dword_3 >> 17) as u16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_their_fields_in_their_places() {
        let read = Submission::new(READ, 0x1234, 1).with_data((0x1_2000_0000, 0x3_4000_0000)).with_dwords([
            8,
            1,
            7 | FORCE_UNIT_ACCESS,
            0,
            0,
            0,
        ]);
        let mut want = [0; 16];
        (want[0], want[1]) = (0x1234_0002, 1);
        (want[6], want[7], want[8], want[9]) = (0x2000_0000, 1, 0x4000_0000, 3);
        (want[10], want[11], want[12]) = (8, 1, 0x4000_0007);
        assert_eq!(read.0, want);
        let by_sgl = Submission::new(READ, 1, 1).with_sgl(0x3_0000_1000, 0x2_0000);
        assert_eq!(
            (by_sgl.0[0], by_sgl.0[6], by_sgl.0[7], by_sgl.0[8], by_sgl.0[9]),
            (0x0001_4002, 0x1000, 3, 0x2_0000, 0)
        );
    }

    #[test]
    fn queues_are_made_by_number_and_size_less_one() {
        let completions = Submission::create_completion_queue(3, 2, 256, 0xabc000);
        assert_eq!((completions.0[0], completions.0[6], completions.0[10]), (0x0003_0005, 0xab_c000, 0x00ff_0002));
        // Contiguous; no interrupt.
        assert_eq!(completions.0[11], 1);
        let submissions = Submission::create_submission_queue(4, 2, 256, 0);
        assert_eq!((submissions.0[0], submissions.0[10], submissions.0[11]), (0x0004_0001, 0x00ff_0002, 0x0002_0001));
        assert_eq!(Submission::set_queue_count(0, 4).0[10..12], [7, 0x0003_0003]);
        assert_eq!(Submission::abort(0, 2, 9).0[10], 0x0009_0002);
    }

    #[test]
    fn a_completion_is_read_from_its_dwords() {
        // Id 5, phase 1, status 2h/81h with Do Not Retry.
        let dword_3 = 5 | 1 << 16 | 0x4281 << 17;
        let completion = Completion::of(77, dword_3);
        assert_eq!((completion.id, completion.result, completion.status), (5, 77, Status::of(0x4281)));
        assert!(phase_of(dword_3) && !phase_of(0xffff));
    }
}
