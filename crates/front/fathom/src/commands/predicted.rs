//! A prediction as it is read first: a sentence, the loads worth their figures, what it rests on, one command.

use fathom_model::{Answer, Ceiling, LimitName, Prediction};
use fathom_units::{format_iops, format_ns, format_rate_decimal};

use super::{command_line, predict_array};
use crate::answer::{next, table};
use crate::terminal::{fill, say};

/// From this block size on a load is told by its bandwidth.
const BANDWIDTH_BYTES: u32 = 64 << 10;

/// A predicted load.
pub(super) struct Load<'a> {
    pub(super) label: &'a str,
    /// What it does, without how much of it at once.
    pub(super) kind: (fathom_plan::ReadWrite, u32),
    pub(super) in_flight: u32,
    pub(super) prediction: &'a Prediction,
}

/// Why some loads could not be predicted, and the command that leads to their figures.
pub(super) struct Missing<'a> {
    pub(super) loads: usize,
    pub(super) command: &'a str,
    pub(super) why: &'a str,
}

/// The first look at predicted loads, of which there is at least one; `drives`: `2 x Intel SSD D7-P5510 3.84 TB`.
/// `details` follow it: then no command need lead to them.
pub(super) fn first_look(
    drives: &str,
    loads: &[Load<'_>],
    assumed: usize,
    missing: Option<&Missing<'_>>,
    details: bool,
) -> String {
    let most = most_of(loads);
    let limited = match (most.prediction.limit, most.prediction.array.and_then(|a| a.part)) {
        (_, Some(part)) => format!("limited by {}", predict_array::part(part)),
        (LimitName::Unknown, None) => "limit not known".to_owned(),
        (limit, None) => format!("limited by {}", say(&limit.message())),
    };
    let headline = format!("{drives}: {} of {} predicted, {limited}.", rate(most), most.label);
    let shown = worth_showing(loads);
    let rows: Vec<Vec<String>> = shown.iter().map(|load| cells(load)).collect();
    let mut text =
        fill(&headline, "") + &table(&rows, loads.len() - shown.len()) + &trust(assumed, most.kind.1, most.prediction);
    text.push_str(&match missing {
        Some(missing) => next(missing.command, &format!("{} loads are not predicted: {}", missing.loads, missing.why)),
        None => all_of_it(details),
    });
    text
}

/// The first look at what meets a goal; `details` as for [`first_look`].
pub(super) fn met(
    goal: &str,
    drives: &str,
    block_bytes: u32,
    answer: &Answer,
    assumed: usize,
    details: bool,
) -> String {
    let p = &answer.prediction;
    let verb = if answer.drives == 1 { "meets" } else { "meet" };
    let headline = format!("{drives} with {} in flight each {verb} {goal}.", answer.in_flight_per_drive);
    let gives = vec![
        "gives".to_owned(),
        format!("{} IOPS", format_iops(p.iops)),
        format_rate_decimal(p.bytes_per_s),
        format!("mean {}", format_ns(p.lat_ns_mean)),
        format!("p99 about {}", format_ns(p.lat_ns_p99)),
    ];
    let lanes = answer.lanes.map(|lanes| format!("{lanes} lanes"));
    let cores = answer.cores.map(|cores| format!("{cores} cores"));
    let needs: Vec<String> = [Some("needs".to_owned()), cores, lanes].into_iter().flatten().collect();
    let lowest = p.ceilings.first().map(|c| vec!["ceiling".to_owned(), limit_and_iops(c)]);
    let rows: Vec<Vec<String>> =
        [Some(gives), Some(needs), lowest].into_iter().flatten().filter(|cells| cells.len() > 1).collect();
    fill(&headline, "") + &table(&rows, 0) + &trust(assumed, block_bytes, p) + &all_of_it(details)
}

fn limit_and_iops(ceiling: &Ceiling) -> String {
    format!("{} IOPS, {}", format_iops(ceiling.iops), say(&ceiling.name.message()))
}

fn most_of<'a, 'b>(loads: &'b [Load<'a>]) -> &'b Load<'a> {
    loads
        .iter()
        .filter(|l| l.kind == loads[0].kind)
        .max_by(|a, b| a.prediction.iops.total_cmp(&b.prediction.iops))
        .expect("a load is predicted")
}

/// Of several kinds the most of each; of a ladder its ends and its knee.
fn worth_showing<'a, 'b>(loads: &'b [Load<'a>]) -> Vec<&'b Load<'a>> {
    const ROWS: usize = 3;
    let mut kinds = Vec::new();
    for load in loads {
        if !kinds.contains(&load.kind) {
            kinds.push(load.kind);
        }
    }
    if kinds.len() > 1 {
        let of_kind = |kind: &_| {
            let same = loads.iter().filter(|l| l.kind == *kind);
            same.max_by(|a, b| a.prediction.iops.total_cmp(&b.prediction.iops))
        };
        return kinds.iter().filter_map(of_kind).take(ROWS).collect();
    }
    let is_at_knee = |load: &&Load<'_>| f64::from(load.in_flight) >= load.prediction.knee_in_flight;
    let mut shown: Vec<&Load<'_>> = loads.first().into_iter().chain(loads.iter().find(is_at_knee)).collect();
    shown.extend(loads.last());
    shown.dedup_by_key(|load| load.label);
    shown
}

fn rate(load: &Load<'_>) -> String {
    match load.kind.1 >= BANDWIDTH_BYTES {
        true => format_rate_decimal(load.prediction.bytes_per_s),
        false => format!("{} IOPS", format_iops(load.prediction.iops)),
    }
}

fn cells(load: &Load<'_>) -> Vec<String> {
    let p = load.prediction;
    vec![load.label.to_owned(), rate(load), format!("mean {}", format_ns(p.lat_ns_mean)), limit_word(p)]
}

/// What binds, in a word or two: a part of the array, else the limit.
pub(super) fn limit_word(p: &Prediction) -> String {
    let part = p.array.and_then(|a| a.part);
    part.map_or_else(|| p.limit.as_str().replace('_', " "), |part| part.as_str().to_owned())
}

/// What the figures are worth: the band of the first one, what arithmetic says of it, how much is assumed.
fn trust(assumed: usize, block_bytes: u32, p: &Prediction) -> String {
    let is_bandwidth = block_bytes >= BANDWIDTH_BYTES;
    let (band, baseline) = match is_bandwidth {
        true => (p.bands.bytes_per_s, p.baseline.map(|b| b.bytes_per_s)),
        false => (p.bands.iops, p.baseline.map(|b| b.iops)),
    };
    let shown = |x: f64| if is_bandwidth { format_rate_decimal(x) } else { format_iops(x) };
    let unit = if is_bandwidth { "" } else { " IOPS" };
    let baseline = baseline.map_or_else(String::new, |x| format!("; arithmetic {}", shown(x)));
    let assumed = match assumed {
        0 => String::new(),
        1 => "; 1 thing assumed".to_owned(),
        count => format!("; {count} things assumed"),
    };
    let [low, high] = band.within_90;
    fill(&format!("Trust: 90 % band {} to {}{unit}{baseline}{assumed}", shown(low), shown(high)), "")
}

fn all_of_it(details: bool) -> String {
    if details {
        return String::new();
    }
    next(&format!("{} --details", command_line()), "every load, the ceilings, what is assumed")
}
