//! The job options that fio writes into its JSON, as typed values.

use std::collections::BTreeMap;

use fathom_plan::{BlockSize, fio_bytes};
use serde_json::{Map, Value};

/// Options of one job, global ones included. Every reader leaves a note when it cannot take a value at its word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options(BTreeMap<String, String>);

/// Other names under which fio lists the same option.
const ALIASES: [(&str, &str); 4] =
    [("readwrite", "rw"), ("blocksize", "bs"), ("iodepth_batch_submit", "iodepth_batch"), ("bs_split", "bssplit")];

impl Options {
    /// Global options with the job's own over them. fio writes an option without value as an empty text.
    pub(crate) fn of(global: &Map<String, Value>, job: &Map<String, Value>) -> Options {
        let mut all = BTreeMap::new();
        for (key, value) in global.iter().chain(job) {
            let key = ALIASES.iter().find(|(alias, _)| alias == key).map_or(key.as_str(), |(_, name)| name);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            all.insert(key.to_owned(), text);
        }
        Options(all)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn number(&self, key: &str) -> Option<u32> {
        self.text(key)?.trim().parse().ok()
    }

    /// Present without a value means yes.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.text(key).is_some_and(|value| value != "0")
    }

    pub(crate) fn size(&self, key: &str) -> Option<u64> {
        fio_bytes(self.text(key)?)
    }

    pub(crate) fn duration_ns(&self, key: &str) -> Option<u64> {
        duration_ns(self.text(key)?)
    }

    /// True for a job that verifies what it wrote.
    pub(crate) fn verifies(&self) -> bool {
        self.text("verify").is_some_and(|kind| !matches!(kind, "0" | "null")) && self.text("do_verify") != Some("0")
    }

    /// As sections of an fio job file.
    pub(crate) fn to_section(&self, name: &str) -> String {
        let mut out = format!("[{name}]\n");
        for (key, value) in self.0.iter().filter(|(key, _)| *key != "name") {
            out.push_str(&if value.is_empty() { format!("{key}\n") } else { format!("{key}={value}\n") });
        }
        out
    }
}

/// A time as fio reads it: seconds unless a unit follows.
pub(crate) fn duration_ns(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit_ns: u64 = match &text[digits..] {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit_ns)
}

/// `4k/60:8k/40`; shares left empty get what is left, in equal parts. `None`: not of that form.
pub(crate) fn block_split(text: &str) -> Option<Vec<BlockSize>> {
    let first_direction = text.split(',').next()?;
    let mut entries = Vec::new();
    for entry in first_direction.split(':') {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        let share: Option<u8> = if share.is_empty() { None } else { Some(share.parse().ok()?) };
        entries.push((u32::try_from(fio_bytes(size)?).ok()?, share));
    }
    let given: u32 = entries.iter().filter_map(|(_, share)| share.map(u32::from)).sum();
    let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let each = 100_u32.checked_sub(given)?.checked_div(open).unwrap_or(0);
    let split = entries.into_iter().map(|(bytes, share)| BlockSize { bytes, share_pct: share.unwrap_or(each as u8) });
    Some(split.collect())
}

/// `0-3,8` as a list.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (low, high) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        if high < low || high - low > 65_535 {
            return None;
        }
        cpus.extend(low..=high);
    }
    Some(cpus)
}

/// `a:b\:c` as `a` and `b:c`.
pub(crate) fn file_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => names.last_mut().expect("never empty").push(chars.next().unwrap_or('\\')),
            ':' => names.push(String::new()),
            _ => names.last_mut().expect("never empty").push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// A size as people type it for fio: `4k`, `1m`, `2g`, else plain bytes.
#[must_use]
pub fn size_word(bytes: u64) -> String {
    for (unit, word) in [(1_u64 << 30, 'g'), (1 << 20, 'm'), (1 << 10, 'k')] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{word}", bytes / unit);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_with_open_shares_adds_up_to_100() {
        let split = block_split("4k/10:64k/50:32k").expect("a split");
        assert_eq!(split.iter().map(|b| u32::from(b.share_pct)).sum::<u32>(), 100);
        assert_eq!(split[2], BlockSize { bytes: 32_768, share_pct: 40 });
        assert_eq!(block_split("4k/x"), None);
    }

    #[test]
    fn names_and_cpus_are_taken_apart() {
        assert_eq!(file_names(r"/dev/a:/dev/pci-0\:1"), ["/dev/a", "/dev/pci-0:1"]);
        assert_eq!(cpu_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(cpu_list("3-1"), None);
        assert_eq!((duration_ns("200ms"), duration_ns("1m")), (Some(200_000_000), Some(60_000_000_000)));
    }
}
