//! Which jobs run at once, which after others, and which end others: `stonewall`, `wait_for`, `exitall`.

use std::collections::BTreeMap;

use fathom_message::{Message, msg};

use super::ini::{Entry, Source};
use super::job;
use super::jobs::Job;
use crate::error::SourceError;
use crate::knobs::push_note;
use crate::role::Ends;
use crate::step::Step;

/// Parts the jobs: what is in one part runs at once, once the part before is over. Jobs that an `exit_what=all` keeps from
/// ever running are left out, with a note.
pub(super) fn parts<'j, 'a>(
    source: &Source<'_>,
    jobs: &'j [Job<'a>],
    notes: &mut Vec<Message>,
) -> Result<Vec<Vec<&'j Job<'a>>>, SourceError> {
    let mut walled: Vec<Vec<&'j Job<'a>>> = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        if i == 0 || job.is_walled {
            walled.push(Vec::new());
        }
        walled.last_mut().expect("the first job opens a part").push(job);
    }
    let mut parts = Vec::new();
    let mut ended_by: Option<String> = None;
    for part in walled {
        if let Some(by) = &ended_by {
            for job in &part {
                push_note(notes, msg!("fio-never-runs", section = job.name().to_owned(), by = by.clone()));
            }
            continue;
        }
        for job in &part {
            if exit_of(source, job)? == Some(Exit::All) {
                ended_by = Some(job.name().to_owned());
            }
        }
        let over: Vec<&str> = parts.iter().flatten().map(|job: &&Job<'_>| job.name()).collect();
        let waited = by_waiting(source, &part, &over)?;
        parts.extend(waited);
    }
    Ok(parts)
}

/// Parts jobs further where they wait for others. Only a wait for all that runs before can be done so. `over`: names of jobs
/// that are over anyway.
fn by_waiting<'j, 'a>(
    source: &Source<'_>,
    part: &[&'j Job<'a>],
    over: &[&str],
) -> Result<Vec<Vec<&'j Job<'a>>>, SourceError> {
    // By name: each level on which a job of that name begins.
    let mut levels_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut waiting: Vec<(&Entry, usize)> = Vec::new();
    let mut levels: Vec<Vec<&'j Job<'a>>> = Vec::new();
    for &job in part {
        let mut level = 0;
        if let Some(entry) = job.keys.get("wait_for") {
            let name = entry.value.as_deref().unwrap_or_default();
            let refused = |message, help| Err(source.error(entry.value_span.clone(), message, Some(help)));
            if name == job.name() {
                return refused(msg!("fio-wait-for-itself"), msg!("fio-wait-for-help"));
            }
            match levels_of.get(name).map_or(&[][..], Vec::as_slice) {
                [waited] => {
                    level = waited + 1;
                    waiting.push((entry, level));
                }
                [] if over.contains(&name) => {}
                [] => return refused(msg!("fio-wait-for", name = name.to_owned()), msg!("fio-wait-for-help")),
                _ => {
                    let message = msg!("fio-wait-for-several", name = name.to_owned());
                    return refused(message, msg!("fio-wait-for-several-help"));
                }
            }
        }
        levels_of.entry(job.name()).or_default().push(level);
        if level == levels.len() {
            levels.push(Vec::new());
        }
        levels[level].push(job);
    }
    for (entry, level) in waiting {
        let beside = levels[level - 1].iter().find(|job| Some(job.name()) != entry.value.as_deref());
        if let Some(beside) = beside.map(|job| job.name().to_owned()) {
            let name = entry.value.clone().unwrap_or_default();
            let message = msg!("fio-wait-for-one", name = name, beside = beside.clone());
            let help = msg!("fio-wait-for-one-help", beside = beside);
            return Err(source.error(entry.value_span.clone(), message, Some(help)));
        }
    }
    Ok(levels)
}

/// Which jobs end with this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Group,
    Stonewall,
    All,
}

fn exit_of(source: &Source<'_>, job: &Job<'_>) -> Result<Option<Exit>, SourceError> {
    let Some(entry) = job.keys.get("exit_what") else {
        return Ok(job::flag(source, &job.keys, "exitall", false)?.then_some(Exit::Group));
    };
    match entry.value.as_deref() {
        Some("group") => Ok(Some(Exit::Group)),
        Some("stonewall") => Ok(Some(Exit::Stonewall)),
        Some("all") => Ok(Some(Exit::All)),
        other => {
            let what = msg!("fio-exit-what", word = other.unwrap_or_default().to_owned());
            Err(source.error(entry.value_span.clone(), what, Some(msg!("fio-exit-what-help"))))
        }
    }
}

/// Says of each step of a part which others end with it. `streams`: each with the number of its class.
pub(super) fn exits(
    source: &Source<'_>,
    classes: &[Vec<&Job<'_>>],
    streams: &mut [(usize, String, Step)],
) -> Result<(), SourceError> {
    let groups: Vec<u32> = streams.iter().map(|(class, ..)| classes[*class][0].group).collect();
    for at in 0..streams.len() {
        let Some(exit) = exit_of(source, classes[streams[at].0][0])? else { continue };
        let with = |other: &usize| *other != at && (exit != Exit::Group || groups[*other] == groups[at]);
        let streams_with = (0..streams.len()).filter(with).map(|other| other as u32).collect();
        streams[at].2.role.ends = Some(Ends { streams: streams_with });
    }
    Ok(())
}
