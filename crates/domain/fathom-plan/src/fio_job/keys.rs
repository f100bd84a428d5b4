//! What becomes of each key of fio: carried out, noted, or refused by name.

/// The fate of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Set as the knob of the same name.
    Knob,
    /// Read by the code that puts the job together.
    Own,
    /// Without meaning for Fathom, and why; told in the plan's notes.
    Noted(&'static str),
    /// Not carried out: reason and remedy. The values listed last are fio's way of saying "off": they are accepted.
    Refused(&'static str, &'static str, &'static [&'static str]),
}

use Fate::{Knob, Noted, Own, Refused};

/// fio's other words for a key.
const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("iodepth_batch", "iodepth_batch_submit"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("io_limit", "io_size"),
    ("fileoffset", "offset"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
    ("steadystate", "ss"),
    ("steadystate_duration", "ss_dur"),
    ("steadystate_ramp_time", "ss_ramp"),
    ("nr_files", "nrfiles"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("disable_bw_measurement", "disable_bw"),
];

/// The key under fio's first name for it.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

const LOGS: Fate = Noted("every interval and latency is kept: use `fathom export --format hlog` (or fio-json)");
const LATENCIES: Fate = Noted("Fathom always records slat, clat and lat of every I/O");
const LAYOUT: Fate = Noted("Fathom lays out its own file, written before it is read, and removes it");
const STEADY: Fate = Refused(
    "Fathom ends a step by its interval of confidence",
    "remove it; in a study file use runtime = { min = \"10s\", max = \"60s\" }",
    &["0"],
);
const BANDWIDTH: Fate = Refused("rates are in I/Os per second", "use rate_iops", &["0"]);
const THINK: Fate = Refused("threads do not pause between I/Os", "use rate_iops for an open loop", &["0"]);
const FLUSH: Fate = Refused("no flushes are issued between writes", "remove it, or measure it with fio", &["0"]);
const LATENCY_TARGET: Fate =
    Refused("the queue depth is not searched for a latency", "use a study file with a list of iodepth", &["0"]);
const COMMANDS: Fate = Refused("no commands are run from a job file", "run them yourself before and after", &[]);
const TRACES: Fate = Refused("traces are not replayed", "describe the load by rw, bs and iodepth", &[]);
const PAGES: Fate = Refused("data is incompressible by default", "use buffer_compress_percentage", &["0"]);

/// All keys with a fate of their own.
const KEYS: &[(&str, Fate)] = &[
    // Carried out.
    ("rw", Knob),
    ("rwmixread", Knob),
    ("rwmixwrite", Knob),
    ("bs", Knob),
    ("bssplit", Knob),
    ("iodepth", Own),
    ("iodepth_batch_submit", Knob),
    ("iodepth_batch_complete_min", Knob),
    ("iodepth_batch_complete_max", Knob),
    ("numjobs", Own),
    ("ioengine", Knob),
    ("direct", Knob),
    ("buffered", Own),
    ("filename", Own),
    ("directory", Own),
    ("size", Own),
    ("io_size", Own),
    ("offset", Knob),
    ("runtime", Own),
    ("time_based", Own),
    ("ramp_time", Knob),
    ("loops", Own),
    ("norandommap", Knob),
    ("random_distribution", Knob),
    ("randseed", Knob),
    ("rate_iops", Own),
    ("rate_process", Own),
    ("cpus_allowed", Knob),
    ("cpus_allowed_policy", Own),
    ("hipri", Knob),
    ("fixedbufs", Knob),
    ("registerfiles", Knob),
    ("sqthread_poll", Knob),
    ("sqthread_poll_cpu", Knob),
    ("buffer_compress_percentage", Knob),
    ("dedupe_percentage", Knob),
    ("verify", Knob),
    ("name", Own),
    ("description", Own),
    ("stonewall", Own),
    ("invalidate", Own),
    // Without meaning here.
    ("thread", Noted("Fathom always runs threads")),
    ("group_reporting", Noted("the threads of a step are always reported together")),
    ("new_group", Noted("each step is reported by itself")),
    ("percentile_list", Noted("the whole histogram is kept; the ladder p50 to p99.999 is shown")),
    ("write_bw_log", LOGS),
    ("write_lat_log", LOGS),
    ("write_iops_log", LOGS),
    ("write_hist_log", LOGS),
    ("log_avg_msec", LOGS),
    ("log_hist_msec", LOGS),
    ("log_hist_coarseness", LOGS),
    ("log_unix_epoch", LOGS),
    ("log_offset", LOGS),
    ("log_prio", LOGS),
    ("log_max_value", LOGS),
    ("log_entries", LOGS),
    ("log_compression", LOGS),
    ("log_store_compressed", LOGS),
    ("per_job_logs", LOGS),
    ("bwavgtime", LOGS),
    ("iopsavgtime", LOGS),
    ("clat_percentiles", LATENCIES),
    ("lat_percentiles", LATENCIES),
    ("slat_percentiles", LATENCIES),
    ("disable_lat", LATENCIES),
    ("disable_clat", LATENCIES),
    ("disable_slat", LATENCIES),
    ("disable_bw", LATENCIES),
    ("gtod_reduce", LATENCIES),
    ("clocksource", Noted("Fathom chooses its clock and states it")),
    ("significant_figures", Noted("three significant digits are shown, all are exported")),
    ("disk_util", Noted("the counters of the target's device are always read")),
    ("stats", Noted("each step is always reported")),
    ("unified_rw_reporting", Noted("reads and writes are reported apart and together")),
    ("nonvectored", Noted("Fathom's I/Os are never vectored")),
    ("userspace_reap", Noted("Fathom reaps from the ring in user space where the kernel offers it")),
    ("refill_buffers", Noted("write data does not repeat anyway")),
    ("scramble_buffers", Noted("write data does not repeat anyway")),
    ("randrepeat", Noted("Fathom's offsets repeat with their seed: set randseed to change them")),
    ("allrandrepeat", Noted("Fathom's offsets repeat with their seed: set randseed to change them")),
    ("fallocate", LAYOUT),
    ("unlink", LAYOUT),
    ("overwrite", LAYOUT),
    ("create_serialize", LAYOUT),
    ("create_fsync", LAYOUT),
    ("create_on_open", LAYOUT),
    // Refused with a remedy.
    ("ss", STEADY),
    ("ss_dur", STEADY),
    ("ss_ramp", STEADY),
    ("numa_cpu_nodes", Refused("a plan does not know the machine's nodes", "name the CPUs with cpus_allowed", &[])),
    ("numa_mem_policy", Refused("memory is always local to its thread", "remove it", &[])),
    ("cpumask", Refused("CPUs are named by list", "use cpus_allowed=0-3", &[])),
    ("rate", BANDWIDTH),
    ("rate_min", BANDWIDTH),
    ("rate_iops_min", Refused("an unsustainable rate is declared, not punished", "remove it", &["0"])),
    ("rate_cycle", Refused("arrivals are kept one by one, not by window", "remove it", &[])),
    ("thinktime", THINK),
    ("thinktime_spin", THINK),
    ("thinktime_blocks", THINK),
    ("thinktime_blocks_type", THINK),
    ("thinktime_iotime", THINK),
    ("bsrange", Refused("block sizes are named with their shares", "use bssplit=4k/50:64k/50", &[])),
    ("bs_unaligned", Refused("blocks are always aligned", "remove it", &["0"])),
    ("iodepth_low", Refused("the queue is kept full", "remove it", &["0"])),
    ("nrfiles", Refused("each target is one file", "name the files in filename=a:b", &["1"])),
    ("filesize", Refused("the file is as large as its region", "use size", &[])),
    ("offset_increment", Refused("threads of a target share its region", "write one section per region", &["0"])),
    ("percentage_random", Refused("an access pattern is random or sequential", "use two sections", &["100"])),
    ("fsync", FLUSH),
    ("fdatasync", FLUSH),
    ("end_fsync", FLUSH),
    ("sync", Refused("O_SYNC is not set", "remove it, or measure it with fio", &["0", "none"])),
    ("startdelay", Refused("steps follow each other at once", "remove it", &["0"])),
    ("wait_for", Refused("steps run in the order of the file", "use stonewall", &[])),
    ("kb_base", Refused("4k is always 4096 bytes", "remove it and write sizes as 4k", &["1024"])),
    ("zero_buffers", PAGES),
    ("buffer_pattern", PAGES),
    ("do_verify", Refused("with verify set, reads are always checked", "remove it", &["1"])),
    ("verify_fatal", Refused("a block that is wrong is counted and shown", "remove it", &["0"])),
    ("exec_prerun", COMMANDS),
    ("exec_postrun", COMMANDS),
    ("read_iolog", TRACES),
    ("write_iolog", TRACES),
    ("latency_target", LATENCY_TARGET),
    ("latency_window", LATENCY_TARGET),
    ("latency_percentile", LATENCY_TARGET),
    ("max_latency", Refused("a slow I/O is recorded, it does not end the step", "remove it", &["0"])),
    ("allow_mounted_write", Refused("mounted drives are never written", "use a file on it, or another drive", &["0"])),
    ("pre_read", Refused("the page cache is not warmed", "remove it", &["0"])),
    ("io_submit_mode", Refused("I/Os are submitted by the thread that reaps them", "remove it", &["inline"])),
    ("serialize_overlap", Refused("overlapping I/Os are not held back", "remove it", &["0"])),
    ("cmd_type", Refused("only NVMe commands are passed to the drive", "remove it", &["nvme"])),
    ("continue_on_error", Refused("errors are counted and the step goes on", "remove it", &[])),
    ("ignore_error", Refused("every error is counted and shown", "remove it", &[])),
];

/// fio's options (3.33) that Fathom has no equivalent of: refused by name, so that a misspelling is told apart.
const NO_EQUIVALENT: &[&str] = &[
    "force_async",
    "nowait",
    "uncached",
    "cmdprio_bssplit",
    "cmdprio_split",
    "md_per_io_size",
    "readfua",
    "writefua",
    "allow_file_create",
    "atomic",
    "ba",
    "block_error_percentiles",
    "blockalign",
    "buffer_compress_chunk",
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
    "create_only",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "error_dump",
    "exit_what",
    "exitall",
    "exitall_on_error",
    "experimental_verify",
    "fadvise_hint",
    "file_append",
    "file_service_type",
    "filename_format",
    "fill_device",
    "fill_fs",
    "flow",
    "flow_id",
    "flow_sleep",
    "fsync_on_close",
    "gid",
    "gtod_cpu",
    "hugepage-size",
    "ignore_zone_limits",
    "iomem",
    "ioscheduler",
    "job_max_open_zones",
    "latency_run",
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
    "number_ios",
    "offset_align",
    "opendir",
    "openfiles",
    "prio",
    "prioclass",
    "profile",
    "random_generator",
    "rate_ignore_thinktime",
    "read_beyond_wp",
    "read_iolog_chunked",
    "replay_align",
    "replay_no_stall",
    "replay_redirect",
    "replay_scale",
    "replay_skip",
    "replay_time_scale",
    "rw_sequencer",
    "sync_file_range",
    "trim_backlog",
    "trim_backlog_batch",
    "trim_percentage",
    "trim_verify_zero",
    "uid",
    "unique_filename",
    "unit_base",
    "unlink_each_loop",
    "verify_async",
    "verify_backlog",
    "verify_backlog_batch",
    "verify_dump",
    "verify_interval",
    "verify_offset",
    "verify_only",
    "verify_pattern",
    "verify_state_load",
    "verify_state_save",
    "write_barrier",
    "write_hint",
    "zone_reset_frequency",
    "zone_reset_threshold",
    "zonecapacity",
    "zonemode",
    "zonerange",
    "zonesize",
    "zoneskip",
];

/// What becomes of `key` (under fio's first name); `None`: fio does not know it either.
pub(super) fn fate(key: &str) -> Option<Fate> {
    let found = KEYS.iter().find(|(name, _)| *name == key).map(|(_, fate)| *fate);
    let none = || Refused("Fathom has no equivalent", "remove it, or run this job with fio", &[]);
    found.or_else(|| NO_EQUIVALENT.contains(&key).then(none))
}

/// All words that a job file may hold.
pub(super) fn all_words() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, _)| *name).chain(ALIASES.iter().map(|(a, _)| *a)).chain(NO_EQUIVALENT.iter().copied())
}

/// Keys that mean "yes" when they stand alone.
pub(super) fn is_flag(key: &str) -> bool {
    const FLAGS: &[&str] = &[
        "time_based",
        "thread",
        "group_reporting",
        "stonewall",
        "new_group",
        "norandommap",
        "hipri",
        "fixedbufs",
        "registerfiles",
        "sqthread_poll",
        "nonvectored",
        "userspace_reap",
        "direct",
        "buffered",
        "invalidate",
        "refill_buffers",
        "scramble_buffers",
        "randrepeat",
        "allrandrepeat",
        "unlink",
        "overwrite",
        "create_serialize",
        "create_fsync",
        "create_on_open",
        "disable_lat",
        "disable_clat",
        "disable_slat",
        "disable_bw",
        "gtod_reduce",
        "clat_percentiles",
        "lat_percentiles",
        "slat_percentiles",
        "disk_util",
        "stats",
        "log_unix_epoch",
        "log_offset",
        "log_prio",
        "log_max_value",
        "log_store_compressed",
        "per_job_logs",
        "write_bw_log",
        "write_lat_log",
        "write_iops_log",
        "write_hist_log",
    ];
    FLAGS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_fate_and_each_alias_a_key() {
        let mut seen = std::collections::HashSet::new();
        for word in all_words() {
            assert!(seen.insert(word), "{word} stands twice");
        }
        for (alias, name) in ALIASES {
            assert!(KEYS.iter().any(|(k, _)| k == name), "{alias} -> {name}");
        }
        for (key, fate) in KEYS.iter().filter(|(_, f)| *f == Knob) {
            assert!(crate::knobs::knob(key).is_some(), "{key} is no knob: {fate:?}");
        }
    }
}
