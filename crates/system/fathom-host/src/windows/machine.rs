//! This machine as Windows tells of it: CPUs, counters, name, memory, version.
#![allow(unsafe_code)]

use std::io;
use std::path::Path;

use fathom_record::CpuTime;
use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation as of;
use windows_sys::Win32::Storage::FileSystem as fs;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation as info;
use windows_sys::Win32::System::Threading as threads;

use super::calls::{GROUP_CPUS, wide};
use super::processors;
use crate::cpu::Topology;
use crate::mount::Mount;
use crate::procfs::Stat;
use crate::root::{ProbeError, Root};

/// `SystemPerformanceInformation` and `SystemProcessorPerformanceInformation` (winternl.h).
const SYSTEM_PERFORMANCE: SYSTEM_INFORMATION_CLASS = 2;
const PROCESSOR_PERFORMANCE: SYSTEM_INFORMATION_CLASS = 8;
/// Where `SYSTEM_PERFORMANCE_INFORMATION` counts context switches: before the last three of its first 312 bytes.
const CONTEXT_SWITCHES_AT: usize = 296;

/// `SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION`, with the names of what the SDK calls reserved. Times in units of 100 ns.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessorTimes {
    idle: i64,
    /// With idle, DPC and interrupt time in it.
    kernel: i64,
    user: i64,
    dpc: i64,
    interrupt: i64,
    interrupts: u32,
}

const _: () = assert!(size_of::<ProcessorTimes>() == 48);

impl ProcessorTimes {
    fn time(&self) -> CpuTime {
        let ns = |units: i64| units.max(0).cast_unsigned() * 100;
        CpuTime {
            user_ns: ns(self.user),
            system_ns: ns(self.kernel - self.idle - self.dpc - self.interrupt),
            irq_ns: ns(self.interrupt),
            softirq_ns: ns(self.dpc),
            idle_ns: ns(self.idle),
            ..CpuTime::default()
        }
    }
}

fn failed(call: &str, source: io::Error) -> ProbeError {
    ProbeError::Read { path: Path::new(call).to_owned(), source }
}

/// The counters of the running machine, kept open.
pub(crate) struct Counters {
    groups: u16,
}

impl Counters {
    /// # Errors
    /// None here.
    pub(crate) fn open(_root: &Root) -> Result<Counters, ProbeError> {
        // SAFETY: takes nothing.
        Ok(Counters { groups: unsafe { threads::GetActiveProcessorGroupCount() }.max(1) })
    }

    /// Reads them. A call sees the group that its thread is in, so that the thread visits each.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub(crate) fn read(&mut self, _tick_ns: u64, into: &mut Stat) -> Result<(), ProbeError> {
        into.cpus.clear();
        into.interrupts = 0;
        if self.groups == 1 {
            read_group(0, into)?;
        } else {
            let mut before = info::GROUP_AFFINITY::default();
            for group in 0..self.groups {
                visit(group, (group == 0).then_some(&mut before))?;
                read_group(group, into)?;
            }
            // SAFETY: the structure outlives the call; the thread is this one.
            unsafe {
                threads::SetThreadGroupAffinity(threads::GetCurrentThread(), &raw const before, std::ptr::null_mut())
            };
        }
        into.context_switches = context_switches()?;
        Ok(())
    }
}

/// Brings the calling thread into a group; `before` takes where it was.
fn visit(group: u16, before: Option<&mut info::GROUP_AFFINITY>) -> Result<(), ProbeError> {
    // SAFETY: takes a number.
    let cpus = unsafe { threads::GetActiveProcessorCount(group) };
    let mask = if cpus >= GROUP_CPUS { usize::MAX } else { (1 << cpus) - 1 };
    let wanted = info::GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] };
    let before = before.map_or(std::ptr::null_mut(), |before| &raw mut *before);
    // SAFETY: both structures outlive the call; the thread is this one.
    let done = unsafe { threads::SetThreadGroupAffinity(threads::GetCurrentThread(), &raw const wanted, before) };
    if done == 0 { Err(failed("SetThreadGroupAffinity", io::Error::last_os_error())) } else { Ok(()) }
}

fn read_group(group: u16, into: &mut Stat) -> Result<(), ProbeError> {
    let mut times = [ProcessorTimes::default(); GROUP_CPUS as usize];
    let bytes = query(PROCESSOR_PERFORMANCE, &mut times)?;
    let first = u32::from(group) * GROUP_CPUS;
    for (number, cpu) in times[..bytes / size_of::<ProcessorTimes>()].iter().enumerate() {
        into.cpus.push((first + number as u32, cpu.time()));
        into.interrupts += u64::from(cpu.interrupts);
    }
    Ok(())
}

fn context_switches() -> Result<u64, ProbeError> {
    // Newer versions have more behind the counters known here; the call wants room for all.
    let mut words = [0_u32; 256];
    query(SYSTEM_PERFORMANCE, &mut words)?;
    Ok(u64::from(words[CONTEXT_SWITCHES_AT / 4]))
}

/// Fills `into` with what a class says; how many bytes that is.
fn query<T>(class: SYSTEM_INFORMATION_CLASS, into: &mut [T]) -> Result<usize, ProbeError> {
    let mut bytes = 0;
    // SAFETY: the classes that come here fill plain numbers, at most as many bytes as they are told of.
    let status =
        unsafe { NtQuerySystemInformation(class, into.as_mut_ptr().cast(), size_of_val(into) as u32, &raw mut bytes) };
    if status < 0 {
        // SAFETY: takes a number.
        let code = unsafe { of::RtlNtStatusToDosError(status) };
        return Err(failed("NtQuerySystemInformation", io::Error::from_raw_os_error(code.cast_signed())));
    }
    Ok((bytes as usize).min(size_of_val(into)))
}

/// The CPUs, where `root` is the running machine.
pub(crate) fn topology(root: &Root) -> Option<Result<Topology, ProbeError>> {
    root.is_live().then(|| {
        let bytes = processor_information()?;
        Ok(Topology { cpus: processors::cpus_in(&bytes), bindable: Vec::new() })
    })
}

/// `GetLogicalProcessorInformationEx(RelationAll)`.
fn processor_information() -> Result<Vec<u8>, ProbeError> {
    let mut bytes = 0;
    // SAFETY: with no buffer the call says how large it must be.
    unsafe { info::GetLogicalProcessorInformationEx(info::RelationAll, std::ptr::null_mut(), &raw mut bytes) };
    // In words, so that its structures are aligned.
    let mut words = vec![0_u64; (bytes as usize).div_ceil(8)];
    // SAFETY: the buffer has as many bytes as the call is told of.
    let done =
        unsafe { info::GetLogicalProcessorInformationEx(info::RelationAll, words.as_mut_ptr().cast(), &raw mut bytes) };
    if done == 0 {
        return Err(failed("GetLogicalProcessorInformationEx", io::Error::last_os_error()));
    }
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).take(bytes as usize).collect())
}

/// The volume of a path, which is whole, on the running machine; within, `None` where Windows does not tell.
pub(crate) fn mount_of(root: &Root, path: &Path) -> Option<Option<Mount>> {
    root.is_live().then(|| volume_of(path))
}

fn volume_of(path: &Path) -> Option<Mount> {
    const FILE_READ_ONLY_VOLUME: u32 = 0x0008_0000;
    let (mut folder, mut kind) = ([0_u16; 512], [0_u16; 64]);
    let (mut serial, mut flags) = (0, 0);
    let name = wide(path);
    // SAFETY: the names end in a zero; each call writes at most as many characters as it is told of, and the numbers.
    let done = unsafe {
        fs::GetVolumePathNameW(name.as_ptr(), folder.as_mut_ptr(), folder.len() as u32) != 0
            && fs::GetVolumeInformationW(
                folder.as_ptr(),
                std::ptr::null_mut(),
                0,
                &raw mut serial,
                std::ptr::null_mut(),
                &raw mut flags,
                kind.as_mut_ptr(),
                kind.len() as u32,
            ) != 0
    };
    let text = |wide: &[u16]| {
        let end = wide.iter().position(|c| *c == 0).unwrap_or(wide.len());
        String::from_utf16_lossy(&wide[..end])
    };
    done.then(|| Mount {
        mount_point: text(&folder).into(),
        fs_type: text(&kind),
        source: text(&folder),
        device_number: crate::disk::number_of(u64::from(serial)),
        options: String::new(),
        read_only: flags & FILE_READ_ONLY_VOLUME != 0,
    })
}

/// What [`crate::HostFacts`] says of the machine itself.
pub(crate) struct MachineFacts {
    pub(crate) cpu_model: String,
    pub(crate) kernel: String,
    pub(crate) memory_bytes: u64,
    pub(crate) hypervisor: Option<String>,
}

/// The same of the running machine, whatever `root` is: trees of files are of Linux.
pub(crate) fn facts(_root: &Root) -> Result<MachineFacts, ProbeError> {
    let mut memory =
        info::MEMORYSTATUSEX { dwLength: size_of::<info::MEMORYSTATUSEX>() as u32, ..info::MEMORYSTATUSEX::default() };
    // SAFETY: the structure says its own length and outlives the call, which fills it.
    if unsafe { info::GlobalMemoryStatusEx(&raw mut memory) } == 0 {
        return Err(failed("GlobalMemoryStatusEx", io::Error::last_os_error()));
    }
    Ok(MachineFacts {
        cpu_model: processors::brand(),
        kernel: version()?,
        memory_bytes: memory.ullTotalPhys,
        hypervisor: processors::hypervisor(),
    })
}

/// `Windows 10.0.20348`: RtlGetVersion tells programs the truth, whatever their manifest says.
fn version() -> Result<String, ProbeError> {
    let mut found = info::OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<info::OSVERSIONINFOW>() as u32,
        ..info::OSVERSIONINFOW::default()
    };
    // SAFETY: the structure says its own length and outlives the call, which fills it.
    let status = unsafe { RtlGetVersion(&raw mut found) };
    if status < 0 {
        return Err(failed("RtlGetVersion", io::ErrorKind::Unsupported.into()));
    }
    Ok(format!("Windows {}.{}.{}", found.dwMajorVersion, found.dwMinorVersion, found.dwBuildNumber))
}

/// Name of this computer in its network; empty where Windows does not tell.
pub(crate) fn host_name(_root: &Root) -> String {
    let mut text = [0_u16; 256];
    let mut length = text.len() as u32;
    // SAFETY: the call writes at most as many characters as it is told of.
    let done =
        unsafe { info::GetComputerNameExW(info::ComputerNamePhysicalDnsHostname, text.as_mut_ptr(), &raw mut length) };
    if done == 0 { String::new() } else { String::from_utf16_lossy(&text[..length as usize]) }
}

/// What runs this program in the place of Windows, with its version: Wine has a function that Windows has not. Its figures are
/// its own: it does neither direct nor overlapped I/O.
pub(crate) fn stand_in(root: &Root) -> Option<String> {
    if !root.is_live() {
        return None;
    }
    let library = wide("ntdll.dll");
    // SAFETY: the name ends in a zero; every process of Windows has this library, as long as it runs.
    let library = unsafe { GetModuleHandleW(library.as_ptr()) };
    // SAFETY: the library stays loaded; the name ends in a zero.
    let found = unsafe { GetProcAddress(library, c"wine_get_version".as_ptr().cast()) }?;
    type Version = unsafe extern "C" fn() -> *const std::ffi::c_char;
    // SAFETY: the one function of this name, `const char * CDECL wine_get_version(void)`, which cannot fail.
    let text = unsafe {
        let version: Version = std::mem::transmute(found);
        std::ffi::CStr::from_ptr(version())
    };
    Some(format!("Wine {}", text.to_string_lossy()))
}
