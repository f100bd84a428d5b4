//! Knobs on the command line: the flags of `fathom io` and `fathom run` and the lists of `--set`, all from the one table of
//! knobs.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use fathom_plan::{Flag, Kind, KnobSpec, knob_groups, knobs};

use crate::terminal::{fill, say};

/// Where knobs are flags.
pub(crate) trait Place {
    /// A step by hand has a default for each; a study has values of its own, which its flags change for all steps.
    const BY_HAND: bool = false;
    /// Arguments beside which no knob can be given.
    const EXCLUDED_BY: &'static [&'static str] = &[];
    /// Knobs whose flag the command has itself.
    const OWN: &'static [&'static str] = &[];
}

/// `fathom io`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByHand;

impl Place for ByHand {
    const BY_HAND: bool = true;
}

/// `fathom run` and `fathom plan`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfStudy;

impl Place for OfStudy {
    // What is done again is done as it was.
    const EXCLUDED_BY: &'static [&'static str] = &["like", "resume"];
}

/// `fathom predict`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfPrediction;

impl Place for OfPrediction {
    // It also takes names of published costs.
    const OWN: &'static [&'static str] = &["ioengine"];
}

/// Knobs that were given as flags, with their values, in the order typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnobFlags<P>(Vec<(&'static str, String)>, PhantomData<P>);

impl<P> KnobFlags<P> {
    /// Names of the table with values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The same knobs for another command.
    pub(crate) fn of<Q>(&self) -> KnobFlags<Q> {
        KnobFlags(self.0.clone(), PhantomData)
    }
}

impl<P: Place> Args for KnobFlags<P> {
    fn augment_args(command: Command) -> Command {
        knob_groups().iter().fold(command, |command, group| {
            let heading = say(&group.title);
            let flags = group.knobs.iter().filter_map(|knob| Some((knob, knob.flag?)));
            let flags = flags.filter(|(knob, _)| !P::OWN.contains(&knob.name));
            command.args(flags.map(|(knob, flag)| {
                let arg = arg(knob, flag, P::BY_HAND).help_heading(heading.clone());
                // The short help of a study names the flags of studies.
                arg.conflicts_with_all(P::EXCLUDED_BY.iter().copied()).hide_short_help(!P::BY_HAND)
            }))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Place> FromArgMatches for KnobFlags<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |knob: &'static KnobSpec, flag: Flag| match flag.is_bare {
            true => matches.get_flag(knob.name).then(|| "1".to_owned()),
            false => matches.get_one::<String>(knob.name).cloned(),
        };
        let flags = knobs().filter(|knob| !P::OWN.contains(&knob.name)).filter_map(|knob| Some((knob, knob.flag?)));
        let mut given: Vec<_> = flags
            .filter_map(|(knob, flag)| Some((matches.index_of(knob.name), knob.name, value(knob, flag)?)))
            .collect();
        // Of two that contradict each other the later one counts.
        given.sort_by_key(|(index, ..)| *index);
        Ok(KnobFlags(given.into_iter().map(|(_, name, value)| (name, value)).collect(), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(knob: &KnobSpec, flag: Flag, has_default: bool) -> Arg {
    let default = flag.default.filter(|_| has_default).map_or_else(String::new, |word| format!(" [default: {word}]"));
    let arg = Arg::new(knob.name)
        .long(flag.long)
        .visible_aliases(flag.aliases.iter().copied())
        .help(format!("{}{default}", capitalised(&meaning(knob))));
    if flag.is_bare {
        return arg.action(ArgAction::SetTrue);
    }
    let value = knob.kind.placeholder().map_or_else(|| flag.long.to_uppercase(), str::to_owned);
    arg.value_name(value).action(ArgAction::Set)
}

/// What a knob is for, with a value as an example where its form is not plain from that.
fn meaning(knob: &KnobSpec) -> String {
    let help = say(&knob.help);
    let has_form = matches!(knob.kind, Kind::Size | Kind::Split | Kind::Time | Kind::Rate | Kind::Cpus);
    let is_shown = help.contains(knob.example) || knob.flag.is_some_and(|flag| flag.default == Some(knob.example));
    if has_form && !is_shown { format!("{help}; e.g. {}", knob.example) } else { help }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The knobs for `--set`, by group.
pub(crate) fn list(is_listed: fn(&KnobSpec) -> bool) -> String {
    let mut out = "Knobs for --set KEY=VALUE, which study files know by the same names:\n".to_owned();
    for group in knob_groups() {
        let listed: Vec<&KnobSpec> = group.knobs.iter().filter(|knob| is_listed(knob)).collect();
        if !listed.is_empty() {
            out.push_str(&format!("\n{}:\n", say(&group.title)));
        }
        for knob in listed {
            let names = std::iter::once(&knob.name).chain(knob.aliases).copied().collect::<Vec<_>>().join(", ");
            out.push_str(&format!("  {names}\n{}", fill(&meaning(knob), "      ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use fathom_plan::{KnobSpec, knobs};

    use super::{list, meaning};
    use crate::args::{Args, Command};
    use crate::terminal::say;

    /// The help of a command, in one line.
    fn help(command: &str) -> String {
        let mut all = Args::command();
        let help = all.find_subcommand_mut(command).expect("a command").render_long_help().to_string();
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn times(knob: &KnobSpec, text: &str) -> usize {
        // Its first letter may be capital.
        let words = meaning(knob);
        text.matches(&words[words.chars().next().map_or(0, char::len_utf8)..]).count()
    }

    #[test]
    fn each_row_of_the_table_is_in_the_help_once() {
        let (io, run) = (help("io"), help("run"));
        for knob in knobs() {
            assert_eq!((times(knob, &io), times(knob, &run)), (1, 1), "{} in\n{io}\n\n{run}", knob.name);
            let flag = knob.flag.map_or_else(|| knob.name.to_owned(), |flag| format!("--{}", flag.long));
            assert!(io.contains(&flag) && run.contains(knob.name), "{flag}");
        }
    }

    #[test]
    fn no_two_rows_say_the_same_and_no_other_option_has_the_name_of_a_row() {
        let mut said: Vec<String> = knobs().map(|knob| say(&knob.help)).collect();
        said.sort_unstable();
        assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{said:#?}");
        let mut all = Args::command();
        let io = all.find_subcommand_mut("io").expect("a command");
        let of_table = |id: &str| knobs().any(|knob| knob.name == id && knob.flag.is_some());
        for other in io.get_arguments().filter(|arg| !of_table(arg.get_id().as_str())) {
            let name = other.get_long().unwrap_or_default().replace('-', "_");
            assert!(fathom_plan::knob(&name).is_none(), "--{name} is written by hand");
        }
    }

    #[test]
    fn flags_become_knobs_in_the_order_typed() {
        let given = |words: &str| {
            let words = "io --target x ".split(' ').chain(words.split(' ')).filter(|word| !word.is_empty());
            let args = Args::try_parse_from(std::iter::once("fathom").chain(words)).expect("valid");
            let Some(Command::Io(io)) = args.command else { panic!("another command") };
            io.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(given(""), "");
        assert_eq!(given("--paranoid --iodepth 4 --numjobs 2"), "paranoid=1 iodepth=4 numjobs=2");
        assert_eq!(given("--cpus 0-1 --placement cores"), "cpus_allowed=0-1 placement=cores");
        assert_eq!(given("--placement cores --cpus_allowed 0-1"), "placement=cores cpus_allowed=0-1");
        assert_eq!(given("--rwmixread 70 --readwrite rw"), "rwmixread=70 rw=rw");
    }

    #[test]
    fn the_list_of_other_knobs_names_each_with_its_other_names() {
        let all = list(|_| true);
        assert!(
            all.contains("\n  numjobs, threads\n      threads on each target; with spread, of all targets together\n"),
            "{all}"
        );
        let others = list(|knob| knob.flag.is_none());
        assert!(others.contains("\n  load\n") && !others.contains("\n  numjobs, "), "{others}");
    }
}
