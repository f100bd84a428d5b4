//! A step as fio would be told to run it: the command line and the job file.

use fathom_units::{format_block, format_cpu_list};

use crate::knobs::{RUNTIME_MAX_NS, print_duration};
use crate::step::{EngineName, Mode, Pattern, Placement, Rate, RateProcess, Step, Target, Verify};

/// fio's batch for a step that names none: Fathom then submits one by one to all but the fastest devices.
const BATCH_DEFAULT: u32 = 1;

/// The fio command line that comes nearest to a step, for the report's "repeat it".
///
/// Several targets become several jobs under a global section. What fio has no word for stands behind a `#`.
#[must_use]
pub fn fio_command(step: &Step) -> String {
    let mut options = options(step);
    share_region(step, &mut options);
    let word = |(key, value): &(&str, String)| {
        if value.is_empty() { format!("--{key}") } else { format!("--{key}={}", quoted(value)) }
    };
    let shared = options.iter().map(word).collect::<Vec<_>>().join(" ");
    let mut command = match &step.targets[..] {
        [target] => format!("fio --name=fathom --filename={} {shared}", quoted(&file_name(target))),
        targets => {
            let jobs: Vec<String> = (0..)
                .zip(targets)
                .map(|(i, t): (u32, _)| format!("--name=fathom-{i} --filename={}", quoted(&file_name(t))))
                .collect();
            format!("fio --name=global {shared} {}", jobs.join(" "))
        }
    };
    if let Some(remark) = without_equivalent(step) {
        command += &format!("  # {remark}");
    }
    command
}

/// Sequential threads own a part of the region each; fio's jobs would all walk the whole of it.
fn share_region(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let threads = u64::from(step.load.threads);
    let Some(size_bytes) = step.workload.region.size_bytes.filter(|_| threads > 1) else { return };
    if step.workload.pattern == Pattern::Sequential {
        let block_bytes = u64::from(step.workload.block_bytes_max());
        let part = format_block(size_bytes / threads / block_bytes * block_bytes);
        options.retain(|(key, _)| *key != "size");
        options.push(("size", part.clone()));
        options.push(("offset_increment", part));
    }
}

/// An fio job file of steps that run one after the other.
#[must_use]
pub fn fio_job_text(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        text += &format!("; {}\n", step.label.replace(['\n', '\r'], " "));
        if let Some(remark) = without_equivalent(step) {
            text += &format!("; {remark}\n");
        }
        for (i, target) in step.targets.iter().enumerate() {
            text += &format!("[step-{}-{i}]\n", step.index);
            // Only the first target waits for the step before: the others run beside it.
            if i == 0 {
                text += "stonewall\n";
            }
            text += &format!("filename={}\n", file_name(target));
            for (key, value) in options(step) {
                text += &if value.is_empty() { format!("{key}\n") } else { format!("{key}={value}\n") };
            }
        }
        text.push('\n');
    }
    text
}

/// Options in fio's words; an empty value is a key that stands alone.
fn options(step: &Step) -> Vec<(&'static str, String)> {
    let mut options = vec![("rw", step.workload.fio_rw().to_owned())];
    workload_options(step, &mut options);
    load_options(step, &mut options);
    engine_options(step, &mut options);
    length_options(step, &mut options);
    options.push(("randseed", step.seed.to_string()));
    options.push(("thread", String::new()));
    options.push(("group_reporting", String::new()));
    options
}

fn workload_options(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let w = &step.workload;
    if w.mix.read_pct > 0 && w.mix.write_pct > 0 {
        options.push(("rwmixread", w.mix.read_pct.to_string()));
    }
    if let [one] = w.block_sizes[..] {
        options.push(("bs", format_block(u64::from(one.bytes))));
    } else {
        let part = |b: &crate::BlockSize| format!("{}/{}", format_block(u64::from(b.bytes)), b.share_pct);
        options.push(("bssplit", w.block_sizes.iter().map(part).collect::<Vec<_>>().join(":")));
    }
    match w.pattern {
        Pattern::Random | Pattern::Sequential => {}
        Pattern::RandomRepeat => options.push(("norandommap", String::new())),
        Pattern::Zipf { theta } => options.push(("random_distribution", format!("zipf:{theta}"))),
        Pattern::Hotspot { access_pct, space_pct } => options.push((
            "random_distribution",
            format!("zoned:{access_pct}/{space_pct}:{}/{}", 100 - access_pct, 100 - space_pct),
        )),
    }
    if w.region.offset_bytes > 0 {
        options.push(("offset", format_block(w.region.offset_bytes)));
    }
    match w.region.size_bytes {
        Some(size) => options.push(("size", format_block(size))),
        // fio wants a size even where there is nothing to touch.
        None if step.engine.name == EngineName::Null => options.push(("size", "1g".to_owned())),
        None => {}
    }
    if w.data.compress_pct > 0 {
        options.push(("buffer_compress_percentage", w.data.compress_pct.to_string()));
    }
    if w.data.dedupe_pct > 0 {
        options.push(("dedupe_percentage", w.data.dedupe_pct.to_string()));
    }
    if let Some(Verify::Crc32c) = w.verify {
        options.push(("verify", "crc32c".to_owned()));
    }
    // fio's passthrough refuses direct=1, though it goes past the page cache all the same.
    if step.engine.name != EngineName::IoUringCmd {
        options.push(("direct", u8::from(w.direct).to_string()));
    }
}

fn load_options(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let load = step.load;
    options.push(("numjobs", load.threads.to_string()));
    options.push(("iodepth", load.queue_depth.to_string()));
    if !step.engine.name.is_synchronous() {
        let batch = load.batch_submit.unwrap_or(BATCH_DEFAULT).min(load.queue_depth);
        options.push(("iodepth_batch_submit", batch.to_string()));
        options.push(("iodepth_batch_complete_min", load.batch_complete_min.unwrap_or(1).to_string()));
        // Fathom reaps all that is ready; fio reaps no more than the least unless told.
        options.push(("iodepth_batch_complete_max", load.queue_depth.to_string()));
    }
    if let Some(rate) = load.rate {
        options.push(("rate_iops", rate_text(step, rate)));
        let process = match rate.process {
            RateProcess::Fixed => "linear",
            RateProcess::Poisson => "poisson",
        };
        options.push(("rate_process", process.to_owned()));
    }
    if let Placement::Cpus(cpus) = &step.placement {
        options.push(("cpus_allowed", format_cpu_list(cpus)));
        options.push(("cpus_allowed_policy", "split".to_owned()));
    }
}

/// fio's rate is per job and direction, at least 1.
fn rate_text(step: &Step, rate: Rate) -> String {
    let jobs = f64::from(step.load.threads) * step.targets.len() as f64;
    let m = step.workload.mix;
    let of = |pct: u8| {
        let iops = (rate.iops / jobs * f64::from(pct) / 100.0).round().max(1.0);
        if pct == 0 { String::new() } else { format!("{iops:.0}") }
    };
    if [m.read_pct, m.write_pct, m.trim_pct].contains(&100) {
        return of(100);
    }
    format!("{},{},{}", of(m.read_pct), of(m.write_pct), of(m.trim_pct)).trim_end_matches(',').to_owned()
}

fn engine_options(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let engine = step.engine;
    options.push(("ioengine", engine.name.as_str().to_owned()));
    if !engine.name.is_uring() {
        return;
    }
    if engine.name == EngineName::IoUringCmd {
        options.push(("cmd_type", "nvme".to_owned()));
    }
    let flags = [
        (engine.fixed_buffers, "fixedbufs"),
        (engine.fixed_files, "registerfiles"),
        (engine.mode == Mode::Iopoll, "hipri"),
        (engine.mode == Mode::Sqpoll, "sqthread_poll"),
    ];
    options.extend(flags.into_iter().filter(|(on, _)| *on).map(|(_, key)| (key, String::new())));
    if let Some(cpu) = engine.sqpoll_cpu {
        options.push(("sqthread_poll_cpu", cpu.to_string()));
    }
}

fn length_options(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let length = step.length;
    if length.ramp_ns > 0 {
        options.push(("ramp_time", fio_time(length.ramp_ns)));
    }
    if length.budget_ns < RUNTIME_MAX_NS || length.passes.is_none() {
        options.push(("runtime", fio_time(length.budget_ns)));
    }
    match length.passes {
        None => options.push(("time_based", String::new())),
        Some(1) => {}
        Some(passes) => options.push(("loops", passes.to_string())),
    }
}

/// fio counts in microseconds.
fn fio_time(ns: u64) -> String {
    print_duration(ns.div_ceil(1_000) * 1_000)
}

/// What fio has no word for.
fn without_equivalent(step: &Step) -> Option<String> {
    let placement = match step.placement {
        Placement::Unpinned | Placement::Cpus(_) => None,
        Placement::Cores => Some("one thread per physical core"),
        Placement::Smt => Some("threads on both siblings of each core"),
        Placement::Local => Some("threads on the target's NUMA node"),
        Placement::Remote => Some("threads on another NUMA node than the target's"),
    };
    let mut remarks: Vec<String> =
        placement.map(|p| format!("{p}: name the CPUs with cpus_allowed")).into_iter().collect();
    if let Some(share) = step.missing_rate() {
        let pct = share.pct;
        remarks.push(format!("due at {pct} % of the IOPS that the closed loop gave before: name that with rate_iops"));
    }
    if step.length.floor_ns < step.length.budget_ns {
        let floor = print_duration(step.length.floor_ns);
        remarks.push(format!("ended from {floor} on once its intervals were narrow"));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// A name in which fio finds no list.
fn file_name(target: &Target) -> String {
    target.path.replace(':', "\\:")
}

/// A word as a POSIX shell takes it literally.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
