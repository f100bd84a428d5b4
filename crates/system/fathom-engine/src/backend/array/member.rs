//! I/Os on members.

use crate::system::code;
use fathom_plan::{Op, SyncKind};

use super::Io;

/// What is done to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Read,
    Write,
    Sync(SyncKind),
}

/// Who waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// The load's I/O of this slot.
    Asked(u32),
    /// A stripe.
    Stripe(u32),
}

/// An I/O on a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberIo {
    pub(super) owner: Owner,
    pub(crate) work: Work,
    /// Whether a write of the load is the cause.
    pub(crate) for_write: bool,
    /// Whether a rebuild beside the load is.
    pub(crate) for_rebuild: bool,
    /// Which array.
    pub(super) set: u16,
    pub(crate) member: u32,
    pub(super) offset: u64,
    pub(crate) len: u32,
    /// Of its bytes: the kernel may move fewer than all in one go.
    pub(super) moved: u32,
    pub(super) buffer: *mut u8,
}

impl MemberIo {
    /// None.
    pub(super) const NONE: MemberIo = MemberIo::of(Work::Read, 0);

    /// One without place and bytes.
    pub(super) const fn of(work: Work, set: u16) -> MemberIo {
        let owner = Owner::Asked(0);
        MemberIo {
            owner,
            work,
            for_write: false,
            for_rebuild: false,
            set,
            member: 0,
            offset: 0,
            len: 0,
            moved: 0,
            buffer: std::ptr::null_mut(),
        }
    }

    /// What is still to be moved; slot and part are not set.
    pub(super) fn rest(&self) -> Io {
        let moved = self.moved;
        Io {
            slot: 0,
            part: 0,
            op: Op::Read,
            len: self.len - moved,
            offset: self.offset + u64::from(moved),
            buffer: self.buffer.wrapping_add(moved as usize),
        }
    }
}

/// Whether a failure says that the member is lost, rather than that the request was wrong or the system short of something:
/// an array does without the member, and must not hide a mistake of ours or a full disk.
pub(super) fn is_loss(result: i32) -> bool {
    const LOSSES: [i32; 9] = [
        code::EIO,
        code::ENODEV,
        code::ENXIO,
        code::EREMOTEIO,
        code::ENODATA,
        code::EILSEQ,
        code::ETIMEDOUT,
        code::ENOLINK,
        code::EBADE,
    ];
    LOSSES.contains(&-result)
}
