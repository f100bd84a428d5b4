//! Pages for a drive to reach: large ones where they are set aside, on the NUMA node of the drive
//! (Documentation/admin-guide/mm/hugetlbpage.rst).

use std::io;
use std::ptr::NonNull;

use super::registers::PAGE_BYTES;

/// Bytes of a large page.
pub const LARGE_PAGE_BYTES: usize = 2 << 20;
/// `MPOL_PREFERRED`, `MPOL_BIND` (linux/mempolicy.h).
const PREFERRED: libc::c_int = 1;
const BIND: libc::c_int = 2;
/// Nodes that a mask of `mbind` names here.
const NODES_MAX: u32 = 1024;

/// Memory of its own, zeroed, that children of this process do not have: a fork would leave the drive with pages that
/// this process no longer sees. Freed on drop.
#[derive(Debug)]
pub struct DrivePages {
    base: NonNull<u8>,
    bytes: usize,
    page_bytes: usize,
    node: Option<u32>,
}

// SAFETY: an address and numbers; the mapping belongs to whoever has the value.
unsafe impl Send for DrivePages {}
// SAFETY: a shared reference gives its address alone.
unsafe impl Sync for DrivePages {}

impl DrivePages {
    /// At least `bytes`, on large pages of `node` where enough are free there, else on small ones near it. `None`: no node
    /// is nearer than another.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(bytes: usize, node: Option<u32>) -> io::Result<DrivePages> {
        DrivePages::large(bytes, node).or_else(|_| DrivePages::small(bytes, node))
    }

    /// The same on large pages alone.
    ///
    /// # Errors
    /// When too few are free on the node.
    pub fn large(bytes: usize, node: Option<u32>) -> io::Result<DrivePages> {
        let flags = libc::MAP_HUGETLB | libc::MAP_HUGE_2MB;
        let pages = DrivePages::map(bytes, LARGE_PAGE_BYTES, flags, node)?;
        pages.bind(BIND)?;
        // Not by writing: where the node has too few, a write ends the process with SIGBUS.
        // SAFETY: the range is the mapping, which nobody else has.
        let done = unsafe { libc::madvise(pages.base.as_ptr().cast(), pages.bytes, libc::MADV_POPULATE_WRITE) };
        if done == 0 { Ok(pages) } else { Err(io::Error::last_os_error()) }
    }

    /// The same on small pages alone.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn small(bytes: usize, node: Option<u32>) -> io::Result<DrivePages> {
        let pages = DrivePages::map(bytes, PAGE_BYTES, 0, node)?;
        // A wish: memory of another node does as well, only later.
        let _ = pages.bind(PREFERRED);
        if pages.bytes >= LARGE_PAGE_BYTES {
            // SAFETY: the range is the mapping just made; the advice may fail without harm.
            unsafe { libc::madvise(pages.base.as_ptr().cast(), pages.bytes, libc::MADV_HUGEPAGE) };
        }
        for at in (0..pages.bytes).step_by(PAGE_BYTES) {
            // SAFETY: within the mapping. Volatile, so that each page is there before it is given to the drive.
            unsafe { pages.base.add(at).write_volatile(0) };
        }
        Ok(pages)
    }

    fn map(bytes: usize, page_bytes: usize, flags: libc::c_int, node: Option<u32>) -> io::Result<DrivePages> {
        let wanted = bytes.max(1).checked_next_multiple_of(page_bytes);
        let bytes = wanted.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(at.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let pages = DrivePages { base, bytes, page_bytes, node };
        // SAFETY: the range is the mapping just made; the advice may fail without harm.
        unsafe { libc::madvise(at, bytes, libc::MADV_DONTFORK) };
        Ok(pages)
    }

    /// Asks for memory of the node; without one, nothing.
    fn bind(&self, policy: libc::c_int) -> io::Result<()> {
        let Some(node) = self.node.filter(|node| *node < NODES_MAX) else { return Ok(()) };
        let mut mask = [0_u64; NODES_MAX as usize / 64];
        mask[node as usize / 64] = 1 << (node % 64);
        // SAFETY: the range is the mapping, and the mask has a bit for each number below the one that is passed.
        let done = unsafe {
            let (base, mask) = (self.base.as_ptr(), mask.as_ptr());
            libc::syscall(libc::SYS_mbind, base, self.bytes, policy, mask, libc::c_ulong::from(NODES_MAX) + 1, 0)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Where it begins, aligned to a page.
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its bytes, whole pages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of one of its pages: what a drive's address is looked up for.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The node that it was asked for on.
    #[must_use]
    pub fn node(&self) -> Option<u32> {
        self.node
    }
}

impl Drop for DrivePages {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping made in `map`, which nobody else unmaps.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// The address by which a drive without an IOMMU reaches `bytes` from `at` on: they must lie in one piece.
///
/// # Errors
/// `PermissionDenied` for who may not know physical addresses (it takes `CAP_SYS_ADMIN`); `InvalidInput` for memory that is
/// not there or not in one piece.
pub(crate) fn physical_address(at: NonNull<u8>, bytes: usize) -> io::Result<u64> {
    use std::os::unix::fs::FileExt as _;
    // SAFETY: takes a number alone.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
    let first = at.as_ptr() as u64;
    let count = (first % page_bytes + bytes as u64).div_ceil(page_bytes);
    let mut entries = vec![0_u8; count as usize * ENTRY_BYTES];
    std::fs::File::open("/proc/self/pagemap")?.read_exact_at(&mut entries, first / page_bytes * ENTRY_BYTES as u64)?;
    let entries = entries.chunks_exact(ENTRY_BYTES).map(|entry| {
        let bytes: [u8; ENTRY_BYTES] = entry.try_into().unwrap_or_default();
        u64::from_ne_bytes(bytes)
    });
    Ok(first_frame(entries)? * page_bytes + first % page_bytes)
}

/// Bytes of an entry of `/proc/PID/pagemap` (Documentation/admin-guide/mm/pagemap.rst): the number of the page frame in
/// bits 54:0, and bit 63, the page is in memory.
const ENTRY_BYTES: usize = 8;
const FRAME: u64 = (1 << 55) - 1;
const IS_PRESENT: u64 = 1 << 63;

/// The frame of the first of several pages that lie one behind the other.
fn first_frame(entries: impl IntoIterator<Item = u64>) -> io::Result<u64> {
    let mut first = None;
    for (index, entry) in (0..).zip(entries) {
        let frame = entry & FRAME;
        if entry & IS_PRESENT == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // What the kernel shows to who may not know.
        if frame == 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if frame != *first.get_or_insert(frame) + index {
            return Err(io::ErrorKind::InvalidInput.into());
        }
    }
    first.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pages_are_had_on_any_machine_and_are_zero() {
        for node in [None, Some(0), Some(NODES_MAX)] {
            let pages = DrivePages::small(PAGE_BYTES + 1, node).expect("memory");
            assert_eq!((pages.bytes(), pages.page_bytes(), pages.node()), (2 * PAGE_BYTES, PAGE_BYTES, node));
            // SAFETY: within the mapping, which nobody else has.
            assert!((0..pages.bytes()).all(|at| unsafe { pages.base().add(at).read() } == 0));
        }
        assert!(DrivePages::small(usize::MAX, None).is_err());
    }

    #[test]
    fn large_pages_are_had_where_some_are_free_and_never_end_the_process() {
        // A node that is not there has none.
        assert!(DrivePages::large(1, Some(NODES_MAX - 1)).is_err());
        let pages = DrivePages::new(1, None).expect("of one kind or the other");
        match pages.page_bytes() {
            LARGE_PAGE_BYTES => assert_eq!(pages.bytes(), LARGE_PAGE_BYTES),
            small => assert_eq!((small, pages.bytes()), (PAGE_BYTES, PAGE_BYTES)),
        }
        // SAFETY: within the mapping, which nobody else has.
        unsafe { pages.base().write_volatile(1) };
    }

    #[test]
    fn only_pages_in_one_piece_have_a_physical_address() {
        let entry = |frame: u64| IS_PRESENT | frame;
        assert_eq!(first_frame([entry(7), entry(8), entry(9)]).expect("in a row"), 7);
        let kind = |entries: &[u64]| first_frame(entries.iter().copied()).expect_err("none").kind();
        assert_eq!(kind(&[entry(7), entry(9)]), io::ErrorKind::InvalidInput);
        assert_eq!(kind(&[entry(7), 8]), io::ErrorKind::InvalidInput);
        assert_eq!(kind(&[entry(0)]), io::ErrorKind::PermissionDenied);
        assert_eq!(kind(&[]), io::ErrorKind::InvalidInput);
        // Bits above the frame say other things of the page.
        assert_eq!(first_frame([entry(7) | 1 << 55 | 1 << 61]).expect("there"), 7);
    }

    /// The kernel's own file: root is told, others are refused, and neither learns an address of what is not there.
    #[test]
    fn the_kernel_tells_where_a_page_is_or_refuses() {
        let pages = DrivePages::small(1, None).expect("memory");
        match physical_address(pages.base(), PAGE_BYTES) {
            Ok(address) => assert!(address > 0 && address.is_multiple_of(PAGE_BYTES as u64), "{address:#x}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
