//! What a command ended with, and the errno the kernel's block layer would make of it.

use fathom_message::{Message, Say, msg};
use serde::{Deserialize, Serialize};

/// Status field of a completion without the phase tag (Base 2.0, figure "Completion Queue Entry: Status Field"): code in
/// bits 7:0, code type in 10:8, More in 13, Do Not Retry in 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status(u16);

/// Code type, code, meaning, errno. Meanings after Base 2.0 "Status Code" figures and NVM 1.0; errno after `nvme_error_status`
/// and `blk_errors` of Linux.
const KNOWN: &[(u8, u8, Message, i32)] = &[
    (0, 0x00, msg!("nvme-status-success"), 0),
    (0, 0x01, msg!("nvme-status-invalid-opcode"), libc::EOPNOTSUPP),
    (0, 0x02, msg!("nvme-status-invalid-field"), libc::EOPNOTSUPP),
    (0, 0x03, msg!("nvme-status-id-conflict"), libc::EIO),
    (0, 0x04, msg!("nvme-status-transfer"), libc::EIO),
    (0, 0x05, msg!("nvme-status-power-loss"), libc::EIO),
    (0, 0x06, msg!("nvme-status-internal"), libc::EIO),
    (0, 0x07, msg!("nvme-status-abort-requested"), libc::EIO),
    (0, 0x08, msg!("nvme-status-queue-deleted"), libc::EIO),
    (0, 0x0b, msg!("nvme-status-invalid-namespace"), libc::EOPNOTSUPP),
    (0, 0x0c, msg!("nvme-status-sequence"), libc::EIO),
    (0, 0x15, msg!("nvme-status-denied"), libc::EIO),
    (0, 0x1c, msg!("nvme-status-sanitize-failed"), libc::EIO),
    (0, 0x1d, msg!("nvme-status-sanitize-running"), libc::EIO),
    (0, 0x20, msg!("nvme-status-write-protected"), libc::EIO),
    (0, 0x21, msg!("nvme-status-interrupted"), libc::EREMOTEIO),
    (0, 0x80, msg!("nvme-status-lba-out-of-range"), libc::EREMOTEIO),
    (0, 0x81, msg!("nvme-status-capacity"), libc::ENOSPC),
    (0, 0x82, msg!("nvme-status-not-ready"), libc::EREMOTEIO),
    (0, 0x83, msg!("nvme-status-reservation"), libc::EBADE),
    (0, 0x84, msg!("nvme-status-format-running"), libc::EIO),
    (1, 0x06, msg!("nvme-status-firmware-slot"), libc::EIO),
    (1, 0x09, msg!("nvme-status-log-page"), libc::EIO),
    (1, 0x0a, msg!("nvme-status-invalid-format"), libc::EIO),
    (1, 0x0d, msg!("nvme-status-not-saveable"), libc::EIO),
    (1, 0x0e, msg!("nvme-status-not-changeable"), libc::EIO),
    (1, 0x80, msg!("nvme-status-conflicting-attributes"), libc::EOPNOTSUPP),
    (1, 0x81, msg!("nvme-status-invalid-protection"), libc::EILSEQ),
    (1, 0x82, msg!("nvme-status-read-only-range"), libc::ENODATA),
    (2, 0x80, msg!("nvme-status-write-fault"), libc::ENODATA),
    (2, 0x81, msg!("nvme-status-unrecovered-read"), libc::ENODATA),
    (2, 0x82, msg!("nvme-status-guard-check"), libc::EILSEQ),
    (2, 0x83, msg!("nvme-status-application-tag"), libc::EILSEQ),
    (2, 0x84, msg!("nvme-status-reference-tag"), libc::EILSEQ),
    (2, 0x85, msg!("nvme-status-compare"), libc::ENODATA),
    (2, 0x86, msg!("nvme-status-access-denied"), libc::ENODATA),
    (2, 0x87, msg!("nvme-status-deallocated"), libc::ENODATA),
    (3, 0x00, msg!("nvme-status-path-internal"), libc::EIO),
    (3, 0x01, msg!("nvme-status-path-lost"), libc::EIO),
    (3, 0x02, msg!("nvme-status-path-inaccessible"), libc::EIO),
    (3, 0x03, msg!("nvme-status-path-transition"), libc::EIO),
    (3, 0x70, msg!("nvme-status-path-abandoned"), libc::ENOLINK),
    (3, 0x71, msg!("nvme-status-host-abort"), libc::ENOLINK),
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
        KNOWN.iter().find(|k| (k.0, k.1) == (self.code_type(), self.code())).map_or(libc::EIO, |k| k.3)
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
        assert_eq!(status.errno(), libc::ENODATA);
    }

    #[test]
    fn an_unknown_code_is_given_by_its_type() {
        assert_eq!(Status::of(0x7c5).meaning().id(), "nvme-status-other-vendor");
        assert_eq!(Status::of(0x2ff).errno(), libc::EIO);
    }

    #[test]
    fn only_success_is_errno_0() {
        for field in 0..0x800 {
            assert_eq!(Status::of(field).errno() == 0, field == 0, "{field:x}");
        }
    }
}
