//! A step in fio's words: the command line and the job file.

use fathom_message::{Message, Quantity, msg};
use fathom_units::format_block;

use super::options::fio_options;
use super::units::fio_file_name;
use crate::by_fio::{FioJob, FioPlace};
use crate::knobs::print_duration;
use crate::step::{Pattern, Placement, Spread, Step, TargetId};

/// The fio command line that comes nearest to a step, for the report's "repeat it".
///
/// Several targets become several jobs under a global section. What fio has no word for, [`fio_remarks`] says.
#[must_use]
pub fn fio_command(step: &Step) -> String {
    let word = |(key, value): &(String, String)| {
        if value.is_empty() { format!("--{key}") } else { format!("--{key}={}", quoted(value)) }
    };
    let shared = options_of(step).iter().map(word).collect::<Vec<_>>().join(" ");
    let own = |section: &Section| -> String {
        section.own.iter().map(|(key, value)| format!(" --{key}={}", quoted(value))).collect()
    };
    let files = |section: &Section| section.files.as_ref().map(|files| format!("--filename={} ", quoted(files)));
    match &sections_of(step)[..] {
        [section] => format!("fio --name=fathom {}{shared}{}", files(section).unwrap_or_default(), own(section)),
        sections => {
            let job = |(i, section): (u32, &Section)| {
                let words = format!("--name=fathom-{i} {}", files(section).unwrap_or_default());
                format!("{}{}", words.trim_end(), own(section))
            };
            let jobs: Vec<String> = (0..).zip(sections).map(job).collect();
            format!("fio --name=global {shared} {}", jobs.join(" "))
        }
    }
}

/// A section of a job file.
struct Section {
    /// In fio's form; absent: fio names them by the section, or there are none.
    files: Option<String>,
    /// Options with other values than those of the step.
    own: Vec<(&'static str, String)>,
}

/// The sections that drive the targets as the step does: jobs of fio go round the files of their section.
fn sections_of(step: &Step) -> Vec<Section> {
    if let Some(job) = &step.role.by_fio {
        return vec![section_by_fio(step, job)];
    }
    if step.workload.order.files.is_some() {
        // A job of files has a folder; fio makes and names its files itself.
        let folder = |target: &TargetId| vec![("directory", fio_file_name(target.as_str()))];
        return step.targets.iter().map(|target| Section { files: None, own: folder(target) }).collect();
    }
    let section = |targets: &[u32], numjobs: Option<u32>| {
        let names: Vec<String> = targets.iter().map(|&at| fio_file_name(step.targets[at as usize].as_str())).collect();
        let mut own = Vec::new();
        own.extend(numjobs.map(|jobs| ("numjobs", jobs.to_string())));
        // fio divides a job's size by its files.
        if let Some(bytes) = step.workload.region.size_bytes.filter(|_| targets.len() > 1) {
            own.push(("size", format_block(bytes * targets.len() as u64)));
        }
        Section { files: Some(names.join(":")), own }
    };
    if step.workload.order.replay.as_ref().is_some_and(|replay| replay.is_redirected) {
        return vec![Section { files: None, own: Vec::new() }];
    }
    let all: Vec<u32> = (0..step.targets.len() as u32).collect();
    match step.load.spread {
        Spread::EachTarget => all.iter().map(|at| section(&[*at], None)).collect(),
        Spread::AllTargets => vec![section(&all, None)],
        Spread::Targets if step.workers() > all.len() as u32 => {
            let threads = step.workers_by_target();
            all.iter().zip(threads).map(|(at, threads)| section(&[*at], Some(threads.len() as u32))).collect()
        }
        Spread::Targets => (0..step.workers()).map(|worker| section(&step.targets_of(worker), Some(1))).collect(),
    }
}

/// Options of a step that its trace says itself.
const OPTIONS_OF_THE_TRACE: [&str; 10] =
    ["rw", "bs", "size", "rate_iops", "rate_process", "norandommap", "rwmixread", "rwmixwrite", "numjobs", "loops"];

/// The section that fio runs itself: its files are named as fio names them.
fn section_by_fio(step: &Step, job: &FioJob) -> Section {
    let names = || step.targets.iter().map(|target| fio_file_name(target.as_str()));
    let folder = match &job.place {
        FioPlace::All => return Section { files: Some(names().collect::<Vec<_>>().join(":")), own: Vec::new() },
        FioPlace::Nothing => None,
        FioPlace::Folder { .. } => names().next(),
        FioPlace::OwnFiles { .. } => names()
            .next()
            .and_then(|name| Some(name.rsplit_once('/')?.0.to_owned()).filter(|folder| !folder.is_empty())),
    };
    Section { files: None, own: folder.map(|folder| ("directory", folder)).into_iter().collect() }
}

/// The options in force, but for files.
fn options_of(step: &Step) -> Vec<(String, String)> {
    if let Some(job) = &step.role.by_fio {
        return job.options().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    }
    let mut options = fio_options(step);
    share_region(step, &mut options);
    if let Some(replay) = &step.workload.order.replay {
        options.retain(|(key, _)| !OPTIONS_OF_THE_TRACE.contains(key));
        let redirected = step.targets.first().filter(|_| replay.is_redirected);
        options.extend(redirected.map(|target| ("replay_redirect", target.to_string())));
    }
    options.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Sequential threads own a part of the region each; fio's jobs would all walk the whole of it.
fn share_region(step: &Step, options: &mut Vec<(&'static str, String)>) {
    let threads = u64::from(step.load.threads);
    let Some(size_bytes) =
        step.workload.region.size_bytes.filter(|_| threads > 1 && step.workload.order.thread_offset_bytes.is_none())
    else {
        return;
    };
    if step.workload.pattern == Pattern::Sequential {
        let block_bytes = u64::from(step.workload.block_bytes_max());
        let part_bytes = size_bytes / threads / block_bytes * block_bytes;
        if part_bytes == 0 {
            return;
        }
        let part = format_block(part_bytes);
        options.retain(|(key, _)| *key != "size");
        options.push(("size", part.clone()));
        options.push(("offset_increment", part));
    }
}

/// An fio job file of steps that run one after the other, streams at once. `say` puts what fio has no word for into a comment.
#[must_use]
pub fn fio_job_text(steps: &[Step], say: &dyn Fn(&Message) -> String) -> String {
    let mut text = String::new();
    for step in steps {
        text += &format!("; {}\n", step.label.replace(['\n', '\r'], " "));
        for remark in fio_remarks(step) {
            text += &format!("; {}\n", say(&remark).replace(['\n', '\r'], " "));
        }
        let sections = sections_of(step);
        for (i, section) in sections.iter().enumerate() {
            text += &format!("[{}]\n", section_name(step, i, sections.len()));
            // Only the first section of the first stream waits for the step before: the others run beside it.
            if i == 0 && step.role.stream.as_ref().is_none_or(|stream| stream.index == 0) {
                text += "stonewall\n";
            }
            if let Some(files) = &section.files {
                text += &format!("filename={files}\n");
            }
            for (key, value) in options_of(step) {
                text += &if value.is_empty() { format!("{key}\n") } else { format!("{key}={value}\n") };
            }
            // The last word counts.
            section.own.iter().for_each(|(key, value)| text += &format!("{key}={value}\n"));
        }
        text.push('\n');
    }
    text
}

/// A stream's section is called as the stream.
fn section_name(step: &Step, section: usize, sections: usize) -> String {
    let is_plain =
        |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    match step.role.stream.as_ref().map(|stream| stream.name.as_str()).filter(is_plain) {
        Some(name) if sections == 1 && name != "global" => name.to_owned(),
        Some(name) => format!("{name}-{section}"),
        None => format!("step-{}-{section}", step.index),
    }
}

/// What of a step fio has no word for.
#[must_use]
pub fn fio_remarks(step: &Step) -> Vec<Message> {
    let placement = match step.placement {
        Placement::Unpinned | Placement::Cpus(_) | Placement::Nodes { .. } => None,
        Placement::Cores => Some(msg!("fio-lacks-cores")),
        Placement::Smt => Some(msg!("fio-lacks-smt")),
        Placement::Local => Some(msg!("fio-lacks-local")),
        Placement::Remote => Some(msg!("fio-lacks-remote")),
    };
    let pair = (step.role.rate_pair.is_some() && step.lacks_rate()).then(|| msg!("fio-lacks-pair"));
    let share = step.missing_rate().map(|share| msg!("fio-lacks-share", share = Quantity::pct(share.pct.into())));
    let stages = (!step.role.stages.is_empty()).then(|| msg!("fio-lacks-stages"));
    let ended = (step.length.floor_ns < step.length.budget_ns)
        .then(|| msg!("fio-lacks-adaptive", floor = print_duration(step.length.floor_ns)));
    [placement, share, pair, stages, ended].into_iter().flatten().collect()
}

/// A word as a POSIX shell takes it literally.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
