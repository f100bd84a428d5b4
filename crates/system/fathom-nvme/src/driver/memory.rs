//! Memory that a drive reads and writes by itself.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use super::error::DriverError;
use super::pages::DrivePages;
use super::registers::PAGE_BYTES;

/// A PCI function that holds an NVMe controller, opened for this process alone.
///
/// # Safety
/// The memory that [`registers`](Self::registers) names is mapped as long as the value lives, and no access of the device
/// reaches memory of this process that is not mapped by [`map`](Self::map).
pub unsafe trait PciFunction: Send + Sync {
    /// Its registers: start, aligned to a page, and length in bytes.
    fn registers(&self) -> (NonNull<u8>, usize);

    /// Lets the device reach `bytes` from `at` on, whole pages both; the address by which it does.
    ///
    /// # Errors
    /// As the operating system says: most often `ENOMEM` where too little memory may be locked.
    ///
    /// # Safety
    /// The memory stays mapped until [`unmap`](Self::unmap) or the end of the device's access, and nothing in this program
    /// relies on what the device may write there.
    unsafe fn map(&self, at: NonNull<u8>, bytes: usize) -> io::Result<u64>;

    /// Ends what `map` gave.
    fn unmap(&self, address: u64, bytes: usize);

    /// Whether the operating system wants the device back: it is about to be removed.
    fn is_wanted_back(&self) -> bool;

    /// NUMA node that it is attached to; `None`: none is nearer than another.
    fn numa_node(&self) -> Option<u32> {
        None
    }

    /// Whether [`map`](Self::map) takes memory in one physical piece alone, which is never moved: large pages.
    fn wants_large_pages(&self) -> bool {
        false
    }

    /// Takes the device's access to memory away, for one that does not stop by itself.
    ///
    /// # Errors
    /// As the operating system says.
    fn cut_off(&self) -> io::Result<()>;
}

/// Pages that the device may reach, zeroed at first.
pub(crate) struct DmaMemory {
    pages: DrivePages,
    address: u64,
    device: Arc<dyn PciFunction>,
}

impl DmaMemory {
    /// At least `bytes`, rounded up to pages. Small ones do for what is a few pages long, unless the device takes no others.
    ///
    /// # Errors
    /// When there is no memory, or the device may not have it.
    pub(crate) fn new(device: &Arc<dyn PciFunction>, bytes: usize) -> Result<Self, DriverError> {
        let refused = |source| DriverError::of_memory(&**device, bytes, source);
        let pages = match device.wants_large_pages() {
            true => DrivePages::large(bytes, device.numa_node()),
            false => DrivePages::small(bytes, device.numa_node()),
        };
        let pages = pages.map_err(refused)?;
        // SAFETY: whole pages that nobody else knows of, unmapped for the device before they go (`drop`).
        let address = unsafe { device.map(pages.base(), pages.bytes()) }.map_err(refused)?;
        Ok(DmaMemory { pages, address, device: device.clone() })
    }

    /// Where the device finds it.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Where this program finds the `T` number `index`.
    pub(crate) fn place<T>(&self, index: usize) -> NonNull<T> {
        assert!((index + 1) * size_of::<T>() <= self.pages.bytes(), "beyond the memory");
        // SAFETY: within the mapping, as just checked; pages are aligned to more than any `T` here needs.
        unsafe { self.pages.base().cast::<T>().add(index) }
    }

    /// Copies its first bytes out.
    pub(crate) fn copy_out(&self, bytes: usize) -> Vec<u8> {
        (0..bytes.min(self.pages.bytes()))
            // SAFETY: within the mapping. Volatile, since the device wrote it.
            .map(|at| unsafe { self.place::<u8>(at).read_volatile() })
            .collect()
    }
}

impl Drop for DmaMemory {
    fn drop(&mut self) {
        // Before the pages go.
        self.device.unmap(self.address, self.pages.bytes());
    }
}

/// Memory of somebody else that the device may reach meanwhile.
pub(crate) struct Lent {
    address: u64,
    bytes: usize,
    device: Arc<dyn PciFunction>,
}

impl Lent {
    /// # Errors
    /// As [`PciFunction::map`].
    ///
    /// # Safety
    /// As [`PciFunction::map`], until the value is dropped.
    pub(crate) unsafe fn new(device: &Arc<dyn PciFunction>, at: NonNull<u8>, bytes: usize) -> io::Result<Self> {
        // SAFETY: the caller's promise.
        let address = unsafe { device.map(at, bytes) }?;
        Ok(Lent { address, bytes, device: device.clone() })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.device.unmap(self.address, self.bytes);
    }
}

/// The places of one buffer as a command names them: PRP 1 and 2 (Base 2.0, section 4.1.1), for a buffer of `len` bytes at
/// `address`, whose further pages stand in a list at `list`.
#[inline(always)]
pub(crate) fn prps(address: u64, len: u32, list: u64) -> (u64, u64) {
    const PAGE: u64 = PAGE_BYTES as u64;
    let in_first = PAGE - (address & (PAGE - 1));
    let len = u64::from(len);
    if len <= in_first {
        return (address, 0);
    }
    let second = (address & !(PAGE - 1)) + PAGE;
    (address, if len <= in_first + PAGE { second } else { list })
}

/// Entries of a PRP list: the pages behind the first one that a buffer of `len` bytes at `address` touches.
pub(crate) fn further_pages(address: u64, len: u64) -> impl Iterator<Item = u64> {
    const PAGE: u64 = PAGE_BYTES as u64;
    let first = address & !(PAGE - 1);
    (first + PAGE..address + len).step_by(PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes that a controller moves, page by page, as it reads PRPs and a list.
    fn walked(address: u64, len: u32) -> Vec<(u64, u64)> {
        const LIST: u64 = 1 << 50;
        let list: Vec<u64> = further_pages(address, u64::from(len)).collect();
        let (first, second) = prps(address, len, LIST);
        let mut left = u64::from(len);
        let mut moved = Vec::new();
        let mut take = |at: u64| {
            let bytes = (4096 - at % 4096).min(left);
            left -= bytes;
            moved.push((at, bytes));
            left
        };
        let mut rest = take(first);
        if rest > 0 && rest <= 4096 {
            rest = take(second);
        } else if rest > 0 {
            assert_eq!(second, LIST);
            for at in list {
                rest = take(at);
            }
        }
        assert_eq!(rest, 0);
        moved
    }

    proptest! {
        #[test]
        fn prps_name_each_byte_of_a_buffer_once(page in 0_u64..1000, at in 0_u64..1024, len in 1_u32..300_000) {
            let address = page * 4096 + at * 4;
            let mut next = address;
            for (from, bytes) in walked(address, len) {
                prop_assert_eq!(from, next);
                next += bytes;
            }
            prop_assert_eq!(next, address + u64::from(len));
        }
    }
}
