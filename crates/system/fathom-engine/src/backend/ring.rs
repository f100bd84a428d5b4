//! A ring of io_uring: set up with every feature the kernel takes, everything registered that can be, entered by one
//! system call. Generic over the size of its entries.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{Ordering, fence};

use fathom_plan::{EngineSpec, Mode};
use fathom_record::{FeatureUse, StepFailure};
use io_uring::{EnterFlags, IoUring, cqueue, squeue};

use super::{feature, refused};
use crate::buffer::Area;
use crate::raw_call;

/// Idle time after which the SQPOLL thread sleeps. Longer than any gap of a closed loop on a working device.
const SQPOLL_IDLE_MS: u32 = 1_000;
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

/// A ring and what is registered with it.
pub(super) struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    inner: IoUring<S, C>,
    // Handle for io_uring_enter: index of the registered ring, or the file descriptor.
    enter_fd: i32,
    enter_flags: u32,
    /// In the ring, not yet taken by the kernel.
    staged: u32,
    calls: u64,
    sqpoll: bool,
    ext_arg: bool,
    /// Slots per registered buffer; 0: buffers are not registered.
    pub(super) slots_per_buffer: u32,
    /// Flags every entry carries.
    pub(super) entry_flags: u8,
    /// File every entry names: descriptor, or index of the registered file.
    pub(super) entry_fd: i32,
    pub(super) features: Vec<FeatureUse>,
    // After the ring: it must be gone before the file closes.
    fd: OwnedFd,
}

/// Set-up flags beyond the mode, each of which the kernel may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SetupFlags {
    single_issuer: bool,
    defer_taskrun: bool,
    coop_taskrun: bool,
    no_sqarray: bool,
}

const NO_FLAGS: SetupFlags =
    SetupFlags { single_issuer: false, defer_taskrun: false, coop_taskrun: false, no_sqarray: false };

impl SetupFlags {
    /// Everything that makes sense with `mode`. The kernel refuses both kinds of task-run control with SQPOLL.
    fn wanted(mode: Mode) -> Self {
        let own_task = mode != Mode::Sqpoll;
        SetupFlags { single_issuer: true, defer_taskrun: own_task, coop_taskrun: own_task, no_sqarray: true }
    }
}

fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    spec: EngineSpec,
    flags: SetupFlags,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    builder.setup_clamp().dontfork();
    match spec.mode {
        Mode::Interrupt => {}
        Mode::Iopoll => {
            builder.setup_iopoll();
        }
        Mode::Sqpoll => {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
            if let Some(cpu) = spec.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        }
    }
    if flags.single_issuer {
        builder.setup_single_issuer();
    }
    if flags.defer_taskrun {
        builder.setup_defer_taskrun();
    }
    if flags.coop_taskrun {
        builder.setup_coop_taskrun();
    }
    if flags.no_sqarray {
        builder.setup_no_sqarray();
    }
    builder.build(depth)
}

/// A ring with every wanted flag the kernel takes, each tried alone when the whole set is refused.
fn build_with_fallback<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    spec: EngineSpec,
) -> io::Result<(IoUring<S, C>, SetupFlags)> {
    let wanted = SetupFlags::wanted(spec.mode);
    match build(depth, spec, wanted) {
        Ok(ring) => return Ok((ring, wanted)),
        Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
        Err(_) => {}
    }
    let takes = |flags: SetupFlags| build::<S, C>(2, spec, flags).is_ok();
    let single_issuer = takes(SetupFlags { single_issuer: true, ..NO_FLAGS });
    let flags = SetupFlags {
        single_issuer,
        // The kernel wants DEFER_TASKRUN only together with SINGLE_ISSUER.
        defer_taskrun: wanted.defer_taskrun
            && single_issuer
            && takes(SetupFlags { single_issuer: true, defer_taskrun: true, ..NO_FLAGS }),
        coop_taskrun: wanted.coop_taskrun && takes(SetupFlags { coop_taskrun: true, ..NO_FLAGS }),
        no_sqarray: takes(SetupFlags { no_sqarray: true, ..NO_FLAGS }),
    };
    build(depth, spec, flags).map(|ring| (ring, flags))
}

pub(super) fn setup_refused(error: &io::Error, spec: EngineSpec, depth: u32) -> StepFailure {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let what = format!("engine {}, mode {}, queue depth {depth}", spec.name.as_str(), spec.mode.as_str());
    match error.raw_os_error() {
        Some(libc::EPERM) if disabled.trim() != "0" && !disabled.is_empty() => refused(
            what,
            format!("io_uring is disabled: /proc/sys/kernel/io_uring_disabled is {}", disabled.trim()),
            "ask the administrator for `sysctl kernel.io_uring_disabled=0`, or use `--engine libaio`",
        ),
        Some(libc::EPERM | libc::EACCES) => refused(
            what,
            format!("the kernel refuses io_uring_setup: {error} (a container's seccomp filter does that)"),
            "allow io_uring in the container, or use `--engine libaio`",
        ),
        Some(libc::ENOSYS) => refused(
            what,
            "this kernel has no io_uring (see also /proc/sys/kernel/io_uring_disabled)",
            "use `--engine libaio`",
        ),
        Some(libc::ENOMEM) => refused(
            what,
            format!("no memory for the ring: {error}"),
            "raise the limit of locked memory (`ulimit -l`), or use fewer threads or a smaller queue depth",
        ),
        _ => refused(what, format!("io_uring_setup: {error}"), "use `--engine libaio`, or another mode"),
    }
}

/// Whether the kernel has started an io_uring worker for the calling thread.
fn has_io_worker() -> bool {
    // SAFETY: takes nothing and cannot fail.
    let me = unsafe { libc::gettid() };
    let name = format!("iou-wrk-{me}");
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let comm = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm"));
    threads.flatten().any(|thread| comm(thread).is_ok_and(|comm| comm.trim() == name))
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// A ring for `depth` I/Os on `fd`, itself registered where the kernel does that. Must be called by the thread that
    /// will use it.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the mode.
    pub(super) fn new(fd: OwnedFd, depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        let (inner, flags) = build_with_fallback::<S, C>(depth, spec).map_err(|e| setup_refused(&e, spec, depth))?;
        let mut ring = Ring {
            enter_fd: inner.as_raw_fd(),
            enter_flags: 0,
            staged: 0,
            calls: 0,
            sqpoll: spec.mode == Mode::Sqpoll,
            ext_arg: inner.params().is_feature_ext_arg(),
            slots_per_buffer: 0,
            entry_flags: 0,
            entry_fd: fd.as_raw_fd(),
            features: Vec::new(),
            inner,
            fd,
        };
        ring.note_setup(flags, spec);
        ring.register_ring();
        Ok(ring)
    }

    /// Registers file and buffers as `spec` asks; a refusal only becomes a row of `features`.
    pub(super) fn register(&mut self, depth: u32, spec: EngineSpec, area: &Area) {
        self.register_file(spec.fixed_files);
        self.register_buffers(spec.fixed_buffers, depth, area);
    }

    fn note_setup(&mut self, flags: SetupFlags, spec: EngineSpec) {
        let wanted = SetupFlags::wanted(spec.mode);
        let mut row = |name: &str, wanted: bool, used: bool| {
            let detail = match (wanted, used) {
                (_, true) => "",
                (true, false) => "this kernel refuses it",
                (false, false) => "not possible with sqpoll",
            };
            self.features.push(feature(name, used, detail));
        };
        row("single_issuer", wanted.single_issuer, flags.single_issuer);
        row("defer_taskrun", wanted.defer_taskrun, flags.defer_taskrun);
        row("coop_taskrun", wanted.coop_taskrun, flags.coop_taskrun);
        row("no_sqarray", wanted.no_sqarray, flags.no_sqarray);
        match spec.mode {
            Mode::Interrupt => {}
            Mode::Iopoll => self.features.push(feature("iopoll", true, "")),
            Mode::Sqpoll => {
                let detail = spec.sqpoll_cpu.map_or_else(String::new, |cpu| format!("polling thread on CPU {cpu}"));
                self.features.push(feature("sqpoll", true, detail));
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
        let detail = if done == 1 { String::new() } else { io::Error::last_os_error().to_string() };
        self.features.push(feature("registered_ring", done == 1, detail));
    }

    fn register_file(&mut self, wanted: bool) {
        if !wanted {
            self.features.push(feature("fixed_files", false, "not asked"));
            return;
        }
        let outcome = self.inner.submitter().register_files(&[self.fd.as_raw_fd()]);
        if outcome.is_ok() {
            self.entry_fd = 0;
            self.entry_flags |= squeue::Flags::FIXED_FILE.bits();
        }
        let detail = outcome.as_ref().err().map_or_else(String::new, ToString::to_string);
        self.features.push(feature("fixed_files", outcome.is_ok(), detail));
    }

    fn register_buffers(&mut self, wanted: bool, depth: u32, area: &Area) {
        if !wanted {
            self.features.push(feature("fixed_buffers", false, "not asked"));
            return;
        }
        let slots_per_buffer = (REGISTERED_BYTES_MAX / area.slot_bytes()).max(1);
        let pieces = area.pieces(depth as usize, slots_per_buffer * area.slot_bytes());
        // SAFETY: the pieces cover the worker's area, which the worker keeps until after the ring is dropped.
        let outcome = unsafe { self.inner.submitter().register_buffers(&pieces) };
        if outcome.is_ok() {
            self.slots_per_buffer = u32::try_from(slots_per_buffer).unwrap_or(u32::MAX);
        }
        let detail = match &outcome {
            Ok(()) => {
                format!("{} of contiguous memory", if pieces.len() == 1 { "one piece" } else { "several pieces" })
            }
            Err(error) => format!("{error}; `ulimit -l` bounds registered memory"),
        };
        self.features.push(feature("fixed_buffers", outcome.is_ok(), detail));
    }

    /// Notices when the kernel handed the thread's I/O to a worker, and adapts to it.
    pub(super) fn note_worker(&mut self) {
        let punted = has_io_worker();
        if !punted {
            self.features.push(feature("inline_submit", true, ""));
            return;
        }
        // Spares the kernel the attempt to submit without blocking, which can only fail.
        self.entry_flags |= squeue::Flags::ASYNC.bits();
        // The kernel worker and this thread share a CPU as often as not. A batch thread does not preempt the worker at
        // each completion, which would switch contexts for every few I/Os.
        // SAFETY: the parameter is a valid sched_param, and the call changes only the calling thread.
        let batch = unsafe {
            let parameter: libc::sched_param = std::mem::zeroed();
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameter) == 0
        };
        let how = if batch { "; the thread runs as SCHED_BATCH" } else { "" };
        let detail =
            format!("the target cannot be submitted to without blocking: a kernel thread (iou-wrk) does the I/O{how}");
        self.features.push(feature("inline_submit", false, detail));
    }

    /// Takes back the registration of the buffers, which `why` it cannot be used.
    pub(super) fn forget_buffers(&mut self, why: &str) {
        self.slots_per_buffer = 0;
        self.features.retain(|f| f.name != "fixed_buffers");
        self.features.push(feature("fixed_buffers", false, why));
    }

    /// Index of the registered buffer a slot lies in.
    #[inline(always)]
    pub(super) fn buffer_index(&self, slot: u32) -> u16 {
        let within_first = self.slots_per_buffer == 0 || slot < self.slots_per_buffer;
        if within_first { 0 } else { (slot / self.slots_per_buffer) as u16 }
    }

    /// Copies entries into the ring.
    ///
    /// # Safety
    /// Buffers and file named by the entries must stay valid until the entries' completions were reaped.
    #[inline(always)]
    pub(super) unsafe fn stage(&mut self, entries: &[S]) {
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.inner.submission().push_multiple(entries) };
        // The ring has an entry for every slot, and a slot is in it at most once.
        assert!(pushed.is_ok(), "the submission queue is full");
        self.staged += entries.len() as u32;
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

    /// Completions that are there.
    #[inline(always)]
    pub(super) fn completions(&mut self) -> cqueue::CompletionQueue<'_, C> {
        self.inner.completion()
    }

    /// Calls that started I/O so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    #[inline(always)]
    pub(super) fn enter(&mut self, min: u32, reap: bool, timeout_ns: Option<u64>) -> io::Result<()> {
        let mut flags = self.enter_flags;
        // With DEFER_TASKRUN and with IOPOLL completions appear only in calls that ask for them.
        if reap {
            flags |= EnterFlags::GETEVENTS.bits();
        }
        if self.sqpoll {
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
            self.staged = if self.sqpoll { 0 } else { self.staged - (taken as u32).min(self.staged) };
            return Ok(());
        }
        match -taken as i32 {
            // Interrupted, timed out, or short of resources until completions are reaped: the caller comes back.
            libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
