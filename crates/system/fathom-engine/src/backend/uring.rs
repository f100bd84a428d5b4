//! io_uring: batches both ways, one system call to submit and wait, everything registered that can be.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{Ordering, fence};

use fathom_plan::{EngineSpec, Mode, Op};
use fathom_record::{FeatureUse, StepFailure};
use io_uring::{EnterFlags, IoUring, opcode, squeue};

use super::{Backend, Io, SubmitStamp, feature, refused};
use crate::buffer::Area;
use crate::raw_call;
use crate::target::Target;

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

/// `struct io_uring_sqe`, linux/io_uring.h: what this engine sets of it, the rest stays zero.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
struct RawEntry {
    opcode: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    len: u32,
    rw_flags: u32,
    user_data: u64,
    buffer_index: u16,
    rest: [u16; 11],
}

const _: () = assert!(size_of::<RawEntry>() == 64);
const _: () = assert!(size_of::<RawEntry>() == size_of::<squeue::Entry>());

/// A ring and what is registered with it.
pub(crate) struct Uring {
    ring: IoUring,
    // Handle for io_uring_enter: index of the registered ring, or the file descriptor.
    enter_fd: i32,
    enter_flags: u32,
    /// Entries of the batch, written field by field here and copied into the ring together: copying one right after
    /// writing it would stall the CPU, whose wide loads cannot be served from narrow stores still under way.
    batch: Box<[RawEntry]>,
    batch_len: usize,
    /// In the ring, not yet taken by the kernel.
    staged: u32,
    calls: u64,
    sqpoll: bool,
    // Slots per registered buffer; 0: buffers are not registered.
    slots_per_buffer: u32,
    ext_arg: bool,
    entry_flags: u8,
    entry_fd: i32,
    features: Vec<FeatureUse>,
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

fn build(depth: u32, spec: EngineSpec, flags: SetupFlags) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
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
fn build_with_fallback(depth: u32, spec: EngineSpec) -> io::Result<(IoUring, SetupFlags)> {
    let wanted = SetupFlags::wanted(spec.mode);
    match build(depth, spec, wanted) {
        Ok(ring) => return Ok((ring, wanted)),
        Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
        Err(_) => {}
    }
    let takes = |flags: SetupFlags| build(2, spec, flags).is_ok();
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

fn setup_refused(error: &io::Error, spec: EngineSpec, depth: u32) -> StepFailure {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let what = format!("engine io_uring, mode {}, queue depth {depth}", spec.mode.as_str());
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

impl Uring {
    /// A ring for `depth` I/Os on `target` with the buffers of `area`. Must be called by the thread that will use it.
    /// Reads one block, to learn how the kernel carries the I/O out.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the mode; a refused registration only becomes a row of `features`.
    pub(crate) fn new(target: &Target, depth: u32, spec: EngineSpec, area: &Area) -> Result<Self, StepFailure> {
        let fd = target.open()?;
        let (ring, flags) = build_with_fallback(depth, spec).map_err(|e| setup_refused(&e, spec, depth))?;
        let mut uring = Uring::bare(ring, depth, fd, spec);
        uring.note_setup(flags, spec);
        uring.register_ring();
        uring.register_file(spec.fixed_files);
        uring.register_buffers(spec.fixed_buffers, depth, area);
        uring.probe(target, spec, area)?;
        Ok(uring)
    }

    /// Reads one block: refuses polling where the device cannot, and notices when the kernel hands I/O to a worker
    /// thread because the device cannot be submitted to without blocking.
    fn probe(&mut self, target: &Target, spec: EngineSpec, area: &Area) -> Result<(), StepFailure> {
        let len = u32::try_from(area.slot_bytes()).unwrap_or(u32::MAX);
        let offset = target.span.first_offset_bytes;
        self.push(&Io { slot: 0, op: Op::Read, len, offset, buffer: area.slot(0) });
        let mut result = None;
        while result.is_none() {
            let waited = self.submit_and_wait(1, None);
            waited.map_err(|e| setup_refused(&e, spec, 1))?;
            self.reap(|_, moved| result = Some(moved));
        }
        if spec.mode == Mode::Iopoll && result == Some(-libc::EOPNOTSUPP) {
            return Err(refused(
                format!("mode iopoll on {}", target.path),
                "the device has no poll queues",
                "load the driver with some (for NVMe: `nvme.poll_queues=4` on the kernel command line), or use \
                 `--mode interrupt`",
            ));
        }
        if spec.mode != Mode::Sqpoll {
            self.note_worker();
        }
        Ok(())
    }

    fn note_worker(&mut self) {
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

    fn bare(ring: IoUring, depth: u32, fd: OwnedFd, spec: EngineSpec) -> Self {
        Uring {
            enter_fd: ring.as_raw_fd(),
            enter_flags: 0,
            batch: vec![RawEntry::default(); depth as usize].into_boxed_slice(),
            batch_len: 0,
            staged: 0,
            calls: 0,
            sqpoll: spec.mode == Mode::Sqpoll,
            slots_per_buffer: 0,
            ext_arg: ring.params().is_feature_ext_arg(),
            entry_flags: 0,
            entry_fd: fd.as_raw_fd(),
            features: Vec::new(),
            ring,
            fd,
        }
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
        let mut update = RingFdUpdate { offset: u32::MAX, reserved: 0, data: self.ring.as_raw_fd() as u64 };
        // SAFETY: one update of the layout the kernel expects, alive until the call returns.
        let done = unsafe {
            let fd = self.ring.as_raw_fd();
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
        let outcome = self.ring.submitter().register_files(&[self.fd.as_raw_fd()]);
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
        let outcome = unsafe { self.ring.submitter().register_buffers(&pieces) };
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

    /// Writes the entry of `io` into the batch.
    #[inline(always)]
    fn stage(&mut self, io: &Io) {
        let fixed = self.slots_per_buffer > 0;
        let entry = &mut self.batch[self.batch_len];
        entry.opcode = match (fixed, io.op == Op::Read) {
            (true, true) => opcode::ReadFixed::CODE,
            (true, false) => opcode::WriteFixed::CODE,
            (false, true) => opcode::Read::CODE,
            (false, false) => opcode::Write::CODE,
        };
        entry.flags = self.entry_flags;
        entry.fd = self.entry_fd;
        entry.offset = io.offset;
        entry.address = io.buffer as u64;
        entry.len = io.len;
        entry.user_data = u64::from(io.slot);
        let within_first = !fixed || io.slot < self.slots_per_buffer;
        entry.buffer_index = if within_first { 0 } else { (io.slot / self.slots_per_buffer) as u16 };
        self.batch_len += 1;
    }

    /// Copies the batch into the ring.
    #[inline(always)]
    fn flush(&mut self) {
        if self.batch_len == 0 {
            return;
        }
        let batch = self.batch[..self.batch_len].as_ptr().cast::<squeue::Entry>();
        // SAFETY: both types are the kernel's 64-byte entry (`repr(C)`, sizes asserted above), and `batch_len` of them
        // were written.
        let entries = unsafe { std::slice::from_raw_parts(batch, self.batch_len) };
        // SAFETY: buffers and file named by the entries outlive the I/O (see `Backend::push` and the field order).
        let pushed = unsafe { self.ring.submission().push_multiple(entries) };
        // The ring has an entry for every slot, and a slot is in it at most once.
        assert!(pushed.is_ok(), "the submission queue is full");
        self.staged += self.batch_len as u32;
        self.batch_len = 0;
    }

    #[inline(always)]
    fn push_entry(&mut self, entry: &squeue::Entry) {
        // SAFETY: only NOPs come this way; they name neither a buffer nor a file.
        let pushed = unsafe { self.ring.submission().push(entry) };
        assert!(pushed.is_ok(), "the submission queue is full");
        self.staged += 1;
    }

    #[inline(always)]
    fn enter(&mut self, min: u32, reap: bool, timeout_ns: Option<u64>) -> io::Result<()> {
        self.flush();
        let mut flags = self.enter_flags;
        // With DEFER_TASKRUN and with IOPOLL completions appear only in calls that ask for them.
        if reap {
            flags |= EnterFlags::GETEVENTS.bits();
        }
        if self.sqpoll {
            // The tail must be visible before the flag is read, or the poller may fall asleep unnoticed.
            fence(Ordering::SeqCst);
            if self.ring.submission().need_wakeup() {
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

impl Backend for Uring {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        self.stage(io);
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.flush();
        while self.staged > 0 {
            let before = self.staged;
            self.enter(0, false, None)?;
            if self.staged == before {
                break;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        if self.staged == 0 && self.batch_len == 0 && min > 0 && !self.ring.completion().is_empty() {
            return Ok(());
        }
        self.enter(min, true, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for entry in self.ring.completion() {
            done(entry.user_data() as u32, entry.result());
        }
    }

    fn submit_calls(&self) -> u64 {
        self.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.features.clone()
    }
}

/// A ring of NOPs: what io_uring itself costs.
pub(crate) struct NopRing(Uring);

impl NopRing {
    /// A ring for `depth` NOPs.
    ///
    /// # Errors
    /// When the kernel refuses the ring.
    pub(crate) fn new(depth: u32, spec: EngineSpec) -> Result<Self, StepFailure> {
        let (ring, flags) = build_with_fallback(depth, spec).map_err(|e| setup_refused(&e, spec, depth))?;
        // NOPs touch no file, but the ring's owner wants one.
        let fd = std::fs::File::open("/dev/null").map_err(|e| refused("NOP bench", e.to_string(), ""))?;
        let mut uring = Uring::bare(ring, depth, OwnedFd::from(fd), spec);
        uring.note_setup(flags, spec);
        uring.register_ring();
        Ok(NopRing(uring))
    }

    /// Stages one entry.
    #[inline(always)]
    pub(crate) fn push_entry(&mut self, entry: &squeue::Entry) {
        self.0.push_entry(entry);
    }

    /// Submits what is staged and waits for `min` completions.
    ///
    /// # Errors
    /// When the kernel refuses the call.
    #[inline(always)]
    pub(crate) fn submit_and_wait_for(&mut self, min: u32) -> io::Result<()> {
        self.0.enter(min, true, None)
    }

    /// Reaps and counts.
    #[inline(always)]
    pub(crate) fn count_done(&mut self) -> u32 {
        self.0.ring.completion().map(|_| 1).sum()
    }
}

impl Backend for NopRing {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    #[inline(always)]
    fn push(&mut self, io: &Io) {
        // The slot and the length come back: a NOP's own result is 0.
        let tag = u64::from(io.slot) | u64::from(io.len) << 32;
        let entry = &mut self.0.batch[self.0.batch_len];
        entry.opcode = opcode::Nop::CODE;
        entry.user_data = tag;
        self.0.batch_len += 1;
    }

    #[inline(always)]
    fn submit(&mut self) -> io::Result<()> {
        self.0.submit()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self, min: u32, timeout_ns: Option<u64>) -> io::Result<()> {
        self.0.submit_and_wait(min, timeout_ns)
    }

    #[inline(always)]
    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        for entry in self.0.ring.completion() {
            let tag = entry.user_data();
            done(tag as u32, if entry.result() < 0 { entry.result() } else { (tag >> 32) as i32 });
        }
    }

    fn submit_calls(&self) -> u64 {
        self.0.calls
    }

    fn features(&self) -> Vec<FeatureUse> {
        self.0.features.clone()
    }
}
