//! RAID arithmetic without any I/O: where a byte of an array lies on its members ([`Layout`]), which members a write
//! reads and writes ([`RowWrite`]), and the field of the parities P and Q ([`field`]).
//!
//! The layouts are those of Linux md without metadata: RAID 0 over equal members, RAID 10 `near=2`, RAID 5 and RAID 6
//! `left-symmetric` (drivers/md/raid0.c, raid10.c, raid5.c). P is the exclusive or of the data, Q the syndrome of
//! H. P. Anvin, "The mathematics of RAID-6" (2004), over GF(2^8) with the polynomial 0x11d.

pub mod field;
mod layout;
mod row;

pub use layout::{Layout, LayoutError, Level, MEMBERS_MAX, MemberSet, Place, RowPiece};
pub use row::{Cover, Method, RowWrite};
