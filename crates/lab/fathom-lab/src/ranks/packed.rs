//! A record as it goes from a rank to rank 0: histograms by their own bytes, the rest as MessagePack, which like JSON names
//! its fields, so that what records leave out or once called otherwise is read as anywhere else.
//!
//! `form; length, record without I/Os; operations; syncs; slices`, numbers as fixed bytes, least first. The versions of both
//! programs were compared before.

use fathom_hist::{DecodeError, Histogram};
use fathom_message::{Message, Quantity, Say, msg, say_error};
use fathom_plan::Op;
use fathom_record::{Direction, DirectionInterval, Interval, Latency, StepRecord};

/// Changed with what follows it.
const FORM: u8 = 1;
/// The record without its I/Os at most: a host of 1,024 CPUs in each interval of the longest step takes half.
const REST_MAX: usize = 32 << 20;
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// Why a rank's record cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub enum PackedError {
    /// It ends too early.
    Cut,
    /// It is of another form.
    Form(u8),
    /// It goes on where it should end, or says more than a record can.
    Excess,
    /// Something in it means nothing.
    Unknown(String),
    /// A histogram of it.
    Histogram(DecodeError),
}

impl Say for PackedError {
    fn message(&self) -> Message {
        match self {
            PackedError::Cut => msg!("ranks-record-cut"),
            PackedError::Form(form) => msg!("ranks-record-form", form = u32::from(*form)),
            PackedError::Excess => {
                msg!("ranks-record-excess", most = Quantity::bytes(REST_MAX as u64))
            }
            PackedError::Unknown(what) => msg!("ranks-record-unreadable", what = Message::verbatim(what.clone())),
            PackedError::Histogram(error) => msg!("ranks-record-unreadable", what = error.message()),
        }
    }
}

say_error!(PackedError);

/// A record as it goes from a rank to rank 0.
///
/// # Panics
/// Never: a record is plain data.
#[must_use]
pub fn packed_record(mut record: StepRecord) -> Vec<u8> {
    let directions = std::mem::take(&mut record.directions);
    let (syncs, slices) = (record.syncs.take(), std::mem::take(&mut record.intervals));
    let mut to = Writer { bytes: vec![FORM] };
    to.block(&rmp_serde::to_vec_named(&record).expect("a record is plain data"));
    to.list(&directions, Writer::direction);
    to.list(syncs.as_slice(), Writer::direction);
    to.list(&slices, |to, slice| {
        to.number(slice.start_ns);
        to.number(slice.length_ns);
        to.list(&slice.directions, Writer::slice);
        to.list(slice.syncs.as_slice(), Writer::slice);
    });
    to.bytes
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        let length = u32::try_from(length).expect("parts of a record are far below 4 GiB");
        self.bytes.extend_from_slice(&length.to_le_bytes());
    }

    fn block(&mut self, block: &[u8]) {
        self.length(block.len());
        self.bytes.extend_from_slice(block);
    }

    fn list<T>(&mut self, all: &[T], one: impl Fn(&mut Writer, &T)) {
        self.length(all.len());
        all.iter().for_each(|each| one(self, each));
    }

    fn op(&mut self, op: Op) {
        self.bytes.push(OPS.iter().position(|known| *known == op).expect("all operations are there") as u8);
    }

    fn slice(&mut self, slice: &DirectionInterval) {
        self.op(slice.op);
        self.number(slice.ios);
        self.number(slice.bytes);
        self.block(&slice.lat.to_bytes());
    }

    fn direction(&mut self, direction: &Direction) {
        self.op(direction.op);
        [direction.ios, direction.bytes, direction.short_ios].into_iter().for_each(|number| self.number(number));
        self.latency(Some(&direction.lat));
        [&direction.slat, &direction.clat, &direction.service].into_iter().for_each(|part| self.latency(part.as_ref()));
    }

    fn latency(&mut self, latency: Option<&Latency>) {
        match latency {
            None => self.bytes.push(0),
            Some(Latency::Samples(histogram)) => {
                self.bytes.push(1);
                self.block(&histogram.to_bytes());
            }
            Some(Latency::Quoted(quoted)) => {
                self.bytes.push(2);
                self.block(&rmp_serde::to_vec_named(quoted).expect("figures are plain data"));
            }
        }
    }
}

/// Reads records of [`packed_record`] one after the other; slices into the memory of those of the one before.
#[derive(Debug, Default)]
pub struct Unpacker {
    slices: Vec<Interval>,
    intervals_max: usize,
}

impl Unpacker {
    /// For records of at most so many slices.
    #[must_use]
    pub fn new(intervals_max: usize) -> Unpacker {
        Unpacker { slices: Vec::new(), intervals_max }
    }

    /// The next record, and its slices apart from it.
    ///
    /// # Errors
    /// [`PackedError`], whatever the bytes are.
    pub fn unpack(&mut self, packed: &[u8]) -> Result<(StepRecord, &[Interval]), PackedError> {
        let mut from = Reader { bytes: packed };
        let form = from.byte()?;
        if form != FORM {
            return Err(PackedError::Form(form));
        }
        let rest = from.block()?;
        if rest.len() > REST_MAX {
            return Err(PackedError::Excess);
        }
        let mut record: StepRecord = from_messagepack(rest)?;
        record.directions = from.directions(OPS.len())?;
        record.syncs = from.directions(1)?.pop();
        let count = from.count(self.intervals_max)?;
        self.slices.resize_with(count.max(self.slices.len()), nothing);
        for slice in &mut self.slices[..count] {
            (slice.start_ns, slice.length_ns) = (from.number()?, from.number()?);
            from.slices(&mut slice.directions, OPS.len())?;
            let mut syncs = slice.syncs.take().into_iter().collect();
            from.slices(&mut syncs, 1)?;
            slice.syncs = syncs.pop();
        }
        if !from.bytes.is_empty() {
            return Err(PackedError::Excess);
        }
        Ok((record, &self.slices[..count]))
    }
}

fn nothing() -> Interval {
    Interval { start_ns: 0, length_ns: 0, directions: Vec::new(), syncs: None }
}

fn from_messagepack<T: for<'de> serde::Deserialize<'de>>(bytes: &[u8]) -> Result<T, PackedError> {
    rmp_serde::from_slice(bytes).map_err(|error| PackedError::Unknown(error.to_string()))
}

/// What is still to be read.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], PackedError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(PackedError::Cut)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PackedError> {
        Ok(self.take(N)?.try_into().expect("so many were taken"))
    }

    fn byte(&mut self) -> Result<u8, PackedError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn number(&mut self) -> Result<u64, PackedError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize, PackedError> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn block(&mut self) -> Result<&'a [u8], PackedError> {
        let length = self.length()?;
        self.take(length)
    }

    /// How many follow, `most` at most.
    fn count(&mut self, most: usize) -> Result<usize, PackedError> {
        Some(self.length()?).filter(|count| *count <= most).ok_or(PackedError::Excess)
    }

    fn op(&mut self) -> Result<Op, PackedError> {
        let code = self.byte()?;
        OPS.get(usize::from(code)).copied().ok_or_else(|| PackedError::Unknown(format!("op {code}")))
    }

    fn histogram(&mut self) -> Result<Histogram, PackedError> {
        Histogram::from_bytes(self.block()?).map_err(PackedError::Histogram)
    }

    /// Reads slices into the memory of others.
    fn slices(&mut self, slices: &mut Vec<DirectionInterval>, most: usize) -> Result<(), PackedError> {
        let count = self.count(most)?;
        let none = || DirectionInterval { op: Op::Read, ios: 0, bytes: 0, lat: Histogram::new() };
        slices.resize_with(count, none);
        for slice in slices {
            (slice.op, slice.ios, slice.bytes) = (self.op()?, self.number()?, self.number()?);
            slice.lat.read(self.block()?).map_err(PackedError::Histogram)?;
        }
        Ok(())
    }

    fn directions(&mut self, most: usize) -> Result<Vec<Direction>, PackedError> {
        (0..self.count(most)?).map(|_| self.direction()).collect()
    }

    fn direction(&mut self) -> Result<Direction, PackedError> {
        Ok(Direction {
            op: self.op()?,
            ios: self.number()?,
            bytes: self.number()?,
            short_ios: self.number()?,
            lat: self.latency()?.ok_or_else(|| PackedError::Unknown("lat".to_owned()))?,
            slat: self.latency()?,
            clat: self.latency()?,
            service: self.latency()?,
        })
    }

    fn latency(&mut self) -> Result<Option<Latency>, PackedError> {
        match self.byte()? {
            0 => Ok(None),
            1 => Ok(Some(Latency::Samples(self.histogram()?))),
            2 => Ok(Some(Latency::Quoted(from_messagepack(self.block()?)?))),
            kind => Err(PackedError::Unknown(format!("latency {kind}"))),
        }
    }
}

#[cfg(test)]
mod tests;
