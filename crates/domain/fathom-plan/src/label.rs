//! Labels of steps: `4k random read T1 QD32`, plus what tells the steps of one plan apart.
//!
//! The text is a step's name: it is stored, exported and compared between runs, and the same in every language.
//! [`label_message`] is the same label for people.

use std::collections::{BTreeMap, BTreeSet};

use fathom_message::{Message, Quantity, msg};
use fathom_units::{format_block, format_cpu_list};

use crate::by_fio::FioJob;
use crate::durability::Durability;
use crate::file_ops::{FileLoad, FileOp, StatBy};
use crate::io_order::IoOrder;
use crate::pacing::Pacing;
use crate::role::{LabelPart, NewFile, PurgeMeans};
use crate::step::{EngineName, Mode, Pattern, Phase, Placement, RateProcess, Spread, Step, TargetId};

/// What a word of a label speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Phase,
    Blocks,
    Order,
    Operations,
    Threads,
    Depth,
    Rate,
    Part(LabelPart),
}

/// A label: its words as they are stored, each with what stands before it, and all of it for people.
struct Label {
    words: Vec<(Topic, String)>,
    message: Message,
}

impl Label {
    fn new(topic: Topic, words: Words) -> Label {
        Label { words: vec![(topic, words.text)], message: words.message }
    }

    fn text(&self) -> String {
        self.words.iter().map(|(_, word)| word.as_str()).collect()
    }

    /// The same with one more word; `message` is of the whole label.
    fn with(mut self, topic: Topic, word: String, message: Message) -> Label {
        self.words.push((topic, word));
        Label { message, ..self }
    }

    /// The same behind one more word; `message` is of the whole label.
    fn behind(mut self, topic: Topic, word: String, message: Message) -> Label {
        self.words.insert(0, (topic, word));
        Label { message, ..self }
    }
}

/// A word of a label: as it is stored, and for people.
struct Words {
    text: String,
    message: Message,
}

impl Words {
    fn new(text: impl Into<String>, message: Message) -> Words {
        Words { text: text.into(), message }
    }

    /// A name, the same in every language.
    fn name(text: impl Into<String>) -> Words {
        let text = text.into();
        Words { message: Message::verbatim(text.clone()), text }
    }
}

/// Names the step by its workload, its load and the parts that its role lists.
pub fn set_label(step: &mut Step) {
    step.label = label_of(step).text();
}

/// The label of a step in words that the front can say in any language. A label that an older version, another tool or
/// the run itself gave is said as it stands.
#[must_use]
pub fn label_message(step: &Step) -> Message {
    own_label(step).map_or_else(|| Message::verbatim(step.label.clone()), |label| label.message)
}

/// What a step is a round of a loop or a part of a pass of, in words: its label without their numbers. `None` for other
/// steps, and for labels of other origin.
#[must_use]
pub fn loop_message(step: &Step) -> Option<Message> {
    let is_number = |part: &&LabelPart| matches!(part, LabelPart::Round | LabelPart::Part);
    let parts = &step.role.label_parts;
    own_label(step).filter(|_| parts.iter().any(|part| is_number(&part)))?;
    Some(
        parts
            .iter()
            .filter(|part| !is_number(part))
            .fold(head(step), |label, part| with_part(label, *part, step))
            .message,
    )
}

/// What the step does without its threads and its queue depth, in words, for tables that have columns for them; of a
/// label of other origin the whole.
#[must_use]
pub fn workload_message(step: &Step) -> Message {
    let is_load = matches!(step.phase, Phase::Settle | Phase::Measure | Phase::Probe);
    if own_label(step).is_none() || !is_load {
        return label_message(step);
    }
    with_parts(with_rate(workload(step), step), step).message
}

/// What the labels of two steps have in common: what both do, without what tells them apart, as text and for people.
/// `None` where that is nothing, and for labels of other origin.
#[must_use]
pub fn common_label(a: &Step, b: &Step) -> Option<(String, Message)> {
    let (of_a, of_b) = (own_label(a)?, own_label(b)?);
    let shared: Vec<(Topic, String)> = of_a.words.into_iter().filter(|word| of_b.words.contains(word)).collect();
    let text: String = shared.iter().map(|(_, word)| word.as_str()).collect();
    let text = text.trim_start_matches([',', ' ']).to_owned();
    let topics: Vec<Topic> = shared.into_iter().map(|(topic, _)| topic).collect();
    let message = message_of(a, &topics).unwrap_or_else(|| Message::verbatim(text.clone()));
    (!text.is_empty()).then_some((text, message))
}

/// The label of a load for people, as far as these topics go; `None` where they do not say what it does.
fn message_of(step: &Step, topics: &[Topic]) -> Option<Message> {
    let has = |topic: Topic| topics.contains(&topic);
    let does = [Topic::Blocks, Topic::Order, Topic::Operations];
    if has(Topic::Phase) || !does.into_iter().all(has) {
        return None;
    }
    let workload = workload(step).message;
    let with = |name: String| msg!("label-with", label = workload.clone(), what = Message::verbatim(name));
    let message = match (has(Topic::Threads), has(Topic::Depth)) {
        (true, true) => load_message(step, workload),
        // How threads are spread has words only beside their depth.
        (true, false) if step.load.spread != Spread::EachTarget => return None,
        (true, false) => with(format!("T{}", step.load.threads)),
        (false, true) => with(format!("QD{}", step.load.queue_depth)),
        (false, false) => workload,
    };
    let load = Label { words: Vec::new(), message };
    let load = if has(Topic::Rate) { with_rate(load, step) } else { load };
    let parts = step.role.label_parts.iter().filter(|part| has(Topic::Part(**part)));
    Some(parts.fold(load, |label, part| with_part(label, *part, step)).message)
}

/// The step's label word by word; `None` where an older version, another tool or the run itself gave another.
fn own_label(step: &Step) -> Option<Label> {
    Some(label_of(step)).filter(|label| label.text() == step.label)
}

fn label_of(step: &Step) -> Label {
    with_parts(head(step), step)
}

fn with_parts(head: Label, step: &Step) -> Label {
    step.role.label_parts.iter().fold(head, |label, part| with_part(label, *part, step))
}

fn with_part(label: Label, part: LabelPart, step: &Step) -> Label {
    let message = label.message.clone();
    match part {
        LabelPart::Pass { number, of } => label.with(
            Topic::Part(part),
            format!(", pass {number} of {of}"),
            msg!("label-pass", label = message, number = number, of = of),
        ),
        LabelPart::Part => match step.role.part {
            Some(place) => label.with(
                Topic::Part(part),
                format!(", part {} of {}", place.index + 1, place.of),
                msg!("label-part", label = message, number = place.index + 1, of = place.of),
            ),
            None => label,
        },
        // In front: a table that cuts long labels keeps what tells streams apart.
        LabelPart::Stream => match (&step.role.stream, &step.role.alone) {
            (Some(stream), _) => label.behind(
                Topic::Part(part),
                format!("{}: ", stream.name),
                msg!("label-stream", label = message, name = &stream.name),
            ),
            (None, Some(alone)) => label.behind(
                Topic::Part(part),
                format!("{} alone: ", alone.name),
                msg!("label-stream-alone", label = message, name = &alone.name),
            ),
            (None, None) => label,
        },
        _ => match trait_words(part, step) {
            Some(words) => label.with(
                Topic::Part(part),
                format!(" {}", words.text),
                msg!("label-with", label = message, what = words.message),
            ),
            None => label,
        },
    }
}

/// What the step does, and how much at once.
fn head(step: &Step) -> Label {
    match step.phase {
        Phase::Purge => Label::new(
            Topic::Phase,
            match step.role.purge {
                None | Some(PurgeMeans::Best) => Words::new("purge", msg!("label-purge")),
                Some(means) => {
                    Words::new(format!("purge by {}", means.as_str()), msg!("label-purge-by", means = means.as_str()))
                }
            },
        ),
        Phase::Fill => Label::new(Topic::Phase, Words::new("fill", msg!("label-fill"))),
        Phase::Precondition => {
            let mut label = workload(step);
            label.words.insert(0, (Topic::Phase, "precondition ".to_owned()));
            Label { message: msg!("label-precondition", workload = label.message), ..label }
        }
        Phase::Settle | Phase::Measure | Phase::Probe => load(step),
    }
}

fn load(step: &Step) -> Label {
    let mut label = workload(step);
    let targets = step.targets.len();
    let over = match step.load.spread {
        Spread::EachTarget => String::new(),
        Spread::Targets => format!(" over {targets}"),
        Spread::AllTargets => format!(" on all {targets}"),
    };
    label.words.push((Topic::Threads, format!(" T{}{over}", step.load.threads)));
    label.words.push((Topic::Depth, format!(" QD{}", step.load.queue_depth)));
    let message = load_message(step, label.message);
    with_rate(Label { message, ..label }, step)
}

/// What a workload does with its threads and their depth.
fn load_message(step: &Step, workload: Message) -> Message {
    let (threads, depth) = (step.load.threads, step.load.queue_depth);
    let targets = step.targets.len() as u64;
    match step.load.spread {
        Spread::EachTarget => msg!("label-load", workload = workload, threads = threads, depth = depth),
        Spread::Targets => {
            msg!("label-load-over", workload = workload, threads = threads, depth = depth, targets = targets)
        }
        Spread::AllTargets => {
            msg!("label-load-on-all", workload = workload, threads = threads, depth = depth, targets = targets)
        }
    }
}

fn with_rate(label: Label, step: &Step) -> Label {
    let message = label.message.clone();
    match (step.role.rate_share, step.load.rate) {
        _ if !step.role.stages.is_empty() => with_stages(label, step),
        // The shares stand with the operations.
        _ if step.role.rate_pair.is_some() => label,
        // A name that stays when the rate is known, so that runs can be compared.
        (Some(share), _) => label.with(
            Topic::Rate,
            format!(" at {} % of max", share.pct),
            msg!("label-at-share", load = message, share = Quantity::pct(share.pct.into())),
        ),
        // A trace says by its name how fast it is.
        (None, Some(rate)) if rate.process == RateProcess::Recorded => label,
        _ if step.load.op_rates.is_some() => with_op_rates(label, step),
        (None, Some(rate)) => label.with(
            Topic::Rate,
            format!(" at {}/s", rate.iops),
            msg!("label-at-rate", load = message, iops = rate.iops.to_string()),
        ),
        (None, None) => label,
    }
}

/// Rates of reads and writes, or the limit of one of them.
fn with_op_rates(label: Label, step: &Step) -> Label {
    let message = label.message.clone();
    let rates = step.load.op_rates.map_or((None, None), |rates| (rates.read_iops, rates.write_iops));
    let (text, message) = match rates {
        (Some(reads), Some(writes)) => (
            format!(" at {reads} reads/s + {writes} writes/s"),
            msg!("label-at-rates", load = message, reads = reads.to_string(), writes = writes.to_string()),
        ),
        (Some(reads), None) => {
            (format!(", reads <= {reads}/s"), msg!("label-reads-limited", load = message, reads = reads.to_string()))
        }
        (None, Some(writes)) => (
            format!(", writes <= {writes}/s"),
            msg!("label-writes-limited", load = message, writes = writes.to_string()),
        ),
        (None, None) => return label,
    };
    label.with(Topic::Rate, text, message)
}

/// How many stages, and between which rates.
fn with_stages(label: Label, step: &Step) -> Label {
    let message = label.message.clone();
    let stages = &step.role.stages;
    let share = step.role.rate_share.map(|share| f64::from(share.pct));
    let unit = if share.is_some() { " % of max" } else { "/s" };
    let Some(rate) = share.or(step.load.rate.map(|rate| rate.iops)) else { return label };
    let rates = || stages.iter().flat_map(|stage| stage.rates(rate));
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    let range =
        if ends[0] == ends[1] { format!("{}{unit}", ends[1]) } else { format!("{} to {}{unit}", ends[0], ends[1]) };
    let count = stages.len();
    let at = format!(" at {range}");
    label.with(
        Topic::Rate,
        format!(" in {count} stages{at}"),
        msg!("label-in-stages", load = message, count = count, range = Message::verbatim(range)),
    )
}

/// [`load_words`] of a step, behind fio's word for its engine where fio runs it.
#[must_use]
pub fn load_words_of(step: &Step) -> String {
    let words = load_words(&step.workload.order, step.workload.durability, step.load.pacing);
    let engine = step.role.by_fio.as_ref().map(|job| job.ioengine.clone());
    let on_array = step.targets.first().and_then(TargetId::array_words);
    let load = Some(words).filter(|w| !w.is_empty()).into_iter().chain(thread_words(step));
    engine.into_iter().chain(load).chain(on_array).collect::<Vec<_>>().join(" ")
}

fn by_fio(job: &FioJob) -> Words {
    Words::new(format!("{} by fio", job.ioengine), msg!("label-by-fio", engine = job.ioengine.clone()))
}

fn workload(step: &Step) -> Label {
    if let Some(job) = step.role.by_fio.as_ref().filter(|job| !job.place.is_on_targets()) {
        // Blocks and their order say nothing of what burns a processor or makes files.
        return Label::new(Topic::Operations, by_fio(job));
    }
    if let Some(files) = step.workload.order.files {
        // fio's words, which are the same in every language.
        let operations = Words::name(file_words(files));
        return Label::new(Topic::Operations, durable(operations, step));
    }
    let sizes = blocks(step);
    let (order, operations) = (order(step), durable(operations(step), step));
    let message =
        msg!("label-workload", blocks = sizes.clone(), order = order.message, operations = operations.message);
    let words = vec![
        (Topic::Blocks, sizes),
        (Topic::Order, format!(" {}", order.text)),
        (Topic::Operations, format!(" {}", operations.text)),
    ];
    Label { words, message }
}

/// `filecreate`, `filecreate 4k`, `filestat stat_by=folder`.
#[must_use]
pub fn file_words(files: FileLoad) -> String {
    let word = files.op.read_write().as_str();
    let size = (files.bytes_per_file > 0).then(|| format_block(files.bytes_per_file.into()));
    let by = (files.op == FileOp::Stat && files.stat_by == StatBy::Folder)
        .then(|| format!("stat_by={}", files.stat_by.as_str()));
    std::iter::once(word.to_owned()).chain(size).chain(by).collect::<Vec<_>>().join(" ")
}

fn blocks(step: &Step) -> String {
    let of = |sizes: &[crate::step::BlockSize]| match sizes {
        [one] => format_block(u64::from(one.bytes)),
        _ => {
            let parts = sizes.iter().map(|b| format!("{}/{}", format_block(u64::from(b.bytes)), b.share_pct));
            parts.collect::<Vec<_>>().join(":")
        }
    };
    let order = &step.workload.order;
    if order.replay.is_some() {
        // The longest of its I/Os.
        return format!("<={}", of(&step.workload.block_sizes));
    }
    let others = [&order.write_sizes, &order.trim_sizes].into_iter().flatten().map(|sizes| of(sizes));
    std::iter::once(of(&step.workload.block_sizes)).chain(others).collect::<Vec<_>>().join(",")
}

fn order(step: &Step) -> Words {
    let words = pattern(step);
    // A trace has no pattern.
    if let Some(replay) = &step.workload.order.replay {
        return Words::new(replay.words(), Message::verbatim(replay.words()));
    }
    match step.workload.order.words() {
        None => words,
        // fio's own words, the same in every language.
        Some(beyond) => Words::new(
            format!("{} {beyond}", words.text),
            msg!("label-with", label = words.message, what = Message::verbatim(beyond)),
        ),
    }
}

fn pattern(step: &Step) -> Words {
    match step.workload.pattern {
        Pattern::Sequential => Words::new("sequential", msg!("label-sequential")),
        Pattern::Random => Words::new("random", msg!("label-random")),
        Pattern::Unknown => Words::new("unknown order", msg!("label-order-unknown")),
        Pattern::RandomRepeat => Words::new("random (repeating)", msg!("label-random-repeating")),
        Pattern::Zipf { theta } => Words::new(format!("zipf {theta}"), msg!("label-zipf", theta = theta.to_string())),
        Pattern::Hotspot { access_pct, space_pct } => Words::new(
            format!("hotspot {access_pct}/{space_pct}"),
            msg!("label-hotspot", access = access_pct, space = space_pct),
        ),
    }
}

fn operations(step: &Step) -> Words {
    if let Some(pair) = step.role.rate_pair {
        let share = |pct: u16| Quantity::pct(pct.into());
        return match (pair.read_pct, pair.write_pct) {
            (read, 0) => Words::new(format!("reads {read} %"), msg!("label-reads-at", reads = share(read))),
            (0, write) => Words::new(format!("writes {write} %"), msg!("label-writes-at", writes = share(write))),
            (read, write) => Words::new(
                format!("reads {read} % + writes {write} %"),
                msg!("label-reads-and-writes", reads = share(read), writes = share(write)),
            ),
        };
    }
    if step.workload.order.trims_first {
        return Words::new("trim + write", msg!("label-trim-and-write"));
    }
    let m = step.workload.mix;
    match (m.read_pct, m.write_pct, m.trim_pct) {
        (100, _, _) => Words::new("read", msg!("label-read")),
        (_, 100, _) => Words::new("write", msg!("label-write")),
        (_, _, 100) => Words::new("trim", msg!("label-trim")),
        (read, write, 0) => Words::new(format!("{read}/{write}"), msg!("label-mix", read = read, write = write)),
        (0, write, trim) => {
            Words::new(format!("write {write}/trim {trim}"), msg!("label-write-trim", write = write, trim = trim))
        }
        (read, write, trim) => Words::new(
            format!("read {read}/write {write}/trim {trim}"),
            msg!("label-read-write-trim", read = read, write = write, trim = trim),
        ),
    }
}

/// The operations with what makes them durable and what holds them back: `write + fdatasync`, `read thinktime 2ms`.
fn durable(operations: Words, step: &Step) -> Words {
    let load = load_words(&IoOrder::default(), step.workload.durability, step.load.pacing);
    let on_array = step.targets.first().and_then(TargetId::array_words);
    let words = Some(load).filter(|words| !words.is_empty()).into_iter().chain(thread_words(step)).chain(on_array);
    match words.collect::<Vec<_>>().join(" ").as_str() {
        "" => operations,
        words => {
            let text = format!("{} {words}", operations.text);
            Words::new(text, msg!("label-with", label = operations.message, what = Message::verbatim(words.to_owned())))
        }
    }
}

/// What names how the kernel serves a step's threads: `prio idle/0`, `memory bind:0`. Words of fio, the same in every language.
fn thread_words(step: &Step) -> impl Iterator<Item = String> {
    let memory = step.memory.words().map(|policy| format!("memory {policy}"));
    step.workload.priorities.words().into_iter().chain(memory)
}

/// What names a load beside pattern, size and operations: `+8k`, `+ fdatasync/8`, `thinktime 2ms`. Words of fio and names of
/// calls, the same in every language; empty for a plain load.
#[must_use]
pub fn load_words(order: &IoOrder, durability: Durability, pacing: Pacing) -> String {
    let words: Vec<String> = [order.words(), durability.words(), pacing.words()].into_iter().flatten().collect();
    words.join(" ")
}

/// What a step is beside its load; `None`: nothing worth a word.
fn trait_words(part: LabelPart, step: &Step) -> Option<Words> {
    match part {
        LabelPart::Engine => match &step.role.by_fio {
            // Its name is what the label begins with.
            Some(job) if !job.place.is_on_targets() => None,
            Some(job) => Some(by_fio(job)),
            None if step.engine.name == EngineName::Spdk => {
                let engine = EngineName::Nvme.as_str();
                Some(Words::new(format!("{engine} by spdk"), msg!("label-by-spdk", engine = engine)))
            }
            None => Some(Words::name(step.engine.name.as_str())),
        },
        LabelPart::Mode => (step.engine.mode != Mode::Interrupt).then(|| Words::name(step.engine.mode.as_str())),
        LabelPart::Registration => registration(step),
        LabelPart::Placement => placement(step),
        LabelPart::Drives => step.role.devices.map(|n| {
            let text = if n == 1 { "1 drive".to_owned() } else { format!("{n} drives") };
            Words::new(text, msg!("label-drives", drives = n))
        }),
        LabelPart::Ranks => step.role.ranks.as_ref().map(|ranks| {
            let n = ranks.count;
            let text = if n == 1 { "1 rank".to_owned() } else { format!("{n} ranks") };
            Words::new(text, msg!("label-ranks", ranks = n))
        }),
        LabelPart::Cache => (!step.workload.direct).then(|| Words::new("buffered", msg!("label-buffered"))),
        LabelPart::Compression => {
            let pct = Some(step.workload.data.compress_pct).filter(|pct| *pct > 0)?;
            let share = Quantity::pct(pct.into());
            Some(Words::new(format!("compressible {pct} %"), msg!("label-compressible", share = share)))
        }
        LabelPart::Dedupe => {
            let pct = Some(step.workload.data.dedupe_pct).filter(|pct| *pct > 0)?;
            Some(Words::new(format!("dedupe {pct} %"), msg!("label-dedupe", share = Quantity::pct(pct.into()))))
        }
        LabelPart::Size => size(step),
        LabelPart::Offset => {
            let offset = Some(format_block(step.workload.region.offset_bytes)).filter(|text| text != "0")?;
            Some(Words::new(format!("from {offset}"), msg!("label-from", offset = offset)))
        }
        LabelPart::NewFile => match step.role.new_file {
            NewFile::Written => None,
            NewFile::Allocated => Some(Words::new("fresh file", msg!("label-fresh-file"))),
            NewFile::Sparse => Some(Words::new("sparse file", msg!("label-sparse-file"))),
        },
        LabelPart::Verify => step.workload.verify.map(|_| Words::new("verified", msg!("label-verified"))),
        LabelPart::Arrivals => step
            .load
            .process()
            .or(step.role.rate_share.map(|s| s.process))
            .filter(|_| step.role.rate_pair.is_none())
            .map(|p| Words::name(p.as_str())),
        LabelPart::Settings => {
            let words = step.role.settings.iter().map(|s| format!("{}={}", s.name, s.value));
            let words = words.collect::<Vec<_>>().join(" ");
            (!words.is_empty()).then(|| Words::name(words))
        }
        LabelPart::SubmitBatch => {
            let n = step.load.batch_submit?;
            Some(Words::new(format!("submits by {n}"), msg!("label-submits-by", ios = n)))
        }
        LabelPart::CompleteBatch => {
            let n = step.load.batch_complete_min?;
            Some(Words::new(format!("waits for {n}"), msg!("label-waits-for", ios = n)))
        }
        LabelPart::CompleteMax => {
            let n = step.load.batch_complete_max?;
            Some(Words::new(format!("reaps by {n}"), msg!("label-reaps-by", ios = n)))
        }
        LabelPart::Quick => Some(Words::new("quick", msg!("label-quick"))),
        LabelPart::Round => {
            let round = step.role.round?;
            Some(Words::new(format!("round {}", round.index + 1), msg!("label-round", number = round.index + 1)))
        }
        // These belong to the word before them.
        LabelPart::Pass { .. } | LabelPart::Part | LabelPart::Stream => None,
    }
}

fn registration(step: &Step) -> Option<Words> {
    match (step.engine.name, step.engine.fixed_buffers, step.engine.fixed_files) {
        (EngineName::IoUring | EngineName::IoUringCmd, false, false) => {
            Some(Words::new("unregistered", msg!("label-unregistered")))
        }
        (EngineName::IoUring | EngineName::IoUringCmd, true, false) => {
            Some(Words::new("fixed buffers only", msg!("label-fixed-buffers")))
        }
        (EngineName::IoUring | EngineName::IoUringCmd, false, true) => {
            Some(Words::new("fixed files only", msg!("label-fixed-files")))
        }
        _ => None,
    }
}

fn placement(step: &Step) -> Option<Words> {
    Some(match &step.placement {
        Placement::Unpinned => return None,
        Placement::Cores => Words::new("pinned", msg!("label-pinned")),
        Placement::Smt => Words::new("pinned to siblings", msg!("label-pinned-to-siblings")),
        Placement::Local => Words::new("local", msg!("label-local")),
        Placement::Remote => Words::new("remote", msg!("label-remote")),
        Placement::Cpus(cpus) => {
            let list = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            Words::new(format!("cpus {list}"), msg!("label-cpus", cpus = list))
        }
        Placement::Nodes { nodes } => {
            let list = format_cpu_list(nodes);
            Words::new(format!("nodes {list}"), msg!("label-nodes", nodes = list))
        }
    })
}

/// A share stays one when the run knows the capacity, so that the label does.
fn size(step: &Step) -> Option<Words> {
    let size = match (step.role.footprint_pct, step.workload.region.size_bytes) {
        (Some(pct), _) => format!("{pct} %"),
        (None, Some(bytes)) => format_block(bytes),
        (None, None) => return None,
    };
    Some(Words::new(format!("over {size}"), msg!("label-over", size = size)))
}

/// What a label says where the steps of a plan differ in it, in this order. Parts of one row come together.
const TRAITS: [&[LabelPart]; 13] = [
    &[LabelPart::Engine],
    &[LabelPart::Mode],
    &[LabelPart::Registration],
    &[LabelPart::Placement],
    &[LabelPart::Drives],
    &[LabelPart::Ranks],
    &[LabelPart::Cache],
    &[LabelPart::Compression, LabelPart::Dedupe],
    &[LabelPart::Size, LabelPart::Offset],
    &[LabelPart::NewFile],
    &[LabelPart::Verify],
    &[LabelPart::Arrivals],
    &[LabelPart::Settings],
];

const BATCHES: [LabelPart; 3] = [LabelPart::SubmitBatch, LabelPart::CompleteBatch, LabelPart::CompleteMax];

fn texts(parts: &[LabelPart], step: &Step) -> Vec<Option<String>> {
    parts.iter().map(|part| trait_words(*part, step).map(|words| words.text)).collect()
}

/// Adds parts that the step has a word for.
fn add_parts(parts: &[LabelPart], step: &mut Step) {
    let said = &step.role.label_parts;
    let own = parts.iter().filter(|part| !said.contains(part) && trait_words(**part, step).is_some());
    let own: Vec<LabelPart> = own.copied().collect();
    step.role.label_parts.extend(own);
}

/// Adds to each label what differs between the steps of a plan and the label does not say yet.
pub(crate) fn tell_apart<'s>(steps: impl Iterator<Item = &'s mut Step>) {
    let mut steps: Vec<&mut Step> = steps.collect();
    let varies = |parts: &&[LabelPart]| steps.iter().any(|s| texts(parts, s) != texts(parts, steps[0]));
    let varying: Vec<&[LabelPart]> = TRAITS.into_iter().filter(varies).collect();
    for step in &mut steps {
        varying.iter().for_each(|parts| add_parts(parts, step));
        set_label(step);
    }
    // Batching is no part of a load's name, but for steps that differ in nothing else.
    let mut batching: BTreeMap<String, BTreeSet<Vec<Option<String>>>> = BTreeMap::new();
    for step in &steps {
        batching.entry(step.label.clone()).or_default().insert(texts(&BATCHES, step));
    }
    for step in steps {
        if batching[&step.label].len() > 1 {
            add_parts(&BATCHES, step);
            set_label(step);
        }
    }
}

#[cfg(test)]
mod tests;
