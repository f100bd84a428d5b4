//! A row of the table of knobs: everything that any reader or writer of knobs needs to know of one.

use fathom_message::Message;

use super::{Fault, Knobs};
use crate::step::Step;

/// One knob: its names, its values, how it is set and read back, what fio calls it, its flag of `fathom io`.
pub struct KnobSpec {
    /// The word that is printed; fio's word where fio has one.
    pub name: &'static str,
    /// Other words that mean the same in study files and `--set`.
    pub aliases: &'static [&'static str],
    /// What its values are.
    pub kind: Kind,
    /// A value, as an example.
    pub example: &'static str,
    /// For `--help` and the documents.
    pub help: Message,
    /// Its flag of `fathom io`; `None`: there it is set by `--set`.
    pub flag: Option<Flag>,
    pub(crate) fio: Option<Fio>,
    pub(super) set: fn(&mut Knobs, &str) -> Result<(), Fault>,
    pub(super) get: fn(&Step) -> Option<String>,
}

/// What the values of a knob are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 1 or 0.
    Switch,
    /// A whole number.
    Number,
    /// A share in percent.
    Percent,
    /// Bytes.
    Size,
    /// Several sizes with their shares.
    Split,
    /// A length of time.
    Time,
    /// I/Os per second.
    Rate,
    /// CPU numbers.
    Cpus,
    /// A word, or words with numbers in them.
    Word,
}

impl Kind {
    /// What stands for a value in help texts; `None`: the name of the flag does.
    #[must_use]
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            Kind::Switch => Some("0|1"),
            Kind::Number => Some("N"),
            Kind::Percent => Some("PERCENT"),
            Kind::Size => Some("SIZE"),
            Kind::Split => Some("SIZE/PERCENT:..."),
            Kind::Time => Some("TIME"),
            Kind::Rate => Some("IOPS"),
            Kind::Cpus => Some("CPUS"),
            Kind::Word => None,
        }
    }
}

/// A flag of `fathom io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Behind `--`.
    pub long: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// What holds without it, where that can be said in one word.
    pub default: Option<&'static str>,
    /// Whether it takes no value: given, it is 1.
    pub is_bare: bool,
}

impl Flag {
    /// A flag with a value.
    pub(super) const fn new(long: &'static str) -> Flag {
        Flag { long, aliases: &[], default: None, is_bare: false }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Flag {
        Flag { aliases, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Flag {
        Flag { default: Some(default), ..self }
    }

    pub(super) const fn bare(self) -> Flag {
        Flag { is_bare: true, ..self }
    }
}

/// What fio makes of a knob: its key is the knob's name.
#[derive(Clone, Copy)]
pub(crate) struct Fio {
    /// fio's other words for the key.
    pub(crate) aliases: &'static [&'static str],
    /// Whether a job's value is the knob's value; else it depends on other keys of the job.
    pub(crate) is_set_alone: bool,
    pub(super) write: Write,
}

/// How a knob stands in fio's options.
#[derive(Clone, Copy)]
pub(crate) enum Write {
    /// With the value that the knob has.
    Same,
    /// As a key alone, when the step has it.
    Bare(fn(&Step) -> bool),
    /// With a value that fio reads otherwise.
    Value(fn(&Step) -> Option<String>),
    /// Another key says it.
    Never,
}

impl Fio {
    /// fio has the knob under the same name with the same values.
    pub(super) const SAME: Fio = Fio { aliases: &[], is_set_alone: true, write: Write::Same };

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Fio {
        Fio { aliases, ..self }
    }

    /// What it means in a job depends on other keys.
    pub(super) const fn with_others(self) -> Fio {
        Fio { is_set_alone: false, ..self }
    }

    pub(super) const fn bare(self, has: fn(&Step) -> bool) -> Fio {
        Fio { write: Write::Bare(has), ..self }
    }

    pub(super) const fn value(self, write: fn(&Step) -> Option<String>) -> Fio {
        Fio { write: Write::Value(write), ..self }
    }

    pub(super) const fn never_written(self) -> Fio {
        Fio { write: Write::Never, ..self }
    }
}

impl KnobSpec {
    /// The value that this knob needs for a step like this one; `None`: the default, or another knob says it.
    #[must_use]
    pub fn get(&self, step: &Step) -> Option<String> {
        (self.get)(step)
    }

    /// The value of fio's option for this step, empty for a key that stands alone; `None`: it is not written.
    pub(crate) fn fio_value(&self, step: &Step) -> Option<String> {
        match self.fio?.write {
            Write::Same => self.get(step),
            Write::Bare(has) => has(step).then(String::new),
            Write::Value(value) => value(step),
            Write::Never => None,
        }
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> KnobSpec {
        self.aliases = aliases;
        self
    }

    pub(super) const fn fio(mut self, fio: Fio) -> KnobSpec {
        self.fio = Some(fio);
        self
    }

    pub(super) const fn flag(mut self, flag: Flag) -> KnobSpec {
        self.flag = Some(flag);
        self
    }
}

type Set = fn(&mut Knobs, &str) -> Result<(), Fault>;
type Get = fn(&Step) -> Option<String>;

/// A row; `set` reads a value, `get` gives the value that a step has.
pub(super) const fn knob(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    help: Message,
    set: Set,
    get: Get,
) -> KnobSpec {
    KnobSpec { name, aliases: &[], kind, example, help, flag: None, fio: None, set, get }
}
