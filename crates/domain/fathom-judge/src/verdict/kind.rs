//! Kinds of load: what was done, in which order, in blocks of which size.

use fathom_message::{Message, Quantity, msg};
use fathom_plan::{Durability, EngineName, IoOrder, LoadPart, Pacing, Pattern, file_words, load_words};

use super::parts::{is_bandwidth, is_load_known};
use crate::document::{ComparedLoad, StepView};

/// What the I/Os do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operations {
    Reads,
    Writes,
    Trims,
    Mixed {
        read_pct: u8,
    },
    /// An import does not say.
    Unknown,
}

impl Operations {
    fn of_mix(read_pct: u8) -> Operations {
        match read_pct {
            100 => Operations::Reads,
            0 => Operations::Writes,
            read_pct => Operations::Mixed { read_pct },
        }
    }
}

/// `4k random reads`, of a group where there are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    block_bytes: u32,
    /// `None`: an import does not say.
    is_sequential: Option<bool>,
    operations: Operations,
    durability: Durability,
    order: IoOrder,
    pacing: Pacing,
    by_fio: Option<ByFio>,
    /// As it stands in labels.
    array: Option<String>,
    group: Option<String>,
}

/// What fio ran, or SPDK's program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ByFio {
    engine: String,
    /// Whether it moved blocks of the targets.
    is_on_targets: bool,
}

fn by_other(step: &StepView) -> Option<ByFio> {
    if step.engine == EngineName::Spdk {
        return Some(ByFio { engine: step.engine.as_str().to_owned(), is_on_targets: true });
    }
    if let Some(engine) = &step.role.imported.engine {
        return Some(ByFio { engine: engine.clone(), is_on_targets: true });
    }
    let job = step.role.by_fio.as_ref()?;
    Some(ByFio { engine: job.ioengine.clone(), is_on_targets: job.place.is_on_targets() })
}

impl Kind {
    /// What the step did; what it was asked for where it did several things.
    pub(super) fn of(step: &StepView) -> Kind {
        let operations = match (step.read.is_some(), step.write.is_some(), step.trim.is_some()) {
            (true, false, false) => Operations::Reads,
            (false, true, false) => Operations::Writes,
            (false, false, true) => Operations::Trims,
            _ if step.role.is_unknown(LoadPart::Operations) => Operations::Unknown,
            _ => Operations::of_mix(step.read_pct),
        };
        Kind {
            block_bytes: step.block_size_bytes,
            is_sequential: known_order(step.pattern),
            operations,
            durability: step.durability,
            order: step.order.clone(),
            pacing: step.pacing,
            by_fio: by_other(step),
            array: step.array_words(),
            group: None,
        }
    }

    /// What both sides of a comparison were asked for.
    pub(super) fn of_load(load: &ComparedLoad) -> Kind {
        Kind {
            block_bytes: load.block_size_bytes,
            is_sequential: known_order(load.pattern),
            operations: Operations::of_mix(load.read_pct),
            // Sides that differ in it are different steps; the label of each says it.
            durability: Durability::default(),
            order: IoOrder::default(),
            pacing: Pacing::default(),
            by_fio: None,
            array: None,
            group: None,
        }
    }

    /// The same wherever it is done.
    pub(super) fn without_array(self) -> Kind {
        Kind { array: None, ..self }
    }

    /// The same in one group of several.
    pub(super) fn in_group(self, group: &str) -> Kind {
        Kind { group: Some(group.to_owned()), ..self }
    }

    /// `4k random reads`.
    pub(super) fn message(&self) -> Message {
        self.with(self.operations_message())
    }

    /// `4k random read`.
    pub(super) fn one_message(&self) -> Message {
        self.with(match self.operations {
            Operations::Reads => msg!("verdict-one-read"),
            Operations::Writes => msg!("verdict-one-write"),
            Operations::Trims => msg!("verdict-one-trim"),
            Operations::Mixed { read_pct } => msg!("verdict-one-mixed", share = Quantity::pct(read_pct.into())),
            Operations::Unknown => msg!("verdict-any-io"),
        })
    }

    /// The same whatever is done there.
    pub(super) fn any_operation(&self) -> Kind {
        Kind { operations: Operations::Reads, ..self.clone() }
    }

    /// `reads`.
    pub(super) fn operations_message(&self) -> Message {
        match self.operations {
            Operations::Reads => msg!("verdict-reads"),
            Operations::Writes => msg!("verdict-writes"),
            Operations::Trims => msg!("verdict-trims"),
            Operations::Mixed { read_pct } => msg!("verdict-mixed", share = Quantity::pct(read_pct.into())),
            Operations::Unknown => msg!("verdict-any-ios"),
        }
    }

    /// `128k sequential`: without what is done.
    pub(super) fn place_message(&self) -> Message {
        let block = Quantity::block(self.block_bytes.into());
        self.of_group(match self.order() {
            Some(order) => msg!("brief-place", block = block, order = order),
            None => msg!("brief-place-unknown-order", block = block),
        })
    }

    fn order(&self) -> Option<Message> {
        self.is_sequential.map(|is| if is { msg!("label-sequential") } else { msg!("label-random") })
    }

    fn with(&self, what: Message) -> Message {
        if let Some(job) = self.by_fio.as_ref().filter(|job| !job.is_on_targets) {
            return self.of_group(msg!("verdict-kind-by-fio", engine = job.engine.clone()));
        }
        if let Some(trace) = self.order.replay.as_ref().and_then(|_| self.order.words()) {
            return self.of_group(msg!("verdict-kind-replay", trace = trace, what = what));
        }
        if let Some(files) = self.order.files {
            let words = [file_words(files), load_words(&self.order, self.durability, self.pacing)];
            return self.of_group(Message::verbatim(words.join(" ").trim_end().to_owned()));
        }
        let block = Quantity::block(self.block_bytes.into());
        let kind = match self.order() {
            Some(order) => msg!("verdict-kind", block = block, order = order, what = what),
            None => msg!("verdict-kind-unknown-order", block = block, what = what),
        };
        let mut words = load_words(&self.order, self.durability, self.pacing);
        if let Some(job) = &self.by_fio {
            words = format!("{} {words}", job.engine).trim_end().to_owned();
        }
        if let Some(array) = &self.array {
            words = format!("{words} {array}").trim_start().to_owned();
        }
        self.of_group(match words.is_empty() {
            false => msg!("label-with", label = kind, what = words),
            true => kind,
        })
    }

    fn of_group(&self, kind: Message) -> Message {
        match &self.group {
            Some(group) => msg!("verdict-kind-of-group", kind = kind, group = group),
            None => kind,
        }
    }
}

/// Whether addresses follow each other; all other patterns are kinds of random ones.
pub(super) fn is_sequential(pattern: Pattern) -> bool {
    pattern == Pattern::Sequential
}

/// The same; `None` where an import does not say.
fn known_order(pattern: Pattern) -> Option<bool> {
    (pattern != Pattern::Unknown).then(|| is_sequential(pattern))
}

/// Steps of one kind of load, in the order of the plan.
pub(super) struct Loads<'a> {
    /// With the group where there are several.
    pub(super) kind: Kind,
    /// At least one.
    pub(super) steps: Vec<&'a StepView>,
}

impl<'a> Loads<'a> {
    /// `4k random reads`.
    pub(super) fn name(&self) -> Message {
        self.kind.message()
    }

    /// The step with most IOPS.
    pub(super) fn best(&self) -> &'a StepView {
        self.steps.iter().copied().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a kind has a step")
    }

    /// The step of a closed loop with one I/O in flight.
    pub(super) fn alone(&self) -> Option<&'a StepView> {
        let is_alone = |s: &&StepView| s.threads * s.queue_depth == 1 && s.rate_iops.is_none() && is_load_known(s);
        self.steps.iter().copied().find(is_alone)
    }
}

/// Steps by kind of load and group: random before sequential, reads before writes.
pub(super) fn by_kind<'a>(steps: impl IntoIterator<Item = &'a StepView>) -> Vec<Loads<'a>> {
    let steps: Vec<&StepView> = steps.into_iter().collect();
    let several = steps.iter().any(|s| s.group != steps[0].group);
    let named = |step: &StepView| if several { Kind::of(step).in_group(&step.group) } else { Kind::of(step) };
    let mut out = sorted(&steps, named);
    out.sort_by_key(|k| kind_order(k.steps[0]));
    out
}

/// Random before sequential, small blocks before large ones, reads before writes: the order in which people ask.
pub(super) fn kind_order(step: &StepView) -> (bool, bool, u8) {
    (is_sequential(step.pattern), is_bandwidth(step), 100 - step.read_pct)
}

/// Steps of the same kind side by side, in the order in which the kinds come first.
pub(super) fn sorted<'a>(steps: &[&'a StepView], kind_of: impl Fn(&StepView) -> Kind) -> Vec<Loads<'a>> {
    let mut out: Vec<Loads<'a>> = Vec::new();
    for step in steps {
        let kind = kind_of(step);
        match out.iter_mut().find(|loads| loads.kind == kind) {
            Some(loads) => loads.steps.push(step),
            None => out.push(Loads { kind, steps: vec![step] }),
        }
    }
    out
}
