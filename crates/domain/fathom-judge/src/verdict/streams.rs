//! What do loads give that run at once, each and together, and what does one lose beside the others?

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};

use super::brief::{brief, latency_cell, limit_cell, rate_cell, report, row, with_probes};
use super::kind::Kind;
use super::parts::{depth_or_rate, is_bandwidth, p99, rate, sentences, times_as_much, verdict};
use crate::document::{BriefRow, Figure, StepView, StreamSetView, Verdict};

/// Most streams that the headline names.
const NAMED_MAX: usize = 4;

/// A stream with the step that did the same alone.
struct Beside<'a> {
    name: &'a str,
    step: &'a StepView,
    alone: Option<&'a StepView>,
}

/// One answer for each set whose streams were measured.
pub(super) fn verdicts(question: &Message, steps: &[StepView], sets: &[StreamSetView], run: i64) -> Vec<Verdict> {
    let of_set = |set: &StreamSetView| {
        let streams: Vec<Beside<'_>> = set.streams.iter().filter_map(|s| beside(s.step, &s.name, steps)).collect();
        (streams.len() > 1).then(|| of_set(question, set, &streams, run))
    };
    sets.iter().filter_map(of_set).collect()
}

fn beside<'a>(index: u32, name: &'a str, steps: &'a [StepView]) -> Option<Beside<'a>> {
    let step = steps.iter().find(|s| s.index == index && s.ios > 0)?;
    let is_alone = |s: &&StepView| s.ios > 0 && s.role.alone.as_ref().is_some_and(|alone| alone.step == index);
    Some(Beside { name, step, alone: steps.iter().find(is_alone) })
}

fn of_set(question: &Message, set: &StreamSetView, streams: &[Beside<'_>], run: i64) -> Verdict {
    let named = streams
        .iter()
        .take(NAMED_MAX)
        .map(|s| msg!("verdict-stream-at", name = s.name.to_owned(), load = depth_or_rate(s.step)));
    let more = streams.len().saturating_sub(NAMED_MAX);
    let more = (more > 0).then(|| msg!("verdict-streams-more", more = more));
    let together = msg!(
        "verdict-streams-together",
        streams = Arg::list(named.chain(more), Join::Comma),
        rate = Quantity::iops(set.iops),
        bytes = Quantity::bytes_per_s(set.bytes_per_s)
    );
    let next = match streams.iter().any(|s| s.alone.is_none()) {
        true => with_probes(run, msg!("next-streams-alone")),
        false => Some(report(run)),
    };
    let lone = not_alone(streams, run);
    let (lone_row, lone_sentence) = lone.unzip();
    let brief = brief(together.clone(), streams.iter().map(Beside::row).chain(lone_row), next);
    let lost = streams.iter().flat_map(Beside::held);
    let answer = sentences(std::iter::once(together).chain(lone_sentence).chain(lost));
    let cpu = set.cpu.as_ref().and_then(|cpu| cpu.ns_per_io);
    let cost = cpu.map(|ns| msg!("verdict-streams-cpu", cpu = Quantity::ns(ns)));
    let evidence = streams.iter().map(Beside::sentence).chain(cost).collect();
    let views: Vec<StepView> = streams.iter().map(|s| s.step.clone()).collect();
    verdict(question, brief, answer, evidence, streams.iter().map(Beside::figure).collect(), &views)
}

/// The streams that did not run alone, as a row and as a sentence: their loss beside the others is not known.
fn not_alone(streams: &[Beside<'_>], run: i64) -> Option<(BriefRow, Message)> {
    let missing: Vec<&Beside<'_>> = streams.iter().filter(|s| s.alone.is_none()).collect();
    if missing.is_empty() {
        return None;
    }
    let run = run.to_string();
    let (cell, sentence) = match missing.len() == streams.len() {
        true => (msg!("brief-cell-none-alone"), msg!("verdict-streams-none-alone", run = run)),
        false => {
            let names = Arg::names(missing.iter().map(|s| s.name.to_owned()), Join::Comma);
            (
                msg!("brief-cell-not-alone", streams = names.clone()),
                msg!("verdict-streams-some-alone", streams = names, run = run),
            )
        }
    };
    Some((row(msg!("brief-row-alone"), [cell]), sentence))
}

impl Beside<'_> {
    fn title(&self) -> Message {
        msg!("verdict-stream-title", name = self.name.to_owned(), kind = Kind::of(self.step).message())
    }

    fn row(&self) -> BriefRow {
        let alone = self.alone.map(|alone| msg!("brief-cell-of-alone", times = times_as_much(self.step, alone)));
        let syncs = self.sync_p99().map(|p99| msg!("brief-cell-sync-p99", p99 = p99));
        // The headline has its depth; what its syncs took says more than its other latencies.
        let latency = syncs.or_else(|| latency_cell(self.step));
        let cells = [Some(rate_cell(rate(self.step))), latency, alone, Some(limit_cell(self.step))];
        row(self.title(), cells.into_iter().flatten())
    }

    fn sync_p99(&self) -> Option<Quantity> {
        p99(self.step.syncs.as_ref()?.lat_ns.as_ref()?)
    }

    /// What it loses beside the others, and what holds it.
    fn held(&self) -> Vec<Message> {
        let limit = msg!("verdict-stream-limit", name = self.name.to_owned(), limit = &self.step.limit.sentence);
        self.share_of_alone().into_iter().chain([limit]).collect()
    }

    /// `Next to the others reads gives 0.77x its rate alone (100k IOPS); its mean latency is 1.30x the latency alone.`
    fn share_of_alone(&self) -> Option<Message> {
        let alone = self.alone?;
        let (lat, lat_alone) = (self.step.lat_ns.as_ref()?.mean, alone.lat_ns.as_ref()?.mean);
        Some(msg!(
            "verdict-stream-of-alone",
            name = self.name.to_owned(),
            times = times_as_much(self.step, alone),
            alone = rate(alone),
            lat = Quantity::times(lat / lat_alone.max(1.0))
        ))
    }

    /// The rate and latencies of the stream in a sentence.
    fn sentence(&self) -> Message {
        let mut parts = vec![rate_cell(rate(self.step)), depth_or_rate(self.step)];
        parts.extend(self.step.lat_ns.as_ref().map(|lat| msg!("brief-cell-mean", mean = Quantity::ns(lat.mean))));
        parts.extend(self.step.lat_ns.as_ref().and_then(p99).map(|p99| msg!("brief-cell-p99", p99 = p99)));
        parts.extend(self.sync_p99().map(|p99| msg!("brief-cell-sync-p99", p99 = p99)));
        msg!("verdict-stream-gives", title = self.title(), what = Arg::list(parts, Join::Comma))
    }

    fn figure(&self) -> Figure {
        let step = self.step;
        let (value, unit) = match is_bandwidth(step) {
            true => (step.bytes_per_s, Unit::BytesPerS),
            false => (step.iops, Unit::Iops),
        };
        let per_io = value / step.iops.max(1e-9);
        let ci95 = step.iops_ci95.map(|ends| ends.map(|iops| iops * per_io));
        Figure { name: self.title(), value, unit, ci95, load: step.label_message.clone(), step: step.index }
    }
}

#[cfg(test)]
mod tests {
    use fathom_language::english;
    use fathom_model::LimitName;
    use fathom_plan::{Alone, Step};

    use super::*;
    use crate::document::StreamView;
    use crate::samples;

    fn stream(index: u32, limit: LimitName) -> StepView {
        let step = Step { index, ..samples::step() };
        let mut view = samples::view(&step, 50e3, 100.0);
        view.limit.name = limit;
        view.limit.sentence = Message::verbatim(format!("Sentence {index}."));
        view
    }

    fn set(names: &[&str]) -> StreamSetView {
        let stream = |(step, name): (u32, &&str)| StreamView {
            step,
            name: (*name).to_owned(),
            iops: 50e3,
            bytes_per_s: 50e3 * 4096.0,
        };
        let streams: Vec<StreamView> = (0..).zip(names).map(stream).collect();
        StreamSetView { set: 0, streams, iops: 100e3, bytes_per_s: 409.6e6, runtime_s: 30.0, cpu: None }
    }

    fn answer(steps: &[StepView]) -> Verdict {
        verdicts(&Message::verbatim("?"), steps, &[set(&["reads", "log"])], 7).remove(0)
    }

    #[test]
    fn each_stream_has_its_limit_and_that_none_ran_alone_is_said() {
        let mut steps = vec![stream(0, LimitName::Device), stream(1, LimitName::Unknown)];
        let verdict = answer(&steps);
        let (_, rows) = samples::first_look(&verdict);
        assert!(rows[0].starts_with("reads: 4k random reads") && rows[0].contains("device"), "{rows:?}");
        assert!(rows[1].starts_with("log: 4k random reads") && rows[1].contains("limit not known"), "{rows:?}");
        assert_eq!(rows[2], "alone: no stream ran alone: the loss is not known (--explain)");
        let said = english(&verdict.answer);
        assert!(said.contains("cost of running together is not known: `fathom run --like 7 --explain`"), "{said}");
        assert!(said.contains("Limit of reads: Sentence 0.") && said.contains("Limit of log: Sentence 1."), "{said}");
        // One of them ran alone: the other is named.
        let mut alone = stream(2, LimitName::Device);
        alone.role.alone = Some(Alone { step: 0, name: "reads".to_owned() });
        steps.push(alone);
        let (_, rows) = samples::first_look(&answer(&steps));
        assert_eq!(rows[2], "alone: log did not run alone: the loss is not known (--explain)");
        let mut alone = stream(3, LimitName::Device);
        alone.role.alone = Some(Alone { step: 1, name: "log".to_owned() });
        steps.push(alone);
        let (_, rows) = samples::first_look(&answer(&steps));
        assert_eq!(rows.len(), 2, "{rows:?}");
    }
}
