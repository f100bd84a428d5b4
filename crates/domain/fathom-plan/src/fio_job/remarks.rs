//! Remarks on where fio and Fathom differ although the words are the same.

use super::ini::Entry;
use super::job::{Reader, flag};
use super::keys;
use crate::error::SourceError;
use crate::knobs::push_note;
use crate::step::{EngineName, Pattern, Placement, Step};

impl Reader<'_, '_> {
    pub(super) fn remark_on_defaults(&mut self) {
        let defaults = [("rw", "read"), ("bs", "4k"), ("ioengine", "psync"), ("iodepth", "1"), ("direct", "0")];
        let silent: Vec<String> = defaults
            .iter()
            .filter(|(key, _)| !self.keys.contains_key(key))
            .filter(|(key, _)| *key != "bs" || !self.keys.contains_key("bssplit"))
            .filter(|(key, _)| *key != "direct" || !self.keys.contains_key("buffered"))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        if !silent.is_empty() {
            push_note(self.notes, format!("fio's defaults hold where the job is silent: {}", silent.join(" ")));
        }
    }

    /// fio turns `KiB` and `KB` around by default (kb_base=1024): its 4KiB are 4000 bytes.
    pub(super) fn remark_on_iec(&mut self, entry: &Entry) {
        let Some(value) = entry.value.as_deref() else {
            return;
        };
        let iec = |part: &str| {
            let unit = part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
            unit.len() >= 2 && unit[1..].starts_with('i') && "kmgtp".contains(&unit[..1])
        };
        let is_size = ["bs", "bssplit", "size", "offset", "io_size"].contains(&keys::canonical(&entry.key));
        if is_size && value.is_ascii() && value.split([':', '/', ',']).any(iec) {
            push_note(
                self.notes,
                format!(
                    "{}={value}: fio reads KiB as 1000 bytes (kb_base=1024), Fathom as 1024; write 4k to mean the same in both",
                    entry.key
                ),
            );
        }
    }

    /// Where fio and Fathom differ although the words are the same.
    pub(super) fn remark_on(&mut self, step: &Step) -> Result<(), SourceError> {
        let workload = &step.workload;
        let no_passes = !matches!(workload.pattern, Pattern::Random | Pattern::Sequential);
        if no_passes && step.length.passes.is_some() {
            if !self.keys.contains_key("runtime") {
                return Err(self.source.error(
                    self.section.clone(),
                    "this job ends after `size` bytes of offsets that may repeat, which is not carried out",
                    "add time_based and runtime=30s",
                ));
            }
            push_note(
                self.notes,
                "offsets may repeat: the step runs its whole runtime, fio could end earlier".to_owned(),
            );
        }
        if workload.pattern == Pattern::Sequential && step.load.threads > 1 {
            push_note(
                self.notes,
                "fio starts all sequential jobs of a file at the same offset; Fathom gives each thread a part of its own"
                    .to_owned(),
            );
        }
        if matches!(self.value("rw"), Some("trimwrite" | "randtrimwrite")) {
            push_note(
                self.notes,
                "fio trims each block right before it writes it; Fathom draws trims and writes half and half"
                    .to_owned(),
            );
        }
        if !workload.direct && flag(self.source, self.keys, "invalidate", true)? && step.engine.name != EngineName::Null
        {
            push_note(
                self.notes,
                "fio drops the file's cached pages before it starts (invalidate); Fathom does not".to_owned(),
            );
        }
        if workload.verify.is_some() {
            push_note(
                self.notes,
                "verify: Fathom's blocks describe themselves in a form of their own, not fio's".to_owned(),
            );
        }
        self.remark_on_cpus(step)?;
        let uring = step.engine.name.is_uring();
        for key in ["fixedbufs", "registerfiles"].into_iter().filter(|k| !uring && self.keys.contains_key(k)) {
            push_note(self.notes, format!("{key} has no effect with ioengine={}", step.engine.name.as_str()));
        }
        Ok(())
    }

    pub(super) fn remark_on_cpus(&mut self, step: &Step) -> Result<(), SourceError> {
        let policy = self.value("cpus_allowed_policy").unwrap_or("shared").to_owned();
        if !["shared", "split"].contains(&policy.as_str()) {
            return Err(self.error("cpus_allowed_policy", &format!("unknown policy `{policy}`"), "shared or split"));
        }
        if let Placement::Cpus(cpus) = &step.placement
            && policy == "shared"
            && cpus.len() > 1
        {
            push_note(
                self.notes,
                "cpus_allowed: fio lets each job roam over the list (cpus_allowed_policy=shared); Fathom pins thread i to \
                 the i-th CPU"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
