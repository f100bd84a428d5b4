//! A step in the words of an fio job: the `job options` of fio's JSON.

use fathom_fio::size_word;
use fathom_plan::{EngineName, Mode, Pattern, RUNTIME_MAX_NS, RateProcess, Step};

/// Options as fio would list them. `cpus`: CPUs the threads were bound to, empty when unpinned.
///
/// `numjobs` is the number of all threads, those of every target, so that numjobs x iodepth is what was in flight.
pub(super) fn job_options(step: &Step, cpus: &[u32]) -> Vec<(String, String)> {
    let mut options = Vec::new();
    let mut put = |key: &str, value: String| options.push((key.to_owned(), value));
    let (workload, load) = (&step.workload, &step.load);

    if let Some(job) = step.role.job.as_ref().filter(|job| !job.options.is_empty()) {
        return job.options.clone();
    }
    if let Some(job) = &step.role.by_fio {
        // Its own words, with its name.
        put("name", step.label.clone());
        job.options().filter(|(key, _)| *key != "name").for_each(|(key, value)| put(key, value.to_owned()));
        return options;
    }
    put("name", step.label.clone());
    if let Some(files) = workload.order.files {
        put("directory", step.targets.iter().map(|t| t.as_str().replace(':', "\\:")).collect::<Vec<_>>().join(":"));
        put("ioengine", files.op.read_write().to_string());
        put("nrfiles", files.files_per_thread.to_string());
        put("filesize", files.bytes_per_file.to_string());
        put("numjobs", thread_count(step).to_string());
        return options;
    }
    put("filename", step.targets.iter().map(|t| t.as_str().replace(':', "\\:")).collect::<Vec<_>>().join(":"));
    put("rw", workload.read_write().to_string());
    if workload.mix.read_pct > 0 && workload.mix.write_pct > 0 {
        put("rwmixread", workload.mix.read_pct.to_string());
    }
    put("bs", size_word(u64::from(workload.block_bytes_max())));
    if workload.block_sizes.len() > 1 {
        let split = workload.block_sizes.iter().map(|b| format!("{}/{}", size_word(u64::from(b.bytes)), b.share_pct));
        put("bssplit", split.collect::<Vec<_>>().join(":"));
    }
    put("iodepth", load.queue_depth.to_string());
    put("numjobs", thread_count(step).to_string());
    put("ioengine", step.engine_word().to_owned());
    if step.role.imported.is_unified {
        put("unified_rw_reporting", "mixed".to_owned());
    }
    put("direct", u8::from(workload.direct).to_string());
    if let Some(bytes) = workload.region.size_bytes {
        put("size", size_word(bytes));
    }
    if workload.region.offset_bytes > 0 {
        put("offset", size_word(workload.region.offset_bytes));
    }
    match step.length.passes {
        None => put("time_based", "1".to_owned()),
        Some(passes) => put("loops", passes.to_string()),
    }
    if step.length.budget_ns < RUNTIME_MAX_NS {
        put("runtime", format!("{}ms", step.length.budget_ns / 1_000_000));
    }
    if step.length.ramp_ns > 0 {
        put("ramp_time", format!("{}ms", step.length.ramp_ns / 1_000_000));
    }
    push_pattern(&mut put, &workload.pattern);
    push_engine(&mut put, step);
    // fio's rate is per job.
    let per_job = |iops: f64| format!("{:.0}", (iops / f64::from(thread_count(step))).max(1.0));
    let of_op = |iops: Option<f64>| iops.map_or("0".to_owned(), per_job);
    if let Some(rates) = load.op_rates {
        put("rate_iops", format!("{},{}", of_op(rates.read_iops), of_op(rates.write_iops)));
    } else if let Some(rate) = load.rate {
        put("rate_iops", per_job(rate.iops));
    }
    if let Some(process) = load.process() {
        put("rate_process", if process == RateProcess::Poisson { "poisson" } else { "linear" }.to_owned());
    }
    if !cpus.is_empty() {
        put("cpus_allowed", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
        put("cpus_allowed_policy", "split".to_owned());
    }
    if workload.verify.is_some() {
        put("verify", "crc32c".to_owned());
    }
    put("thread", "1".to_owned());
    put("group_reporting", "1".to_owned());
    options
}

/// Threads of all targets together.
pub(crate) fn thread_count(step: &Step) -> u32 {
    step.workers()
}

fn push_pattern(put: &mut impl FnMut(&str, String), pattern: &Pattern) {
    match pattern {
        Pattern::Random | Pattern::Sequential | Pattern::Unknown => {}
        Pattern::RandomRepeat => put("norandommap", "1".to_owned()),
        Pattern::Zipf { theta } => put("random_distribution", format!("zipf:{theta}")),
        Pattern::Hotspot { access_pct, space_pct } => {
            let (rest_access, rest_space) = (100 - access_pct, 100 - space_pct);
            put("random_distribution", format!("zoned:{access_pct}/{space_pct}:{rest_access}/{rest_space}"));
        }
    }
}

fn push_engine(put: &mut impl FnMut(&str, String), step: &Step) {
    let engine = &step.engine;
    if !engine.name.is_uring() {
        return;
    }
    if engine.name == EngineName::IoUringCmd {
        put("cmd_type", "nvme".to_owned());
    }
    match engine.mode {
        Mode::Interrupt => {}
        Mode::Iopoll => put("hipri", "1".to_owned()),
        Mode::Sqpoll => put("sqthread_poll", "1".to_owned()),
    }
    if let Some(cpu) = engine.sqpoll_cpu {
        put("sqthread_poll_cpu", cpu.to_string());
    }
    if engine.fixed_buffers {
        put("fixedbufs", "1".to_owned());
    }
    if engine.fixed_files {
        put("registerfiles", "1".to_owned());
    }
}
