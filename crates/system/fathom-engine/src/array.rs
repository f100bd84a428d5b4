//! Arrays in user space as targets of a step: their members are opened and judged each by itself, and composed here.
//!
//! What keeps threads apart: with redundancy, two threads that write to one stripe would each change the parity, or the two
//! copies, from what they alone know. Each thread that shares such an array therefore has whole stripes of its own
//! ([`ArrayOf::parts_at`]), and loads that cannot be cut so are refused.

mod beside;
mod rebuild;
mod set;

use crate::system::OwnedFd;
use crate::system::code;
use std::io;
use std::sync::{Arc, OnceLock};

use fathom_host::{Binding, Bindings, FailedMembers, TargetKind};
use fathom_message::{Message, Quantity, msg};
use fathom_plan::{ArrayTarget, EngineName, Mode, Step, TargetId};
use fathom_raid::{Layout, MemberSet};
use fathom_record::StepFailure;

use crate::backend::array::{Array, member_depth, restores_at_once};
use crate::backend::call::Synchronous;
use crate::backend::psync::Psync;
use crate::backend::{Backend, Unready, refused};
use crate::buffer::Area;
use crate::crew::bound;
use crate::hot::Hot;
use crate::system::engines;
use crate::target::{Target, engine_on_target, target_message};
use crate::worker::{Part, WorkerPlan};

pub(crate) use beside::{Beside, Rebuilding};
pub use rebuild::{Rebuilt, rebuild};
pub(crate) use set::Set;

/// An array of which all members that are there were opened and looked at.
#[derive(Debug)]
pub(crate) struct ArrayOf {
    id: TargetId,
    layout: Layout,
    members: Vec<Option<Target>>,
    bindings: Vec<Option<Binding>>,
    failed: FailedMembers,
    /// What each member gives: as much as the smallest has.
    member_bytes: u64,
    largest_bytes: u64,
    /// Its name without a rebuild.
    at_rest: TargetId,
    /// The member that is rebuilt beside the load, and at how many bytes a second.
    rebuilt: Option<(u32, Option<u64>)>,
    /// How threads share that.
    beside: OnceLock<Arc<Beside>>,
}

impl ArrayOf {
    /// Opens and checks the members of `id` for `step`; also the largest logical block of any.
    ///
    /// # Errors
    /// A refusal that names the reason and the way out.
    pub(crate) fn examine(id: &TargetId, bindings: &Bindings, step: &Step) -> Result<(ArrayOf, u64), StepFailure> {
        let array = named(id)?;
        fits(id, step)?;
        let (at_rest, failed) = (array.at_rest().target(), bindings.failed_members());
        let asked = array.rebuild().map(|rebuild| (rebuild.member, rebuild.bytes_per_s));
        let mut members = Vec::new();
        let (mut sizes, mut logical_bytes) = (Vec::new(), 1);
        for (place, member) in (0..).zip(array.members()) {
            // What a member that failed holds is out of date: it is as good as missing. One that is rebuilt is begun anew.
            let is_rebuilt = asked.is_some_and(|(at, _)| at == place);
            let is_there =
                |member: &&TargetId| !failed.has(member) && (is_rebuilt || !failed.is_unfinished(&at_rest, member));
            let Some(member) = member.as_ref().filter(is_there) else {
                members.push((None, None));
                continue;
            };
            let binding = bound(bindings, member)?;
            if let Some(twin) =
                members.iter().filter_map(|(_, b): &(_, Option<Binding>)| b.as_ref()).find(|b| b.is_same(&binding))
            {
                let (a, b) = (twin.target().as_str().to_owned(), member.as_str().to_owned());
                return Err(refused(
                    target_message(id),
                    msg!("engine-array-same", a = a, b = b),
                    msg!("array-twice-help"),
                ));
            }
            if !matches!(binding.kind(), TargetKind::File | TargetKind::Block) {
                let why = msg!("engine-array-member-kind", member = member.as_str().to_owned());
                return Err(refused(target_message(id), why, msg!("engine-array-member-kind-help")));
            }
            let (target, size, logical) = Target::opened(&binding, step)?;
            sizes.push(size);
            logical_bytes = logical_bytes.max(logical);
            members.push((Some(target), Some(binding)));
        }
        let (members, bindings_of) = members.into_iter().unzip();
        let (smallest, largest) = (sizes.iter().min().copied(), sizes.iter().max().copied());
        let mut of = ArrayOf {
            id: id.clone(),
            layout: array.layout(),
            members,
            bindings: bindings_of,
            failed: bindings.failed_members().clone(),
            member_bytes: smallest.unwrap_or(0),
            largest_bytes: largest.unwrap_or(0),
            rebuilt: None,
            beside: OnceLock::new(),
            at_rest,
        };
        let lost = of.lost();
        of.rebuilt = asked.filter(|(member, _)| !lost.has(*member));
        if !of.layout.survives(of.rebuilt.map_or(lost, |(member, _)| lost.with(member))) {
            let why = msg!("engine-array-lost", count = of.lost().count());
            return Err(refused(target_message(id), why, msg!("engine-array-lost-help")));
        }
        Ok((of, logical_bytes))
    }

    /// Bytes of the array.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.layout.capacity_bytes(self.member_bytes)
    }

    /// The layout.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// What is to be said of it beside the figures.
    pub(crate) fn notes(&self, writes: bool) -> Vec<Message> {
        let array = || self.id.as_str().to_owned();
        let mut notes = Vec::new();
        if self.member_bytes != self.largest_bytes {
            let (used, largest) = (Quantity::bytes(self.member_bytes), Quantity::bytes(self.largest_bytes));
            notes.push(msg!("engine-array-unequal", array = array(), used = used, largest = largest));
        }
        let is_made = self.bindings.iter().flatten().all(|binding| binding.made_bytes().is_some());
        if writes && self.layout.level().is_redundant() && !is_made {
            notes.push(msg!("engine-array-trusted", array = array()));
        }
        if !self.lost().is_empty() {
            notes.push(msg!("engine-array-degraded", array = array(), count = self.lost().count()));
        }
        notes
    }

    /// Lets `threads` share the rebuild of a member, if one is asked for: each rebuilds what [`ArrayOf::parts_at`] gives it of
    /// the region from `begin` to `end`, and as much as the others of the rest.
    pub(crate) fn share_rebuild(&self, (begin, end): (u64, u64), unit_bytes: u64, threads: u64) {
        let Some((member, bytes_per_s)) = self.rebuilt else { return };
        let stripe = self.layout.stripe_bytes();
        let row_of = |stripes: u64| stripes * self.layout.rows_of_stripe();
        let cut = |thread: u64| match thread {
            0 => row_of(begin / stripe),
            thread if thread == threads => row_of(end.div_ceil(stripe)),
            thread => row_of(self.parts_at((begin, end), unit_bytes, thread, threads).div_ceil(stripe)),
        };
        let cuts: Vec<u64> = (0..=threads).map(cut).collect();
        let chunk = self.layout.chunk_bytes();
        let made = Beside::new(member, bytes_per_s, chunk, self.member_bytes / chunk, &cuts);
        if self.beside.set(Arc::new(made)).is_ok() {
            self.note_rebuild();
        }
    }

    /// Notes for later steps whether the member that is rebuilt is whole.
    pub(crate) fn note_rebuild(&self) {
        if let Some((beside, name)) = self.beside.get().zip(self.rebuilt_name()) {
            self.failed.note_rebuild(&self.at_rest, name, beside.is_whole());
        }
    }

    /// The member that is rebuilt beside the load.
    pub(crate) fn rebuilt_name(&self) -> Option<&TargetId> {
        let (member, _) = self.rebuilt?;
        Some(&self.members[member as usize].as_ref()?.id)
    }

    /// Whether a member is rebuilt beside the load.
    pub(crate) fn is_rebuilding(&self) -> bool {
        self.rebuilt.is_some()
    }

    /// The targets of the members that are there.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.members.iter().flatten()
    }

    /// Whether a member is what `binding` stands for.
    fn holds(&self, binding: &Binding) -> bool {
        self.bindings.iter().flatten().any(|member| member.is_same(binding))
    }

    /// Members that are missing, or failed before in the run.
    fn lost(&self) -> MemberSet {
        (0..).zip(&self.members).filter(|(_, member)| member.is_none()).map(|(at, _)| at).collect()
    }

    /// Where the region from `begin` to `end` can be cut for threads that write: `thread` of `threads` begins here. Blocks
    /// of `unit_bytes` stay whole, and so do stripes, since two threads must not share one.
    pub(crate) fn parts_at(&self, (begin, end): (u64, u64), unit_bytes: u64, thread: u64, threads: u64) -> u64 {
        if thread == 0 {
            return begin;
        }
        let step = lowest_common_multiple(self.layout.stripe_bytes(), unit_bytes);
        let wanted = begin + ((u128::from(end - begin) * u128::from(thread)) / u128::from(threads)) as u64;
        wanted.next_multiple_of(step).min(end)
    }

    /// Descriptors of the members that are there, and the array over them; the first is part `first` of the backend below.
    /// `thread`: whose part of a rebuild it does.
    fn open(&self, first: usize, thread: Option<u32>) -> Result<(Vec<OwnedFd>, Set), StepFailure> {
        let fds: Vec<OwnedFd> = self.targets().map(Target::open).collect::<Result<_, _>>()?;
        let mut next = (first..).map(|part| part as u16);
        let parts: Vec<Option<u16>> = self.members.iter().map(|m| m.as_ref().and_then(|_| next.next())).collect();
        let names: Vec<Option<TargetId>> = self.members.iter().map(|m| m.as_ref().map(|t| t.id.clone())).collect();
        let rebuild = self.beside.get().map(|beside| Rebuilding::new(beside.clone(), thread));
        Ok((fds, Set::new(&self.id, self.layout, parts, names, self.lost(), self.failed.clone(), rebuild)))
    }
}

fn lowest_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

/// The array of that name.
fn named(id: &TargetId) -> Result<ArrayTarget, StepFailure> {
    match id.user_space_array() {
        Some(Ok(array)) => Ok(array),
        Some(Err(error)) => Err(StepFailure::refused(target_message(id), &error)),
        None => Err(refused(target_message(id), msg!("engine-not-bound"), msg!("engine-not-bound-help"))),
    }
}

/// Refuses what arrays cannot do.
fn fits(id: &TargetId, step: &Step) -> Result<(), StepFailure> {
    let spec = step.engine;
    if !matches!(spec.name, EngineName::Psync | EngineName::Libaio | EngineName::IoUring) {
        let help = msg!("engine-array-engine-help");
        return Err(refused(engine_on_target(spec.name, id), msg!("engine-array-engine"), help));
    }
    if spec.mode == Mode::Iopoll {
        let what = engine_on_target(spec.name, id);
        return Err(refused(what, msg!("engine-array-iopoll"), msg!("engine-array-iopoll-help")));
    }
    if step.workload.mix.trim_pct > 0 {
        return Err(refused(target_message(id), msg!("engine-array-trim"), msg!("engine-array-trim-help")));
    }
    if step.workload.durability.is_atomic {
        return Err(refused(target_message(id), msg!("engine-array-atomic"), msg!("engine-array-atomic-help")));
    }
    if step.workload.priorities.is_uncached {
        return Err(refused(target_message(id), msg!("engine-array-uncached"), msg!("engine-array-uncached-help")));
    }
    if step.workload.priorities.are_by_io() {
        let help = msg!("engine-array-priorities-help");
        return Err(refused(target_message(id), msg!("engine-array-priorities"), help));
    }
    Ok(())
}

/// Refuses sets of targets and threads that would change one stripe from two sides. `is_stream`: other loads run beside.
///
/// # Errors
/// A refusal that names the reason and the way out.
pub(crate) fn check_together(step: &Step, targets: &[Arc<Target>], is_stream: bool) -> Result<(), StepFailure> {
    let arrays = || targets.iter().filter_map(|target| Some((target, target.array()?)));
    let writes = step.workload.mix.is_destructive();
    for (at, target) in targets.iter().enumerate() {
        let others = targets.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        let Some(array) = target.array() else { continue };
        for other in others {
            let Some(other_array) = other.array() else {
                return Err(refused(
                    target_message(&other.id),
                    msg!("engine-array-mixed"),
                    msg!("engine-array-mixed-help"),
                ));
            };
            if let Some(shared) = other_array.bindings.iter().flatten().find(|binding| array.holds(binding)) {
                let why = msg!("engine-array-shared", member = shared.target().as_str().to_owned());
                return Err(refused(target_message(&target.id), why, msg!("engine-array-shared-help")));
            }
        }
    }
    let changes = |array: &ArrayOf| writes || array.is_rebuilding();
    let redundant = arrays().filter(|(_, array)| changes(array) && array.layout.level().is_redundant());
    for (target, _) in redundant {
        let what = || target_message(&target.id);
        if is_stream {
            return Err(refused(what(), msg!("engine-array-stream"), msg!("engine-array-stream-help")));
        }
        if writes && step.load.threads > 1 && step.workload.order.thread_offset_bytes.is_some() {
            return Err(refused(what(), msg!("engine-array-offset"), msg!("engine-array-offset-help")));
        }
    }
    Ok(())
}

/// Sets a worker on arrays up and runs it.
pub(crate) fn run(plan: &WorkerPlan, hot: Hot, area: Area) -> Result<(), Unready> {
    engines::run_on_arrays(plan, hot, area)
}

/// The arrays of a worker over the backend that `make` makes of the members' descriptors.
pub(crate) fn over<B: Backend>(
    plan: &WorkerPlan,
    area: &Area,
    depth: u32,
    make: impl FnOnce(Vec<OwnedFd>, u32) -> Result<B, StepFailure>,
) -> Result<Array<B>, StepFailure> {
    let (mut fds, mut sets) = (Vec::new(), Vec::new());
    for Part { target, thread, .. } in &plan.parts {
        let array = target.array().unwrap_or_else(|| unreachable!("targets of one step are all arrays or none"));
        let (more, set) = array.open(fds.len(), Some(*thread))?;
        fds.extend(more);
        sets.push(set);
    }
    // A synchronous engine has one I/O in flight, also on members.
    let depth = if depth == 1 && plan.step.engine.name == EngineName::Psync {
        1
    } else {
        member_depth(depth + restores_at_once(&sets), fds.len() as u32)
    };
    let inner = make(fds, depth)?;
    Array::new(inner, depth, sets, plan.limits.queue_depth, area.slot_bytes())
        .map_err(|source| plan.failed(msg!("engine-array-no-memory"), &source, msg!("engine-no-buffers-help")))
}

/// Reads an array back, one I/O of at most `len_max` bytes at a time.
///
/// # Errors
/// When a member cannot be opened, or there is no memory.
pub(crate) fn read_back(
    target: &Target,
    array: &ArrayOf,
    len_max: usize,
) -> Result<Array<Synchronous<Psync>>, StepFailure> {
    let (fds, set) = array.open(0, None)?;
    let made = Array::new(Psync::engine(fds), 1, vec![set], 1, len_max);
    made.map_err(|source| StepFailure::failed(target_message(&target.id), &source, msg!("engine-no-buffers-help")))
}

/// Bytes read, or a negative errno, by an array of its own.
pub(crate) fn read_alone<B: Backend>(array: &mut Array<B>, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    array.refresh();
    let len = buffer.len() as u32;
    let op = fathom_plan::Op::Read;
    array.push(&crate::backend::Io { slot: 0, part: 0, op, len, offset, buffer: buffer.as_mut_ptr() });
    array.submit_and_wait(1, None)?;
    let mut result = -code::EIO;
    array.reap(|_, moved| result = moved);
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
}
