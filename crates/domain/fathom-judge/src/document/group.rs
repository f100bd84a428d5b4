//! Groups of targets under the same load.

use serde::{Deserialize, Serialize};

/// A load that at least two groups were put under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GroupedLoad {
    /// Its steps, of all groups with their repeats.
    pub steps: Vec<u32>,
    /// Whether the group with most IOPS gives more than the one with least beyond doubt, over all loads of the run;
    /// `None` where one of the two has no interval.
    pub are_apart: Option<bool>,
}
