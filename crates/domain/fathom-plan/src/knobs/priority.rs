//! The words of priorities: read, made into priorities, and written back.

use fathom_message::msg;

use super::build::conflict;
use super::value::{bounded, fault_help, percent, shorten, size_bytes};
use super::{BLOCK_BYTES_MAX, Fault, KnobError};
use crate::priority::{PRIORITY_HINT_MAX, PRIORITY_LEVEL_MAX, Priorities, Priority, PriorityClass, PriorityShare};
use crate::step::{EngineName, EngineSpec, Op, OpMix, Step};

/// Of reads and of writes.
type Both<T> = [T; 2];

/// A share as a split names it; what it leaves out is said by other words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitShare {
    bytes: u32,
    share_pct: u8,
    priority: Option<Priority>,
}

/// The words of priorities that were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PriorityKnobs {
    pub(super) class: Option<PriorityClass>,
    pub(super) level: Option<u8>,
    pub(super) hint: Option<u16>,
    pub(super) share_pct: Option<Both<u8>>,
    pub(super) share_class: Option<Both<PriorityClass>>,
    pub(super) share_level: Option<Both<u8>>,
    pub(super) share_hint: Option<Both<u16>>,
    pub(super) split: Option<Both<Vec<SplitShare>>>,
    pub(super) is_uncached: Option<bool>,
}

impl PriorityKnobs {
    /// The priorities of a load.
    ///
    /// # Errors
    /// Words that exclude each other, and an engine by which the kernel is told nothing of single I/Os.
    pub(super) fn build(&self, engine: EngineSpec, mix: OpMix, direct: bool) -> Result<Priorities, KnobError> {
        let is_said = self.class.is_some() || self.level.is_some() || self.hint.is_some();
        // As in fio and in the kernel: a level or a hint without a class is that of best effort.
        let thread = is_said.then(|| Priority {
            class: self.class.unwrap_or(PriorityClass::BestEffort),
            level: self.level.unwrap_or(0),
            hint: self.hint.unwrap_or(0),
        });
        let by_share = self.share_pct.filter(|shares| shares.iter().any(|pct| *pct > 0));
        let split = self.split.as_ref().filter(|split| split.iter().any(|shares| !shares.is_empty()));
        if by_share.is_some() && split.is_some() {
            return Err(conflict("cmdprio_bssplit", msg!("knob-two-priorities"), msg!("knob-two-priorities-help")));
        }
        let key = if split.is_some() { "cmdprio_bssplit" } else { "cmdprio_percentage" };
        let shares = |op: Op, mixed_pct: u8| {
            let at = usize::from(op == Op::Write);
            let named = Priority {
                class: self.share_class.map_or(PriorityClass::Realtime, |classes| classes[at]),
                level: self.share_level.map_or(0, |levels| levels[at]),
                hint: self.share_hint.map_or(0, |hints| hints[at]),
            };
            if mixed_pct == 0 {
                return Vec::new();
            }
            let whole = by_share.map(|pct| pct[at]).filter(|pct| *pct > 0);
            let whole = whole.map(|share_pct| PriorityShare { bytes: None, share_pct, priority: named });
            let of_sizes = split.into_iter().flat_map(|split| &split[at]).map(|share| PriorityShare {
                bytes: Some(share.bytes),
                share_pct: share.share_pct,
                priority: share.priority.unwrap_or(named),
            });
            whole.into_iter().chain(of_sizes).collect()
        };
        let (reads, writes) = (shares(Op::Read, mix.read_pct), shares(Op::Write, mix.write_pct));
        let is_uncached = self.is_uncached == Some(true);
        let priorities = Priorities { thread, reads, writes, is_uncached };
        let tells_of_ios = matches!(engine.name, EngineName::IoUring | EngineName::Libaio);
        if is_uncached && (direct || !tells_of_ios) {
            return Err(conflict("uncached", msg!("knob-uncached-engine"), msg!("knob-uncached-engine-help")));
        }
        if priorities.are_by_io() && !tells_of_ios {
            let message = msg!("knob-priority-engine", engine = engine.name.as_str());
            return Err(conflict(key, message, msg!("knob-priority-engine-help")));
        }
        for shares in [&priorities.reads, &priorities.writes] {
            let sum = |of: &PriorityShare| -> u32 {
                shares.iter().filter(|s| s.bytes == of.bytes).map(|s| u32::from(s.share_pct)).sum()
            };
            if shares.iter().any(|share| sum(share) > 100) {
                return Err(conflict(key, msg!("knob-priority-above-all"), msg!("knob-priority-above-all-help")));
            }
        }
        Ok(priorities)
    }
}

/// One value for reads and writes, or one for each.
pub(super) fn both<T: Copy>(text: &str, one: impl Fn(&str) -> Result<T, Fault>) -> Result<Both<T>, Fault> {
    match text.split_once(',') {
        None => one(text).map(|value| [value, value]),
        Some((reads, writes)) => Ok([one(reads)?, one(writes)?]),
    }
}

/// fio's number of a class, or its name.
pub(super) fn class(text: &str) -> Result<PriorityClass, Fault> {
    let word = text.trim();
    if let Some(class) = PriorityClass::ALL.into_iter().find(|class| class.as_str() == word) {
        return Ok(class);
    }
    match word.parse::<u32>() {
        // None, which the kernel and fio take for best effort.
        Ok(0) => Ok(PriorityClass::BestEffort),
        number => number.ok().and_then(PriorityClass::of_number).ok_or_else(|| {
            fault_help(msg!("knob-priority-class", text = shorten(word)), msg!("knob-priority-class-help"))
        }),
    }
}

pub(super) fn level(text: &str) -> Result<u8, Fault> {
    bounded(text, 0, PRIORITY_LEVEL_MAX.into()).map(|level| level as u8)
}

pub(super) fn hint(text: &str) -> Result<u16, Fault> {
    bounded(text, 0, PRIORITY_HINT_MAX.into()).map(|hint| hint as u16)
}

/// fio's `cmdprio_bssplit`: `64k/25/1/1:64k/75/3/2,1m/0`. Sizes without a share are left out.
pub(super) fn split(text: &str) -> Result<Both<Vec<SplitShare>>, Fault> {
    let names_nothing = |c: char| c.is_whitespace() || matches!(c, ':' | ',');
    if text.chars().all(names_nothing) {
        let why = msg!("knob-priority-split", text = shorten(text));
        return Err(fault_help(why, msg!("knob-priority-split-help")));
    }
    let of_op = |text: &str| -> Result<Vec<SplitShare>, Fault> {
        let shares = text.split(':').filter(|part| !part.trim().is_empty()).map(split_share);
        let mut shares = shares.collect::<Result<Vec<_>, _>>()?;
        shares.retain(|share| share.share_pct > 0);
        Ok(shares)
    };
    match text.split_once(',') {
        None => of_op(text).map(|shares| [shares.clone(), shares]),
        // What fio says of trims has no effect there either.
        Some((reads, rest)) => Ok([of_op(reads)?, of_op(rest.split(',').next().unwrap_or_default())?]),
    }
}

fn split_share(text: &str) -> Result<SplitShare, Fault> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let (bytes, _) = size_bytes(parts[0], BLOCK_BYTES_MAX.into())?;
    let share_pct = match parts.get(1) {
        None | Some(&"") => 0,
        Some(share) => percent(share)?,
    };
    let priority = match parts[..] {
        [_] | [_, _] => None,
        [_, _, class_word, level_word] => {
            Some(Priority { class: class(class_word)?, level: level(level_word)?, hint: 0 })
        }
        [_, _, class_word, level_word, hint_word] => {
            Some(Priority { class: class(class_word)?, level: level(level_word)?, hint: hint(hint_word)? })
        }
        _ => {
            let why = msg!("knob-priority-split", text = shorten(text));
            return Err(fault_help(why, msg!("knob-priority-split-help")));
        }
    };
    Ok(SplitShare { bytes: bytes as u32, share_pct, priority })
}

/// The shares of a step by sizes, in fio's words.
pub(super) fn split_word(step: &Step) -> Option<String> {
    let priorities = &step.workload.priorities;
    let one = |share: &PriorityShare| {
        let bytes = fathom_units::format_block(share.bytes?.into());
        let Priority { class, level, hint } = share.priority;
        Some(format!("{bytes}/{}/{}/{level}/{hint}", share.share_pct, class.number()))
    };
    let of = |shares: &[PriorityShare]| shares.iter().filter_map(one).collect::<Vec<_>>().join(":");
    let (reads, writes) = (of(&priorities.reads), of(&priorities.writes));
    match (reads.is_empty(), writes.is_empty()) {
        (true, true) => None,
        _ if reads == writes => Some(reads),
        _ => Some(format!("{reads},{writes}")),
    }
}

/// A figure of the shares that are not by sizes, of reads and of writes.
pub(super) fn share_word(step: &Step, figure: fn(&PriorityShare) -> u16, without: u16) -> Option<String> {
    let priorities = &step.workload.priorities;
    let of = |shares: &[PriorityShare]| shares.first().filter(|share| share.bytes.is_none()).map(figure);
    let (reads, writes) = (of(&priorities.reads), of(&priorities.writes));
    if reads.is_none() && writes.is_none() {
        return None;
    }
    let (reads, writes) = (reads.unwrap_or(without), writes.unwrap_or(without));
    Some(if reads == writes { reads.to_string() } else { format!("{reads},{writes}") })
}
