//! What a command ended with, in words and as the errno the kernel's block layer would make of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Status field of a completion without the phase tag (Base 2.0, figure "Completion Queue Entry: Status Field"): code in
/// bits 7:0, code type in 10:8, More in 13, Do Not Retry in 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status(u16);

/// Code type, code, words, errno. Words after Base 2.0 "Status Code" figures and NVM 1.0; errno after `nvme_error_status`
/// and `blk_errors` of Linux.
const KNOWN: &[(u8, u8, &str, i32)] = &[
    (0, 0x00, "successful", 0),
    (0, 0x01, "invalid command opcode", libc::EOPNOTSUPP),
    (0, 0x02, "invalid field in command", libc::EOPNOTSUPP),
    (0, 0x03, "command id conflict", libc::EIO),
    (0, 0x04, "data transfer error", libc::EIO),
    (0, 0x05, "aborted because power is lost", libc::EIO),
    (0, 0x06, "internal error of the drive", libc::EIO),
    (0, 0x07, "abort was requested", libc::EIO),
    (0, 0x08, "aborted because its queue was deleted", libc::EIO),
    (0, 0x0b, "invalid namespace or format", libc::EOPNOTSUPP),
    (0, 0x0c, "command sequence error", libc::EIO),
    (0, 0x15, "operation denied", libc::EIO),
    (0, 0x1c, "sanitize failed", libc::EIO),
    (0, 0x1d, "sanitize is in progress", libc::EIO),
    (0, 0x20, "namespace is write protected", libc::EIO),
    (0, 0x21, "interrupted, may be tried again", libc::EREMOTEIO),
    (0, 0x80, "block number beyond the end", libc::EREMOTEIO),
    (0, 0x81, "capacity exceeded", libc::ENOSPC),
    (0, 0x82, "namespace is not ready", libc::EREMOTEIO),
    (0, 0x83, "reservation conflict", libc::EBADE),
    (0, 0x84, "format is in progress", libc::EIO),
    (1, 0x06, "invalid firmware slot", libc::EIO),
    (1, 0x09, "invalid log page", libc::EIO),
    (1, 0x0a, "invalid format", libc::EIO),
    (1, 0x80, "conflicting attributes", libc::EOPNOTSUPP),
    (1, 0x81, "invalid protection information", libc::EILSEQ),
    (1, 0x82, "write to a read-only range", libc::ENODATA),
    (2, 0x80, "write fault", libc::ENODATA),
    (2, 0x81, "unrecovered read error", libc::ENODATA),
    (2, 0x82, "guard check failed", libc::EILSEQ),
    (2, 0x83, "application tag check failed", libc::EILSEQ),
    (2, 0x84, "reference tag check failed", libc::EILSEQ),
    (2, 0x85, "compare failed", libc::ENODATA),
    (2, 0x86, "access denied", libc::ENODATA),
    (2, 0x87, "deallocated or unwritten block", libc::ENODATA),
    (3, 0x00, "internal error of the path", libc::EIO),
    (3, 0x01, "path is lost for good", libc::EIO),
    (3, 0x02, "path is inaccessible", libc::EIO),
    (3, 0x03, "path is in transition", libc::EIO),
    (3, 0x70, "host gave up on the path", libc::ENOLINK),
    (3, 0x71, "aborted by the host", libc::ENOLINK),
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

    /// The drive asks not to try again.
    #[must_use]
    pub const fn do_not_retry(self) -> bool {
        self.0 & 1 << 14 != 0
    }

    /// What the code says.
    #[must_use]
    pub fn words(self) -> &'static str {
        let known = KNOWN.iter().find(|k| (k.0, k.1) == (self.code_type(), self.code()));
        known.map_or_else(
            || match self.code_type() {
                0 => "generic error",
                1 => "error of this command",
                2 => "media or data integrity error",
                3 => "path error",
                7 => "error defined by the maker",
                _ => "error of a reserved type",
            },
            |k| k.2,
        )
    }

    /// The errno that the kernel's block layer reports for it; 0 for success.
    #[must_use]
    pub fn errno(self) -> i32 {
        KNOWN.iter().find(|k| (k.0, k.1) == (self.code_type(), self.code())).map_or(libc::EIO, |k| k.3)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (NVMe status type {:X}h code {:02X}h)", self.words(), self.code_type(), self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_error_is_told_in_words_and_as_the_kernels_errno() {
        let status = Status::of(0x4281);
        assert_eq!(status.to_string(), "unrecovered read error (NVMe status type 2h code 81h)");
        assert_eq!((status.errno(), status.do_not_retry()), (libc::ENODATA, true));
    }

    #[test]
    fn an_unknown_code_is_told_by_its_type() {
        assert_eq!(Status::of(0x7c5).words(), "error defined by the maker");
        assert_eq!(Status::of(0x2ff).errno(), libc::EIO);
    }

    #[test]
    fn only_success_is_errno_0() {
        for field in 0..0x800 {
            assert_eq!(Status::of(field).errno() == 0, field == 0, "{field:x}");
        }
    }
}
