//! The command line as typed. Meaning is given to it in `commands`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use fathom_language::Language;

use crate::commands::Output;
use crate::knob_flags::{self, ByHand, KnobFlags, OfStudy};
use crate::manual;

/// How fast is this storage, what limits it, and what would change that.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Lab database that holds the runs [default: fathom.db in the user's data directory]
    #[arg(long, global = true, env = "FATHOM_LAB", value_name = "PATH")]
    pub(crate) lab: Option<PathBuf>,
    /// Colour of warnings and errors
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Language in which HTML reports open: en or zh
    #[arg(long, global = true, value_name = "LANG", default_value_t = Language::English)]
    pub(crate) lang: Language,
    /// Sample the idle host for this long before measuring; a shorter time makes the CPU time per I/O less exact
    /// [default: 500ms]
    #[arg(long, global = true, env = "FATHOM_IDLE_BASELINE", value_name = "TIME", hide_short_help = true)]
    pub(crate) idle_baseline: Option<String>,
    /// The processes that run it at once, where there are several.
    #[arg(skip)]
    pub(crate) ranks: Option<fathom_lab::Ranks>,
    /// The numbers of ranks by which a load by hand is measured, one after the other; empty: by all at once.
    #[arg(skip)]
    pub(crate) rank_counts: Vec<u32>,
    /// Without one: where to begin.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a study, a plan file or a fio job file
    Run(RunArgs),
    /// One step by hand, in fio's words
    Io(Box<IoArgs>),
    /// fio's command line: the same options, job files and forms of output
    Fio(FioArgs),
    /// Dry run: steps, time, bytes written, what would be destroyed
    Plan(PlanArgs),
    /// What each study asks, how long it takes, whether it writes; with a name, all about that one
    Studies {
        /// Name of a study
        name: Option<String>,
        /// Print the file of that study, to begin a study of your own with
        #[arg(long, requires = "name", conflicts_with = "json")]
        toml: bool,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// CPUs, PCIe tree with link speeds, drives, queues, interrupts, arrays; advice with reasons
    Inspect(InspectArgs),
    /// NVMe drives taken from the kernel's driver, for programs that drive them themselves (VFIO), and given back
    Nvme(crate::nvme_args::NvmeArgs),
    /// Order entry (derived from TPC-C) on a database of its own: what the drives are used for, and what limits it
    Oltp(Box<OltpArgs>),
    /// Write a missing member of an array in user space (raid5:64k:FILE,missing,FILE...) onto a new one
    Rebuild(RebuildArgs),
    /// Restore settings that killed runs changed, and remove the files they left
    Restore {
        /// Only show what was changed and left
        #[arg(long)]
        list: bool,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
        /// After a second Ctrl-C: end as interrupted
        #[arg(long, hide = true)]
        interrupted: bool,
    },
    /// Runs in the lab
    List {
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// Answer and table of a run
    Show {
        /// Number of the run, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// Also everything that the answer rests on: evidence, fits, limits step by step
        #[arg(long)]
        details: bool,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// Set runs against the first one step by step, or the sides that one run measured in turns (run --versus)
    Compare(CompareArgs),
    /// Write a run as one offline HTML file
    Report {
        /// Number of the run, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// File to write, `-` for standard output [default: fathom-RUN.html]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace a file that Fathom did not write
        #[arg(long)]
        force: bool,
    },
    /// Write a run in another tool's format
    Export(ExportArgs),
    /// Take a result of fio (json, json+) or of Fathom (json) into the lab
    Import {
        /// File to read; `-` for standard input
        file: PathBuf,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// Devices, processors, links and published results, each with its source
    Catalogue(crate::model_args::CatalogueArgs),
    /// Ceilings and curves of a described, catalogued or inspected system, without any I/O
    Predict(Box<crate::model_args::PredictArgs>),
    /// Simulated machines for sim: targets and --machine
    Machines(MachinesArgs),
    /// The articles on simulated platforms: published figures beside predicted ones
    Reproduce(crate::model_args::ReproduceArgs),
    /// Fit a device file to a run, for `predict --device FILE`
    Fit(crate::model_args::FitArgs),
    /// Remove runs from the lab
    Rm {
        /// Numbers of the runs, or ranges of them: 3 10-34
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
    /// Print what makes a shell complete Fathom's words
    #[command(after_long_help = manual::WHERE_COMPLETIONS_GO)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the manual pages: fathom.1 and one for each command
    Manual {
        /// Directory to write them to
        dir: PathBuf,
        /// Replace files that Fathom did not write
        #[arg(long)]
        force: bool,
    },
}

/// Shells that Fathom's words can be completed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Headings of help texts.
const TARGET: &str = "Target";
const WRITING: &str = "What may be written";
const OUTPUT: &str = "Output";

/// What the ways to run have in common.
#[derive(Debug, ClapArgs)]
pub(crate) struct RunCommon {
    /// Allow destroying what is on the block device with this serial number, its kernel name where it has none; once per
    /// device. With signatures or data on it, name these as well: SERIAL:gpt+ext, SERIAL:data
    #[arg(long, value_name = "SERIAL[:WORD+WORD]", help_heading = WRITING)]
    pub(crate) destroy: Vec<String>,
    /// Allow the kernel to lose the NVMe drive with this serial number while steps of engine nvme drive it; once per drive.
    /// It is given back after them
    #[arg(long, value_name = "SERIAL", help_heading = WRITING)]
    pub(crate) allow_unbind: Vec<String>,
    /// Where no IOMMU guards memory from a drive that leaves the kernel: accept that a fault of the drive, or of Fathom, may
    /// write to any memory of this machine
    #[arg(long, help_heading = WRITING)]
    pub(crate) no_iommu_i_accept_any_write_to_memory: bool,
    /// Allow overwriting existing files that Fathom did not make (block devices: --destroy)
    #[arg(long, help_heading = WRITING)]
    pub(crate) overwrite: bool,
    /// Leave files that Fathom created in place
    #[arg(long, help_heading = WRITING)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// How the result of a long operation is shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct ShownArgs {
    /// Print the result as JSON alone
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also write the HTML report to this file
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that Fathom did not write (--output)
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
    /// No progress on stderr
    #[arg(long, short, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}

impl ShownArgs {
    /// Where the report goes, if anywhere.
    pub(crate) fn destination(&self) -> Option<Output<'_>> {
        self.output.as_deref().map(|path| Output { path, force: self.force })
    }
}

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct SourceArgs {
    /// Name of a study, a plan (.toml) or a fio job file (.fio, .job, .ini)
    #[arg(required_unless_present_any = ["like", "resume"])]
    pub(crate) study: Option<String>,
    /// Do again what this run did, on the same drives: its number, or `last`; --target names others
    #[arg(long, value_name = "RUN", conflicts_with_all = ["study", "group", "set"])]
    pub(crate) like: Option<String>,
    /// Go on with this run after a crash, a reboot or Ctrl-C: its number, or `last`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["study", "like", "target", "group", "set", "only", "versus"])]
    pub(crate) resume: Option<String>,
    /// File, directory, block device, pattern ('/dev/nvme[0-3]n1'), serial:NUMBER or sim:MACHINE/PART; may be given
    /// several times [default: the current directory]
    #[arg(long, short, value_name = "TARGET")]
    pub(crate) target: Vec<String>,
    /// Targets judged as one subject: NAME=TARGET,TARGET
    #[arg(long, value_name = "NAME=T,T")]
    pub(crate) group: Vec<String>,
    /// Run on this simulated machine, in virtual time: a shipped one (fathom machines) or a file; --target then names its
    /// drives, groups of drives or arrays
    #[arg(long, value_name = "sim:NAME|FILE.toml", conflicts_with = "resume")]
    pub(crate) machine: Option<String>,
    /// Change a knob for all steps, e.g. --set size=4g; those of `fathom io` also as --size 4g. `--help` lists them
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) knobs: KnobFlags<OfStudy>,
    /// Run these parts of the study only, e.g. --only iops (a study names its parts)
    #[arg(long, value_name = "NAME", conflicts_with = "like")]
    pub(crate) only: Vec<String>,
    /// Have the installed fio run those jobs of a fio job file that Fathom cannot run: guarded, sampled and judged alike
    #[arg(long, conflicts_with_all = ["like", "resume"])]
    pub(crate) with_fio: bool,
    /// Beside each load that it can do, let this program do the same, to see whether it finds the same
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["like", "resume"])]
    pub(crate) cross_check: Option<OtherProgram>,
    /// Compare: each load also with this knob or setting, in turns, put back after (e.g. scheduler=none, engine=libaio)
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "like")]
    pub(crate) versus: Option<String>,
    /// Scale the study to this time, e.g. 2m
    #[arg(long, value_name = "TIME")]
    pub(crate) time_budget: Option<String>,
}

/// Another program that can do a load of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OtherProgram {
    /// The installed fio, through the engine of the load
    Fio,
    /// The installed spdk_nvme_perf ($FATHOM_SPDK_NVME_PERF names it elsewhere), beside engine nvme, on the whole drive
    Spdk,
}

/// `fathom run`.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = knob_flags::list(|knob| knob.flag.is_none()))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Screen each ladder for some seconds, predict it, then measure: the result shows both with the error
    #[arg(long)]
    pub(crate) predict: bool,
    /// After the plan, run short probes for every limit that is not confirmed (a deeper queue, more threads, another
    /// engine, fewer drives); the evidence is among the --details
    #[arg(long)]
    pub(crate) explain: bool,
    /// Simulated targets: simulate all the time that steps ask for, instead of ending once their figures are known to 0.5 %
    #[arg(long)]
    pub(crate) full: bool,
    /// Wait until the host is idle before measuring, this long at most
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10m")]
    pub(crate) wait_idle: Option<String>,
    /// Also print everything that the answer rests on
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) details: bool,
    #[command(flatten)]
    pub(crate) common: RunCommon,
}

/// `fathom machines`.
#[derive(Debug, ClapArgs)]
pub(crate) struct MachinesArgs {
    #[command(subcommand)]
    pub(crate) action: Option<MachinesAction>,
    /// Print JSON alone
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with the machines.
#[derive(Debug, Subcommand)]
pub(crate) enum MachinesAction {
    /// Names of the machines that ship with the program (also without a word)
    List,
    /// CPUs, links, drives and arrays of one
    Show {
        /// A shipped machine, or a file (.toml)
        name: String,
    },
    /// The file of a machine, to begin one of your own with
    Dump {
        /// A shipped machine
        name: String,
    },
}

/// `fathom plan`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// As if `run` were given this --destroy
    #[arg(long, value_name = "SERIAL[:WORD+WORD]")]
    pub(crate) destroy: Vec<String>,
    /// As if `run` were given this --allow-unbind
    #[arg(long, value_name = "SERIAL")]
    pub(crate) allow_unbind: Vec<String>,
    /// As if `run` were given this
    #[arg(long)]
    pub(crate) no_iommu_i_accept_any_write_to_memory: bool,
    /// As if `run` were given --overwrite
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON alone
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fathom compare`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    /// Numbers of the runs, or `last`; the first is the reference. Several runs of a side with commas: 1,2,3 4,5,6. One
    /// run alone: its own sides, or the run before it of the same study and targets
    #[arg(required = true, value_name = "RUN[,RUN]")]
    pub(crate) runs: Vec<String>,
    /// Differences up to this share count as the same
    #[arg(long, value_name = "PERCENT", default_value = "2%")]
    pub(crate) margin: String,
    /// End with exit code 1 when a step is slower than in the reference by more than this, e.g. 3%, or was lost; with 5
    /// when that can neither be shown nor ruled out
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fail_if_slower: Option<String>,
    /// Also every step, what else differs, and caveats
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the comparison as JSON alone
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the comparison as one offline HTML file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that Fathom did not write
    #[arg(long)]
    pub(crate) force: bool,
}

/// `fathom inspect`.
#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// Print JSON alone
    #[arg(long)]
    pub(crate) json: bool,
    /// Also the whole machine: CPUs, the PCIe tree, drives, queues, interrupts, limits, all advice with its effect
    #[arg(long)]
    pub(crate) details: bool,
    /// Look at a capture, or at a folder that holds proc and sys, instead of this machine
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) root: Option<PathBuf>,
    /// Pack what inspect reads into a tar file, to be looked at elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) capture: Option<PathBuf>,
    /// Keep serial numbers in the capture
    #[arg(long, requires = "capture")]
    pub(crate) with_serials: bool,
    /// Advise for these drives or arrays only, e.g. nvme0n1
    #[arg(long, short, value_name = "DEVICE", conflicts_with = "capture")]
    pub(crate) target: Vec<String>,
    /// Advise for a load on these CPUs, e.g. 0-3,8
    #[arg(long, value_name = "LIST", conflicts_with = "capture")]
    pub(crate) cpus: Option<String>,
    /// Show what following the advice would change (all that can be undone, or the named rules), and ask before it is
    /// changed; `fathom restore` undoes it
    #[arg(long, value_name = "RULE", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["capture", "root"])]
    pub(crate) fix: Option<Vec<String>>,
    /// Change it without asking
    #[arg(long, short, requires = "fix")]
    pub(crate) yes: bool,
}

/// `fathom export`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// Number of the run, or `last`
    pub(crate) run: String,
    /// Format
    #[arg(long, short, value_enum)]
    pub(crate) format: ExportFormat,
    /// File to write [default: standard output]; a directory gets one file per step, as fio-plot wants them
    /// (fio-json, fio-json-plus, fio-log)
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that Fathom did not write
    #[arg(long)]
    pub(crate) force: bool,
}

/// Formats of `fathom export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything, in Fathom's own names
    Json,
    /// One row per step
    Csv,
    /// fio's names
    FioJson,
    /// fio's names with histogram bins (json+)
    FioJsonPlus,
    /// fio's bandwidth, IOPS, latency and histogram logs; needs a directory
    FioLog,
    /// HdrHistogram interval log
    Hlog,
}

/// `fathom rebuild`.
#[derive(Debug, ClapArgs)]
pub(crate) struct RebuildArgs {
    /// The array, with the word `missing` for the member that is to be made; with no member missing, its parities or
    /// second copies are written anew from its data
    #[arg(value_name = "LEVEL:CHUNK:MEMBER,MEMBER...")]
    pub(crate) array: String,
    /// File or block device, at least as large as the other members, that takes the place of the first missing one
    #[arg(long, value_name = "MEMBER")]
    pub(crate) onto: Option<String>,
    /// Allow destroying what is on the block device with this serial number, as for fathom io
    #[arg(long, value_name = "SERIAL[:WORD+WORD]")]
    pub(crate) destroy: Vec<String>,
    /// Allow overwriting existing files that Fathom did not make
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// `fathom oltp`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Derived from TPC-C and not comparable to published TPC-C results: no keying and thinking, no terminals.\n\
    The database is made in a folder of its own below --target, which is removed at the end."
)]
pub(crate) struct OltpArgs {
    /// Folder on the drive in question, in which the database is made
    #[arg(long, value_name = "DIR", required_unless_present_any = ["check", "postgres"], conflicts_with = "check")]
    pub(crate) target: Option<PathBuf>,
    /// On a PostgreSQL server that is started in --target for this run and removed at the end, instead of SQLite
    #[arg(long, conflicts_with_all = ["postgres", "check"])]
    pub(crate) managed_postgres: bool,
    /// On a PostgreSQL server that runs, in an empty database; --target then only says which drive is watched
    #[arg(long, value_name = "URL", conflicts_with = "check")]
    pub(crate) postgres: Option<String>,
    /// Size of the database: 70 MB each with SQLite, 115 MB with PostgreSQL
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) warehouses: u32,
    /// Sessions at once, or `auto`: 1, 2, 4 and so on for the time of --search each, until more gain less than 3 % twice.
    /// Those of SQLite write in turn [default: 1 with SQLite, else two for each CPU]
    #[arg(long, value_name = "N|auto")]
    pub(crate) sessions: Option<String>,
    /// Measured time for each number of sessions that `--sessions auto` tries
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) search: String,
    /// After the run, run again at 50, 80 and 95 % of its rate, a quarter as long each: transactions become due at random
    /// times, and a response counts from then
    #[arg(long)]
    pub(crate) open_loop: bool,
    /// Length of the measured window
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) runtime: String,
    /// Time before it
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) ramp: String,
    /// Page cache of the database: of each session with SQLite, else shared_buffers [default: 16m, 128m]
    #[arg(long, value_name = "SIZE", conflicts_with = "postgres")]
    pub(crate) cache: Option<String>,
    /// Each transaction in any warehouse, instead of one home for each session: reaches all data with few sessions
    #[arg(long)]
    pub(crate) uniform: bool,
    /// Seed of rows and inputs: the same gives the same work
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Do not run again, in turns, with commits that do not wait for the device: without it the flush of the log is seldom
    /// told from other limits
    #[arg(long)]
    pub(crate) no_probes: bool,
    /// Do not read the database's files at random before the run, to learn what the drive could give
    #[arg(long)]
    pub(crate) no_calibration: bool,
    /// Record each acknowledged order in this new file, to be held against the database after a crash
    #[arg(long, value_name = "FILE")]
    pub(crate) acknowledged: Option<PathBuf>,
    /// Leave the database where it is at the end
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also write the result as one HTML file
    #[arg(short, long, value_name = "FILE", conflicts_with = "check")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that Fathom did not write
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Check the database in a folder that a run left, killed or with --keep: consistency, and with --acknowledged each order
    #[arg(long, value_name = "FOLDER")]
    pub(crate) check: Option<PathBuf>,
    /// Print JSON alone
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fathom fio`.
#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "fathom fio [--overwrite] [--destroy <SERIAL[:WORD+WORD]>]... <FIO'S OPTIONS AND JOB FILES>...",
    after_help = "Files that it makes stay, as fio's do. A program that calls fio calls Fathom through a script named fio:\n  \
    exec fathom fio --overwrite \"$@\""
)]
pub(crate) struct FioArgs {
    /// Allow destroying what is on this block device, as for fathom io; before fio's own options
    #[arg(long, value_name = "SERIAL[:WORD+WORD]")]
    pub(crate) destroy: Vec<String>,
    /// Allow overwriting existing files that Fathom did not make; before fio's own options
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Have the installed fio run the jobs that Fathom cannot run; before fio's own options
    #[arg(long)]
    pub(crate) with_fio: bool,
    /// Options and job files as fio takes them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
}

/// `fathom io`.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = knob_flags::list(|knob| knob.flag.is_none()))]
pub(crate) struct IoArgs {
    /// File, directory, block device or sim:MACHINE/PART (several: one set of threads each); `null`, or `null:0`, `null:1`... for several, with --engine null [default: the
    /// current directory]
    #[arg(long, short, value_name = "TARGET", visible_alias = "filename", help_heading = TARGET)]
    pub(crate) target: Vec<String>,
    /// Run on this simulated machine, in virtual time: a shipped one (fathom machines) or a file; --target then names its
    /// drives, groups of drives or arrays
    #[arg(long, value_name = "sim:NAME|FILE.toml", help_heading = TARGET)]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) knobs: KnobFlags<ByHand>,
    /// Any knob by its name, e.g. --set iodepth_batch_submit=8; those without an option of their own are listed below
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run short probes until the limit is confirmed; the evidence behind it is among the --details
    #[arg(long)]
    pub(crate) explain: bool,
    /// Simulated targets: simulate all the time that is asked for, instead of ending once the figures are known to 0.5 %
    #[arg(long)]
    pub(crate) full: bool,
    /// Also print all figures of the step, and everything that the answer rests on
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) details: bool,
    #[command(flatten)]
    pub(crate) common: RunCommon,
    /// Another load that runs at once, in the same words; a further `--` begins the next one. Targets and knobs are its
    /// own
    #[arg(last = true, value_name = "LOAD", allow_hyphen_values = true)]
    pub(crate) beside: Vec<String>,
}

/// A load of `fathom io` beside the first: what stands behind a `--`.
#[derive(Debug, Parser)]
#[command(name = "fathom io ... --", no_binary_name = true, disable_help_flag = true)]
pub(crate) struct LoadArgs {
    /// File, directory or block device; those of the first load unless given
    #[arg(long, short, value_name = "TARGET", visible_alias = "filename")]
    pub(crate) target: Vec<String>,
    #[command(flatten)]
    pub(crate) knobs: KnobFlags<ByHand>,
    /// Any knob by its name
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}
