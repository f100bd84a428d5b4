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
    key("unlink", LAYOUT).flag(),
    key("create_serialize", LAYOUT).flag(),
    key("create_fsync", LAYOUT).flag(),
    key("create_on_open", LAYOUT).flag().written(create_on_open),
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

/// fio's options (3.33) that Fathom has no equivalent of: refused by name, so that a misspelling is told apart.
const NO_EQUIVALENT: &[&str] = &[
    "force_async",
    "nowait",
    "md_per_io_size",
    "readfua",
    "writefua",
    "block_error_percentiles",
    "buffer_compress_chunk",
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
    "create_only",
    "exitall_on_error",
    "experimental_verify",
    "fadvise_hint",
    "file_append",
    "filename_format",
    "gid",
    "gtod_cpu",
    "hugepage-size",
    "ignore_zone_limits",
    "iomem",
    "ioscheduler",
    "job_max_open_zones",
    "lockfile",
    "lockmem",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_compression_cpus",
    "max_open_zones",
    "mem",
    "merge_blktrace_file",
    "merge_blktrace_iters",
    "merge_blktrace_scalars",
    "nice",
    "offset_align",
    "opendir",
    "profile",
    "rate_ignore_thinktime",
    "read_beyond_wp",
    "spr_cs",
    "replay_align",
    "replay_scale",
    "replay_skip",
    "sync_file_range",
    "trim_backlog",
    "trim_backlog_batch",
    "trim_percentage",
    "trim_verify_zero",
    "uid",
    "unit_base",
    "unlink_each_loop",
    "verify_offset",
    "verify_only",
    "verify_state_load",
    "verify_state_save",
    "write_barrier",
    "write_hint",
    "zone_reset_frequency",
    "zone_reset_threshold",
    "zonecapacity",
];

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
    found.or_else(|| NO_EQUIVALENT.contains(&key).then_some(&NONE))
}

/// The keys that are no knobs and stand in the options of a step.
pub(super) fn written(step: &Step) -> impl Iterator<Item = (&'static str, String)> {
    KEYS.iter().filter_map(|key| Some((key.name, (key.written)(step)?)))
}

/// All words that a job file may hold.
pub(super) fn all_words() -> impl Iterator<Item = &'static str> {
    let knobs = fio_knobs().flat_map(|(knob, fio)| std::iter::once(knob.name).chain(fio.aliases.iter().copied()));
    let keys = KEYS.iter().flat_map(|key| std::iter::once(key.name).chain(key.aliases.iter().copied()));
    knobs.chain(keys).chain(NO_EQUIVALENT.iter().copied())
}

/// Whether the values of the key are sizes.
pub(super) fn is_size(key: &str) -> bool {
    let is_size = |kind: Kind| matches!(kind, Kind::Size | Kind::Split);
    fio_knob(key).is_some_and(|(knob, _)| is_size(knob.kind))
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
