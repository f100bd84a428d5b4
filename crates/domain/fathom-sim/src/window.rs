//! How much of the time that a step asks for is simulated. Nothing disturbs a simulated machine: once its figures are known,
//! more of the same tells nothing.

use fathom_plan::{Phase, Step};
use fathom_record::{Interval, RunControl, WhyShortened};

use crate::build::Fresh;
use crate::machine::{FaultKind, Machine, Media};

/// Steps that ask for no more than this are run whole: there is little to save.
const WHOLE_NS_MAX: u64 = 200_000_000;
/// The warm-up takes no less than this time or so many I/Os,
const WARM_UP_NS_MIN: u64 = 20_000_000;
const WARM_UP_IOS_MIN: u64 = 30_000;
/// and as long as every slot has had so many I/Os,
const WARM_UP_TURNS: u64 = 4;
/// and, with writes, the write buffers of all drives have been filled by this share, percent,
const WARM_UP_BUFFER_PCT: u64 = 150;
/// but no more than so many I/Os.
const WARM_UP_IOS_MAX: u64 = 500_000;
/// The window takes no less than this, in time and I/Os; of the time, no more than so many I/Os take.
const WINDOW_NS_MIN: u64 = 50_000_000;
const WINDOW_IOS_MIN: u64 = 20_000;
const WINDOW_IOS_ENOUGH: u64 = 40_000;
/// Nor many more I/Os than this, or bytes (large I/Os are many commands of flash), whether its figures are known or not:
/// a percentile that lies between two kinds of I/O, those that met another at a die and those that did not, takes ten times
/// as many and is no better known to anybody for it.
const WINDOW_IOS_MAX: u64 = 100_000;
const WINDOW_BYTES_MAX: u64 = 64 << 30;
/// I/Os of a window in which drives age faster than the clock: no fewer than this,
const AGING_IOS_MIN: u64 = 200_000;
/// and so many times what the write buffers hold, which do not grow with the time that passes for the flash.
const AGING_BUFFERS: u64 = 20;
/// Intervals of the shortest window. Once there are twice as many, neighbours become one.
const INTERVALS: u64 = 40;
/// Time between two looks at the precision grows by this factor, as on a real machine; two in a row must be content.
const LOOK_FACTOR: f64 = 1.5;
const LOOKS_TO_STOP: u32 = 2;

/// How much of the time that steps ask for is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of it; a step that may stop early stops where it would on a real machine.
    #[default]
    Whole,
    /// Until `precise_enough` of the control is content, after a warm-up of its own. Drives that fill up age as over the
    /// whole time. Steps whose machine changes with time (faults with a beginning, drifts, storms) and steps that walk over
    /// their region a number of times run whole.
    UntilKnown,
}

/// How one step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    Whole,
    UntilKnown,
    /// For a fixed time in which the drives age faster.
    Aging,
}

impl Course {
    /// `drives`: those behind the step's targets.
    pub(crate) fn of(extent: Extent, machine: &Machine, step: &Step, drives: &[usize], fresh: &Fresh) -> Course {
        let whole = extent == Extent::Whole
            || step.length.passes.is_some()
            || step.length.budget_ns <= WHOLE_NS_MAX
            || changes_with_time(machine);
        if whole {
            return Course::Whole;
        }
        let is_fresh = drives.iter().any(|d| fresh.contains_key(&machine.drives[*d].name));
        // What conditions a purged drive leaves it conditioned, whatever was written meanwhile.
        if is_fresh && step.phase == Phase::Measure && step.workload.mix.write_pct > 0 {
            Course::Aging
        } else {
            Course::UntilKnown
        }
    }
}

fn changes_with_time(machine: &Machine) -> bool {
    machine.faults.iter().any(|fault| match fault.kind {
        FaultKind::Drift { .. } | FaultKind::GcStorm { .. } => true,
        FaultKind::Throttle { .. } | FaultKind::SlowDie { .. } => fault.from_ps > 0 || fault.until_ps < u64::MAX,
        FaultKind::LinkTrainedDown { .. } | FaultKind::InterruptsOnOneCpu { .. } | FaultKind::PageCacheHits { .. } => {
            false
        }
    })
}

/// What the warm-up has to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmUp {
    ios: u64,
    bytes: u64,
    ns_max: u64,
    /// What the write buffers behind the targets hold.
    buffer_bytes: u64,
}

impl WarmUp {
    pub(crate) fn of(machine: &Machine, step: &Step, drives: &[usize], slots: u64) -> WarmUp {
        let buffer = |d: &usize| match &machine.drives[*d].device.media {
            Media::Nand(nand) => nand.buffer_bytes,
            Media::Xpoint(_) | Media::Memory(_) => 0,
        };
        // Reads fill no buffer.
        let write_pct = u64::from(step.workload.mix.write_pct);
        let buffer_bytes = if write_pct > 0 { drives.iter().map(buffer).sum() } else { 0 };
        WarmUp {
            ios: slots * WARM_UP_TURNS,
            bytes: buffer_bytes * WARM_UP_BUFFER_PCT / write_pct.max(1),
            ns_max: step.length.ramp_ns.max(step.length.budget_ns),
            buffer_bytes,
        }
    }

    /// Whether it is over after `at_ns`, in which so many I/Os of so many bytes ended.
    pub(crate) fn is_over(self, at_ns: u64, ios: u64, bytes: u64) -> bool {
        let has_begun = at_ns >= WARM_UP_NS_MIN || ios >= WARM_UP_IOS_MIN;
        let is_reached = has_begun && ios >= self.ios && bytes >= self.bytes;
        is_reached || at_ns >= self.ns_max || ios >= WARM_UP_IOS_MAX.max(self.ios)
    }
}

/// The measured window of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) start_ns: u64,
    /// Most that it takes.
    pub(crate) length_ns: u64,
    pub(crate) interval_ns: u64,
    /// When the first look at the precision is due.
    first_look_ns: f64,
    /// How much faster than the clock purged drives age.
    pub(crate) aging: f64,
}

impl Window {
    pub(crate) fn whole(step: &Step, interval_ns: u64) -> Window {
        let length = step.length;
        let may_stop = length.floor_ns < length.budget_ns && length.passes.is_none();
        Window {
            start_ns: length.ramp_ns,
            length_ns: length.budget_ns,
            interval_ns,
            first_look_ns: if may_stop { length.floor_ns as f64 } else { f64::INFINITY },
            aging: 1.0,
        }
    }

    /// After this warm-up, whose last part ended `ios_per_s`.
    pub(crate) fn shortened(course: Course, step: &Step, warm_up: WarmUp, start_ns: u64, ios_per_s: f64) -> Window {
        let asked_ns = step.length.budget_ns;
        let time_of = |ios: u64| (ios as f64 / ios_per_s.max(1e-3) * 1e9) as u64;
        let time_min_ns = WINDOW_NS_MIN.min(time_of(WINDOW_IOS_ENOUGH));
        let least_ns = |ios: u64| time_of(ios).max(time_min_ns).min(asked_ns);
        let (length_ns, floor_ns) = match course {
            Course::Aging => {
                let bytes = warm_up.buffer_bytes * AGING_BUFFERS;
                let ios = (bytes / u64::from(step.workload.block_bytes_max())).max(AGING_IOS_MIN);
                (least_ns(ios), least_ns(ios))
            }
            Course::Whole | Course::UntilKnown => (asked_ns, least_ns(WINDOW_IOS_MIN)),
        };
        Window {
            start_ns,
            length_ns,
            interval_ns: (floor_ns / INTERVALS).max(1_000),
            // A step that is content from the beginning ends at its second look, the floor.
            first_look_ns: if length_ns > floor_ns { floor_ns as f64 / LOOK_FACTOR } else { f64::INFINITY },
            aging: if course == Course::Aging { asked_ns as f64 / length_ns as f64 } else { 1.0 },
        }
    }
}

/// Looks at the precision at geometrically spaced times only, and believes two in a row.
pub(crate) struct Looks {
    course: Course,
    next_ns: f64,
    content: u32,
}

impl Looks {
    pub(crate) fn new(course: Course, window: &Window) -> Self {
        Looks { course, next_ns: window.first_look_ns, content: 0 }
    }

    /// Why the step may end now; `None`: it goes on.
    pub(crate) fn look(
        &mut self,
        elapsed_ns: u64,
        control: &RunControl<'_>,
        intervals: &[Interval],
        step: &Step,
    ) -> Option<WhyShortened> {
        if (elapsed_ns as f64) < self.next_ns.max(1.0) {
            return None;
        }
        self.next_ns = self.next_ns.max(1.0) * LOOK_FACTOR;
        self.content = if (control.precise_enough)(intervals, step) { self.content + 1 } else { 0 };
        match self.course {
            _ if self.content >= LOOKS_TO_STOP => Some(WhyShortened::FiguresKnown),
            Course::UntilKnown if are_many(intervals) => Some(WhyShortened::ManyIos),
            _ => None,
        }
    }
}

fn are_many(intervals: &[Interval]) -> bool {
    let directions = || intervals.iter().flat_map(|i| &i.directions);
    let (ios, bytes): (u64, u64) = directions().fold((0, 0), |(ios, bytes), d| (ios + d.ios, bytes + d.bytes));
    ios >= WINDOW_IOS_MAX || bytes >= WINDOW_BYTES_MAX
}

/// Makes neighbouring intervals one once there are twice as many as a window begins with; true when it did.
pub(crate) fn halve(intervals: &mut Vec<Interval>, cpu_busy: &mut Vec<Vec<f32>>) -> bool {
    if (intervals.len() as u64) < 2 * INTERVALS {
        return false;
    }
    for at in 0..intervals.len() / 2 {
        let second = intervals.remove(at + 1);
        let first = &mut intervals[at];
        first.length_ns += second.length_ns;
        for (into, from) in first.directions.iter_mut().zip(&second.directions) {
            into.ios += from.ios;
            into.bytes += from.bytes;
            into.lat.merge(&from.lat);
        }
        let second = cpu_busy.remove(at + 1);
        cpu_busy[at].iter_mut().zip(second).for_each(|(into, from)| *into = f32::midpoint(*into, from));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Fault;
    use crate::testing;
    use fathom_hist::Histogram;
    use fathom_plan::Op;
    use fathom_record::DirectionInterval;

    fn course(machine: &Machine, step: &Step, fresh: &Fresh) -> Course {
        Course::of(Extent::UntilKnown, machine, step, &[0], fresh)
    }

    #[test]
    fn what_changes_with_time_runs_whole_and_what_fills_up_ages() {
        let mut machine = crate::builtin_machine("speed").expect("is shipped");
        let fresh = Fresh::from([(machine.drives[0].name.clone(), 0.0)]);
        let mut step = testing::step("nvme-0", 1, 8, 60_000_000_000);
        assert_eq!(course(&machine, &step, &fresh), Course::UntilKnown, "reads leave no trace");
        step.workload.mix = fathom_plan::OpMix::WRITE;
        assert_eq!(course(&machine, &step, &fresh), Course::Aging);
        assert_eq!(course(&machine, &step, &Fresh::new()), Course::UntilKnown);
        assert_eq!(Course::of(Extent::Whole, &machine, &step, &[0], &fresh), Course::Whole);
        step.length.passes = Some(1);
        assert_eq!(course(&machine, &step, &Fresh::new()), Course::Whole);
        step.length.passes = None;
        let fault = |kind, from_ps| Fault { drive: None, from_ps, until_ps: u64::MAX, kind };
        for (kind, from_ps, expected) in [
            (FaultKind::Throttle { speed_pct: 50 }, 0, Course::UntilKnown),
            (FaultKind::Throttle { speed_pct: 50 }, 1_000, Course::Whole),
            (FaultKind::Drift { loss_pct: 1.0 }, 0, Course::Whole),
        ] {
            machine.faults = vec![fault(kind, from_ps)];
            assert_eq!(course(&machine, &step, &Fresh::new()), expected, "{kind:?}");
        }
    }

    #[test]
    fn neighbours_become_one_without_losing_anything() {
        let interval = |at: u64| {
            let mut lat = Histogram::new();
            lat.record_n(1_000 + at, at);
            let read = DirectionInterval { op: Op::Read, ios: at, bytes: at * 512, lat };
            Interval { start_ns: at * 10, length_ns: 10, directions: vec![read], syncs: None }
        };
        let mut intervals: Vec<Interval> = (0..2 * INTERVALS).map(interval).collect();
        let mut busy: Vec<Vec<f32>> = (0..2 * INTERVALS).map(|at| vec![(at % 2) as f32]).collect();
        assert!(halve(&mut intervals, &mut busy) && !halve(&mut intervals, &mut busy));
        assert_eq!((intervals.len() as u64, busy.len() as u64), (INTERVALS, INTERVALS));
        let third = &intervals[3];
        assert_eq!((third.start_ns, third.length_ns, third.directions[0].ios), (60, 20, 13));
        assert_eq!((third.directions[0].lat.count(), busy[3][0]), (13, 0.5));
    }
}
