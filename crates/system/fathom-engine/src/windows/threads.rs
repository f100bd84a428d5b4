//! What a thread of this process is told by Windows, and what it is asked of it.

use std::io;

use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading as of;

/// What binds a thread.
pub(crate) const PIN_CALL: &str = "SetThreadGroupAffinity";
/// CPUs of a processor group: number 70 is CPU 6 of group 1.
const GROUP_CPUS: u32 = 64;

/// Nothing here: the handles of a process are one table.
pub(crate) fn own_descriptor_table() {}

/// Binds the calling thread to the `cpus`, which are of one processor group: a thread is never bound to two.
///
/// # Errors
/// As SetThreadGroupAffinity; `InvalidInput` for CPUs of several groups.
pub(crate) fn pin(cpus: &[u32]) -> io::Result<()> {
    let group = cpus.first().map_or(0, |cpu| cpu / GROUP_CPUS);
    if cpus.iter().any(|cpu| cpu / GROUP_CPUS != group) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mask = cpus.iter().fold(0_usize, |mask, cpu| mask | 1 << (cpu % GROUP_CPUS));
    bind(mask, u16::try_from(group).map_err(|_| io::ErrorKind::InvalidInput)?)
}

fn bind(mask: usize, group: u16) -> io::Result<()> {
    let wanted = GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] };
    // SAFETY: the structure outlives the call, which reads it; the thread is this one.
    let done = unsafe { of::SetThreadGroupAffinity(of::GetCurrentThread(), &raw const wanted, std::ptr::null_mut()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets the calling thread run on all CPUs of its group again. May fail without harm.
pub(crate) fn unpin() {
    let number = current();
    // SAFETY: takes a number.
    let cpus = unsafe { of::GetActiveProcessorCount(number.Group) };
    let mask = if cpus >= GROUP_CPUS { usize::MAX } else { (1 << cpus) - 1 };
    // What it may run on by then is looked at where it is proved.
    let _ = bind(mask, number.Group);
}

/// Number of the calling thread.
pub(crate) fn number() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { of::GetCurrentThreadId() }.cast_signed()
}

/// Windows does not count them.
pub(crate) fn migrations() -> Option<u64> {
    None
}

fn current() -> PROCESSOR_NUMBER {
    let mut number = PROCESSOR_NUMBER::default();
    // SAFETY: the structure outlives the call, which fills it.
    unsafe { of::GetCurrentProcessorNumberEx(&raw mut number) };
    number
}

/// The CPU that the calling thread is on.
#[inline]
pub(crate) fn current_cpu() -> Option<u32> {
    let number = current();
    Some(u32::from(number.Group) * GROUP_CPUS + u32::from(number.Number))
}

/// Nothing here: `std::thread::sleep` takes timers of high resolution where Windows has them.
pub(crate) fn sharpen_timers() {}

/// Gives the calling thread a priority of I/O as Linux knows them.
///
/// # Errors
/// Always `Unsupported`: Windows knows other ones.
pub(crate) fn set_io_priority(_value: u16) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where the calling thread's memory comes from.
///
/// # Errors
/// Always `Unsupported`: Windows takes it from the node of the CPU that a thread is on.
pub(crate) fn take_memory_from(_mode: usize, _nodes: Option<&[usize]>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nodes that have memory: not asked, as no thread chooses among them.
pub(crate) fn nodes_with_memory() -> Option<String> {
    None
}

/// What a thread is doing: Windows does not tell in words.
pub(crate) fn state_texts(_thread: i32) -> Option<(String, String)> {
    None
}

/// No call has such a number here.
pub(crate) fn is_io_call(_number: i64) -> bool {
    false
}
