//! Remarks on where fio and Fathom differ although the words are the same.

use fathom_message::{Arg, Join, Message, msg};
use fathom_units::advice;

use super::ini::Entry;
use super::job::Reader;
use super::keys;
use crate::error::SourceError;
use crate::knobs::push_note;
use crate::step::{Placement, Step};

impl Reader<'_, '_> {
    pub(super) fn remark_on_defaults(&mut self) {
        let defaults = [("rw", "read"), ("bs", "4k"), ("ioengine", "psync"), ("iodepth", "1"), ("direct", "0")];
        let silent: Vec<String> = defaults
            .iter()
            .filter(|(key, _)| !self.keys.contains_key(key))
            // A trace says these itself.
            .filter(|(key, _)| !self.keys.contains_key("read_iolog") || !["rw", "bs"].contains(key))
            .filter(|(key, _)| *key != "bs" || !self.keys.contains_key("bssplit"))
            .filter(|(key, _)| *key != "direct" || !self.keys.contains_key("buffered"))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        if !silent.is_empty() {
            push_note(self.notes, msg!("fio-defaults", defaults = Arg::names(silent, Join::Space)));
        }
    }

    /// Where fio and Fathom differ although the words are the same.
    pub(super) fn remark_on(&mut self, step: &Step) -> Result<(), SourceError> {
        let workload = &step.workload;
        if workload.drop_cache && step.length.passes.is_none() {
            push_note(self.notes, msg!("fio-invalidate-once"));
        }
        if workload.verify.is_some() {
            push_note(self.notes, msg!("fio-verify"));
        }
        self.remark_on_cpus(step)?;
        let uring = step.engine.name.is_uring();
        for key in ["fixedbufs", "registerfiles"].into_iter().filter(|k| !uring && self.keys.contains_key(k)) {
            let with = format!("ioengine={}", step.engine.name.as_str());
            push_note(self.notes, msg!("fio-no-effect", key = key, with = with));
        }
        Ok(())
    }

    pub(super) fn remark_on_cpus(&mut self, step: &Step) -> Result<(), SourceError> {
        let policy = self.value("cpus_allowed_policy").unwrap_or("shared").to_owned();
        if !["shared", "split"].contains(&policy.as_str()) {
            let help = advice(&policy, &["shared", "split"]);
            return Err(self.error("cpus_allowed_policy", msg!("fio-unknown-policy", policy = policy), help));
        }
        if let Placement::Cpus(cpus) = &step.placement
            && policy == "shared"
            && cpus.len() > 1
        {
            push_note(self.notes, msg!("fio-shared-cpus"));
        }
        Ok(())
    }
}

/// fio turns `KiB` and `KB` around by default (kb_base=1024): its 4KiB are 4000 bytes.
pub(super) fn remark_on_iec(entry: &Entry, notes: &mut Vec<Message>) {
    let Some(value) = entry.value.as_deref() else {
        return;
    };
    let iec = |part: &str| {
        let unit = part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
        unit.len() == 3 && unit[1..].starts_with('i') && "kmgtp".contains(&unit[..1])
    };
    let is_size = keys::is_size(keys::canonical(&entry.key));
    if is_size && value.is_ascii() && value.split([':', '/', ',']).any(iec) {
        push_note(notes, msg!("fio-kib", key = &entry.key, value = value.to_owned()));
    }
}
