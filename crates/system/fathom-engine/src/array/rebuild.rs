//! Makes an array whole: writes the first member that is missing onto a new one, or, where none is, the parities and second
//! copies of all rows. Row by row, one member I/O at a time: what it costs is the sum of its I/Os.

use fathom_host::system::FileExt as _;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use fathom_host::Bindings;
use fathom_message::{Message, msg};
use fathom_plan::{OpMix, Step, TargetId};
use fathom_raid::{Layout, Level};
use fathom_record::{Progress, RunControl, StepFailure};

use super::{ArrayOf, read_alone, read_back};
use crate::backend::array::Array;
use crate::backend::call::Synchronous;
use crate::backend::psync::Psync;
use crate::backend::refused;
use crate::buffer::Area;
use crate::crew::bound;
use crate::parity::Parity;
use crate::target::{Target, target_message};

/// What a rebuild did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rebuilt {
    /// Written to members.
    pub written_bytes: u64,
    /// From the first read to the last write on the medium.
    pub elapsed: Duration,
    /// It was stopped before its end, and what it was to write is not whole.
    pub is_stopped: bool,
}

/// Rebuilds the array that is the only target of `step`. `onto`: what takes the place of the first member that is missing,
/// bound to be written; without it no member may be missing, and all of them are bound to be written.
///
/// # Errors
/// A refusal before anything is written; [`StepFailure::Failed`] when a member cannot be read or written.
pub fn rebuild(
    step: &Step,
    onto: Option<&TargetId>,
    bindings: &Bindings,
    control: &mut RunControl<'_>,
) -> Result<Rebuilt, StepFailure> {
    let id = &step.targets[0];
    let is_whole = matches!(id.user_space_array(), Some(Ok(array)) if array.missing().is_empty());
    let mix = if onto.is_none() && is_whole { OpMix::WRITE } else { OpMix::READ };
    let mut reading = step.clone();
    reading.workload.mix = mix;
    let target = Target::examine(bindings, id, &reading)?;
    let refuse = |why: Message, help: Message| Err(refused(target_message(id), why, help));
    let Some(array) = target.array() else {
        return refuse(msg!("rebuild-no-array"), msg!("array-form-help"));
    };
    if array.is_rebuilding() {
        return refuse(msg!("rebuild-beside"), msg!("rebuild-beside-help"));
    }
    let layout = array.layout();
    if !layout.level().is_redundant() {
        return refuse(msg!("rebuild-no-redundancy"), msg!("rebuild-no-redundancy-help"));
    }
    let missing = (0..layout.members()).find(|member| array.lost().has(*member));
    let to = match (missing, onto) {
        (Some(member), Some(onto)) => To::Member(member, new_member(array, id, onto, bindings, step)?),
        (None, None) => To::Redundancy(array.targets().map(|t| t.open().map(File::from)).collect::<Result<_, _>>()?),
        (Some(_), None) => return refuse(msg!("rebuild-onto-what"), msg!("rebuild-onto-what-help")),
        (None, Some(_)) => return refuse(msg!("rebuild-nothing-missing"), msg!("rebuild-nothing-missing-help")),
    };
    let failed = |source: io::Error| StepFailure::failed(target_message(id), &source, msg!("rebuild-failed-help"));
    let stripe_bytes = layout.stripe_bytes().max(layout.chunk_bytes()) as usize;
    let mut work = Work {
        layout,
        capacity_bytes: array.capacity_bytes(),
        source: read_back(&target, array, stripe_bytes)?,
        data: Area::new(1, stripe_bytes).map_err(failed)?,
        parities: Area::new(2, layout.chunk_bytes() as usize).map_err(failed)?,
        to,
        written_bytes: 0,
    };
    work.run(array.member_bytes / layout.chunk_bytes(), control).map_err(failed)
}

/// The new member, opened to be written.
fn new_member(
    array: &ArrayOf,
    id: &TargetId,
    onto: &TargetId,
    bindings: &Bindings,
    step: &Step,
) -> Result<File, StepFailure> {
    let binding = bound(bindings, onto)?;
    if array.holds(&binding) {
        return Err(refused(target_message(onto), msg!("rebuild-onto-member"), msg!("rebuild-onto-member-help")));
    }
    let mut writing = step.clone();
    writing.workload.mix = OpMix::WRITE;
    let (target, size_bytes, _) = Target::opened(&binding, &writing)?;
    if size_bytes < array.member_bytes {
        let why =
            msg!("rebuild-too-small", have = size_bytes, need = array.member_bytes, array = id.as_str().to_owned());
        return Err(refused(target_message(onto), why, msg!("rebuild-too-small-help")));
    }
    Ok(File::from(target.open()?))
}

/// What is written.
enum To {
    /// All that this member is to hold.
    Member(u32, File),
    /// `[member]`: the parities and second copies on it.
    Redundancy(Vec<File>),
}

impl To {
    /// Where to write what a member holds, if that is written; `is_redundancy`: it is a parity or a second copy.
    fn file(&self, member: u32, is_redundancy: bool) -> Option<&File> {
        match self {
            To::Member(new, file) => (*new == member).then_some(file),
            To::Redundancy(files) => files.get(member as usize).filter(|_| is_redundancy),
        }
    }

    fn sync(&self) -> io::Result<()> {
        match self {
            To::Member(_, file) => file.sync_data(),
            To::Redundancy(files) => files.iter().try_for_each(File::sync_data),
        }
    }
}

struct Work {
    layout: Layout,
    capacity_bytes: u64,
    source: Array<Synchronous<Psync>>,
    data: Area,
    /// P and Q.
    parities: Area,
    to: To,
    written_bytes: u64,
}

impl Work {
    fn run(&mut self, rows: u64, control: &mut RunControl<'_>) -> io::Result<Rebuilt> {
        let begun = Instant::now();
        let mut is_stopped = false;
        for row in 0..rows {
            is_stopped = control.stopped();
            if is_stopped {
                break;
            }
            match self.layout.level() {
                Level::Raid10 => self.copies(row)?,
                _ => self.stripe(row)?,
            }
            let elapsed = begun.elapsed().as_secs_f64();
            let left_s = elapsed / (row + 1) as f64 * (rows - row - 1) as f64;
            (control.on_progress)(&Progress {
                elapsed_ns: (elapsed * 1e9) as u64,
                remaining_ns: (left_s * 1e9) as u64,
                iops: 0.0,
                bytes_per_s: self.written_bytes as f64 / elapsed.max(1e-9),
                bytes_done: self.written_bytes,
                p99_ns: None,
                activity: None,
            });
        }
        self.to.sync()?;
        Ok(Rebuilt { written_bytes: self.written_bytes, elapsed: begun.elapsed(), is_stopped })
    }

    fn read(&mut self, offset: u64, len: u64) -> io::Result<()> {
        let buffer = self.data.bytes_mut(0, len as usize);
        match read_alone(&mut self.source, buffer, offset)? as u64 {
            moved if moved == len => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// A row of mirrored chunks.
    fn copies(&mut self, row: u64) -> io::Result<()> {
        let (chunk, members) = (self.layout.chunk_bytes(), self.layout.members());
        for member in 0..members {
            let position = row * u64::from(members) + u64::from(member);
            let (offset, is_second) = (position / 2 * chunk, position % 2 == 1);
            if offset >= self.capacity_bytes || self.to.file(member, is_second).is_none() {
                continue;
            }
            self.read(offset, chunk)?;
            let data = self.data.bytes_mut(0, chunk as usize);
            self.to.file(member, is_second).map_or(Ok(()), |file| file.write_all_at(data, row * chunk))?;
            self.written_bytes += chunk;
        }
        Ok(())
    }

    /// A row with parity.
    fn stripe(&mut self, row: u64) -> io::Result<()> {
        let (layout, chunk) = (self.layout, self.layout.chunk_bytes());
        let stripe_offset = row * layout.stripe_bytes();
        for column in 0..layout.data_columns() {
            let member = layout.data_member(row, column);
            if self.to.file(member, false).is_none() {
                continue;
            }
            self.read(stripe_offset + u64::from(column) * chunk, chunk)?;
            let data = self.data.bytes_mut(0, chunk as usize);
            self.to.file(member, false).map_or(Ok(()), |file| file.write_all_at(data, row * chunk))?;
            self.written_bytes += chunk;
        }
        let parities = [layout.p_member(row), layout.q_member(row)];
        if parities.iter().flatten().all(|member| self.to.file(*member, true).is_none()) {
            return Ok(());
        }
        self.read(stripe_offset, layout.stripe_bytes())?;
        let data = self.data.slot(0).cast_const();
        let columns: Vec<*const u8> =
            (0..layout.data_columns()).map(|c| data.wrapping_add(c as usize * chunk as usize)).collect();
        let (p, q) = (self.parities.slot(0), self.parities.slot(1));
        // SAFETY: the columns lie one after the other in a buffer of a stripe, and each parity has a chunk of its own.
        unsafe { Parity::new().generate(&columns, chunk as usize, p, parities[1].map(|_| q)) };
        for (slot, member) in (0..).zip(parities) {
            let Some(file) = member.and_then(|member| self.to.file(member, true)) else { continue };
            file.write_all_at(self.parities.bytes_mut(slot, chunk as usize), row * chunk)?;
            self.written_bytes += chunk;
        }
        Ok(())
    }
}
