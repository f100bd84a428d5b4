//! Jobs that fio itself runs (`--with-fio`): what they touch must be known, what they do is fio's affair.

use std::borrow::Cow;

use fathom_message::{Arg, Join, Message, msg};

use super::ini::{Entry, Source};
use super::job;
use super::jobs::{Job, Keys};
use super::keys::{self, canonical};
use super::units::fio_bytes;
use crate::by_fio::{FioJob, FioPlace};
use crate::error::SourceError;
use crate::file_ops::FileOp;
use crate::knobs::{Knobs, push_note, unknown_key};
use crate::label::set_label;
use crate::role::LabelPart;
use crate::step::{EngineName, OpMix, Step, TargetId};

/// Engines that read and write the files of the job.
const ON_FILES: [&str; 14] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "libaio",
    "posixaio",
    "io_uring",
    "io_uring_cmd",
    "splice",
    "libpmem",
    "falloc",
    "ftruncate",
];
/// Those of them that change a file whatever their direction is called.
const CHANGE_FILES: [&str; 2] = ["falloc", "ftruncate"];
/// Engines that work on names and lengths of files, in a folder.
const IN_FOLDERS: [&str; 7] =
    ["filecreate", "filestat", "filedelete", "fileoperations", "dircreate", "dirstat", "dirdelete"];
/// Engines that touch no storage at all.
const WITHOUT_STORAGE: [&str; 7] = ["cpuio", "null", "cpp_null", "net", "netsplice", "rdma", "page_fault"];
/// Engines of storage that is reached over a network: nothing here can judge what a write would destroy.
const REMOTE: [&str; 7] = ["rbd", "rados", "http", "nbd", "libiscsi", "nfs", "gfapi"];

/// Files of a job, each of which is bound and judged on its own.
const FILES_MAX: usize = 4_096;

/// Keys that make fio run programs, change settings of the host, or open files that no other key names. Each with the
/// message that says which.
fn danger(key: &str, value: Option<&str>) -> Option<Message> {
    let is_on = !matches!(value, Some("0"));
    match key {
        "exec_prerun" | "exec_postrun" => Some(msg!("fio-by-fio-program")),
        "ioscheduler" | "cgroup" | "cgroup_weight" | "allow_mounted_write" => Some(msg!("fio-by-fio-setting")),
        "opendir"
        | "filename_format"
        | "read_iolog"
        | "write_iolog"
        | "merge_blktrace_file"
        | "donorname"
        | "profile" => Some(msg!("fio-by-fio-other-files")),
        "fill_device" | "unlink_each_loop" | "verify_dump" | "error_dump" | "verify_state_save"
        | "verify_state_load"
            if is_on =>
        {
            Some(msg!("fio-by-fio-other-files"))
        }
        // It removes whatever has the name of its socket.
        "protocol" | "proto" if value == Some("unix") => Some(msg!("fio-by-fio-other-files")),
        "mem" | "iomem" if value.is_some_and(|v| v.contains([':', '/'])) => Some(msg!("fio-by-fio-other-files")),
        _ => None,
    }
}

/// Keys of single engines and of newer fios, beside those that [`keys`] knows: none of them names a file. What stands in
/// neither list is not given to fio, since nothing is known of what it would touch.
const OF_ENGINES: [&str; 50] = [
    // cpuio
    "cpuload",
    "cpuchunks",
    "cpumode",
    "exit_on_io_done",
    // net, netsplice, rdma
    "hostname",
    "port",
    "protocol",
    "proto",
    "interface",
    "ttl",
    "nodelay",
    "listen",
    "pingpong",
    "window_size",
    "mss",
    "bindname",
    "verb",
    // rbd, rados, gfapi, nbd, libiscsi, nfs, http
    "clustername",
    "rbdname",
    "clientname",
    "pool",
    "busy_poll",
    "touch_objects",
    "volume",
    "brick",
    "uri",
    "nfs_url",
    "http_verbose",
    "https",
    "http_host",
    "http_user",
    "http_pass",
    "http_mode",
    "http_s3_key",
    "http_s3_keyid",
    "http_s3_region",
    "http_s3_security_token",
    "http_s3_storage_class",
    "http_swift_auth_token",
    // libaio, io_uring, io_uring_cmd
    "fdp",
    "fdp_pli",
    "fdp_pli_select",
    "pi_act",
    "pi_chk",
    "apptag",
    "apptag_mask",
    "write_mode",
    "verify_mode",
    "num_range",
    // filestat
    "stat_type",
];

/// Further engines that fio has, which `--with-fio` does not run: what they touch is not known.
const OF_OTHER_SYSTEMS: [&str; 14] = [
    "windowsaio",
    "solarisaio",
    "guasi",
    "sg",
    "e4defrag",
    "mtd",
    "dev-dax",
    "libhdfs",
    "libzbc",
    "libblkio",
    "xnvme",
    "exec",
    "external",
    "dfs",
];

/// Names of fio's engines.
pub(super) fn all_engines() -> impl Iterator<Item = &'static str> {
    [&ON_FILES[..], &IN_FOLDERS, &WITHOUT_STORAGE, &REMOTE, &OF_OTHER_SYSTEMS].into_iter().flatten().copied()
}

/// True for the name of a fio engine that Fathom does not have.
pub(super) fn is_engine_of_fio(name: &str) -> bool {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    all_engines().any(|engine| engine == name) && !is_built_in(name)
}

/// True for the name of a fio engine that works without files.
pub(super) fn is_without_files(name: &str) -> bool {
    WITHOUT_STORAGE.contains(&name) || REMOTE.contains(&name)
}

/// True for the name of an engine that Fathom runs itself.
fn is_built_in(name: &str) -> bool {
    FileOp::from_word(name).is_some() || Knobs::fio_defaults().set("ioengine", name).is_ok()
}

/// Keys by which fio writes files of its own beside those of the load; the record holds what they would.
const LOGS: [&str; 4] = ["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

/// Keys that name the job's files or order the jobs: said by what the step is and where it stands.
const SAID_ELSEWHERE: [&str; 12] = [
    "filename",
    "directory",
    "name",
    "stonewall",
    "wait_for",
    "group_reporting",
    "new_group",
    "exitall",
    "exit_what",
    "description",
    "startdelay",
    "allow_file_create",
];

/// Keys that say enough of a job to name it, and to find and make its files.
const OF_THE_LOAD: [&str; 26] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "size",
    "filesize",
    "offset",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "direct",
    "buffered",
    "directory",
    "filename",
    "name",
    "loops",
    "rwmixread",
    "rwmixwrite",
    "allow_file_create",
    "io_size",
    "number_ios",
    "fsync",
    "fdatasync",
    "overwrite",
    "fallocate",
];
/// Those without which its files cannot be named or made.
const OF_THE_FILES: [&str; 13] = [
    "rw",
    "numjobs",
    "size",
    "filesize",
    "runtime",
    "time_based",
    "directory",
    "filename",
    "name",
    "startdelay",
    "allow_file_create",
    "overwrite",
    "fallocate",
];

/// Those of engines that have no files to be named.
const OF_THE_TIME: [&str; 8] = ["rw", "iodepth", "numjobs", "runtime", "time_based", "ramp_time", "startdelay", "name"];

/// The step of a section that fio runs.
///
/// # Errors
/// What fio would touch cannot be known, or must not be done unguarded; by its line.
pub(super) fn step(
    source: &Source<'_>,
    of: &Job<'_>,
    notes: &mut Vec<Message>,
    job_files: &mut Vec<TargetId>,
) -> Result<Step, SourceError> {
    for (key, entry) in &of.keys {
        if keys::treatment(key).is_none() && !OF_ENGINES.contains(key) {
            let words = keys::all_words().chain(OF_ENGINES);
            return Err(source.knob_error(&unknown_key(&entry.key, words), entry.key_span.clone()));
        }
        if LOGS.contains(key) {
            push_note(notes, msg!("what-and-why", what = &entry.key, why = msg!("fio-logs")));
        }
        if let Some(why) = danger(key, entry.value.as_deref()) {
            let message = msg!("fio-by-fio-refused", key = (*key).to_owned(), why = why);
            return Err(source.error(entry.key_span.clone(), message, Some(msg!("fio-by-fio-refused-help"))));
        }
    }
    let ioengine = of.keys.get("ioengine").and_then(|e| e.value.as_deref()).unwrap_or("psync");
    let known = [&ON_FILES[..], &IN_FOLDERS, &WITHOUT_STORAGE, &REMOTE].concat();
    if !known.contains(&ioengine) {
        let span = of.keys.get("ioengine").map_or(of.section.span.clone(), |e| e.value_span.clone());
        let message = msg!("fio-by-fio-engine", engine = ioengine.to_owned());
        let help = msg!("fio-by-fio-engine-help", engines = Arg::names(known, Join::Comma));
        return Err(source.error(span, message, Some(help)));
    }
    let load = |words: &[&str]| -> Keys<'_> {
        of.keys.iter().filter(|(key, _)| words.contains(key)).map(|(key, entry)| (*key, entry.clone())).collect()
    };
    // A deeper queue than one is that of an asynchronous engine; which of them is all the same here.
    let engine =
        Entry { key: "ioengine".to_owned(), value: Some("libaio".to_owned()), key_span: 0..0, value_span: 0..0 };
    let read = |words: &[&str], notes: &mut Vec<Message>, job_files: &mut Vec<TargetId>| {
        let mut keys = load(words);
        keys.insert("ioengine", Cow::Borrowed(&engine));
        job::step(source, &[&Job { keys, globals: of.globals.clone(), ..*of }], notes, job_files)
    };
    // What of the load Fathom does not understand is left to fio; only the files must be known.
    let mut kept = (Vec::new(), Vec::new());
    let mut step = match ON_FILES.contains(&ioengine) {
        true => match read(&OF_THE_LOAD, &mut kept.0, &mut kept.1) {
            Ok(step) => step,
            Err(_) => {
                kept = (Vec::new(), Vec::new());
                read(&OF_THE_FILES, &mut kept.0, &mut kept.1)?
            }
        },
        false => read(&OF_THE_TIME, &mut kept.0, &mut kept.1)?,
    };
    if ON_FILES.contains(&ioengine) {
        job_files.append(&mut kept.1);
    }
    let place = place(source, of, ioengine, &mut step)?;
    if !place.is_on_targets() {
        step.workload.region.size_bytes = None;
        step.role.must_exist = false;
    }
    if CHANGE_FILES.contains(&ioengine) && !step.workload.mix.is_destructive() {
        step.workload.mix = OpMix::WRITE;
    }
    step.engine.name = EngineName::Fio;
    step.role.job = Some(of.entry(true));
    let said = |key: &str| SAID_ELSEWHERE.contains(&canonical(key)) || LOGS.contains(&canonical(key));
    // In the user's words: fio tells some keys apart that are one knob here.
    let lines = of.keys.iter().filter(|(key, _)| !said(key)).map(|(_, entry)| match &entry.value {
        Some(value) => format!("{}={value}", entry.key),
        None => entry.key.clone(),
    });
    step.role.by_fio = Some(FioJob { ioengine: ioengine.to_owned(), lines: lines.collect(), place });
    notes.push(msg!("fio-by-fio", section = of.name().to_owned(), engine = ioengine.to_owned()));
    if step.opens_targets() {
        step.role.label_parts.push(LabelPart::Engine);
    }
    set_label(&mut step);
    Ok(step)
}

/// What the job works on; the step's targets are set to that.
fn place(source: &Source<'_>, of: &Job<'_>, ioengine: &str, step: &mut Step) -> Result<FioPlace, SourceError> {
    let text = |key: &str| of.keys.get(key).and_then(|e| e.value.as_deref());
    let number = |key: &str| text(key).and_then(fio_bytes).unwrap_or(1).max(1);
    if !ON_FILES.contains(&ioengine) {
        step.load.threads = u32::try_from(number("numjobs")).unwrap_or(u32::MAX);
    }
    if WITHOUT_STORAGE.contains(&ioengine) {
        step.targets = vec![TargetId::new(ioengine)];
        step.workload.mix = OpMix::READ;
        return Ok(FioPlace::Nothing);
    }
    if REMOTE.contains(&ioengine) {
        if step.workload.mix.is_destructive() {
            let span = of.keys.get("rw").map_or(of.section.span.clone(), |e| e.value_span.clone());
            let message = msg!("fio-by-fio-remote", engine = ioengine.to_owned());
            return Err(source.error(span, message, Some(msg!("fio-by-fio-remote-help"))));
        }
        step.targets = vec![TargetId::new(ioengine)];
        return Ok(FioPlace::Nothing);
    }
    let files = number("nrfiles");
    if IN_FOLDERS.contains(&ioengine) {
        if let Some(entry) = of.keys.get("filename") {
            let message = msg!("fio-by-fio-refused", key = "filename", why = msg!("fio-by-fio-own-names"));
            return Err(source.error(entry.key_span.clone(), message, Some(msg!("fio-by-fio-own-names-help"))));
        }
        step.targets = vec![TargetId::new(text("directory").unwrap_or("."))];
        let jobs = number("numjobs");
        let each = text("filesize").and_then(fio_bytes).or_else(|| Some(text("size").and_then(fio_bytes)? / files));
        let all = files.saturating_mul(jobs);
        // What they do to files is no share of reads and writes.
        step.workload.mix = OpMix::WRITE;
        return Ok(FioPlace::Folder { files: all, bytes: each.unwrap_or(0).saturating_mul(all) });
    }
    if text("filename").is_some() {
        return Ok(FioPlace::All);
    }
    if files > 1 {
        // fio numbers a job's files from 0 behind the number of the job, and parts the job's size among them.
        let names = step.targets.iter().flat_map(|first| {
            let stem = first.as_str().strip_suffix('0').unwrap_or(first.as_str()).to_owned();
            (0..files).map(move |file| TargetId::new(format!("{stem}{file}")))
        });
        let names: Vec<TargetId> = names.take(FILES_MAX + 1).collect();
        if names.len() > FILES_MAX {
            let span = of.keys.get("nrfiles").map_or(of.section.span.clone(), |e| e.value_span.clone());
            let message = msg!("fio-by-fio-files", max = FILES_MAX);
            return Err(source.error(span, message, Some(msg!("fio-by-fio-files-help"))));
        }
        step.targets = names;
        if text("filesize").is_none() {
            step.workload.region.size_bytes = step.workload.region.size_bytes.map(|bytes| bytes / files);
        }
    }
    Ok(FioPlace::OwnFiles { files_per_job: u32::try_from(files).unwrap_or(u32::MAX) })
}
