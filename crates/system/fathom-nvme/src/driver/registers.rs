//! Registers of a controller (Base 2.0, section 3.1.3 "Controller Properties"), in the memory that its first BAR opens.

use std::ptr::NonNull;

/// Controller Capabilities.
pub(crate) const CAP: usize = 0x00;
/// Version.
pub(crate) const VS: usize = 0x08;
/// Interrupt Mask Set.
pub(crate) const INTMS: usize = 0x0c;
/// Controller Configuration.
pub(crate) const CC: usize = 0x14;
/// Controller Status.
pub(crate) const CSTS: usize = 0x1c;
/// Admin Queue Attributes.
pub(crate) const AQA: usize = 0x24;
/// Admin Submission Queue Base Address.
pub(crate) const ASQ: usize = 0x28;
/// Admin Completion Queue Base Address.
pub(crate) const ACQ: usize = 0x30;
/// First doorbell (PCIe Transport 1.0, section 3.1.2).
pub(crate) const DOORBELLS: usize = 0x1000;

/// Memory page that Fathom configures, bytes: CC.MPS = 0.
pub(crate) const PAGE_BYTES: usize = 4096;
/// What every register of a device reads as that is no longer there.
pub(crate) const GONE: u32 = u32::MAX;

/// Capabilities of a controller (Base, register CAP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Of the register's value.
    #[must_use]
    pub fn of(value: u64) -> Self {
        Capabilities(value)
    }

    /// Most entries of a queue (MQES, bits 15:0, counted from 0), 2 to 65,536.
    #[must_use]
    pub fn queue_entries_max(self) -> u32 {
        (self.0 & 0xffff) as u32 + 1
    }

    /// Queues must lie in one piece of memory (CQR, bit 16). Those of Fathom always do.
    #[must_use]
    pub fn wants_contiguous_queues(self) -> bool {
        self.0 >> 16 & 1 == 1
    }

    /// Longest time to become ready or to stop, milliseconds (TO, bits 31:24, units of 500 ms).
    #[must_use]
    pub fn timeout_ms(self) -> u64 {
        // A controller that says 0 still needs some time.
        (self.0 >> 24 & 0xff).max(1) * 500
    }

    /// Bytes between two doorbells (DSTRD, bits 35:32).
    #[must_use]
    pub fn doorbell_stride_bytes(self) -> usize {
        4 << (self.0 >> 32 & 0xf)
    }

    /// The NVM command set is there (CSS, bit 37).
    #[must_use]
    pub fn has_nvm_commands(self) -> bool {
        self.0 >> 37 & 1 == 1
    }

    /// The I/O command set is chosen per namespace (CSS, bit 43): what NVMe 2.0 drives with zones say.
    #[must_use]
    pub fn has_command_sets(self) -> bool {
        self.0 >> 43 & 1 == 1
    }

    /// Smallest memory page, bytes (MPSMIN, bits 51:48).
    #[must_use]
    pub fn page_bytes_min(self) -> usize {
        4096 << (self.0 >> 48 & 0xf)
    }
}

/// Status of a controller (Base, register CSTS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerStatus(u32);

impl ControllerStatus {
    /// Of the register's value.
    #[must_use]
    pub fn of(value: u32) -> Self {
        ControllerStatus(value)
    }

    /// The register, as it is.
    #[must_use]
    pub fn value(self) -> u32 {
        self.0
    }

    /// The device does not answer at all: it was pulled, or its link is down.
    #[must_use]
    pub fn is_gone(self) -> bool {
        self.0 == GONE
    }

    /// Takes commands (RDY, bit 0).
    #[must_use]
    pub fn is_ready(self) -> bool {
        self.0 & 1 == 1
    }

    /// Failed beyond what a reset may heal (CFS, bit 1).
    #[must_use]
    pub fn is_fatal(self) -> bool {
        self.0 >> 1 & 1 == 1
    }

    /// Shutdown is complete (SHST, bits 3:2, value 2).
    #[must_use]
    pub fn is_shut_down(self) -> bool {
        self.0 >> 2 & 0b11 == 0b10
    }
}

/// Controller Configuration that Fathom writes (Base, register CC): pages of 4 KiB, round robin, entries of 64 and 16 bytes.
///
/// `all_command_sets`: CSS = 110b, for controllers that choose it per namespace.
#[must_use]
pub(crate) fn configuration(is_enabled: bool, all_command_sets: bool, shuts_down: bool) -> u32 {
    const SUBMISSION_ENTRY_BITS: u32 = 6;
    const COMPLETION_ENTRY_BITS: u32 = 4;
    const NORMAL_SHUTDOWN: u32 = 0b01;
    u32::from(is_enabled)
        | (if all_command_sets { 0b110 } else { 0 }) << 4
        | (if shuts_down { NORMAL_SHUTDOWN } else { 0 }) << 14
        | SUBMISSION_ENTRY_BITS << 16
        | COMPLETION_ENTRY_BITS << 20
}

/// A window on a device's registers; does not own it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    base: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: an address and a length. Each access is one aligned volatile load or store, which threads may do at once as far
// as this program is concerned; who may write what is the business of `Controller`.
unsafe impl Send for Bar {}
// SAFETY: as for `Send`.
unsafe impl Sync for Bar {}

impl Bar {
    /// # Safety
    /// `base` is aligned to a page, and `len_bytes` from it on are mapped as long as the value and its copies are used.
    pub(crate) unsafe fn new(base: NonNull<u8>, len_bytes: usize) -> Self {
        Bar { base, len_bytes }
    }

    /// Bytes of the window.
    pub(crate) fn len_bytes(self) -> usize {
        self.len_bytes
    }

    /// Where the register of four bytes at `at` is.
    pub(crate) fn place(self, at: usize) -> NonNull<u32> {
        assert!(at.is_multiple_of(4) && at + 4 <= self.len_bytes, "a register outside the window");
        // SAFETY: within the window, as just checked.
        unsafe { self.base.add(at) }.cast()
    }

    pub(crate) fn read(self, at: usize) -> u32 {
        // SAFETY: mapped and aligned (`new`, `place`).
        unsafe { self.place(at).read_volatile() }
    }

    pub(crate) fn write(self, at: usize, value: u32) {
        // SAFETY: as in `read`.
        unsafe { self.place(at).write_volatile(value) }
    }

    /// Registers of eight bytes are read and written as two of four, the lower first: every controller takes that.
    pub(crate) fn read_wide(self, at: usize) -> u64 {
        u64::from(self.read(at)) | u64::from(self.read(at + 4)) << 32
    }

    pub(crate) fn write_wide(self, at: usize, value: u64) {
        self.write(at, value as u32);
        self.write(at + 4, (value >> 32) as u32);
    }

    pub(crate) fn status(self) -> ControllerStatus {
        ControllerStatus::of(self.read(CSTS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The register of a drive of QEMU 7.2, as read in the testbed.
    const OF_QEMU: u64 = 0x0040_1820_0f01_07ff;

    #[test]
    fn capabilities_are_read_field_by_field() {
        let cap = Capabilities::of(OF_QEMU);
        assert_eq!((cap.queue_entries_max(), cap.wants_contiguous_queues()), (2048, true));
        assert_eq!((cap.timeout_ms(), cap.doorbell_stride_bytes()), (7500, 4));
        assert_eq!((cap.has_nvm_commands(), cap.has_command_sets(), cap.page_bytes_min()), (true, true, 4096));
        let odd = Capabilities::of(0x0003_0003_0000_0001);
        assert_eq!((odd.queue_entries_max(), odd.timeout_ms()), (2, 500));
        assert_eq!((odd.doorbell_stride_bytes(), odd.page_bytes_min(), odd.has_nvm_commands()), (32, 32_768, false));
    }

    #[test]
    fn a_configuration_has_its_fields_in_their_places() {
        assert_eq!(configuration(true, false, false), 0x0046_0001);
        assert_eq!(configuration(false, false, false), 0x0046_0000);
        assert_eq!(configuration(true, true, true), 0x0046_4061);
    }

    #[test]
    fn a_status_tells_ready_from_fatal_and_gone() {
        let of = ControllerStatus::of;
        assert!(of(1).is_ready() && !of(1).is_fatal() && !of(1).is_gone());
        assert!(of(2).is_fatal() && !of(2).is_ready());
        assert!(of(0b1001).is_shut_down() && !of(0b0101).is_shut_down());
        assert!(of(u32::MAX).is_gone());
    }
}
