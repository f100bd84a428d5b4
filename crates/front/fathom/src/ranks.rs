//! `fathom-mpi`: the same commands, run by several processes at once.

use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use fathom_judge::document::{Document, StepView};
use fathom_lab::{Link, Ranks};
use fathom_message::Message;
use fathom_plan::{Knobs, TargetsAre};
use fathom_record::RanksRecord;
use fathom_units::{format_iops, format_ns, format_rate, parse_duration_ns};

use crate::args::{Args, Command};
use crate::commands;
use crate::exit::{Exit, Problem};
use crate::terminal::{self, say};

/// How fast is storage that many hosts use at once: started by mpirun or srun, `io` and `run` are done by all processes.
#[derive(Debug, Parser)]
#[command(name = "fathom-mpi", version, max_term_width = 100)]
struct RankArgs {
    /// What each rank has of the targets: its own ({rank} in a name stands for its number), a region of its own of what all
    /// have, or the whole of it
    #[arg(long, global = true, value_enum, default_value_t = Shares::PerRank, value_name = "HOW")]
    targets_are: Shares,
    /// Measure by so many ranks, one number after the other, to see how it grows with hosts: one rank of each host takes part
    /// before a second of any, the others wait [default: all]
    #[arg(long, global = true, value_name = "N,N...", value_delimiter = ',')]
    ranks: Vec<String>,
    /// How long a rank may say nothing while it measures, before it is taken for lost
    #[arg(long, global = true, value_name = "TIME", default_value = "10s")]
    silence: String,
    #[command(flatten)]
    args: Args,
}

/// [`TargetsAre`] as a word.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shares {
    PerRank,
    Partitioned,
    Shared,
}

impl From<Shares> for TargetsAre {
    fn from(shares: Shares) -> TargetsAre {
        match shares {
            Shares::PerRank => TargetsAre::PerRank,
            Shares::Partitioned => TargetsAre::Partitioned,
            Shares::Shared => TargetsAre::Shared,
        }
    }
}

/// How the program of a rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code.
    pub code: u8,
    /// Another rank is lost and cannot end by itself, or this one is cut off: whoever started them must end them.
    pub lost: bool,
}

/// `fathom-mpi`, as the rank that `link` says. Rank 0 alone prints. `version`: of the program, which must be that of all.
#[must_use]
pub fn main_of_ranks(link: Rc<dyn Link>, words: impl Iterator<Item = OsString>, version: &str) -> Ended {
    crate::system::signals::report_file_size_limit();
    let is_first = link.rank() == 0;
    let ended = |exit: Exit| Ended { code: exit as u8, lost: false };
    let parsed = match RankArgs::try_parse_from(words) {
        Ok(parsed) => parsed,
        Err(error) => {
            if is_first {
                // Where nobody reads it nothing is to be said.
                let _ = error.print();
            }
            return ended(if error.use_stderr() { Exit::Usage } else { Exit::Done });
        }
    };
    let RankArgs { targets_are, ranks: counts, silence, mut args } = parsed;
    terminal::init(args.color);
    let is_run = matches!(args.command, Some(Command::Run(_) | Command::Io(_)));
    if !is_run {
        // It is about one host, or about none.
        return if is_first { outcome(commands::dispatch(&args)) } else { ended(Exit::Done) };
    }
    let silence = match parse_duration_ns(&silence) {
        Ok(ns) => Duration::from_nanos(ns),
        Err(error) if is_first => return outcome(Err(Problem::of_flag("--silence", &error))),
        Err(_) => return ended(Exit::Usage),
    };
    if let Err(problem) = ask_for_ranks(&mut args, &counts) {
        return if is_first { outcome(Err(problem)) } else { ended(Exit::Usage) };
    }
    let ranks = Ranks::new(link, targets_are.into(), silence, version);
    let ranks = match &args.command {
        Some(Command::Run(run)) => run.source.resume.iter().fold(ranks, |ranks, run| ranks.going_on_with(run)),
        _ => ranks,
    };
    args.ranks = Some(ranks.clone());
    let done = commands::dispatch(&args);
    if is_first {
        let lost = ranks.end();
        return Ended { lost, ..outcome(done) };
    }
    match done {
        // Where the network between is gone, nobody else ends this one.
        Ok(exit) => Ended { lost: ranks.is_cut_off(), ..ended(exit) },
        Err(problem) => {
            ranks.unable(Message::verbatim(problem.message), problem.help.map(Message::verbatim));
            ended(problem.exit)
        }
    }
}

/// Makes `--ranks` an axis of what is run.
fn ask_for_ranks(args: &mut Args, counts: &[String]) -> Result<(), Problem> {
    for count in counts {
        Knobs::new().set("ranks", count).map_err(Problem::from)?;
    }
    match &mut args.command {
        Some(Command::Run(run)) if !counts.is_empty() => {
            let value = match counts {
                [one] => one.clone(),
                several => format!("[{}]", several.join(",")),
            };
            run.source.set.push(format!("ranks={value}"));
        }
        Some(Command::Io(io)) if !counts.is_empty() && !io.beside.is_empty() => {
            return Err(Problem::usage(
                "--ranks does not go with loads that run at once",
                "give each load a run of its own",
            ));
        }
        _ => args.rank_counts = counts.iter().filter_map(|count| count.parse().ok()).collect(),
    }
    Ok(())
}

fn outcome(done: Result<Exit, Problem>) -> Ended {
    let exit = done.unwrap_or_else(|problem| {
        terminal::print_problem(&problem);
        problem.exit
    });
    Ended { code: exit as u8, lost: false }
}

/// Ranks shown one by one at most.
const ROWS_SHOWN: usize = 16;

/// What the ranks of each step had, a line for each; empty for a run of one process.
pub(crate) fn tables(document: &Document) -> String {
    let named = document.steps.len() > 1;
    let name = |step: &StepView| if named { format!("{}: ", step.label) } else { String::new() };
    document.steps.iter().filter_map(|step| Some(name(step) + &table(step.ranks.as_ref()?))).collect()
}

fn table(ranks: &RanksRecord) -> String {
    let hosts = ranks.hosts();
    let mut text = format!(
        "{} ranks on {} {}: started within {} (known to ±{}), together for {}\n",
        ranks.ranks.len() + ranks.lost.len(),
        hosts.len(),
        if hosts.len() == 1 { "host" } else { "hosts" },
        format_ns(ranks.start_skew_ns as f64),
        format_ns(ranks.start_skew_bound_ns as f64),
        format_ns(ranks.together_ns as f64),
    );
    let mut lines = vec![["rank", "host", "IOPS", "rate", "p99", "clock"].map(str::to_owned).to_vec()];
    for rank in ranks.ranks.iter().take(ROWS_SHOWN) {
        let per_s = |n: u64| n as f64 * 1e9 / rank.runtime_ns.max(1) as f64;
        let p99 = rank.lat.as_ref().and_then(|lat| lat.quantiles.iter().find(|(q, _)| *q == 0.99));
        lines.push(vec![
            rank.rank.to_string(),
            rank.host.clone(),
            format_iops(per_s(rank.ios)),
            format_rate(per_s(rank.bytes)),
            p99.map_or_else(|| "-".to_owned(), |(_, ns)| format_ns(*ns as f64)),
            format!(
                "{}{} ±{}",
                if rank.clock.offset_ns < 0 { "-" } else { "+" },
                format_ns(rank.clock.offset_ns.unsigned_abs() as f64),
                format_ns(rank.clock.bound_ns as f64)
            ),
        ]);
    }
    for lost in &ranks.lost {
        lines.push(vec![lost.rank.to_string(), lost.host.clone(), "lost".to_owned(), say(&lost.why)]);
    }
    text.push_str(&crate::answer::table(&lines, 0));
    if ranks.ranks.len() > ROWS_SHOWN {
        text.push_str(&format!("  and {} more: --json\n", ranks.ranks.len() - ROWS_SHOWN));
    }
    text
}
