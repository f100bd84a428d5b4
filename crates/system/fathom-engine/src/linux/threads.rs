//! What a thread of this process is told by the kernel, and what it is asked of it.

use std::io;

/// What binds a thread.
pub(crate) const PIN_CALL: &str = "sched_setaffinity";
/// System calls in which a worker waits for its device.
const IO_CALLS: [libc::c_long; 9] = [
    libc::SYS_io_uring_enter,
    libc::SYS_io_getevents,
    libc::SYS_io_submit,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_msync,
    libc::SYS_fallocate,
    libc::SYS_ioctl,
    libc::SYS_fdatasync,
];
/// `IOPRIO_WHO_PROCESS`, linux/ioprio.h: with the id 0 the calling thread.
pub(crate) const IOPRIO_WHO_PROCESS: usize = 1;

/// Gives the calling thread a descriptor table of its own. With a shared table each system call counts a reference to
/// the file up and down atomically; with its own it does not. May fail without harm.
pub(crate) fn own_descriptor_table() {
    // SAFETY: only this thread's view of descriptors changes. What it opens from here on it closes itself (the engine,
    // trimmer and ledger are dropped on this thread), and the copies of the others' descriptors go with the thread.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}

/// Binds the calling thread to the `cpus`.
///
/// # Errors
/// As sched_setaffinity(2).
pub(crate) fn pin(cpus: &[u32]) -> io::Result<()> {
    // SAFETY: an all-zero cpu_set_t is the empty set; CPU_SET and the call stay within it (`cpu` is checked).
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as u32) {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets the calling thread run on all CPUs again: one that a bound thread starts is bound as well. May fail without harm.
pub(crate) fn unpin() {
    // SAFETY: as in `pin`; the kernel leaves out CPUs that are not there or not allowed.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..libc::CPU_SETSIZE as usize).for_each(|cpu| libc::CPU_SET(cpu, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Number of the calling thread.
pub(crate) fn number() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// How often the scheduler moved the calling thread to another CPU (`se.nr_migrations` of its `sched` file); `None` on
/// kernels built without that file.
pub(crate) fn migrations() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/sched").ok()?;
    text.lines().find_map(|line| line.strip_prefix("se.nr_migrations")?.split_once(':')?.1.trim().parse().ok())
}

/// The CPU that the calling thread is on.
#[inline]
pub(crate) fn current_cpu() -> Option<u32> {
    // SAFETY: takes no argument and touches no memory.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Lets short sleeps of the calling thread end on time; the default slack is 50 us.
pub(crate) fn sharpen_timers() {
    // SAFETY: sets a property of the calling thread; no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Gives the calling thread a priority of I/O.
///
/// # Errors
/// As ioprio_set(2).
pub(crate) fn set_io_priority(value: u16) -> io::Result<()> {
    // SAFETY: three numbers, and nothing but the scheduling of the thread's I/O changes.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0_usize, usize::from(value)) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Where the calling thread's memory comes from: a mode of linux/mempolicy.h and a set of nodes.
///
/// # Errors
/// As set_mempolicy(2).
pub(crate) fn take_memory_from(mode: usize, nodes: Option<&[usize]>) -> io::Result<()> {
    let (at, bits) = nodes.map_or((std::ptr::null(), 0), |set| (set.as_ptr(), set.len() * usize::BITS as usize));
    // SAFETY: the mask, where there is one, has as many bits as the call is told and outlives it.
    let done = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, at, bits) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Nodes that have memory, as the kernel lists them; `None` where it does not.
pub(crate) fn nodes_with_memory() -> Option<String> {
    std::fs::read_to_string("/sys/devices/system/node/has_memory").ok()
}

/// The `syscall` and `stat` files of a thread of this process (proc(5)); `None` where the kernel does not tell.
pub(crate) fn state_texts(thread: i32) -> Option<(String, String)> {
    let text = |file: &str| std::fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).ok();
    Some((text("syscall")?, text("stat")?))
}

/// Whether a worker waits for its device in the call of this number.
pub(crate) fn is_io_call(number: i64) -> bool {
    IO_CALLS.contains(&(number as libc::c_long))
}
