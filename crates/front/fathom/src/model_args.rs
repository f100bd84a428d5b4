//! The words of `catalogue`, `predict`, `fit` and `reproduce` as typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::args::ShownArgs;
use crate::knob_flags::{KnobFlags, OfPrediction};

/// `fathom catalogue`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CatalogueArgs {
    #[command(subcommand)]
    pub(crate) action: CatalogueAction,
}

/// What to do with the catalogue.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogueAction {
    /// Names of everything in it
    List {
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
    /// A device file to fill in, for `predict --device FILE`: every key with its unit
    New,
    /// One entry with its source
    Show {
        /// Name of a device, controller, processor, link, engine cost, platform, published figure or source
        name: String,
        /// Print JSON alone
        #[arg(long)]
        json: bool,
    },
}

/// `fathom predict`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PredictArgs {
    /// Name of a study, a plan (.toml) or a fio job file [default: a ladder of queue depths]
    pub(crate) study: Option<String>,
    /// Drive: a name of the catalogue, a file of your own (.toml), or that of a simulated machine, e.g. sim:r650-h755n
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) device: Option<String>,
    /// Number of drives [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u32>,
    /// Link of each drive, e.g. gen4x4 [default: the drive's own]
    #[arg(long, value_name = "LINK")]
    pub(crate) link: Option<String>,
    /// Link that all drives share, e.g. gen3x16
    #[arg(long, value_name = "LINK")]
    pub(crate) uplink: Option<String>,
    /// How I/O is made, as for `fathom io` (io_uring, libaio, psync...), or what it costs by a name of the catalogue, e.g.
    /// spdk [default: the study's or the job's own]
    #[arg(long, alias = "ioengine", value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// Processor: its cores, and its clock where that of the engine's cost is known
    #[arg(long, value_name = "NAME")]
    pub(crate) cpu: Option<String>,
    /// Cores the load may use
    #[arg(long, value_name = "N")]
    pub(crate) cores: Option<u32>,
    /// Array over the drives: 0, 1, 5, 6, 10
    #[arg(long, value_name = "LEVEL")]
    pub(crate) raid: Option<String>,
    /// Members of the array, with those that are missing [default: --count]
    #[arg(long, value_name = "N", requires = "raid", conflicts_with = "count")]
    pub(crate) members: Option<u32>,
    /// Bytes on one member before the next follows, a power of two [default: 64k]
    #[arg(long, value_name = "SIZE", requires = "raid")]
    pub(crate) chunk: Option<String>,
    /// Members that are lost
    #[arg(long, value_name = "K", requires = "raid")]
    pub(crate) missing: Option<u32>,
    /// Who makes the array: md, user-space, or a card of the catalogue, e.g. h755n [default: md; with the drives of a
    /// simulated machine its own card]
    #[arg(long, value_name = "MAKER", requires = "raid")]
    pub(crate) by: Option<String>,
    /// What a write costs the one thread of md, levels 5 and 6, e.g. 10us [default: not known, so that it limits nothing]
    #[arg(long, value_name = "TIME", requires = "raid")]
    pub(crate) md_write: Option<String>,
    /// A file or device of this machine: its links and cores are read, no I/O is done; or a part of a simulated machine, e.g.
    /// sim:r740xd/pm1725, whose file says everything
    #[arg(long, short, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    /// Look at a capture's folder instead of this machine
    #[arg(long, value_name = "DIR", requires = "target")]
    pub(crate) root: Option<PathBuf>,
    /// A knob of the load in fio's words, e.g. --set numjobs=4; those of `fathom io` also as --numjobs 4. `--help` lists
    /// them
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) knobs: KnobFlags<OfPrediction>,
    /// What would meet this? e.g. 'iops>=10M, p99<=500us'; also bw>=20GB/s, lat<=1ms
    #[arg(long, value_name = "GOAL", conflicts_with = "study")]
    pub(crate) goal: Option<String>,
    /// Also every load, the ceilings and what is assumed
    #[arg(long)]
    pub(crate) details: bool,
    /// Print JSON alone
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fathom fit`.
#[derive(Debug, ClapArgs)]
pub(crate) struct FitArgs {
    /// Number of the run, or `last`
    pub(crate) run: String,
    /// File to write, e.g. my-ssd.toml [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that Fathom did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// Name of the device in the file [default: the file's]
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// `fathom reproduce`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReproduceArgs {
    /// Name of an article, or `all`
    #[arg(default_value = "all")]
    pub(crate) article: String,
    /// Seed of addresses and service times
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also list every fitted parameter with the figures it was fitted to
    #[arg(long)]
    pub(crate) parameters: bool,
    /// Predict each article from data sheets and the other articles alone, with bands, beside plain arithmetic
    #[arg(long, conflicts_with = "output")]
    pub(crate) left_out: bool,
    /// Score what was predicted of drives by their data sheets before their figures were looked up
    #[arg(long, conflicts_with_all = ["output", "left_out"])]
    pub(crate) forward: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}
