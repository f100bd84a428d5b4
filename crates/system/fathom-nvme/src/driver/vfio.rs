//! A PCI function in the hands of this process: VFIO with an IOMMU (linux/vfio.h, type 1), and without one where the user
//! said so.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::error::DriverError;
use super::memory::PciFunction;
use super::pages::physical_address;
use super::registers::PAGE_BYTES;

/// _IO(';', 100 + n), linux/vfio.h.
const GET_API_VERSION: libc::Ioctl = 0x3b64;
const CHECK_EXTENSION: libc::Ioctl = 0x3b65;
const SET_IOMMU: libc::Ioctl = 0x3b66;
const GROUP_GET_STATUS: libc::Ioctl = 0x3b67;
const GROUP_SET_CONTAINER: libc::Ioctl = 0x3b68;
const GROUP_GET_DEVICE_FD: libc::Ioctl = 0x3b6a;
const DEVICE_GET_REGION_INFO: libc::Ioctl = 0x3b6c;
const DEVICE_SET_IRQS: libc::Ioctl = 0x3b6e;
const IOMMU_GET_INFO: libc::Ioctl = 0x3b70;
const IOMMU_MAP_DMA: libc::Ioctl = 0x3b71;
const IOMMU_UNMAP_DMA: libc::Ioctl = 0x3b72;
const API_VERSION: i32 = 0;
/// `VFIO_TYPE1v2_IOMMU`, `VFIO_NOIOMMU_IOMMU`.
const TYPE_1_V2: usize = 3;
const NO_IOMMU: usize = 8;
/// `VFIO_GROUP_FLAGS_VIABLE`.
const VIABLE: u32 = 1;
/// `VFIO_PCI_BAR0_REGION_INDEX`, `VFIO_PCI_CONFIG_REGION_INDEX`.
const BAR_0: u32 = 0;
const CONFIGURATION_SPACE: u32 = 7;
/// `VFIO_REGION_INFO_FLAG_MMAP`.
const CAN_BE_MAPPED: u32 = 1 << 2;
/// `VFIO_PCI_REQ_IRQ_INDEX`: the event by which the kernel asks for the device back.
const REQUEST_EVENT: u32 = 4;
/// `VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER`.
const BY_EVENT_FD: u32 = 1 << 2 | 1 << 5;
/// `VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE`.
const READ_AND_WRITE: u32 = 0b11;
/// `VFIO_IOMMU_INFO_CAPS`, `VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE`.
const HAS_CAPABILITIES: u32 = 1 << 1;
const CAPABILITY_RANGES: u16 = 1;
/// PCI command register, and its bits Memory Space and Bus Master (PCI Local Bus 3.0, section 6.2.2).
const PCI_COMMAND: u64 = 0x04;
const MEMORY_SPACE: u16 = 1 << 1;
const BUS_MASTER: u16 = 1 << 2;
/// Where addresses for the device begin: above everything that has a place of its own below 4 GiB.
const FIRST_ADDRESS: u64 = 1 << 32;
/// Mappings begin at multiples of a huge page, so that the IOMMU can use large entries where memory has them.
const MAPPING_ALIGN: u64 = 2 << 20;

#[repr(C)]
struct GroupStatus {
    size: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct RegionInfo {
    size: u32,
    flags: u32,
    index: u32,
    capability_offset: u32,
    bytes: u64,
    offset: u64,
}

#[repr(C)]
struct MapDma {
    size: u32,
    flags: u32,
    memory: u64,
    address: u64,
    bytes: u64,
}

#[repr(C)]
struct UnmapDma {
    size: u32,
    flags: u32,
    address: u64,
    bytes: u64,
}

#[repr(C)]
struct SetIrqs {
    size: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    event: i32,
}

const _: () = assert!(size_of::<RegionInfo>() == 32 && size_of::<MapDma>() == 32 && size_of::<UnmapDma>() == 24);

/// A function that the kernel gave to `vfio-pci`, open for this process alone; closing it resets the function and takes
/// every access to memory away.
pub struct VfioFunction {
    // In the order in which they close: the device before its group and container.
    registers: NonNull<u8>,
    bar_bytes: usize,
    device: File,
    configuration_offset: u64,
    wanted_back: Option<File>,
    _group: OwnedFd,
    container: OwnedFd,
    /// `None`: the device reaches memory by physical addresses.
    addresses: Option<Mutex<Addresses>>,
    numa_node: Option<u32>,
}

// SAFETY: descriptors, and a mapping that is accessed by volatile loads and stores alone.
unsafe impl Send for VfioFunction {}
// SAFETY: as for `Send`; the addresses given out are behind a lock.
unsafe impl Sync for VfioFunction {}

impl std::fmt::Debug for VfioFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VfioFunction").field("bar_bytes", &self.bar_bytes).finish_non_exhaustive()
    }
}

/// Addresses for the device: ranges that the IOMMU takes, handed out upwards.
#[derive(Debug)]
struct Addresses {
    ranges: Vec<(u64, u64)>,
    next: u64,
}

impl Addresses {
    /// Room for `bytes`; nothing is given out twice.
    fn take(&mut self, bytes: u64) -> Option<u64> {
        for (first, last) in &self.ranges {
            let at = self.next.max(*first).checked_next_multiple_of(MAPPING_ALIGN)?;
            if at.checked_add(bytes - 1).is_some_and(|end| end <= *last) {
                self.next = at + bytes;
                return Some(at);
            }
        }
        None
    }
}

/// How a device reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By addresses that an IOMMU looks up: nothing but what was mapped.
    ByIommu,
    /// By physical addresses: all memory of the machine.
    Physical,
}

impl Reach {
    /// What the kernel calls it.
    fn kind(self) -> usize {
        match self {
            Reach::ByIommu => TYPE_1_V2,
            Reach::Physical => NO_IOMMU,
        }
    }
}

/// The files by which a program has an IOMMU group, open for reading and writing.
#[derive(Debug)]
pub struct VfioFiles {
    /// `/dev/vfio/vfio`.
    pub container: OwnedFd,
    /// That of the group.
    pub group: OwnedFd,
    /// Where that is, e.g. `/dev/vfio/12`.
    pub group_path: PathBuf,
}

impl VfioFiles {
    /// Where the container is.
    pub const CONTAINER: &str = "/dev/vfio/vfio";
}

impl VfioFunction {
    /// Has the function at a PCI address (`0000:5e:00.0`), whose driver is `vfio-pci`. `numa_node`: the one it is attached to.
    ///
    /// # Errors
    /// [`DriverError`]: no permission, no IOMMU, a group that is not viable, or in use by another process.
    pub fn open(
        address: &str,
        numa_node: Option<u32>,
        reach: Reach,
        files: VfioFiles,
    ) -> Result<VfioFunction, DriverError> {
        let path = PathBuf::from(VfioFiles::CONTAINER);
        let VfioFiles { container, group: group_fd, group_path } = files;
        let system = |call, path: &Path, source| DriverError::System { call, path: path.to_owned(), source };
        let fd = container.as_raw_fd();
        let version = call(fd, GET_API_VERSION, 0).map_err(|e| system("VFIO_GET_API_VERSION", &path, e))?;
        let has_kind = call(fd, CHECK_EXTENSION, reach.kind()).unwrap_or(0) == 1;
        if version != API_VERSION || !has_kind {
            return Err(match reach {
                Reach::ByIommu => DriverError::NoIommu,
                Reach::Physical => DriverError::NoIommuModeOff,
            });
        }
        let mut status = GroupStatus { size: size_of::<GroupStatus>() as u32, flags: 0 };
        fill(group_fd.as_raw_fd(), GROUP_GET_STATUS, &mut status)
            .map_err(|e| system("VFIO_GROUP_GET_STATUS", &group_path, e))?;
        if status.flags & VIABLE == 0 {
            return Err(DriverError::GroupNotViable { group: group_path });
        }
        let mut container_fd = fd;
        fill(group_fd.as_raw_fd(), GROUP_SET_CONTAINER, &mut container_fd)
            .map_err(|e| system("VFIO_GROUP_SET_CONTAINER", &group_path, e))?;
        call(fd, SET_IOMMU, reach.kind()).map_err(|e| system("VFIO_SET_IOMMU", &path, e))?;
        let name = std::ffi::CString::new(address)
            .map_err(|_| system("VFIO_GROUP_GET_DEVICE_FD", &group_path, io::ErrorKind::InvalidInput.into()))?;
        // SAFETY: the call reads a string that outlives it, and returns a descriptor that nobody else has.
        let device = unsafe {
            let fd = libc::ioctl(group_fd.as_raw_fd(), GROUP_GET_DEVICE_FD, name.as_ptr());
            if fd < 0 {
                return Err(system("VFIO_GROUP_GET_DEVICE_FD", &group_path, io::Error::last_os_error()));
            }
            File::from(OwnedFd::from_raw_fd(fd))
        };
        let region = |index| {
            let mut info = RegionInfo { size: size_of::<RegionInfo>() as u32, index, ..RegionInfo::default() };
            fill(device.as_raw_fd(), DEVICE_GET_REGION_INFO, &mut info)
                .map_err(|e| system("VFIO_DEVICE_GET_REGION_INFO", &group_path, e))?;
            Ok::<_, DriverError>(info)
        };
        let (bar, configuration) = (region(BAR_0)?, region(CONFIGURATION_SPACE)?);
        if bar.flags & CAN_BE_MAPPED == 0 || bar.bytes < 2 * PAGE_BYTES as u64 {
            return Err(DriverError::NotNvme { bar_bytes: bar.bytes });
        }
        let bar_bytes = bar.bytes as usize;
        // SAFETY: a fresh shared mapping of the device's registers at an address of the kernel's choice.
        let at = unsafe {
            let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), bar_bytes, access, flags, device.as_raw_fd(), bar.offset as i64)
        };
        let registers = (at != libc::MAP_FAILED).then(|| NonNull::new(at.cast())).flatten();
        let registers = registers.ok_or_else(|| system("mmap", &group_path, io::Error::last_os_error()))?;
        let function = VfioFunction {
            registers,
            bar_bytes,
            wanted_back: event_when_wanted_back(&device).ok(),
            device,
            configuration_offset: configuration.offset,
            _group: group_fd,
            addresses: (reach == Reach::ByIommu)
                .then(|| Mutex::new(Addresses { ranges: ranges_of(fd), next: FIRST_ADDRESS })),
            numa_node,
            container,
        };
        function.set_command(MEMORY_SPACE | BUS_MASTER, 0).map_err(|e| system("PCI command", &group_path, e))?;
        Ok(function)
    }

    /// Sets and clears bits of the PCI command register.
    fn set_command(&self, set: u16, clear: u16) -> io::Result<()> {
        let at = self.configuration_offset + PCI_COMMAND;
        let mut bytes = [0; 2];
        self.device.read_exact_at(&mut bytes, at)?;
        let value = u16::from_le_bytes(bytes) & !clear | set;
        self.device.write_all_at(&value.to_le_bytes(), at)
    }
}

// SAFETY: the registers stay mapped until the value is dropped, and the IOMMU keeps the device from what is not mapped.
// Without one nothing does: the user accepted that a fault of the device may write anywhere, and a sound one only goes where
// commands and queues say, which is memory that was mapped.
unsafe impl PciFunction for VfioFunction {
    fn registers(&self) -> (NonNull<u8>, usize) {
        (self.registers, self.bar_bytes)
    }

    unsafe fn map(&self, at: NonNull<u8>, bytes: usize) -> io::Result<u64> {
        let Some(addresses) = &self.addresses else { return physical_address(at, bytes) };
        let mut addresses = addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let address = addresses.take(bytes as u64).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSPC))?;
        let mut map = MapDma {
            size: size_of::<MapDma>() as u32,
            flags: READ_AND_WRITE,
            memory: at.as_ptr() as u64,
            address,
            bytes: bytes as u64,
        };
        fill(self.container.as_raw_fd(), IOMMU_MAP_DMA, &mut map)?;
        Ok(address)
    }

    fn unmap(&self, address: u64, bytes: usize) {
        if self.addresses.is_none() {
            return;
        }
        let mut unmap = UnmapDma { size: size_of::<UnmapDma>() as u32, flags: 0, address, bytes: bytes as u64 };
        // Fails only for what is not mapped.
        let _ = fill(self.container.as_raw_fd(), IOMMU_UNMAP_DMA, &mut unmap);
    }

    fn is_wanted_back(&self) -> bool {
        let Some(event) = &self.wanted_back else { return false };
        let mut ready = libc::pollfd { fd: event.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry that outlives the call.
        unsafe { libc::poll(&raw mut ready, 1, 0) == 1 }
    }

    fn numa_node(&self) -> Option<u32> {
        self.numa_node
    }

    fn wants_large_pages(&self) -> bool {
        self.addresses.is_none()
    }

    fn cut_off(&self) -> io::Result<()> {
        self.set_command(0, BUS_MASTER)
    }
}

impl Drop for VfioFunction {
    fn drop(&mut self) {
        // A function that nobody drives has no business on the bus.
        let _ = self.cut_off();
        // SAFETY: the mapping of `open`.
        unsafe { libc::munmap(self.registers.as_ptr().cast(), self.bar_bytes) };
    }
}

fn call(fd: RawFd, request: libc::Ioctl, value: usize) -> io::Result<i32> {
    // SAFETY: the calls that come here take a number.
    let done = unsafe { libc::ioctl(fd, request, value) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

/// A call that reads and fills a structure which says its own length.
fn fill<T>(fd: RawFd, request: libc::Ioctl, value: &mut T) -> io::Result<()> {
    // SAFETY: every request that comes here is given the structure that it is declared with, which outlives the call.
    let done = unsafe { libc::ioctl(fd, request, &raw mut *value) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The descriptor that becomes readable when the kernel wants the device back.
fn event_when_wanted_back(device: &File) -> io::Result<File> {
    // SAFETY: takes numbers and returns a descriptor that nobody else has.
    let event = unsafe {
        let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from(OwnedFd::from_raw_fd(fd))
    };
    let mut set = SetIrqs {
        size: size_of::<SetIrqs>() as u32,
        flags: BY_EVENT_FD,
        index: REQUEST_EVENT,
        start: 0,
        count: 1,
        event: event.as_raw_fd(),
    };
    fill(device.as_raw_fd(), DEVICE_SET_IRQS, &mut set)?;
    Ok(event)
}

/// Ranges of addresses that the IOMMU takes; everything, where the kernel does not tell.
fn ranges_of(container: RawFd) -> Vec<(u64, u64)> {
    // `struct vfio_iommu_type1_info` and its capabilities.
    let mut info = [0_u32; 256];
    info[0] = size_of_val(&info) as u32;
    let everything = || vec![(FIRST_ADDRESS, (1 << 39) - 1)];
    if fill(container, IOMMU_GET_INFO, &mut info).is_err() {
        return everything();
    }
    let bytes: Vec<u8> = info.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let ranges = if info[1] & HAS_CAPABILITIES == 0 { Vec::new() } else { ranges_in(&bytes) };
    if ranges.is_empty() { everything() } else { ranges }
}

/// Ranges of the capability of `struct vfio_iommu_type1_info` that lists them.
fn ranges_in(info: &[u8]) -> Vec<(u64, u64)> {
    let u32_at = |at: usize| info.get(at..at + 4).and_then(|b| b.first_chunk().copied()).map(u32::from_ne_bytes);
    let u64_at = |at: usize| info.get(at..at + 8).and_then(|b| b.first_chunk().copied()).map(u64::from_ne_bytes);
    let mut at = u32_at(16).unwrap_or(0) as usize;
    // A chain that leads backwards would not end.
    let mut seen = 0;
    while at > seen {
        seen = at;
        let Some(head) = u32_at(at) else { break };
        if head as u16 == CAPABILITY_RANGES {
            let count = u32_at(at + 8).unwrap_or(0).min(64) as usize;
            let range = |index: usize| Some((u64_at(at + 16 + 16 * index)?, u64_at(at + 24 + 16 * index)?));
            return (0..count).filter_map(range).collect();
        }
        at = u32_at(at + 4).unwrap_or(0) as usize;
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_given_once_and_only_where_the_iommu_takes_them() {
        let mut addresses = Addresses {
            ranges: vec![(0, 0xfedf_ffff), (0xfef0_0000, 0x1_0050_0000), (0x2_0000_0000, u64::MAX)],
            next: FIRST_ADDRESS,
        };
        assert_eq!(addresses.take(4096), Some(0x1_0000_0000));
        assert_eq!(addresses.take(8192), Some(0x1_0020_0000));
        // The rest of the second range is too short.
        assert_eq!(addresses.take(4 << 20), Some(0x2_0000_0000));
        assert_eq!(addresses.take(u64::MAX), None);
    }

    /// As far as a machine without such drives goes: what answers no call of VFIO is named with the first of them, and a
    /// container that knows the version but not the way is refused in the words of that way.
    #[test]
    fn both_ways_to_memory_begin_with_the_version_of_the_container() {
        for reach in [Reach::ByIommu, Reach::Physical] {
            let null = || OwnedFd::from(File::open("/dev/null").expect("a device"));
            let files = VfioFiles { container: null(), group: null(), group_path: "/dev/vfio/noiommu-0".into() };
            let error = VfioFunction::open("0000:00:00.0", None, reach, files).expect_err("no container");
            match error {
                DriverError::System { call, path, source } => {
                    assert_eq!((call, path.to_str()), ("VFIO_GET_API_VERSION", Some(VfioFiles::CONTAINER)));
                    assert_eq!(source.raw_os_error(), Some(libc::ENOTTY));
                }
                other => panic!("{other}"),
            }
        }
        assert_eq!((Reach::ByIommu.kind(), Reach::Physical.kind()), (3, 8));
    }

    #[test]
    fn ranges_are_read_from_the_kernels_answer_and_nonsense_from_none() {
        let mut words = [0_u32; 24];
        // The first capability is another one; the second has two ranges.
        (words[4], words[6], words[7]) = (24, 3, 40);
        (words[10], words[11], words[12]) = (1, 0, 2);
        (words[14], words[16]) = (0x1000, 0xfedf_ffff);
        (words[18], words[19], words[20], words[21]) = (0, 1, 0xffff_ffff, 0x7f);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(ranges_in(&bytes), [(0x1000, 0xfedf_ffff), (1 << 32, 0x7f_ffff_ffff)]);
        assert_eq!(ranges_in(&bytes[..20]), []);
        assert_eq!(ranges_in(&[0xff; 96]), []);
    }
}
