//! What came of the features that an engine, or a setting, was to use.

use fathom_message::Message;
use serde::{Deserialize, Serialize};

use crate::feature_name::FeatureName;

/// What came of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FeatureState {
    /// In force.
    Used,
    /// Wanted, but not to be had here.
    Unavailable,
    /// The step did not ask for it.
    NotAsked,
}

/// A feature and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "Stored"))]
#[serde(from = "Stored", into = "Stored")]
pub struct FeatureUse {
    /// Which.
    pub name: FeatureName,
    /// What came of it.
    pub state: FeatureState,
    /// Why not, or how; may be empty.
    pub detail: Message,
    /// Numbers of the threads it holds for, ascending; empty: all.
    pub threads: Vec<u32>,
}

impl FeatureUse {
    /// A feature on all threads.
    #[must_use]
    pub fn new(name: FeatureName, state: FeatureState, detail: Message) -> FeatureUse {
        FeatureUse { name, state, detail, threads: Vec::new() }
    }

    /// A feature that was in force on all threads.
    #[must_use]
    pub fn used(name: FeatureName, detail: Message) -> FeatureUse {
        FeatureUse::new(name, FeatureState::Used, detail)
    }

    /// Whether it was in force.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.state == FeatureState::Used
    }
}

/// The form in labs and documents. `used` alone is what labs held before there was a state.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "FeatureUse"))]
struct Stored {
    name: FeatureName,
    used: bool,
    #[serde(default)]
    state: Option<FeatureState>,
    detail: Message,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    threads: Vec<u32>,
}

/// What old labs hold as the detail of a feature that the step did not ask for.
const NOT_ASKED_IN_OLD_LABS: &str = "not asked";

impl From<Stored> for FeatureUse {
    fn from(stored: Stored) -> FeatureUse {
        let state = stored.state.unwrap_or(match stored.used {
            true => FeatureState::Used,
            false if stored.detail.as_verbatim() == Some(NOT_ASKED_IN_OLD_LABS) => FeatureState::NotAsked,
            false => FeatureState::Unavailable,
        });
        FeatureUse { name: stored.name, state, detail: stored.detail, threads: stored.threads }
    }
}

impl From<FeatureUse> for Stored {
    fn from(feature: FeatureUse) -> Stored {
        let used = feature.is_used();
        Stored {
            name: feature.name,
            used,
            state: Some(feature.state),
            detail: feature.detail,
            threads: feature.threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FeatureUse {
        serde_json::from_str(text).expect("a feature")
    }

    #[test]
    fn features_of_old_labs_are_read() {
        let state = |text| read(text).state;
        assert_eq!(state(r#"{"name":"fixed_files","used":true,"detail":""}"#), FeatureState::Used);
        assert_eq!(state(r#"{"name":"fixed_files","used":false,"detail":"no memory"}"#), FeatureState::Unavailable);
        assert_eq!(state(r#"{"name":"fixed_files","used":false,"detail":"not asked"}"#), FeatureState::NotAsked);
    }

    #[test]
    fn what_is_stored_comes_back_and_keeps_the_old_fields() {
        for state in [FeatureState::Used, FeatureState::Unavailable, FeatureState::NotAsked] {
            let feature = FeatureUse {
                threads: vec![1, 3],
                ..FeatureUse::new(FeatureName::Iopoll, state, Message::verbatim("why"))
            };
            let text = serde_json::to_string(&feature).expect("serializes");
            assert_eq!(read(&text), feature);
            let used = format!(r#""used":{}"#, state == FeatureState::Used);
            assert!(text.contains(&used) && text.contains(r#""detail":"why""#), "{text}");
        }
    }
}
