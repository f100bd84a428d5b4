//! Names of targets.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Which target: its name in the plan, as the user gave it. Plans, records and labs speak of targets by this name alone;
/// what it is today (a path, a drive that the kernel renumbered, a simulated one) is known to whoever runs the steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct TargetId(String);

impl TargetId {
    /// The target that has no data: for the engine `null`.
    pub const NULL: &str = "null";

    /// A target by its name: a file, a folder, a block device, `/dev/ng0n1`, `null`, `null:2`, `sim:NAME`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> TargetId {
        TargetId(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is a target without data: `null`, or where a step has several, `null:0`, `null:1` and so on.
    #[must_use]
    pub fn is_null(&self) -> bool {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match self.0.strip_prefix(TargetId::NULL) {
            Some("") => true,
            Some(rest) => rest.strip_prefix(':').is_some_and(is_number),
            None => false,
        }
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TargetId {
    fn from(name: &str) -> TargetId {
        TargetId::new(name)
    }
}

impl From<String> for TargetId {
    fn from(name: String) -> TargetId {
        TargetId::new(name)
    }
}

/// As it is stored, and as it was before version 3 of the lab: an object with a `path`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Name(String),
    Object { path: String },
}

impl<'de> Deserialize<'de> for TargetId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TargetId, D::Error> {
        Ok(TargetId(match Stored::deserialize(deserializer)? {
            Stored::Name(name) | Stored::Object { path: name } => name,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_as_a_text_and_read_from_older_labs_too() {
        let id = TargetId::new("/dev/nvme0n1");
        assert_eq!(serde_json::to_string(&id).expect("serializes"), "\"/dev/nvme0n1\"");
        for text in ["\"/dev/nvme0n1\"", r#"{"path":"/dev/nvme0n1"}"#] {
            assert_eq!(serde_json::from_str::<TargetId>(text).expect("reads"), id);
        }
    }

    #[test]
    fn several_targets_without_data_have_numbers() {
        for (name, is_null) in
            [("null", true), ("null:0", true), ("null:15", true), ("null:", false), ("null:a", false), ("null0", false)]
        {
            assert_eq!(TargetId::from(name).is_null(), is_null, "{name}");
        }
    }
}
