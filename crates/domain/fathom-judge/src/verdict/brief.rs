//! What the first looks at answers are made of: the limit as a clause, cells, rows, and the command to go on with.

use fathom_message::{Message, Quantity, msg};
use fathom_model::LimitName;
use fathom_plan::{EngineName, Phase};

use super::caveats::limiting_part;
use super::kind::{Kind, Loads};
use super::parts::{depth_or_rate, is_bandwidth, p50, p99};
use super::plateau::Most;
use crate::document::{Brief, BriefRow, NextCommand, StepState, StepView};

/// Below this probability the answer says that a part is perhaps the limit.
const LIKELY: f64 = 0.5;

/// A row of the small table.
pub(super) fn row(name: Message, cells: impl IntoIterator<Item = Message>) -> BriefRow {
    BriefRow { name, cells: cells.into_iter().collect() }
}

/// The brief with no more rows than it may have.
pub(super) fn brief(headline: Message, rows: impl IntoIterator<Item = BriefRow>, next: Option<NextCommand>) -> Brief {
    Brief { headline, rows: rows.into_iter().take(Brief::ROWS_MAX).collect(), next }
}

/// What limits the step, to stand after its figure: `limited by the device (96 %)`.
pub(super) fn limited(step: &StepView) -> Message {
    match step.limit.name {
        LimitName::Unknown => msg!("brief-limit-unknown"),
        LimitName::PageCache => msg!("brief-limit-page-cache"),
        _ => match step.limit.probability {
            Some(p) if p < LIKELY => {
                msg!("brief-limited-perhaps", what = limiting_part(step), probability = Quantity::share(p))
            }
            Some(p) => msg!("brief-limited-probably", what = limiting_part(step), probability = Quantity::share(p)),
            None => msg!("brief-limited", what = limiting_part(step)),
        },
    }
}

/// What limits the step, alone in a cell: `device 96 %`.
pub(super) fn limit_cell(step: &StepView) -> Message {
    let Some(what) = part_cell(step) else { return msg!("brief-cell-limit-unknown") };
    match step.limit.probability {
        Some(p) => msg!("brief-cell-probable", what = what, probability = Quantity::share(p)),
        None => msg!("brief-cell-limit", what = what),
    }
}

/// The same without its probability, where a cell has no room for it: `device`.
pub(super) fn limit_part(step: &StepView) -> Message {
    part_cell(step).unwrap_or_else(|| msg!("brief-cell-limit-unknown"))
}

/// The part that limits the step, without an article: rows of the small table are held to 80 columns.
fn part_cell(step: &StepView) -> Option<Message> {
    Some(match step.limit.name {
        LimitName::QueueDepth => msg!("brief-part-queue-depth"),
        LimitName::Device => msg!("brief-part-device"),
        LimitName::Link => msg!("brief-part-link"),
        LimitName::Uplink => msg!("brief-part-uplink"),
        LimitName::Core if step.spread.workers(step.threads, step.devices) == 1 => msg!("brief-part-one-core"),
        LimitName::Core => msg!("brief-part-cores"),
        LimitName::AllCores => msg!("brief-part-all-cores"),
        LimitName::CpuTaken => msg!("brief-part-cpu-taken"),
        LimitName::IrqCore => msg!("brief-part-irq-core"),
        LimitName::KernelThread => msg!("brief-part-kernel-thread"),
        LimitName::FileSystem => msg!("brief-part-file-system"),
        LimitName::Raid => msg!("brief-part-raid"),
        LimitName::Memory => msg!("brief-part-memory"),
        LimitName::Flush => msg!("brief-part-flush"),
        LimitName::PageCache => msg!("brief-part-page-cache"),
        LimitName::Network => msg!("brief-part-network"),
        LimitName::Server => msg!("brief-part-server"),
        LimitName::Client => msg!("brief-part-client"),
        LimitName::Rate => msg!("brief-part-rate"),
        LimitName::Unknown => return None,
    })
}

/// Widest half of an interval, in percent, that says something beside a change.
const HALF_PCT: std::ops::Range<f64> = 0.05..100.0;

/// `-12.4 % ±0.6 %`; what is to be said of the change stands in a cell of its own.
pub(crate) fn change_cell(ratio: f64, ci95: Option<[f64; 2]>) -> Message {
    let half_pct = ci95.map(|[low, high]| (high - low) / 2.0 * 100.0).filter(|half| HALF_PCT.contains(half));
    let change = Quantity::change(ratio);
    match half_pct {
        Some(half) => {
            msg!("brief-cell-change-within", change = change, half = Quantity::pct((half * 10.0).round() / 10.0))
        }
        None => msg!("brief-cell-change", change = change),
    }
}

/// `71.0k IOPS ±2.5 %`.
pub(super) fn rate_cell(rate: Quantity) -> Message {
    msg!("brief-cell-rate", rate = rate)
}

/// `p99 2.76 ms`, or the mean where no p99 is known.
pub(super) fn latency_cell(step: &StepView) -> Option<Message> {
    let lat = step.lat_ns.as_ref()?;
    Some(match p99(lat) {
        Some(p99) => msg!("brief-cell-p99", p99 = Quantity::ns(p99.value)),
        None => msg!("brief-cell-mean", mean = Quantity::ns(lat.mean)),
    })
}

/// Latency of one I/O at a time, or at the most where no such step was measured.
fn latency_of(kind: &Loads<'_>, most: &Most<'_>) -> Option<Message> {
    let alone = kind.alone().filter(|alone| alone.index != most.first().index);
    let p50 = alone.and_then(|alone| p50(alone.lat_ns.as_ref()?));
    p50.map(|p50| msg!("brief-cell-alone", p50 = Quantity::ns(p50.value))).or_else(|| latency_cell(most.first()))
}

/// `71.0k IOPS ±2.5 % of 4k random reads at T1 QD64, limited by the device (96 %).`
pub(super) fn gives(kind: &Loads<'_>) -> Message {
    let most = Most::of(kind);
    msg!("brief-gives", rate = most.rate, kind = kind.name(), load = most.load(), limited = limited(most.best))
}

/// A row for each kind of random load, and one for the reads and writes of a sequential one together.
pub(super) fn rows_of(kinds: &[Loads<'_>]) -> Vec<BriefRow> {
    let mut out: Vec<(Option<Kind>, BriefRow)> = Vec::new();
    for kind in kinds {
        let most = Most::of(kind);
        if !is_bandwidth(most.best) {
            let depth = depth_or_rate(most.first());
            let cells = [Some(rate_cell(most.rate)), Some(depth), latency_of(kind, &most), Some(limit_cell(most.best))];
            out.push((None, row(kind.name(), cells.into_iter().flatten())));
            continue;
        }
        let place = kind.kind.any_operation();
        let what = kind.kind.operations_message();
        let cell = msg!("brief-cell-operation", what = what, rate = most.rate);
        match out.iter_mut().find(|(of, _)| of.as_ref() == Some(&place)) {
            Some((_, row)) => row.cells.push(cell),
            None => out.push((Some(place.clone()), row(place.place_message(), [cell]))),
        }
    }
    out.into_iter().map(|(_, row)| row).collect()
}

/// The targets of the steps, for a command: ` --target /dev/nvme0n1`; nothing for the current directory.
fn targets(steps: &[StepView]) -> String {
    let Some(step) = steps.iter().max_by_key(|s| s.targets.len()) else { return String::new() };
    let mut names: Vec<&str> = Vec::new();
    for target in &step.targets {
        // All drives of a simulated machine are named by the machine.
        let name = match target.strip_prefix("sim:").and_then(|t| t.split_once('/')) {
            Some((machine, _)) if step.targets.len() > 1 => &target[..("sim:".len() + machine.len())],
            _ => target.as_str(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.iter().filter(|name| **name != ".").map(|name| format!(" --target {}", quoted(name))).collect()
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A study on the same targets, in a time that people wait for; simulated drives need none.
pub(super) fn study(name: &str, steps: &[StepView], why: Message) -> Option<NextCommand> {
    let budget = if steps.iter().any(StepView::is_simulated) { "" } else { " --time-budget 5m" };
    Some(NextCommand { command: format!("fathom run {name}{}{budget}", targets(steps)), why })
}

/// The run as a page.
#[must_use]
pub fn report(run: i64) -> NextCommand {
    NextCommand { command: format!("fathom report {run}"), why: msg!("next-report") }
}

/// The same sides again with more time: intervals narrow with its root.
pub(crate) fn longer(run: i64) -> NextCommand {
    NextCommand { command: format!("fathom run --like {run} --time-budget 15m"), why: msg!("next-longer") }
}

/// The run again, with probes.
pub(super) fn with_probes(run: i64, why: Message) -> Option<NextCommand> {
    Some(NextCommand { command: format!("fathom run --like {run} --explain"), why })
}

/// What follows from the limit of the step that the answer stands on.
pub(super) fn next(step: &StepView, steps: &[StepView], run: i64) -> Option<NextCommand> {
    match step.limit.name {
        // What was measured elsewhere cannot be measured again here.
        _ if step.state == StepState::Imported => Some(report(run)),
        LimitName::Core | LimitName::AllCores => study("engines", steps, msg!("next-engines")),
        LimitName::Device | LimitName::QueueDepth | LimitName::Rate => study("qos", steps, msg!("next-qos")),
        LimitName::PageCache => study("quick --set direct=1", steps, msg!("next-direct")),
        // What probes could not tell more probes will not.
        LimitName::Unknown if steps.iter().any(|s| s.phase == Phase::Probe) => Some(report(run)),
        // Nor can they change what fio is told, and none is known for files.
        LimitName::Unknown if step.engine.is_of_another_program() || step.engine == EngineName::Files => {
            Some(report(run))
        }
        LimitName::Unknown => with_probes(run, msg!("next-explain")),
        // A machine that is not there cannot be looked at.
        _ if step.is_simulated() => Some(report(run)),
        _ => Some(NextCommand { command: "fathom inspect".to_owned(), why: msg!("next-inspect") }),
    }
}

#[cfg(test)]
mod tests {
    use fathom_language::english;

    use super::*;
    use crate::samples;

    #[test]
    fn a_limit_that_is_more_likely_none_is_not_stated_as_one() {
        let mut step = samples::view(&samples::step(), 1e3, 100.0);
        step.limit.name = LimitName::Device;
        step.limit.probability = Some(0.48);
        assert_eq!(english(&limited(&step)), "perhaps limited by the device (48 %)");
        step.limit.probability = Some(0.63);
        assert_eq!(english(&limited(&step)), "limited by the device (63 %)");
    }
}
