//! A ring of io_uring: set up with every feature the kernel takes, everything registered that can be, entered by one
//! system call. Generic over the size of its entries.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};

use fathom_message::{Message, msg};
use fathom_plan::{EngineSpec, Mode};
use fathom_record::{FeatureName, FeatureState, FeatureUse, StepFailure};
use io_uring::{EnterFlags, IoUring, cqueue, squeue};

use super::first_read::Submission;
use super::{no_detail, os_words};
use crate::buffer::Area;
use crate::system::raw_call;

mod setup;

use setup::{SetupFlags, build_with_fallback};
pub(super) use setup::{mode_on_target, no_poll_queues, setup_refused};

/// Largest registered buffer the kernel takes (io_uring/rsrc.c).
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// `IORING_REGISTER_RING_FDS`, linux/io_uring.h.
const REGISTER_RING_FDS: u32 = 20;

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingFdUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct WaitArgument {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timespec: u64,
}

/// How entries name a file: by its descriptor, or by its index among the registered ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryFile {
    pub(super) fd: i32,
    /// Flags that every entry on it carries.
    pub(super) flags: u8,
}

/// A ring and what is registered with it.
pub(super) struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    inner: IoUring<S, C>,
    // Handle for io_uring_enter: index of the registered ring, or the file descriptor.
    enter_fd: i32,
    enter_flags: u32,
    /// In the ring, not yet taken by the kernel.
    staged: u32,
    /// Entries that the kernel took and completions that were reaped; both wrap around.
    taken: u32,
    reaped: u32,
    calls: u64,
    mode: Mode,
    ext_arg: bool,
    /// Slots per registered buffer; 0: buffers are not registered.
    pub(super) slots_per_buffer: u32,
    /// `[part]`
    pub(super) files: Box<[EntryFile]>,
    pub(super) features: Vec<FeatureUse>,
    // `[part]`. After the ring: it must be gone before the files close.
    fds: Vec<OwnedFd>,
}

/// Completions that a call waits for. The kernel's loop that polls for them (io_iopoll_check) knows no timeout, and would
/// let the next arrival pass: with a timeout it is left at once and entered again.
#[inline(always)]
fn completions_awaited(mode: Mode, min: u32, timeout_ns: Option<u64>) -> u32 {
    if mode == Mode::Iopoll && timeout_ns.is_some() { 0 } else { min }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// A ring for `depth` I/Os on `fds`, itself registered where the kernel does that. Must be called by the thread that
    /// will use it.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the mode.
    pub(super) fn new(fds: Vec<OwnedFd>, depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        let (inner, flags) = build_with_fallback::<S, C>(depth, spec).map_err(|e| setup_refused(&e, spec, depth))?;
        let mut ring = Ring {
            enter_fd: inner.as_raw_fd(),
            enter_flags: 0,
            staged: 0,
            taken: 0,
            reaped: 0,
            calls: 0,
            mode: spec.mode,
            ext_arg: inner.params().is_feature_ext_arg(),
            slots_per_buffer: 0,
            files: fds.iter().map(|fd| EntryFile { fd: fd.as_raw_fd(), flags: 0 }).collect(),
            features: Vec::new(),
            inner,
            fds,
        };
        ring.note_setup(flags, spec);
        ring.register_ring();
        Ok(ring)
    }

    /// Registers files and buffers as `spec` asks; a refusal only becomes a row of `features`.
    pub(super) fn register(&mut self, depth: u32, spec: EngineSpec, area: &Area) {
        self.register_files(spec.fixed_files);
        self.register_buffers(spec.fixed_buffers, depth, area);
    }

    fn note_setup(&mut self, flags: SetupFlags, spec: EngineSpec) {
        let wanted = SetupFlags::wanted(spec.mode);
        let mut row = |name: FeatureName, wanted: bool, used: bool| {
            let (state, detail) = match (wanted, used) {
                (_, true) => (FeatureState::Used, no_detail()),
                (true, false) => (FeatureState::Unavailable, msg!("engine-kernel-refuses")),
                (false, false) => (FeatureState::NotAsked, msg!("engine-not-with-sqpoll")),
            };
            self.features.push(FeatureUse::new(name, state, detail));
        };
        row(FeatureName::SingleIssuer, wanted.single_issuer, flags.single_issuer);
        row(FeatureName::DeferTaskrun, wanted.defer_taskrun, flags.defer_taskrun);
        row(FeatureName::CoopTaskrun, wanted.coop_taskrun, flags.coop_taskrun);
        row(FeatureName::NoSqarray, wanted.no_sqarray, flags.no_sqarray);
        match spec.mode {
            Mode::Interrupt => {}
            Mode::Iopoll => self.features.push(FeatureUse::used(FeatureName::Iopoll, no_detail())),
            Mode::Sqpoll => {
                let detail = spec.sqpoll_cpu.map_or_else(no_detail, |cpu| msg!("engine-sqpoll-cpu", cpu = cpu));
                self.features.push(FeatureUse::used(FeatureName::Sqpoll, detail));
            }
        }
    }

    fn register_ring(&mut self) {
        let mut update = RingFdUpdate { offset: u32::MAX, reserved: 0, data: self.inner.as_raw_fd() as u64 };
        // SAFETY: one update of the layout the kernel expects, alive until the call returns.
        let done = unsafe {
            let fd = self.inner.as_raw_fd();
            libc::syscall(libc::SYS_io_uring_register, fd, REGISTER_RING_FDS, &raw mut update, 1)
        };
        if done == 1 {
            self.enter_fd = update.offset as i32;
            self.enter_flags = EnterFlags::REGISTERED_RING.bits();
        }
        let outcome = if done == 1 { Ok(no_detail()) } else { Err(os_words(&io::Error::last_os_error())) };
        self.note(FeatureName::RegisteredRing, outcome);
    }

    /// Whether the kernel has the operation at all.
    pub(super) fn knows(&self, opcode: u8) -> bool {
        let mut probe = io_uring::Probe::new();
        self.inner.submitter().register_probe(&mut probe).is_ok() && probe.is_supported(opcode)
    }

    pub(super) fn note(&mut self, name: FeatureName, outcome: Result<Message, Message>) {
        let (state, detail) = match outcome {
            Ok(how) => (FeatureState::Used, how),
            Err(why) => (FeatureState::Unavailable, why),
        };
        self.features.push(FeatureUse::new(name, state, detail));
    }

    pub(super) fn note_not_asked(&mut self, name: FeatureName) {
        self.features.push(FeatureUse::new(name, FeatureState::NotAsked, no_detail()));
    }

    fn register_files(&mut self, wanted: bool) {
        if !wanted {
            self.note_not_asked(FeatureName::FixedFiles);
            return;
        }
        let fds: Vec<i32> = self.fds.iter().map(OwnedFd::as_raw_fd).collect();
        let outcome = self.inner.submitter().register_files(&fds);
        if outcome.is_ok() {
            for (file, index) in self.files.iter_mut().zip(0..) {
                file.fd = index;
                file.flags |= squeue::Flags::FIXED_FILE.bits();
            }
        }
        self.note(FeatureName::FixedFiles, outcome.map(|()| no_detail()).map_err(|error| os_words(&error)));
    }

    fn register_buffers(&mut self, wanted: bool, depth: u32, area: &Area) {
        if !wanted {
            self.note_not_asked(FeatureName::FixedBuffers);
            return;
        }
        let slots_per_buffer = (REGISTERED_BYTES_MAX / area.slot_bytes()).max(1);
        let pieces = area.pieces(depth as usize, slots_per_buffer * area.slot_bytes());
        let piece = |&(at, len): &(*mut u8, usize)| libc::iovec { iov_base: at.cast(), iov_len: len };
        let pieces: Vec<libc::iovec> = pieces.iter().map(piece).collect();
        // SAFETY: the pieces cover the area of the rig, which outlives the ring.
        let outcome = unsafe { self.inner.submitter().register_buffers(&pieces) };
        if outcome.is_ok() {
            self.slots_per_buffer = u32::try_from(slots_per_buffer).unwrap_or(u32::MAX);
        }
        let outcome = match outcome {
            Ok(()) => Ok(msg!("engine-buffers-registered", pieces = pieces.len())),
            Err(error) => Err(msg!("engine-buffers-refused", error = error)),
        };
        self.note(FeatureName::FixedBuffers, outcome);
    }

    /// Notes how the thread's I/O gets to its devices, `[part]`, and adapts to it.
    pub(super) fn note_submission(&mut self, submissions: &[Submission]) {
        let mut probes_max = None;
        for (file, submission) in self.files.iter_mut().zip(submissions) {
            if let Submission::ByWorker { probes } = submission {
                // Spares the kernel the attempt to submit without blocking, which can only fail.
                file.flags |= squeue::Flags::ASYNC.bits();
                probes_max = probes_max.max(Some(*probes));
            }
        }
        let Some(probes) = probes_max else {
            self.note(FeatureName::InlineSubmit, Ok(no_detail()));
            return;
        };
        // The kernel worker and this thread share a CPU as often as not. A batch thread does not preempt the worker at
        // each completion, which would switch contexts for every few I/Os.
        // SAFETY: the parameter is a valid sched_param, and the call changes only the calling thread.
        let batch = unsafe {
            let parameter: libc::sched_param = std::mem::zeroed();
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameter) == 0
        };
        let why = match batch {
            true => msg!("engine-by-worker-as-batch", probes = probes),
            false => msg!("engine-by-worker", probes = probes),
        };
        self.note(FeatureName::InlineSubmit, Err(why));
    }

    /// Takes back the registration of the buffers, which `why` it cannot be used.
    pub(super) fn forget_buffers(&mut self, why: Message) {
        self.slots_per_buffer = 0;
        self.features.retain(|f| f.name != FeatureName::FixedBuffers);
        self.note(FeatureName::FixedBuffers, Err(why));
    }

    /// The descriptor that the entries on a part name.
    pub(super) fn target(&self, part: u16) -> BorrowedFd<'_> {
        self.fds[usize::from(part)].as_fd()
    }

    /// Index of the registered buffer a slot lies in.
    #[inline(always)]
    pub(super) fn buffer_index(&self, slot: u32) -> u16 {
        let within_first = self.slots_per_buffer == 0 || slot < self.slots_per_buffer;
        if within_first { 0 } else { (slot / self.slots_per_buffer) as u16 }
    }

    /// Copies entries into the ring.
    ///
    /// # Errors
    /// EBUSY when the queue is full, which its size excludes (see `queue_entries`).
    ///
    /// # Safety
    /// Buffers and file named by the entries must stay valid until the entries' completions were reaped.
    #[inline(always)]
    pub(super) unsafe fn stage(&mut self, entries: &[S]) -> io::Result<()> {
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.inner.submission().push_multiple(entries) };
        if pushed.is_err() {
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
        self.staged += entries.len() as u32;
        if self.mode == Mode::Sqpoll {
            // The polling thread may take them at once.
            self.taken = self.taken.wrapping_add(entries.len() as u32);
        }
        Ok(())
    }

    /// Hands everything staged to the kernel without waiting.
    #[inline(always)]
    pub(super) fn submit(&mut self) -> io::Result<()> {
        while self.staged > 0 {
            let before = self.staged;
            self.enter(0, false, None)?;
            if self.staged == before {
                break;
            }
        }
        Ok(())
    }

    /// Hands everything staged to the kernel and waits for `min` completions, or `timeout_ns`. Without anything staged,
    /// completions that are there already end the wait.
    #[inline(always)]
    pub(super) fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if self.staged == 0 && min > 0 && !self.inner.completion().is_empty() {
            return Ok(());
        }
        self.enter(min, true, timeout_ns)
    }

    /// Hands out the completions that are there.
    #[inline(always)]
    pub(super) fn reap(&mut self, mut each: impl FnMut(&C)) {
        for entry in self.inner.completion() {
            self.reaped = self.reaped.wrapping_add(1);
            each(&entry);
        }
    }

    /// Entries that the kernel took and whose completions were not reaped.
    pub(super) fn in_flight(&self) -> u32 {
        self.taken.wrapping_sub(self.reaped)
    }

    /// Leaves what the kernel did not take where it is: no later call hands it over.
    pub(super) fn discard(&mut self) {
        self.staged = 0;
    }

    /// Lets completions appear without starting or awaiting anything.
    pub(super) fn poll(&mut self) -> io::Result<()> {
        debug_assert!(self.staged == 0, "something would be started");
        if self.mode == Mode::Sqpoll { Ok(()) } else { self.enter(0, true, None) }
    }

    /// Calls that started I/O so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    #[inline(always)]
    pub(super) fn enter(&mut self, min: u32, reap: bool, timeout_ns: Option<u64>) -> io::Result<()> {
        let mut flags = self.enter_flags;
        let min = completions_awaited(self.mode, min, timeout_ns);
        // With DEFER_TASKRUN and with IOPOLL completions appear only in calls that ask for them.
        if reap {
            flags |= EnterFlags::GETEVENTS.bits();
        }
        if self.mode == Mode::Sqpoll {
            // The tail must be visible before the flag is read, or the poller may fall asleep unnoticed.
            fence(Ordering::SeqCst);
            if self.inner.submission().need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP.bits();
            } else if min == 0 {
                self.staged = 0;
                return Ok(());
            }
        }
        let timeout = timeout_ns.map(|ns| [(ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64]);
        let argument = WaitArgument {
            sigmask: 0,
            sigmask_bytes: 0,
            min_wait_us: 0,
            timespec: timeout.as_ref().map_or(0, |ts| std::ptr::from_ref(ts) as u64),
        };
        let (mut at, mut bytes) = (std::ptr::null::<WaitArgument>(), 0);
        if timeout.is_some() && self.ext_arg {
            flags |= EnterFlags::EXT_ARG.bits();
            (at, bytes) = (&raw const argument, size_of::<WaitArgument>());
        }
        // SAFETY: the entries below the tail are complete and their buffers and file stay valid until they are reaped;
        // the argument and its timespec live until the call returns.
        let taken = unsafe {
            let arguments =
                [self.enter_fd as usize, self.staged as usize, min as usize, flags as usize, at as usize, bytes];
            raw_call::call(libc::SYS_io_uring_enter, arguments)
        };
        if taken >= 0 {
            self.calls += u64::from(self.staged > 0);
            if self.mode == Mode::Sqpoll {
                self.staged = 0;
            } else {
                let taken = (taken as u32).min(self.staged);
                self.staged -= taken;
                self.taken = self.taken.wrapping_add(taken);
            }
            return Ok(());
        }
        match -taken as i32 {
            // Interrupted, timed out, or short of resources until completions are reaped: the caller comes back.
            libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_must_end_by_itself_is_none_while_the_kernel_polls() {
        for mode in [Mode::Interrupt, Mode::Iopoll, Mode::Sqpoll] {
            assert_eq!(completions_awaited(mode, 3, None), 3, "{mode:?}");
        }
        assert_eq!(completions_awaited(Mode::Interrupt, 1, Some(1_000)), 1);
        assert_eq!(completions_awaited(Mode::Sqpoll, 1, Some(1_000)), 1);
        assert_eq!(completions_awaited(Mode::Iopoll, 1, Some(1_000)), 0);
    }
}
