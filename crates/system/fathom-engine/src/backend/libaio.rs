//! Linux native AIO by raw system calls (linux/aio_abi.h).

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering, fence};

use fathom_message::msg;
use fathom_plan::{EngineName, Op, SyncKind};
use fathom_record::{FeatureName, FeatureState, FeatureUse, StepFailure};

use super::{Backend, Io, Mark, SubmitStamp, refused};
use crate::system::raw_call;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
/// The iocb has a priority of its own.
const IOCB_FLAG_IOPRIO: u32 = 1 << 1;
/// `aio_ring.magic` of a completion ring that user space may read (fs/aio.c).
const RING_MAGIC: u32 = 0xa10a_10a1;

/// `struct iocb`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    iocb: u64,
    result: i64,
    result2: i64,
}

/// `struct aio_ring`, mapped by io_setup; the context handle is its address.
#[repr(C)]
struct Ring {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compat_features: u32,
    incompat_features: u32,
    header_bytes: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64);
const _: () = assert!(size_of::<Event>() == 32);
const _: () = assert!(size_of::<Ring>() == 32);

/// An AIO context with one iocb per slot.
pub(crate) struct Libaio {
    context: u64,
    // Indexed by slot. Never moves: the kernel gets addresses of its elements.
    iocbs: Box<[Iocb]>,
    staged: Vec<*mut Iocb>,
    // Completions that did not come through the ring: refused submissions, and what io_getevents returned.
    aside: Vec<(u32, i32)>,
    events: Box<[Event]>,
    user_reap: bool,
    calls: u64,
    /// Taken by the kernel and not yet come back.
    in_kernel: u32,
    // `[part]`. Last, so that the context is destroyed (in `drop`) before the files close.
    fds: Vec<OwnedFd>,
}

impl Libaio {
    /// A context for `queue_depth` I/Os on `fds`.
    ///
    /// # Errors
    /// When the kernel refuses the context.
    pub(crate) fn new(fds: Vec<OwnedFd>, queue_depth: u32) -> Result<Self, StepFailure> {
        let mut context = 0_u64;
        // SAFETY: `context` is a zeroed aio_context_t that outlives the call.
        if unsafe { libc::syscall(libc::SYS_io_setup, queue_depth, &raw mut context) } < 0 {
            let error = io::Error::last_os_error();
            return Err(refused(
                msg!("engine-at-depth", engine = EngineName::Libaio.as_str(), depth = queue_depth),
                msg!("engine-call-failed", call = "io_setup", error = error),
                msg!("engine-aio-setup-help"),
            ));
        }
        // SAFETY: the handle is the address of the ring the kernel mapped into this process in io_setup.
        let magic = unsafe { (*(context as *const Ring)).magic };
        let depth = queue_depth as usize;
        Ok(Libaio {
            context,
            iocbs: vec![Iocb::default(); depth].into_boxed_slice(),
            staged: Vec::with_capacity(depth),
            aside: Vec::with_capacity(depth),
            events: vec![Event::default(); depth].into_boxed_slice(),
            user_reap: magic == RING_MAGIC,
            calls: 0,
            in_kernel: 0,
            fds,
        })
    }

    fn ring(&self) -> *mut Ring {
        self.context as *mut Ring
    }

    /// Whether completions wait in the ring.
    #[inline(always)]
    fn ring_has_events(&self) -> bool {
        // SAFETY: the ring stays mapped until io_destroy in `drop`; its indices are atomics.
        let ring = unsafe { &*self.ring() };
        ring.head.load(Ordering::Relaxed) != ring.tail.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn reap_ring(&mut self, done: &mut impl FnMut(u32, i32)) {
        // SAFETY: as in `ring_has_events`; events start right after the header and there are `entries` of them.
        let ring = unsafe { &*self.ring() };
        let events = self.ring().cast::<u8>().wrapping_add(size_of::<Ring>()).cast::<Event>();
        let (mut head, tail) = (ring.head.load(Ordering::Relaxed), ring.tail.load(Ordering::Acquire));
        let mut count = 0;
        while head != tail {
            // SAFETY: `head` < `entries`, and the kernel filled the event before it published the tail.
            let event = unsafe { events.add(head as usize).read() };
            done(event.data as u32, event.result as i32);
            count += 1;
            head += 1;
            if head == ring.entries {
                head = 0;
            }
        }
        // This thread is the only consumer; Release lets the kernel reuse the entries only after they were read.
        ring.head.store(head, Ordering::Release);
        self.in_kernel -= count;
    }

    #[cold]
    fn get_events(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as _,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        let timeout_at = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // With user-space reaping the call only waits: asked for no event it could not wait, so it takes some.
        // SAFETY: `events` has room for the count given, `timeout` lives until the call returns.
        let got = unsafe {
            let max = self.events.len();
            let at = self.events.as_mut_ptr();
            let arguments = [self.context as usize, min as usize, max, at as usize, timeout_at as usize, 0];
            raw_call::call(libc::SYS_io_getevents, arguments)
        };
        if got < 0 {
            let error = io::Error::from_raw_os_error(-got as i32);
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        self.in_kernel -= got as u32;
        for event in &self.events[..got as usize] {
            self.aside.push((event.data as u32, event.result as i32));
        }
        Ok(())
    }
}

impl Backend for Libaio {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Always;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        let iocb = &mut self.iocbs[io.slot as usize];
        iocb.data = u64::from(io.slot);
        iocb.opcode = if io.op == Op::Read { IOCB_CMD_PREAD } else { IOCB_CMD_PWRITE };
        iocb.fd = self.fds[usize::from(io.part)].as_raw_fd() as u32;
        iocb.buffer = io.buffer as u64;
        iocb.bytes = u64::from(io.len);
        iocb.offset = io.offset as i64;
        self.staged.push(iocb);
    }

    #[inline(always)]
    fn mark(&mut self, slot: u32, mark: Mark) {
        let iocb = &mut self.iocbs[slot as usize];
        iocb.priority = mark.priority as i16;
        iocb.flags = if mark.priority == 0 { 0 } else { IOCB_FLAG_IOPRIO };
        iocb.rw_flags = mark.flags as i32;
    }

    #[cold]
    fn push_sync(&mut self, slot: u32, part: u16, kind: SyncKind) {
        let iocb = &mut self.iocbs[slot as usize];
        iocb.data = u64::from(slot);
        iocb.opcode = match kind {
            SyncKind::Fsync => IOCB_CMD_FSYNC,
            SyncKind::Fdatasync => IOCB_CMD_FDSYNC,
        };
        iocb.fd = self.fds[usize::from(part)].as_raw_fd() as u32;
        // The kernel refuses a sync that names a buffer.
        (iocb.buffer, iocb.bytes, iocb.offset, iocb.rw_flags) = (0, 0, 0, 0);
        self.staged.push(iocb);
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        let mut from = 0;
        while from < self.staged.len() {
            self.calls += 1;
            let (count, at) = (self.staged.len() - from, self.staged[from..].as_ptr());
            let arguments = [self.context as usize, count, at as usize, 0, 0, 0];
            // SAFETY: `at` points to `count` addresses of iocbs that live in `self.iocbs`; their buffers stay untouched
            // until the slots are reaped.
            let taken = unsafe { raw_call::call(libc::SYS_io_submit, arguments) };
            if taken > 0 {
                self.in_kernel += taken as u32;
                from += taken as usize;
                continue;
            }
            match -taken as i32 {
                libc::EINTR => {}
                // The context is full of unreaped events; the rest goes out after the next reap.
                libc::EAGAIN => break,
                error => {
                    // The error is that of the first iocb, which is thereby done.
                    // SAFETY: the address is that of an element of `self.iocbs`.
                    let slot = unsafe { (*self.staged[from]).data as u32 };
                    self.aside.push((slot, -error));
                    from += 1;
                }
            }
        }
        if from == self.staged.len() {
            self.staged.clear();
        } else {
            self.staged.drain(..from);
        }
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.submit()?;
        if min == 0 || !self.aside.is_empty() || (self.user_reap && min == 1 && self.ring_has_events()) {
            if !self.user_reap {
                return self.get_events(0, None);
            }
            return Ok(());
        }
        self.get_events(min, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        if !self.aside.is_empty() {
            for &(slot, result) in &self.aside {
                done(slot, result);
            }
            self.aside.clear();
        }
        if self.user_reap {
            self.reap_ring(&mut done);
        }
    }

    fn in_flight(&self) -> u32 {
        self.in_kernel
    }

    fn discard(&mut self) {
        self.staged.clear();
        self.aside.clear();
    }

    fn poll(&mut self) -> io::Result<()> {
        if self.user_reap { Ok(()) } else { self.get_events(0, None) }
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        let (state, detail) = match self.user_reap {
            true => (FeatureState::Used, msg!("engine-user-reap")),
            false => (FeatureState::Unavailable, msg!("engine-no-user-reap")),
        };
        vec![FeatureUse::new(FeatureName::UserReap, state, detail)]
    }
}

impl Drop for Libaio {
    fn drop(&mut self) {
        fence(Ordering::SeqCst);
        // SAFETY: the context came from io_setup and is destroyed once. The call would wait for I/O in flight however long
        // that takes; the owner (`Rig`) lets it come back first.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
