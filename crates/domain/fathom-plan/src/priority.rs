//! Priorities of I/O, as the kernel's I/O schedulers and drives with command duration limits see them (ioprio_set(2)): of a
//! thread, and of shares of its reads and writes.

use serde::{Deserialize, Serialize};

use crate::step::Op;

/// Highest number of a level: 0 is served first.
pub const PRIORITY_LEVEL_MAX: u8 = 7;
/// Highest hint.
pub const PRIORITY_HINT_MAX: u16 = 1023;

/// Which I/O the kernel serves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// Before all other; needs a privilege.
    Realtime,
    /// What I/O has unless something else is said.
    BestEffort,
    /// Only where there is nothing else to do.
    Idle,
}

impl PriorityClass {
    /// All classes, by the numbers that the kernel and fio have for them, from 1.
    pub const ALL: [PriorityClass; 3] = [PriorityClass::Realtime, PriorityClass::BestEffort, PriorityClass::Idle];

    /// The number of the kernel and of fio.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            PriorityClass::Realtime => 1,
            PriorityClass::BestEffort => 2,
            PriorityClass::Idle => 3,
        }
    }

    /// The class of a number; `None`: there is none of that number.
    #[must_use]
    pub fn of_number(number: u32) -> Option<PriorityClass> {
        PriorityClass::ALL.into_iter().find(|class| u32::from(class.number()) == number)
    }

    /// Its short name, as ionice(1) and the kernel's documents have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PriorityClass::Realtime => "rt",
            PriorityClass::BestEffort => "be",
            PriorityClass::Idle => "idle",
        }
    }
}

/// A priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Priority {
    /// First of all.
    pub class: PriorityClass,
    /// Within the class, from 0, the first, to [`PRIORITY_LEVEL_MAX`].
    pub level: u8,
    /// What the drive is told beside it, such as the number of a command duration limit; 0: nothing.
    pub hint: u16,
}

impl Priority {
    /// As the kernel takes it: class, hint and level in 16 bits (linux/ioprio.h).
    #[must_use]
    pub fn value(self) -> u16 {
        self.class.number() << 13
            | self.hint.min(PRIORITY_HINT_MAX) << 3
            | u16::from(self.level.min(PRIORITY_LEVEL_MAX))
    }

    /// As it stands in a label: `rt/0`, `be/4/2`.
    #[must_use]
    pub fn words(self) -> String {
        match self.hint {
            0 => format!("{}/{}", self.class.as_str(), self.level),
            hint => format!("{}/{}/{hint}", self.class.as_str(), self.level),
        }
    }
}

/// A share of the reads or of the writes that have a priority of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PriorityShare {
    /// Of the I/Os of this size; `None`: of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub bytes: Option<u32>,
    /// In [1, 100]; those of one size add up to 100 at most.
    pub share_pct: u8,
    /// What they have.
    pub priority: Priority,
}

/// What the kernel is told of a step's I/O: its priorities, and whether it may stay in the page cache. The default says nothing:
/// I/O has the priority of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Priorities {
    /// Of the threads, and so of all I/O that has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub thread: Option<Priority>,
    /// Shares of the reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub reads: Vec<PriorityShare>,
    /// Shares of the writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub writes: Vec<PriorityShare>,
    /// Whether buffered I/O leaves nothing in the page cache (RWF_DONTCACHE).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub is_uncached: bool,
}

impl Priorities {
    /// Whether nothing is said of it.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Priorities::default()
    }

    /// Whether single I/Os have priorities of their own.
    #[must_use]
    pub fn are_by_io(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// The shares of an operation.
    #[must_use]
    pub fn of(&self, op: Op) -> &[PriorityShare] {
        match op {
            Op::Read => &self.reads,
            Op::Write => &self.writes,
            Op::Trim | Op::Sync => &[],
        }
    }

    /// Every priority that is named, each once.
    #[must_use]
    pub fn all(&self) -> Vec<Priority> {
        let mut all: Vec<Priority> = Vec::new();
        let of_ios = self.reads.iter().chain(&self.writes).map(|share| share.priority);
        for priority in self.thread.into_iter().chain(of_ios) {
            if !all.contains(&priority) {
                all.push(priority);
            }
        }
        all
    }

    /// As it stands behind the operations in a label: `prio idle/0`, `20% rt/0`; `None` where nothing is said.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let mut words: Vec<String> = self.thread.iter().map(|priority| format!("prio {}", priority.words())).collect();
        let of = |op: &str, shares: &[PriorityShare]| {
            let one = |share: &PriorityShare| {
                let size = share.bytes.map(|bytes| format!(" of {}", fathom_units::format_block(bytes.into())));
                format!("{}%{} {}", share.share_pct, size.unwrap_or_default(), share.priority.words())
            };
            (!shares.is_empty()).then(|| format!("{op}{}", shares.iter().map(one).collect::<Vec<_>>().join(", ")))
        };
        if self.reads == self.writes {
            words.extend(of("", &self.reads));
        } else {
            words.extend(of("reads ", &self.reads));
            words.extend(of("writes ", &self.writes));
        }
        words.extend(self.is_uncached.then(|| "RWF_DONTCACHE".to_owned()));
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_the_kernels_number_and_reads_well() {
        let high = Priority { class: PriorityClass::Realtime, level: 0, hint: 0 };
        let hinted = Priority { class: PriorityClass::BestEffort, level: 4, hint: 2 };
        assert_eq!((high.value(), hinted.value()), (1 << 13, 2 << 13 | 2 << 3 | 4));
        let share = PriorityShare { bytes: None, share_pct: 20, priority: high };
        let split = PriorityShare { bytes: Some(65_536), ..share };
        let mut priorities =
            Priorities { thread: Some(hinted), reads: vec![share], writes: vec![share], is_uncached: false };
        assert_eq!(priorities.words().as_deref(), Some("prio be/4/2 20% rt/0"));
        priorities.writes = vec![split];
        assert_eq!(priorities.words().as_deref(), Some("prio be/4/2 reads 20% rt/0 writes 20% of 64k rt/0"));
        assert_eq!(priorities.all(), [hinted, high]);
        assert_eq!(Priorities::default().words(), None);
    }
}
