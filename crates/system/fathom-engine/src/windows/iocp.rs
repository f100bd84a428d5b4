//! Overlapped I/O with a completion port: a port and a handle of each target for each thread, completions taken in batches.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _};
use std::time::{Duration, Instant};

use fathom_message::msg;
use fathom_plan::{EngineName, Op, SyncKind};
use fathom_record::{FeatureUse, StepFailure};
use windows_sys::Win32::Foundation as of;
use windows_sys::Win32::Storage::FileSystem::{ReadFile, SetFileCompletionNotificationModes, WriteFile};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::WindowsProgramming::{
    FILE_SKIP_COMPLETION_PORT_ON_SUCCESS, FILE_SKIP_SET_EVENT_ON_HANDLE,
};

use super::OwnedFd;
use super::targets::at;
use crate::backend::psync::sync;
use crate::backend::{Backend, Io, SubmitStamp, refused};

/// A port waits in whole milliseconds: shorter waits are spent looking.
const WAIT_UNIT_NS: u64 = 1_000_000;

/// The queue of a thread.
pub(crate) struct Iocp {
    // Indexed by slot. Never moves: the system gets addresses of its elements, and gives them back with a completion.
    places: Box<[OVERLAPPED]>,
    staged: Vec<Io>,
    /// Done, and not handed out yet.
    done: Vec<(u32, i32)>,
    entries: Box<[OVERLAPPED_ENTRY]>,
    in_flight: u32,
    calls: u64,
    port: OwnedFd,
    /// `[part]`. Last, so that the port closes before them.
    files: Vec<OwnedFd>,
}

impl Iocp {
    /// A port for `queue_depth` I/Os on `files`, which are open for overlapped I/O.
    ///
    /// # Errors
    /// When the system refuses the port, or a file for it.
    pub(crate) fn new(files: Vec<OwnedFd>, queue_depth: u32) -> Result<Self, StepFailure> {
        let failed = |call: &'static str| {
            let error = io::Error::last_os_error();
            refused(
                msg!("engine-at-depth", engine = EngineName::Iocp.as_str(), depth = queue_depth),
                msg!("engine-call-failed", call = call, error = error),
                msg!("engine-iocp-help"),
            )
        };
        // One thread takes completions: the port never holds it back.
        // SAFETY: makes a port that nobody else has.
        let port = unsafe {
            let port = CreateIoCompletionPort(of::INVALID_HANDLE_VALUE, std::ptr::null_mut(), 0, 1);
            if port.is_null() {
                return Err(failed("CreateIoCompletionPort"));
            }
            OwnedFd::from_raw_handle(port)
        };
        for (part, file) in files.iter().enumerate() {
            // An I/O that is done when its call returns needs no completion.
            let modes = (FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE) as u8;
            // SAFETY: takes handles that are open.
            let is_joined = unsafe {
                !CreateIoCompletionPort(file.as_raw_handle(), port.as_raw_handle(), part, 0).is_null()
                    && SetFileCompletionNotificationModes(file.as_raw_handle(), modes) != 0
            };
            if !is_joined {
                return Err(failed("CreateIoCompletionPort"));
            }
        }
        let depth = queue_depth as usize;
        Ok(Iocp {
            places: vec![OVERLAPPED::default(); depth].into_boxed_slice(),
            staged: Vec::with_capacity(depth),
            done: Vec::with_capacity(depth),
            entries: vec![OVERLAPPED_ENTRY::default(); depth].into_boxed_slice(),
            in_flight: 0,
            calls: 0,
            port,
            files,
        })
    }

    /// Starts an I/O; what is done or refused at once goes to `done`.
    #[inline(always)]
    fn start(&mut self, io: &Io) {
        self.calls += 1;
        let file = self.files[usize::from(io.part)].as_raw_handle();
        let place = &mut self.places[io.slot as usize];
        *place = at(io.offset);
        let place = &raw mut *place;
        // SAFETY: the worker hands over a buffer of at least `len` bytes that nobody else uses until the slot is reaped, and
        // `place` is of this slot alone and never moves.
        let is_done = unsafe {
            match io.op {
                Op::Read => ReadFile(file, io.buffer, io.len, std::ptr::null_mut(), place),
                _ => WriteFile(file, io.buffer.cast_const(), io.len, std::ptr::null_mut(), place),
            }
        };
        if is_done != 0 {
            // SAFETY: the I/O is done, so that the system no longer writes there.
            let moved = unsafe { (*place).InternalHigh };
            self.done.push((io.slot, moved as i32));
            return;
        }
        // SAFETY: reads a number of this thread.
        match unsafe { of::GetLastError() } {
            of::ERROR_IO_PENDING => self.in_flight += 1,
            code => self.done.push((io.slot, answer(code, 0))),
        }
    }

    /// Takes completions; waits `timeout_ms` for the first.
    #[inline(always)]
    fn take(&mut self, timeout_ms: u32) -> io::Result<()> {
        if self.in_flight == 0 {
            return Ok(());
        }
        let mut count = 0;
        let (room, at) = (self.entries.len() as u32, self.entries.as_mut_ptr());
        // SAFETY: the entries outlive the call, which fills at most as many as it is told of.
        let done =
            unsafe { GetQueuedCompletionStatusEx(self.port.as_raw_handle(), at, room, &raw mut count, timeout_ms, 0) };
        if done == 0 {
            // SAFETY: reads a number of this thread.
            return match unsafe { of::GetLastError() } {
                of::WAIT_TIMEOUT => Ok(()),
                code => Err(io::Error::from_raw_os_error(code.cast_signed())),
            };
        }
        let first = self.places.as_ptr();
        for entry in &self.entries[..count as usize] {
            // SAFETY: the port belongs to this engine alone, and its files have no other I/O: the address is that of a place,
            // whose status the system wrote before it queued the completion.
            let (slot, status) = unsafe {
                let place = entry.lpOverlapped.cast_const();
                (place.offset_from(first) as u32, (*place).Internal as i32)
            };
            let result = if status >= 0 {
                entry.dwNumberOfBytesTransferred.cast_signed()
            } else {
                // SAFETY: takes a number.
                answer(unsafe { of::RtlNtStatusToDosError(status) }, 0)
            };
            self.done.push((slot, result));
        }
        self.in_flight -= count;
        Ok(())
    }
}

/// As results of engines say it: the end of a file moves no bytes.
#[cold]
fn answer(code: u32, at_end: i32) -> i32 {
    if code == of::ERROR_HANDLE_EOF { at_end } else { -code.cast_signed() }
}

impl Backend for Iocp {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Always;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        self.staged.push(*io);
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind) {
        // FlushFileBuffers knows no overlapped form; what it waits for is done when it returns.
        self.calls += 1;
        let result = sync(&self.files[usize::from(part)], kind);
        self.done.push((slot, result));
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        for index in 0..self.staged.len() {
            let io = self.staged[index];
            self.start(&io);
        }
        self.staged.clear();
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()?;
        let is_enough = |engine: &Iocp| engine.done.len() >= min as usize || engine.in_flight == 0;
        if is_enough(self) {
            return self.take(0);
        }
        let Some(timeout_ns) = timeout_ns else {
            while !is_enough(self) {
                self.take(u32::MAX)?;
            }
            return Ok(());
        };
        let (begun, most) = (Instant::now(), Duration::from_nanos(timeout_ns));
        while !is_enough(self) {
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            self.take((left.as_nanos() as u64 / WAIT_UNIT_NS).min(u64::from(u32::MAX - 1)) as u32)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for &(slot, result) in &self.done {
            done(slot, result);
        }
        self.done.clear();
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn discard(&mut self) {
        self.staged.clear();
        self.done.clear();
    }

    fn poll(&mut self) -> io::Result<()> {
        self.take(0)
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::windows::fs::OpenOptionsExt as _;

    use proptest::prelude::*;
    use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OVERLAPPED;

    use super::*;
    use crate::buffer::Area;
    use crate::rig::Rig;

    const BLOCK: u32 = 4096;

    fn rig(depth: u32, blocks: u64) -> (tempfile::TempDir, Rig<Iocp>) {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("f");
        let data: Vec<u8> = (0..blocks).flat_map(|block| vec![block as u8; BLOCK as usize]).collect();
        std::fs::write(&path, data).expect("file");
        let open = File::options().read(true).write(true).custom_flags(FILE_FLAG_OVERLAPPED).open(&path);
        let files = vec![open.expect("opens").into()];
        let area = Area::new(depth as usize, BLOCK as usize).expect("memory");
        (dir, Rig::new(area, |_| Iocp::new(files, depth)).expect("a port"))
    }

    fn all(rig: &mut Rig<Iocp>, count: u32) -> Vec<(u32, i32)> {
        let mut done = Vec::new();
        while done.len() < count as usize {
            rig.backend.submit_and_wait(1, None).expect("waits");
            rig.backend.reap(|slot, result| done.push((slot, result)));
        }
        done.sort_unstable();
        done
    }

    #[test]
    fn reads_bring_the_block_that_was_asked_for_and_the_end_of_the_file_no_bytes() {
        let (_dir, mut rig) = rig(8, 7);
        for slot in 0..8 {
            let (offset, buffer) = (u64::from(slot) * u64::from(BLOCK), rig.area.slot(slot));
            rig.backend.push(&Io { slot, part: 0, op: Op::Read, len: BLOCK, offset, buffer });
        }
        let done = all(&mut rig, 8);
        let moved = |slot: u32| if slot < 7 { BLOCK as i32 } else { 0 };
        assert_eq!(done, (0..8).map(|slot| (slot, moved(slot))).collect::<Vec<_>>());
        assert!((0..7_u32).all(|slot| rig.area.bytes_mut(slot, BLOCK as usize).iter().all(|byte| *byte == slot as u8)));
        assert_eq!((rig.backend.in_flight(), rig.backend.submit_calls()), (0, 8));
    }

    #[test]
    fn a_wait_ends_with_its_time_and_a_flush_with_its_answer() {
        let (_dir, mut rig) = rig(2, 1);
        rig.backend.submit_and_wait(1, Some(3_000_000)).expect("nothing to wait for");
        rig.backend.push_sync(1, 0, SyncKind::Fsync);
        assert_eq!(all(&mut rig, 1), [(1, 0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn what_is_written_is_read_back(ios in proptest::collection::vec((0_u64..16, any::<u8>()), 1..16)) {
            let (dir, mut rig) = rig(16, 16);
            let mut wanted: Vec<u8> = (0..16).collect();
            for (block, byte) in ios {
                let slot = block as u32;
                rig.area.bytes_mut(slot, BLOCK as usize).fill(byte);
                let (offset, buffer) = (block * u64::from(BLOCK), rig.area.slot(slot));
                rig.backend.push(&Io { slot, part: 0, op: Op::Write, len: BLOCK, offset, buffer });
                prop_assert_eq!(all(&mut rig, 1), [(slot, BLOCK as i32)]);
                wanted[block as usize] = byte;
            }
            let found = std::fs::read(dir.path().join("f")).expect("reads");
            let firsts: Vec<u8> = found.chunks(BLOCK as usize).map(|chunk| chunk[0]).collect();
            prop_assert_eq!(firsts, wanted);
        }
    }
}
