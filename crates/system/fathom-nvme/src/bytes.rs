//! Little-endian fields of fixed-size pages.

use fathom_message::{Message, Say, msg, say_error};

/// A page that is shorter than its specification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortPage {
    /// Which page, by its name in the specification.
    pub what: &'static str,
    /// Its length.
    pub found_bytes: usize,
    /// The length it must have at least.
    pub needed_bytes: usize,
}

impl Say for ShortPage {
    fn message(&self) -> Message {
        msg!("nvme-short-page", page = self.what, found = self.found_bytes, needed = self.needed_bytes)
    }
}

say_error!(ShortPage);

/// A page of at least `N` bytes; fields are read at places that the type bounds.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a, const N: usize>(&'a [u8; N]);

impl<'a, const N: usize> Page<'a, N> {
    /// The first `N` of `bytes`.
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Result<Self, ShortPage> {
        let short = ShortPage { what, found_bytes: bytes.len(), needed_bytes: N };
        bytes.first_chunk().map(Page).ok_or(short)
    }

    fn field<const W: usize>(&self, at: usize) -> [u8; W] {
        debug_assert!(at + W <= N, "field at {at} leaves a page of {N} bytes");
        self.0.get(at..).and_then(|rest| rest.first_chunk().copied()).unwrap_or([0; W])
    }

    pub(crate) fn u8(&self, at: usize) -> u8 {
        self.field::<1>(at)[0]
    }

    pub(crate) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.field(at))
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.field(at))
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.field(at))
    }

    /// A counter of 128 bits; more than 64 bits hold reads as the largest they hold.
    pub(crate) fn u128(&self, at: usize) -> u64 {
        u64::try_from(u128::from_le_bytes(self.field(at))).unwrap_or(u64::MAX)
    }

    pub(crate) fn part(&self, at: usize, bytes: usize) -> &'a [u8] {
        self.0.get(at..at + bytes).unwrap_or_default()
    }

    /// ASCII padded with blanks (Base 1.5.2), with every byte a terminal could act on shown as `?`.
    pub(crate) fn text(&self, at: usize, bytes: usize) -> String {
        let printable = |b: &u8| if (0x20..0x7f).contains(b) { char::from(*b) } else { '?' };
        let raw = self.part(at, bytes);
        let end = raw.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        raw[..end].iter().map(printable).collect::<String>().trim().to_owned()
    }
}

/// Kelvin, as NVMe counts temperatures, to degrees Celsius; `None` for 0, which means "not reported".
pub(crate) fn celsius(kelvin: u16) -> Option<i32> {
    (kelvin != 0).then(|| i32::from(kelvin) - 273)
}
