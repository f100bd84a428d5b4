//! What each key of fio means here: a knob, supported, without effect, or refused by name.

use fathom_message::{Message, msg};

use super::units::fio_file_name;
use crate::knobs::{self, Fio, Kind, KnobSpec};
use crate::role::NewFile;
use crate::step::{EngineName, Placement, Step};

/// What is made of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Treatment {
    /// Set as the knob of the same name.
    Knob,
    /// Read by the code that puts the job together.
    Own,
    /// Without effect in Fathom, and why; it stands in the plan's notes.
    Noted(Message),
    /// Not supported: reason and remedy. The values listed last are fio's way of saying "off": they are accepted.
    Refused(Message, Message, &'static [&'static str]),
}

use Treatment::{Knob, Noted, Own, Refused};

/// A key of fio that is no knob.
pub(super) struct FioKey {
    pub(super) name: &'static str,
    /// fio's other words for it.
    aliases: &'static [&'static str],
    /// Whether it means "yes" when it stands alone.
    is_flag: bool,
    treatment: Treatment,
    /// Its value in the options of a step, empty for a key that stands alone; `None`: it is not written.
    pub(super) written: fn(&Step) -> Option<String>,
}

const fn key(name: &'static str, treatment: Treatment) -> FioKey {
    FioKey { name, aliases: &[], is_flag: false, treatment, written: |_| None }
}

impl FioKey {
    const fn aliases(mut self, aliases: &'static [&'static str]) -> FioKey {
        self.aliases = aliases;
        self
    }

    const fn flag(mut self) -> FioKey {
        self.is_flag = true;
        self
    }

    const fn written(mut self, written: fn(&Step) -> Option<String>) -> FioKey {
        self.written = written;
        self
    }
}

fn always(_: &Step) -> Option<String> {
    Some(String::new())
}

/// Thread i on the i-th CPU of the list.
fn pinning(step: &Step) -> Option<String> {
    matches!(step.placement, Placement::Cpus(_)).then(|| "split".to_owned())
}

/// Without it fio stops after one pass over the region.
fn time_based(step: &Step) -> Option<String> {
    step.length.passes.is_none().then(String::new)
}

fn trace(step: &Step) -> Option<String> {
    step.workload.order.replay.as_ref().map(|replay| fio_file_name(&replay.path))
}

fn no_stall(step: &Step) -> Option<String> {
    step.workload.order.replay.as_ref().filter(|replay| !replay.is_timed).map(|_| String::new())
}

fn time_scale(step: &Step) -> Option<String> {
    step.workload.order.replay.as_ref().map(|replay| replay.speed_pct.to_string()).filter(|speed| speed != "100")
}

fn nrfiles(step: &Step) -> Option<String> {
    step.workload.order.files.map(|files| files.files_per_thread.to_string())
}

/// fio runs no job whose files have no size, though it writes nothing to those that it makes.
fn filesize(step: &Step) -> Option<String> {
    step.workload.order.files.map(|files| fathom_units::format_block(files.bytes_per_file.max(4096).into()))
}

fn create_on_open(step: &Step) -> Option<String> {
    step.workload.order.files.filter(|files| !files.op.needs_files()).map(|_| String::new())
}

fn nvme(step: &Step) -> Option<String> {
    (step.engine.name == EngineName::IoUringCmd).then(|| "nvme".to_owned())
}

fn overwrite(step: &Step) -> Option<String> {
    let writes_alone = step.workload.mix.write_pct == 100 && step.workload.order.files.is_none();
    (writes_alone && step.role.new_file == NewFile::Written).then(|| "1".to_owned())
}

fn fallocate(step: &Step) -> Option<String> {
    (step.role.new_file == NewFile::Sparse).then(|| "none".to_owned())
}

const LOGS: Treatment = Noted(msg!("fio-logs"));
const LATENCIES: Treatment = Noted(msg!("fio-latencies"));
const LAYOUT: Treatment = Noted(msg!("fio-layout"));
const STEADY: Treatment = Noted(msg!("fio-steady"));
const BANDWIDTH: Treatment = Noted(msg!("fio-bandwidth"));
const COMMANDS: Treatment = Refused(msg!("fio-commands"), msg!("fio-commands-help"), &[]);

/// Keys of fio that are no knobs.
static KEYS: &[FioKey] = &[
    // Supported.
    key("buffered", Own).flag(),
    key("filename", Own),
    key("directory", Own),
    key("rate", Own),
    key("startdelay", Own),
    key("wait_for", Own),
    key("exitall", Own).flag(),
    key("exit_what", Own),
    key("allow_file_create", Own).flag(),
    key("fill_device", Own).aliases(&["fill_fs"]).flag(),
    key("time_based", Own).flag().written(time_based),
    key("cpus_allowed_policy", Own).written(pinning),
    key("name", Own),
    key("description", Own),
    key("stonewall", Own).aliases(&["wait_for_previous"]).flag(),
    key("nrfiles", Own).aliases(&["nr_files"]).written(nrfiles),
    key("filesize", Own).written(filesize),
    key("read_iolog", Own).written(trace),
    key("replay_no_stall", Own).flag().written(no_stall),
    key("replay_time_scale", Own).written(time_scale),
    key("replay_redirect", Own),
    key("read_iolog_chunked", Noted(msg!("fio-trace-streamed"))).flag(),
    // Without meaning here.
    key("verify_backlog", Noted(msg!("fio-verify-backlog"))),
    key("verify_backlog_batch", Noted(msg!("fio-verify-backlog"))),
    key("verify_fatal", Noted(msg!("fio-verify-fatal"))).flag(),
    key("verify_dump", Noted(msg!("fio-verify-fatal"))).flag(),
    key("verify_async", Noted(msg!("fio-verify-async"))),
    key("verify_async_cpus", Noted(msg!("fio-verify-async"))),
    key("verify_interval", Noted(msg!("fio-verify-whole"))),
    key("verify_write_sequence", Noted(msg!("fio-verify"))).flag(),
    key("continue_on_error", Noted(msg!("fio-continue-on-error"))),
    key("ignore_error", Noted(msg!("fio-ignore-error"))),
    key("error_dump", Noted(msg!("fio-ignore-error"))).flag(),
    key("random_generator", Noted(msg!("fio-generator"))),
    key("thread", Noted(msg!("fio-threads"))).aliases(&["threads"]).flag().written(always),
    key("group_reporting", Noted(msg!("fio-group-reporting"))).flag().written(always),
    key("new_group", Noted(msg!("fio-new-group"))).flag(),
    key("percentile_list", Noted(msg!("fio-percentiles"))),
    key("write_bw_log", LOGS).flag(),
    key("write_lat_log", LOGS).flag(),
    key("write_iops_log", LOGS).flag(),
    key("write_hist_log", LOGS).flag(),
    key("log_avg_msec", LOGS),
    key("log_hist_msec", LOGS),
    key("log_hist_coarseness", LOGS),
    key("log_unix_epoch", LOGS).flag(),
    key("log_offset", LOGS).flag(),
    key("log_prio", LOGS).flag(),
    key("log_max_value", LOGS).flag(),
    key("log_entries", LOGS),
    key("log_compression", LOGS),
    key("log_store_compressed", LOGS).flag(),
    key("per_job_logs", LOGS).flag(),
    key("bwavgtime", LOGS),
    key("iopsavgtime", LOGS),
    key("clat_percentiles", LATENCIES).flag(),
    key("lat_percentiles", LATENCIES).flag(),
    key("slat_percentiles", LATENCIES).flag(),
    key("disable_lat", LATENCIES).flag(),
    key("disable_clat", LATENCIES).flag(),
    key("disable_slat", LATENCIES).flag(),
    key("disable_bw", LATENCIES).aliases(&["disable_bw_measurement"]).flag(),
    key("gtod_reduce", LATENCIES).flag(),
    key("clocksource", Noted(msg!("fio-clock"))),
    key("significant_figures", Noted(msg!("fio-digits"))),
    key("disk_util", Noted(msg!("fio-disk-util"))).flag(),
    key("stats", Noted(msg!("fio-stats"))).flag(),
    key("unified_rw_reporting", Noted(msg!("fio-unified"))),
    key("nonvectored", Noted(msg!("fio-nonvectored"))).flag(),
    key("userspace_reap", Noted(msg!("fio-userspace-reap"))).flag(),
    key("refill_buffers", Noted(msg!("fio-no-repeats"))).flag(),
    key("scramble_buffers", Noted(msg!("fio-no-repeats"))).flag(),
    key("randrepeat", Noted(msg!("fio-seed"))).flag(),
    key("allrandrepeat", Noted(msg!("fio-seed"))).flag(),
    key("overwrite", Own).flag().written(overwrite),
    key("fallocate", Own).written(fallocate),
    key("unlink", Refused(msg!("fio-unlink"), msg!("fio-unlink-help"), OFF)).flag(),
    key("create_serialize", LAYOUT).flag(),
    key("create_fsync", LAYOUT).flag(),
    key("create_on_open", LAYOUT).flag().written(create_on_open),
    key("filename_format", Own),
    key("unique_filename", Noted(msg!("fio-unique-names"))).flag(),
    key("stat_type", Noted(msg!("fio-stat-type"))),
    // Refused with a remedy.
    key("ss", STEADY).aliases(&["steadystate"]),
    key("ss_dur", STEADY).aliases(&["steadystate_duration"]),
    key("ss_ramp", STEADY).aliases(&["steadystate_ramp_time"]),
    key("ss_interval", STEADY).aliases(&["steadystate_check_interval"]),
    key("cpumask", Refused(msg!("fio-cpumask"), msg!("fio-cpumask-help"), &[])),
    key("rate_min", BANDWIDTH).aliases(&["ratemin"]),
    key("rate_iops_min", Refused(msg!("fio-rate-min"), msg!("fio-remove"), &["0"])),
    key("rate_cycle", Refused(msg!("fio-rate-cycle"), msg!("fio-remove"), &[])).aliases(&["ratecycle"]),
    key("thinktime_blocks_type", Refused(msg!("fio-think-issue"), msg!("fio-remove"), &["complete"])),
    key("thinktime_iotime", Refused(msg!("fio-think-time"), msg!("fio-think-time-help"), &["0"])),
    key("iodepth_low", Refused(msg!("fio-full-queue"), msg!("fio-remove"), &["0"])),
    key("kb_base", Refused(msg!("fio-kb-base"), msg!("fio-kb-base-help"), &["1024"])),
    key("exec_prerun", COMMANDS),
    key("exec_postrun", COMMANDS),
    key("max_latency", Refused(msg!("fio-max-latency"), msg!("fio-remove"), &["0"])),
    key("allow_mounted_write", Refused(msg!("fio-mounted"), msg!("fio-mounted-help"), &["0"])),
    key("pre_read", Refused(msg!("fio-pre-read"), msg!("fio-remove"), &["0"])),
    key("io_submit_mode", Noted(msg!("fio-submit-mode"))),
    key("serialize_overlap", Refused(msg!("fio-overlap"), msg!("fio-remove"), &["0"])),
    key("cmd_type", Refused(msg!("fio-cmd-type"), msg!("fio-remove"), &["nvme"])).written(nvme),
];

/// Options of fio 3.33 without an equivalent in Fathom. They are refused by name, unlike misspelled keys. Each lists the
/// values that change nothing and are accepted, such as fio's default.
const NO_EQUIVALENT: &[(&str, &[&str])] = &[
    ("force_async", OFF),
    ("nowait", OFF),
    ("md_per_io_size", OFF),
    ("readfua", OFF),
    ("writefua", OFF),
    ("block_error_percentiles", OFF),
    ("buffer_compress_chunk", &["512"]),
    ("cgroup", &[]),
    ("cgroup_nodelete", OFF),
    ("cgroup_weight", &[]),
    ("create_only", OFF),
    ("exitall_on_error", OFF),
    ("experimental_verify", OFF),
    ("fadvise_hint", ON),
    ("file_append", OFF),
    ("gid", &[]),
    ("gtod_cpu", &[]),
    ("hugepage-size", &[]),
    ("ignore_zone_limits", OFF),
    ("iomem", &["malloc"]),
    ("ioscheduler", &[]),
    ("job_max_open_zones", OFF),
    ("lockfile", &["none"]),
    ("lockmem", OFF),
    ("log_alternate_epoch", OFF),
    ("log_alternate_epoch_clock_id", OFF),
    ("log_compression_cpus", &[]),
    ("max_open_zones", OFF),
    ("mem", &["malloc"]),
    ("merge_blktrace_file", &[]),
    ("merge_blktrace_iters", &[]),
    ("merge_blktrace_scalars", &[]),
    ("nice", OFF),
    ("offset_align", OFF),
    ("opendir", &[]),
    ("profile", &[]),
    ("rate_ignore_thinktime", OFF),
    ("read_beyond_wp", OFF),
    ("spr_cs", &[]),
    ("replay_align", OFF),
    ("replay_scale", ON),
    ("replay_skip", &[]),
    ("sync_file_range", &[]),
    ("trim_backlog", OFF),
    ("trim_backlog_batch", OFF),
    ("trim_percentage", OFF),
    ("trim_verify_zero", OFF_OR_ON),
    ("uid", &[]),
    ("unit_base", OFF),
    ("unlink_each_loop", OFF),
    ("verify_offset", OFF),
    ("verify_only", OFF),
    ("verify_state_load", OFF),
    // fio saves a state of its own where a verification is broken off; Fathom repeats the run.
    ("verify_state_save", OFF_OR_ON),
    ("write_barrier", OFF),
    ("write_hint", &["none", "not-set"]),
    ("zone_reset_frequency", OFF),
    ("zone_reset_threshold", OFF),
    ("zonecapacity", OFF),
];

const OFF: &[&str] = &["0", "0.0", "false"];
const ON: &[&str] = &["1", "true"];
const OFF_OR_ON: &[&str] = &["0", "1"];

/// Keys whose value on the command line must follow `=`: in `--time_based job.fio` the second word is a job file.
const STANDS_ALONE: [&str; 17] = [
    "bs_unaligned",
    "norandommap",
    "time_based",
    "verify_only",
    "exitall",
    "exitall_on_error",
    "stonewall",
    "new_group",
    "thread",
    "group_reporting",
    "zero_buffers",
    "refill_buffers",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
];

/// True for a key that needs no value on the command line.
pub(super) fn stands_alone(key: &str) -> bool {
    STANDS_ALONE.contains(&canonical(key))
}

fn fio_key(name: &str) -> Option<&'static FioKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// The knobs that fio has, each with what fio makes of it.
pub(super) fn fio_knobs() -> impl Iterator<Item = (&'static KnobSpec, Fio)> {
    knobs::knobs().filter_map(|knob| Some((knob, knob.fio?)))
}

fn fio_knob(name: &str) -> Option<(&'static KnobSpec, Fio)> {
    fio_knobs().find(|(knob, _)| knob.name == name)
}

/// The knob of this key where the key's value is the knob's.
pub(super) fn knob_set_alone(key: &str) -> Option<&'static KnobSpec> {
    fio_knob(key).filter(|(_, fio)| fio.is_set_alone).map(|(knob, _)| knob)
}

/// The key under fio's first name for it.
pub(super) fn canonical(key: &str) -> &str {
    let knob = fio_knobs().find(|(_, fio)| fio.aliases.contains(&key)).map(|(knob, _)| knob.name);
    let other = || KEYS.iter().find(|k| k.aliases.contains(&key)).map(|k| k.name);
    knob.or_else(other).unwrap_or(key)
}

/// What is made of `key` (under fio's first name); `None`: fio does not know it either.
pub(super) fn treatment(key: &str) -> Option<&'static Treatment> {
    static NONE: Treatment = Refused(msg!("fio-no-equivalent"), msg!("fio-no-equivalent-help"), &[]);
    if let Some((_, fio)) = fio_knob(key) {
        return Some(if fio.is_set_alone { &Knob } else { &Own });
    }
    let found = fio_key(key).map(|key| &key.treatment);
    found.or_else(|| harmless_values(key).map(|_| &NONE))
}

/// Values that change nothing, of a key that has no equivalent here; `None` for other keys.
pub(super) fn harmless_values(key: &str) -> Option<&'static [&'static str]> {
    NO_EQUIVALENT.iter().find(|(name, _)| *name == key).map(|(_, values)| *values)
}

/// The keys that are no knobs and stand in the options of a step.
pub(super) fn written(step: &Step) -> impl Iterator<Item = (&'static str, String)> {
    KEYS.iter().filter_map(|key| Some((key.name, (key.written)(step)?)))
}

/// Names and aliases of the keys that are no knobs.
pub(super) fn other_keys() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let without = NO_EQUIVALENT.iter().map(|(name, _)| (*name, &[][..]));
    KEYS.iter().map(|key| (key.name, key.aliases)).chain(without)
}

/// All words that a job file may hold.
pub(super) fn all_words() -> impl Iterator<Item = &'static str> {
    let knobs = fio_knobs().flat_map(|(knob, fio)| std::iter::once(knob.name).chain(fio.aliases.iter().copied()));
    let keys = KEYS.iter().flat_map(|key| std::iter::once(key.name).chain(key.aliases.iter().copied()));
    knobs.chain(keys).chain(NO_EQUIVALENT.iter().map(|(name, _)| *name))
}

/// Kind of a key's values; `None`: neither numbers nor sizes.
pub(super) fn kind(key: &str) -> Option<Kind> {
    match key {
        "filesize" => Some(Kind::Size),
        "nrfiles" => Some(Kind::Number),
        _ => fio_knob(key).map(|(knob, _)| knob.kind),
    }
}

/// Whether the values of the key are sizes.
pub(super) fn is_size(key: &str) -> bool {
    kind(key).is_some_and(|kind| matches!(kind, Kind::Size | Kind::Split))
}

/// Whether the key means "yes" when it stands alone.
pub(super) fn is_flag(key: &str) -> bool {
    fio_key(key).is_some_and(|key| key.is_flag) || fio_knob(key).is_some_and(|(knob, _)| knob.kind == Kind::Switch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_fio_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for word in all_words() {
            assert!(seen.insert(word), "{word} stands twice");
        }
    }
}
