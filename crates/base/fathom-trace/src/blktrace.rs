//! The binary of blktrace: fixed records, some followed by data of their own.

use std::io::{BufRead, Read};

use crate::{Times, TraceEntry, TraceError, TraceFault, TraceOp};

/// `BLK_IO_TRACE_MAGIC`, above the version in the lowest byte.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u8 = 7;
/// `struct blk_io_trace`.
const RECORD_BYTES: usize = 48;
/// Sectors of blktrace.
const SECTOR_BYTES: u64 = 512;
/// `__BLK_TA_QUEUE`: an I/O as it was asked for. What becomes of it (merges, splits, issues) the replay does again.
const QUEUED: u32 = 1;
/// Categories, in the upper half of the action: `BLK_TC_WRITE`, `BLK_TC_FLUSH`, `BLK_TC_NOTIFY`, `BLK_TC_DISCARD`.
const WRITES: u32 = 1 << (16 + 1);
const FLUSHES: u32 = 1 << (16 + 2);
const NOTIFIES: u32 = 1 << (16 + 10);
const DISCARDS: u32 = 1 << (16 + 13);

/// Which end of a number comes first: that of the machine that recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        if self == ByteOrder::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        if self == ByteOrder::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    fn u64(self, bytes: [u8; 8]) -> u64 {
        if self == ByteOrder::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

pub(crate) struct Blktrace<R> {
    input: R,
    order: ByteOrder,
    records: u64,
    /// Numbers of the devices, in the order in which they came.
    devices: Vec<u32>,
    names: Vec<String>,
    times: Times,
}

impl<R: BufRead> Blktrace<R> {
    /// The order of its bytes, when these begin such a binary.
    pub(crate) fn order_of(bytes: &[u8]) -> Option<ByteOrder> {
        let first: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(first) & !0xff == MAGIC)
    }

    pub(crate) fn begin(input: R, order: ByteOrder) -> Blktrace<R> {
        Blktrace { input, order, records: 0, devices: Vec::new(), names: Vec::new(), times: Times::default() }
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn next_entry(&mut self) -> Result<Option<TraceEntry>, TraceError> {
        loop {
            self.records += 1;
            let fail = |fault| TraceError::Entry { number: self.records, fault };
            let mut record = [0; RECORD_BYTES];
            let have = fill(&mut self.input, &mut record).map_err(TraceError::from_io)?;
            if have == 0 {
                return Ok(None);
            }
            if have < RECORD_BYTES {
                return Err(fail(TraceFault::Cut));
            }
            let order = self.order;
            let u32_at = |at: usize| order.u32([record[at], record[at + 1], record[at + 2], record[at + 3]]);
            let u64_at = |at: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&record[at..at + 8]);
                order.u64(bytes)
            };
            let magic = u32_at(0);
            if magic & !0xff != MAGIC {
                return Err(fail(TraceFault::Magic));
            }
            if magic as u8 != VERSION {
                return Err(fail(TraceFault::BinaryVersion { found: magic as u8 }));
            }
            let (time_ns, sector, bytes, action, device) = (u64_at(8), u64_at(16), u32_at(24), u32_at(28), u32_at(36));
            let data = u64::from(order.u16([record[46], record[47]]));
            let skipped = std::io::copy(&mut (&mut self.input).take(data), &mut std::io::sink());
            if skipped.map_err(TraceError::from_io)? < data {
                return Err(fail(TraceFault::Cut));
            }
            if action & 0xffff != QUEUED || action & NOTIFIES != 0 {
                continue;
            }
            let op = match action {
                action if action & DISCARDS != 0 => TraceOp::Trim,
                // A flush may come with data of a write, which is then the write that counts.
                action if action & FLUSHES != 0 && bytes == 0 => TraceOp::Sync,
                action if action & WRITES != 0 => TraceOp::Write,
                _ => TraceOp::Read,
            };
            if bytes == 0 && op != TraceOp::Sync {
                // Commands without data of their own.
                continue;
            }
            let offset_bytes = if op == TraceOp::Sync { 0 } else { sector.saturating_mul(SECTOR_BYTES) };
            let file = self.file(device);
            let at_ns = self.times.since_first(time_ns);
            return Ok(Some(TraceEntry { at_ns, file, op, offset_bytes, len_bytes: bytes }));
        }
    }

    fn file(&mut self, device: u32) -> u32 {
        let at = self.devices.iter().position(|known| *known == device).unwrap_or_else(|| {
            self.devices.push(device);
            // The kernel's own dev_t: 12 bits and 20 bits.
            self.names.push(format!("{},{}", device >> 20, device & 0xf_ffff));
            self.devices.len() - 1
        });
        at as u32
    }
}

/// Bytes read: fewer than asked for at the end alone.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut have = 0;
    while have < buffer.len() {
        match input.read(&mut buffer[have..]) {
            Ok(0) => break,
            Ok(more) => have += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(have)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Trace, TraceFormat};

    /// A record as the kernel lays it out.
    fn record(is_big: bool, time_ns: u64, sector: u64, bytes: u32, action: u32, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |little: &[u8]| {
            let mut bytes = little.to_vec();
            if is_big {
                bytes.reverse();
            }
            out.extend(bytes);
        };
        put(&(MAGIC | u32::from(VERSION)).to_le_bytes());
        put(&1_u32.to_le_bytes());
        put(&time_ns.to_le_bytes());
        put(&sector.to_le_bytes());
        put(&bytes.to_le_bytes());
        put(&action.to_le_bytes());
        put(&77_u32.to_le_bytes());
        put(&((259_u32 << 20) | 3).to_le_bytes());
        put(&0_u32.to_le_bytes());
        put(&0_u16.to_le_bytes());
        put(&(data.len() as u16).to_le_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn queued_ios_are_taken_in_either_order_of_bytes_and_the_rest_is_passed_over() {
        const READS: u32 = 1 << 16;
        for is_big in [false, true] {
            let record = |time, sector, bytes, action, data: &[u8]| record(is_big, time, sector, bytes, action, data);
            let bytes = [
                record(500, 0, 0, NOTIFIES, b"fio"),
                record(1_000, 8, 4096, QUEUED | READS, &[]),
                record(1_500, 8, 4096, 7 | READS, &[]),
                record(2_000, 16, 8192, QUEUED | WRITES, b"pdu"),
                record(2_500, 0, 0, QUEUED | WRITES | FLUSHES, &[]),
                record(2_400, 1 << 33, 65536, QUEUED | WRITES | DISCARDS, &[]),
            ]
            .concat();
            let mut trace = Trace::begin(&bytes[..]).expect("a trace");
            let entries = trace.by_ref().collect::<Result<Vec<_>, _>>().expect("entries");
            let seen: Vec<_> = entries.iter().map(|e| (e.at_ns, e.op, e.offset_bytes, e.len_bytes)).collect();
            let expected = [
                (0, TraceOp::Read, 4096, 4096),
                (1_000, TraceOp::Write, 8192, 8192),
                (1_500, TraceOp::Sync, 0, 0),
                (1_500, TraceOp::Trim, 1 << 42, 65536),
            ];
            assert_eq!(seen, expected);
            assert_eq!((trace.files(), trace.format()), (&["259,3".to_owned()][..], TraceFormat::Blktrace));
        }
    }

    #[test]
    fn a_binary_that_is_cut_off_or_of_another_version_is_named_by_the_record() {
        let whole = [record(false, 0, 0, 512, QUEUED, &[]), record(false, 1, 0, 512, QUEUED, b"data")].concat();
        let fault_of = |bytes: &[u8]| {
            let last = Trace::begin(bytes).expect("a trace").last();
            match last {
                Some(Err(TraceError::Entry { number, fault })) => (number, fault),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(fault_of(&whole[..RECORD_BYTES + 10]), (2, TraceFault::Cut));
        assert_eq!(fault_of(&whole[..whole.len() - 1]), (2, TraceFault::Cut));
        let mut other = whole.clone();
        other[0] = 6;
        assert_eq!(fault_of(&other), (1, TraceFault::BinaryVersion { found: 6 }));
        let mut torn = whole;
        torn[RECORD_BYTES + 1] = 0;
        assert_eq!(fault_of(&torn), (2, TraceFault::Magic));
    }
}
