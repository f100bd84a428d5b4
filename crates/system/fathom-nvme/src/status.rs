//! What a command ended with, and the errno the kernel's block layer would make of it.

use fathom_message::{Message, Say, msg};
use serde::{Deserialize, Serialize};

/// Numbers of Linux (asm-generic/errno.h), whatever system this is: what its block layer reports is part of the lab's records.
mod errno {
    pub(super) const EIO: i32 = 5;
    pub(super) const ENOSPC: i32 = 28;
    pub(super) const EBADE: i32 = 52;
    pub(super) const ENODATA: i32 = 61;
    pub(super) const ENOLINK: i32 = 67;
    pub(super) const EILSEQ: i32 = 84;
    pub(super) const EOPNOTSUPP: i32 = 95;
    pub(super) const EREMOTEIO: i32 = 121;
}

/// Status field of a completion without the phase tag (Base 2.0, figure "Completion Queue Entry: Status Field"): code in
/// bits 7:0, code type in 10:8, More in 13, Do Not Retry in 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status(u16);

/// Code type, code, meaning, errno. Meanings after Base 2.0 "Status Code" figures and NVM 1.0; errno after `nvme_error_status`
/// and `blk_errors` of Linux.
const KNOWN: &[(u8, u8, Message, i32)] = &[
    (0, 0x00, msg!("nvme-status-success"), 0),
    (0, 0x01, msg!("nvme-status-invalid-opcode"), errno::EOPNOTSUPP),
    (0, 0x02, msg!("nvme-status-invalid-field"), errno::EOPNOTSUPP),
    (0, 0x03, msg!("nvme-status-id-conflict"), errno::EIO),
    (0, 0x04, msg!("nvme-status-transfer"), errno::EIO),
    (0, 0x05, msg!("nvme-status-power-loss"), errno::EIO),
    (0, 0x06, msg!("nvme-status-internal"), errno::EIO),
    (0, 0x07, msg!("nvme-status-abort-requested"), errno::EIO),
    (0, 0x08, msg!("nvme-status-queue-deleted"), errno::EIO),
    (0, 0x0b, msg!("nvme-status-invalid-namespace"), errno::EOPNOTSUPP),
    (0, 0x0c, msg!("nvme-status-sequence"), errno::EIO),
    (0, 0x15, msg!("nvme-status-denied"), errno::EIO),
    (0, 0x1c, msg!("nvme-status-sanitize-failed"), errno::EIO),
    (0, 0x1d, msg!("nvme-status-sanitize-running"), errno::EIO),
    (0, 0x20, msg!("nvme-status-write-protected"), errno::EIO),
    (0, 0x21, msg!("nvme-status-interrupted"), errno::EREMOTEIO),
    (0, 0x80, msg!("nvme-status-lba-out-of-range"), errno::EREMOTEIO),
    (0, 0x81, msg!("nvme-status-capacity"), errno::ENOSPC),
    (0, 0x82, msg!("nvme-status-not-ready"), errno::EREMOTEIO),
    (0, 0x83, msg!("nvme-status-reservation"), errno::EBADE),
    (0, 0x84, msg!("nvme-status-format-running"), errno::EIO),
    (1, 0x06, msg!("nvme-status-firmware-slot"), errno::EIO),
    (1, 0x09, msg!("nvme-status-log-page"), errno::EIO),
    (1, 0x0a, msg!("nvme-status-invalid-format"), errno::EIO),
    (1, 0x0d, msg!("nvme-status-not-saveable"), errno::EIO),
    (1, 0x0e, msg!("nvme-status-not-changeable"), errno::EIO),
    (1, 0x80, msg!("nvme-status-conflicting-attributes"), errno::EOPNOTSUPP),
    (1, 0x81, msg!("nvme-status-invalid-protection"), errno::EILSEQ),
    (1, 0x82, msg!("nvme-status-read-only-range"), errno::ENODATA),
    (2, 0x80, msg!("nvme-status-write-fault"), errno::ENODATA),
    (2, 0x81, msg!("nvme-status-unrecovered-read"), errno::ENODATA),
    (2, 0x82, msg!("nvme-status-guard-check"), errno::EILSEQ),
    (2, 0x83, msg!("nvme-status-application-tag"), errno::EILSEQ),
    (2, 0x84, msg!("nvme-status-reference-tag"), errno::EILSEQ),
    (2, 0x85, msg!("nvme-status-compare"), errno::ENODATA),
    (2, 0x86, msg!("nvme-status-access-denied"), errno::ENODATA),
    (2, 0x87, msg!("nvme-status-deallocated"), errno::ENODATA),
    (3, 0x00, msg!("nvme-status-path-internal"), errno::EIO),
    (3, 0x01, msg!("nvme-status-path-lost"), errno::EIO),
    (3, 0x02, msg!("nvme-status-path-inaccessible"), errno::EIO),
    (3, 0x03, msg!("nvme-status-path-transition"), errno::EIO),
    (3, 0x70, msg!("nvme-status-path-abandoned"), errno::ENOLINK),
    (3, 0x71, msg!("nvme-status-host-abort"), errno::ENOLINK),
];

impl Status {
    /// From a status field without phase tag.
    #[must_use]
    pub const fn of(field: u16) -> Self {
        Status(field & 0x7fff)
    }

    /// The field, as `nvme` tools print it.
    #[must_use]
    pub const fn field(self) -> u16 {
        self.0
    }

    /// Which table the code is from: 0 generic, 1 command specific, 2 media and data integrity, 3 path, 7 vendor.
    #[must_use]
    pub const fn code_type(self) -> u8 {
        (self.0 >> 8 & 0b111) as u8
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0 as u8
    }

    /// What the code means.
    #[must_use]
    pub fn meaning(self) -> Message {
        let known = KNOWN.iter().find(|k| (k.0, k.1) == (self.code_type(), self.code()));
        known.map_or_else(
            || match self.code_type() {
                0 => msg!("nvme-status-other-generic"),
                1 => msg!("nvme-status-other-command"),
                2 => msg!("nvme-status-other-media"),
                3 => msg!("nvme-status-other-path"),
                7 => msg!("nvme-status-other-vendor"),
                _ => msg!("nvme-status-other-reserved"),
            },
            |k| k.2.clone(),
        )
    }

    /// The errno that the kernel's block layer reports for it; 0 for success.
    #[must_use]
    pub fn errno(self) -> i32 {
        KNOWN.iter().find(|k| (k.0, k.1) == (self.code_type(), self.code())).map_or(errno::EIO, |k| k.3)
    }
}

impl Say for Status {
    fn message(&self) -> Message {
        let (kind, code) = (format!("{:X}", self.code_type()), format!("{:02X}", self.code()));
        msg!("nvme-status", meaning = self.meaning(), type = kind, code = code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

    #[test]
    fn a_media_error_is_given_in_words_and_as_the_kernels_errno() {
        let status = Status::of(0x4281);
        assert_eq!(english(&status.message()), "unrecovered read error (NVMe status type 2h code 81h)");
        assert_eq!(status.errno(), errno::ENODATA);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn numbers_are_those_of_linux() {
        let ours = [errno::EIO, errno::ENOSPC, errno::EBADE, errno::ENODATA, errno::ENOLINK, errno::EILSEQ];
        assert_eq!(ours, [libc::EIO, libc::ENOSPC, libc::EBADE, libc::ENODATA, libc::ENOLINK, libc::EILSEQ]);
        assert_eq!([errno::EOPNOTSUPP, errno::EREMOTEIO], [libc::EOPNOTSUPP, libc::EREMOTEIO]);
    }

    #[test]
    fn an_unknown_code_is_given_by_its_type() {
        assert_eq!(Status::of(0x7c5).meaning().id(), "nvme-status-other-vendor");
        assert_eq!(Status::of(0x2ff).errno(), errno::EIO);
    }

    #[test]
    fn only_success_is_errno_0() {
        for field in 0..0x800 {
            assert_eq!(Status::of(field).errno() == 0, field == 0, "{field:x}");
        }
    }
}
