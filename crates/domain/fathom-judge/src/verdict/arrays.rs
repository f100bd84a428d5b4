//! What an array gives against what its members, measured beside it in the same run, allow.
//!
//! An I/O of the load costs the members r reads and w writes, which the array counted. Members that give X reads or Y writes
//! a second, all of them at once, are busy for r / X + w / Y seconds with it (operational laws: service demands add up), so
//! that the array cannot give more than the inverse.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::{ArrayTarget, TargetId};
use fathom_raid::Layout;
use fathom_record::{ArrayMember, ArrayRecord};

use super::kind::{Kind, is_sequential};
use super::parts::{figure, iops, is_held, measured};
use crate::document::{ArrayView, Figure, RebuildView, StepView};
use crate::sentences::counted;

/// The members' I/Os are those that were measured alone when their mean size is off by no more than this share.
const SIZE_MARGIN: f64 = 0.01;

/// The most that the members of an array's step allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemberCeiling<'a> {
    step: &'a StepView,
    /// Member I/Os for one I/O of the load.
    reads: f64,
    writes: f64,
    iops: f64,
    /// Relative half width of its 95 % interval; `None` where a figure that it takes has none.
    half: Option<f64>,
    /// The same by the number of member I/Os alone, as if a read took as long as a write.
    bare_iops: Option<f64>,
}

impl<'a> MemberCeiling<'a> {
    /// Of an array's step; `None` for other steps, degraded arrays, and where the members were not measured all at once
    /// with such I/Os.
    pub(super) fn of(step: &'a StepView, measured: &[&StepView]) -> Option<MemberCeiling<'a>> {
        let [array] = &step.arrays[..] else { return None };
        if array.is_degraded() || !is_held(step) {
            return None;
        }
        let total = (array.reads + array.writes) as f64;
        let (member_reads, member_writes) = (array.member_reads(), array.member_writes());
        if total == 0.0 {
            return None;
        }
        let (reads, writes) = (member_reads as f64 / total, member_writes as f64 / total);
        // A large block is cut at chunks: what counts is how long the I/Os of the members are.
        let members = |read_pct: u8, bytes: u64, ios: u64| {
            let mean_bytes = bytes as f64 / ios.max(1) as f64;
            let is_as_long =
                |other: &StepView| (mean_bytes / f64::from(other.block_size_bytes) - 1.0).abs() <= SIZE_MARGIN;
            let alone = measured.iter().filter(|other| are_members(other, step, array) && other.read_pct == read_pct);
            alone.copied().filter(|other| is_as_long(other)).max_by(|a, b| a.iops.total_cmp(&b.iops))
        };
        let sum = |of: fn(&ArrayMember) -> u64| array.members.iter().map(of).sum::<u64>();
        let of_reads = members(100, sum(|m| m.read_bytes), member_reads);
        let of_writes = members(0, sum(|m| m.written_bytes), member_writes);
        // Seconds that one I/O of the load takes of all members together.
        let part = |count: f64, alone: Option<&StepView>| match (count > 0.0, alone) {
            (false, _) => Some((0.0, Some(0.0))),
            (true, Some(alone)) => {
                let s = count / alone.iops;
                let half = alone.iops_ci95.map(|[low, high]| (high - low) / 2.0 / alone.iops * s);
                Some((s, half))
            }
            (true, None) => None,
        };
        let ((reads_s, reads_half), (writes_s, writes_half)) = (part(reads, of_reads)?, part(writes, of_writes)?);
        let s = reads_s + writes_s;
        Some(MemberCeiling {
            step,
            reads,
            writes,
            iops: 1.0 / s,
            half: reads_half.zip(writes_half).map(|(a, b)| a.hypot(b) / s),
            bare_iops: of_writes.filter(|_| writes > 0.0).map(|alone| alone.iops / (reads + writes)),
        })
    }

    /// What the array gives and what its members allow, for the document; `None` for steps on anything else.
    fn view(step: &StepView, measured: &[&StepView]) -> Option<ArrayView> {
        let target = array_of(step)?;
        let [array] = &step.arrays[..] else { return None };
        let per_io = |count: u64| count as f64 / ((array.reads + array.writes).max(1) as f64);
        let all = (array.member_reads() + array.member_writes()).max(1) as f64;
        let ceiling = MemberCeiling::of(step, measured);
        let layout = target.layout();
        Some(ArrayView {
            step: step.index,
            load: load(step, layout),
            level: target.made_level().to_string(),
            chunk_bytes: layout.chunk_bytes(),
            members: layout.members(),
            missing: target.missing().count(),
            member_reads: per_io(array.member_reads()),
            member_writes: per_io(array.member_writes()),
            member_shares_pct: array.members.iter().map(|m| 100.0 * (m.reads + m.writes) as f64 / all).collect(),
            ceiling_iops: ceiling.map(|c| c.iops),
            ceiling_ci95: ceiling.and_then(|c| c.iops().ci95),
            bare_iops: ceiling.and_then(|c| c.bare_iops),
            written_per_byte: array.written_per_byte(),
            rebuild: rebuild_view(step, &target, array, measured),
        })
    }

    /// Whether it is the ceiling of that step.
    pub(super) fn is_of(&self, step: &StepView) -> bool {
        self.step.index == step.index
    }

    /// Achieved over ceiling, in percent.
    pub(super) fn share(&self) -> Quantity {
        let share = self.step.iops / self.iops;
        let half = |[low, high]: [f64; 2]| (high - low) / 2.0 / self.step.iops;
        let ci95 = self.step.iops_ci95.map(half).zip(self.half).map(|(a, b)| a.hypot(b) * share);
        Quantity::pct(100.0 * share).with_ci95(ci95.map(|half| [100.0 * (share - half), 100.0 * (share + half)]))
    }

    /// Whether the array gave more by more than both intervals: the members were not at their limit when they were alone.
    pub(super) fn is_exceeded(&self) -> bool {
        let share = self.share();
        share.ci95.map_or(share.value, |[low, _]| low) > 100.0
    }

    /// The ceiling, I/Os of the load per second.
    pub(super) fn iops(&self) -> Quantity {
        let half = self.half.map(|half| half * self.iops);
        Quantity::iops(self.iops).with_ci95(half.map(|half| [self.iops - half, self.iops + half]))
    }

    /// In a sentence; no share above all of it, which says that the ceiling was too low or noisy.
    pub(super) fn sentence(&self) -> Message {
        let kind = Kind::of(self.step).message();
        let (rate, ceiling, share) = (iops(self.step), self.iops(), self.share());
        let (reads, writes) = (counted(self.reads), counted(self.writes));
        let said = match () {
            () if self.is_exceeded() => msg!(
                "verdict-array-exceeded",
                kind = kind,
                rate = rate,
                ceiling = ceiling,
                reads = reads,
                writes = writes
            ),
            () if share.value > 100.0 => msg!(
                "verdict-array-reached",
                kind = kind,
                rate = rate,
                ceiling = ceiling,
                reads = reads,
                writes = writes
            ),
            () => msg!(
                "verdict-array-ceiling",
                kind = kind,
                rate = rate,
                share = share,
                ceiling = ceiling,
                reads = reads,
                writes = writes
            ),
        };
        match self.bare_iops.filter(|_| !self.is_exceeded()) {
            None => said,
            Some(bare) => msg!("verdict-array-bare", said = said, bare = Quantity::iops(bare)),
        }
    }

    /// The share as a headline figure; where it is above all of it, how many times what the members gave alone.
    pub(super) fn figure(&self) -> Figure {
        let kind = Kind::of(self.step).message();
        let share = self.share();
        if share.value > 100.0 {
            let ci95 = share.ci95.map(|ends| ends.map(|end| end / 100.0));
            let times = Quantity::times(share.value / 100.0).with_ci95(ci95);
            return figure(msg!("verdict-figure-array-times", kind = kind), times, self.step);
        }
        let ci95 = share.ci95.map(|[low, high]| [low, high.min(100.0)]);
        figure(msg!("verdict-figure-array-share", kind = kind), share.with_ci95(ci95), self.step)
    }
}

/// What a rebuild beside the load of a step did, and what the load paid.
fn rebuild_view(
    step: &StepView,
    target: &ArrayTarget,
    array: &ArrayRecord,
    measured: &[&StepView],
) -> Option<RebuildView> {
    let rebuild = array.rebuild?;
    let of_array = |step: &StepView| step.arrays.first().map(ArrayRecord::is_degraded);
    let is_whole =
        |other: &&&StepView| array_of(other).is_some_and(|on| on == target.at_rest()) && of_array(other) == Some(false);
    let is_same = |other: &&&StepView| {
        (&other.group, other.threads, other.queue_depth) == (&step.group, step.threads, step.queue_depth)
            && (&other.engine, other.direct) == (&step.engine, step.direct)
            && Kind::of(other).without_array() == Kind::of(step).without_array()
    };
    let whole = measured.iter().filter(is_whole).find(is_same);
    let p99 = |step: &StepView| step.lat_ns.as_ref().and_then(|lat| lat.p99);
    Some(RebuildView {
        asked_bytes_per_s: rebuild.asked_bytes_per_s,
        bytes_per_s: rebuild.bytes_per_s(),
        whole_s: rebuild.whole_s(),
        ended_first: rebuild.is_whole(),
        p99_ns: p99(step),
        whole_step: whole.map(|whole| whole.index),
        whole_p99_ns: whole.and_then(|whole| p99(whole)),
        rate_ratio: whole.filter(|whole| whole.iops > 0.0).map(|whole| step.iops / whole.iops),
    })
}

/// The array that a step was on.
pub(super) fn array_of(step: &StepView) -> Option<ArrayTarget> {
    let [target] = &step.targets[..] else { return None };
    TargetId::new(target.as_str()).array()?.ok()
}

/// What a step does, so that levels can stand beside each other: whole stripes have another length on each.
fn load(step: &StepView, layout: Layout) -> Message {
    let kind = Kind::of(step).without_array();
    let is_stripe =
        u64::from(step.block_size_bytes) == layout.stripe_bytes() && layout.stripe_bytes() > layout.chunk_bytes();
    match is_stripe && is_sequential(step.pattern) {
        true => msg!("raid-of-stripes", what = kind.operations_message()),
        false => kind.message(),
    }
}

/// The steps on arrays, each with what its members allow.
#[must_use]
pub fn arrays(steps: &[StepView]) -> Vec<ArrayView> {
    let measured = measured(steps);
    measured.iter().filter_map(|step| MemberCeiling::view(step, &measured)).collect()
}

/// Whether a step is the members of an array, all at once, doing such I/Os without it.
fn are_members(other: &StepView, step: &StepView, array: &ArrayRecord) -> bool {
    let names = || array.members.iter().filter_map(|m| m.target.as_ref()).map(TargetId::as_str);
    other.arrays.is_empty()
        && other.targets.len() == array.members.len()
        && names().all(|name| other.targets.iter().any(|target| target == name))
        && (other.direct, other.engine) == (step.direct, step.engine)
        && (other.pattern, &other.order, other.durability) == (step.pattern, &step.order, step.durability)
        && other.trim.is_none()
        && other.rate_iops.is_none()
        && other.iops > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fathom_plan::{OpMix, Step};

    const MEMBERS: [&str; 4] = ["/a", "/b", "/c", "/d"];

    fn step(index: u32, targets: &[&str], mix: OpMix, iops: f64) -> StepView {
        let mut step: Step = samples::step();
        step.index = index;
        step.targets = targets.iter().map(|name| TargetId::new(*name)).collect();
        step.workload.mix = mix;
        samples::view(&step, iops, 100.0)
    }

    /// 1000 writes of 4k on RAID 5 with two member reads and two member writes each.
    fn raid5(iops: f64) -> StepView {
        let mut view = step(9, &["raid5:64k:/a,/b,/c,/d"], OpMix::WRITE, iops);
        let member = |name: &str| ArrayMember {
            target: Some(name.into()),
            reads: 500,
            writes: 500,
            read_bytes: 500 * 4096,
            written_bytes: 500 * 4096,
            failed_errno: None,
        };
        view.arrays = vec![ArrayRecord {
            target: "raid5:64k:/a,/b,/c,/d".into(),
            reads: 0,
            writes: 1000,
            degraded_reads: 0,
            member_reads_for_writes: 2000,
            full_stripe_writes: 0,
            reconstruct_writes: 0,
            modify_writes: 1000,
            recover_writes: 0,
            load_bytes: 1000 * 4096,
            rebuild: None,
            members: MEMBERS.iter().map(|name| member(name)).collect(),
        }];
        view
    }

    #[test]
    fn the_ceiling_of_small_writes_is_what_the_device_time_of_the_members_leaves() {
        let (reads, writes) = (step(0, &MEMBERS, OpMix::READ, 400e3), step(1, &MEMBERS, OpMix::WRITE, 100e3));
        let array = raid5(30e3);
        let measured = [&reads, &writes, &array];
        let found = MemberCeiling::of(&array, &measured).expect("a ceiling");
        // 2 / 400k + 2 / 100k = 25 us of all members for each write.
        assert!((found.iops - 40e3).abs() < 1e-6, "{found:?}");
        assert_eq!(found.bare_iops, Some(25e3));
        assert!((found.share().value - 75.0).abs() < 1e-9);
        assert!(found.share().ci95.is_some_and(|[low, high]| low < 75.0 && high > 75.0));
        assert!(MemberCeiling::of(&reads, &measured).is_none(), "no array");
        let said = samples::words([&found.sentence()]).remove(0);
        assert!(said.contains("75") && said.contains("40.0k") && said.contains("25.0k"), "{said}");
    }

    #[test]
    fn a_rebuild_stands_beside_the_same_load_on_the_whole_array() {
        let whole = raid5(30e3);
        let mut beside = raid5(15e3);
        (beside.index, beside.targets) = (10, vec!["raid5:64k:/a,/b,/c,50m+/d".to_owned()]);
        beside.arrays[0].target = beside.targets[0].as_str().into();
        beside.arrays[0].rebuild = Some(fathom_record::RebuildRecord {
            asked_bytes_per_s: Some(50 << 20),
            done_bytes: 40 << 20,
            member_bytes: 400 << 20,
            took_ns: 1_000_000_000,
            ..fathom_record::RebuildRecord::default()
        });
        let mut deeper = raid5(60e3);
        deeper.queue_depth *= 2;
        let views = arrays(&[deeper, whole, beside]);
        let view = views.last().and_then(|view| view.rebuild).expect("a rebuild");
        assert_eq!((view.asked_bytes_per_s, view.whole_s, view.ended_first), (Some(50 << 20), Some(10.0), false));
        assert_eq!((view.whole_step, view.rate_ratio), (Some(9), Some(0.5)), "the load as deep as its own");
        assert!(view.whole_p99_ns.is_some() && views[1].rebuild.is_none());
        assert!(views.iter().all(|view| view.written_per_byte == Some(2.0)), "data and parity");
    }

    #[test]
    fn a_ceiling_that_is_exceeded_is_said_to_be_none() {
        let (reads, writes) = (step(0, &MEMBERS, OpMix::READ, 400e3), step(1, &MEMBERS, OpMix::WRITE, 100e3));
        let array = raid5(60e3);
        let found = MemberCeiling::of(&array, &[&reads, &writes, &array]).expect("a figure");
        assert!(found.is_exceeded());
        let said = samples::words([&found.sentence()]).remove(0);
        assert!(said.contains("not at their limit"), "{said}");
        assert!(
            said.contains("at least all that the members gave alone: 40.0k IOPS ±") && !said.contains("150"),
            "{said}"
        );
        let figure = found.figure();
        assert_eq!((figure.unit, figure.value), (fathom_message::Unit::Times, 1.5), "no share of 150 %");
    }

    #[test]
    fn no_share_is_above_all_of_the_ceiling() {
        let (reads, mut writes) = (step(0, &MEMBERS, OpMix::READ, 400e3), step(1, &MEMBERS, OpMix::WRITE, 100e3));
        // 102 % of a ceiling that is known to a quarter: all of it.
        writes.iops_ci95 = Some([75e3, 125e3]);
        let array = raid5(41e3);
        let found = MemberCeiling::of(&array, &[&reads, &writes, &array]).expect("a figure");
        assert!(!found.is_exceeded());
        let said = samples::words([&found.sentence()]).remove(0);
        assert!(said.contains("41.0k ±0.5 %, all of the 40.0k IOPS ±20"), "{said}");
        assert!(!said.contains("102"), "{said}");
        // Below it the interval of the share ends with all of it.
        let array = raid5(39e3);
        let found = MemberCeiling::of(&array, &[&reads, &writes, &array]).expect("a figure");
        assert_eq!(found.figure().ci95.map(|[_, high]| high), Some(100.0));
    }

    #[test]
    fn without_the_same_members_and_the_same_ios_there_is_no_ceiling() {
        let (reads, writes) = (step(0, &MEMBERS, OpMix::READ, 400e3), step(1, &MEMBERS, OpMix::WRITE, 100e3));
        let array = raid5(30e3);
        let one = step(2, &["/a"], OpMix::READ, 100e3);
        assert!(MemberCeiling::of(&array, &[&writes, &array]).is_none(), "its reads were not measured");
        assert!(MemberCeiling::of(&array, &[&one, &writes, &array]).is_none(), "one member is not all");
        let mut larger = reads.clone();
        larger.block_size_bytes = 65536;
        assert!(MemberCeiling::of(&array, &[&larger, &writes, &array]).is_none(), "other blocks");
        let mut degraded = array.clone();
        degraded.arrays[0].members[2].target = None;
        assert!(MemberCeiling::of(&degraded, &[&reads, &writes, &degraded]).is_none(), "degraded");
        let mut cut = array;
        cut.arrays[0].members.iter_mut().for_each(|m| m.written_bytes *= 2);
        assert!(MemberCeiling::of(&cut, &[&reads, &writes, &cut]).is_none(), "member I/Os of another size");
    }
}
