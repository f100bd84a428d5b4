//! A database as the load: is it the CPUs, the drives, or the database itself?

use fathom_message::{Quantity, Unit};
use serde::Serialize;

use super::cause::{Cause, DatabaseCause, DatabaseLimit};
use super::evidence::{Evidence, EvidenceName};
use super::limit::Limit;
use super::neighbour::{ProbeChange, ProbeResult};

/// All CPUs this busy are the limit.
const CPUS_BUSY: f64 = 0.80;
/// Drives that give this share of their calibrated rate are the limit.
const DRIVES_USED: f64 = 0.80;
/// A CPU this busy is the limit of what runs on it alone.
const CPU_BUSY: f64 = 0.95;
/// More load that gives less than this factor confirms a limit.
const MORE_LOAD_USELESS: f64 = 1.1;

/// What a database run showed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DatabaseLoad {
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// I/Os per second of the drives meanwhile.
    pub iops: f64,
    /// What the same drives gave in a calibration with the same block size and mix.
    pub calibrated_iops: f64,
    /// Mean busy share of all CPUs in [0, 1].
    pub cpu_busy_share: f64,
    /// Busy share of the busiest CPU in [0, 1].
    pub busiest_cpu_share: f64,
    /// More sessions or more drives gave this much; `None`: not tried.
    pub gain_of_more_load: Option<f64>,
}

/// Names the limit of a database run: CPUs first, then the drives, else the database.
#[must_use]
pub fn attribute_database(load: &DatabaseLoad) -> Limit {
    let used = load.iops / load.calibrated_iops.max(1.0);
    let numbers = vec![
        Evidence::new(EvidenceName::Transactions, Quantity::new(load.transactions_per_s, Unit::PerS)),
        Evidence::new(EvidenceName::CpusBusy, Quantity::share(load.cpu_busy_share)),
        Evidence::new(EvidenceName::BusiestCpuBusy, Quantity::share(load.busiest_cpu_share)),
        Evidence::new(EvidenceName::DrivesUsed, Quantity::share(used)),
    ];
    let limit = if load.cpu_busy_share >= CPUS_BUSY {
        DatabaseLimit::AllCores
    } else if used >= DRIVES_USED {
        DatabaseLimit::Drives
    } else if load.busiest_cpu_share >= CPU_BUSY {
        DatabaseLimit::Core
    } else {
        DatabaseLimit::Database
    };
    let cause = Cause::Database(DatabaseCause {
        limit,
        cpu_busy_share: load.cpu_busy_share,
        busiest_cpu_share: load.busiest_cpu_share,
        iops: load.iops,
        calibrated_iops: load.calibrated_iops,
    });
    let flat = load.gain_of_more_load.filter(|gain| *gain < MORE_LOAD_USELESS);
    let probe = flat.map(|gain| ProbeResult {
        step_index: None,
        change: ProbeChange::MoreSessions,
        gain: Quantity::times(gain),
    });
    Limit::found(cause, probe.is_some(), numbers).with_probes(probe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Confidence, LimitName};

    fn load(cpu: f64, busiest: f64, used: f64) -> DatabaseLoad {
        DatabaseLoad {
            transactions_per_s: 28_750.0,
            iops: used * 1.7e6,
            calibrated_iops: 1.7e6,
            cpu_busy_share: cpu,
            busiest_cpu_share: busiest,
            gain_of_more_load: None,
        }
    }

    /// 80 % of 32 cores, 840 000 of 1.7 M reads: the article calls it compute-limited.
    #[test]
    fn the_published_database_was_limited_by_its_cpus() {
        assert_eq!(attribute_database(&load(0.81, 0.95, 0.49)).name, LimitName::AllCores);
    }

    #[test]
    fn idle_cpus_and_idle_drives_leave_the_database() {
        assert_eq!(attribute_database(&load(0.4, 0.6, 0.3)).name, LimitName::Database);
        assert_eq!(attribute_database(&load(0.4, 0.99, 0.3)).name, LimitName::Core);
        assert_eq!(attribute_database(&load(0.4, 0.6, 0.9)).name, LimitName::Device);
    }

    #[test]
    fn more_sessions_that_give_no_more_confirm_the_limit() {
        let tried = |gain| DatabaseLoad { gain_of_more_load: Some(gain), ..load(0.81, 0.95, 0.49) };
        let (flat, grew) = (attribute_database(&tried(1.02)), attribute_database(&tried(1.4)));
        assert_eq!((flat.confidence, grew.confidence), (Confidence::Confirmed, Confidence::Likely));
        assert_eq!((flat.probes.len(), grew.probes.len()), (1, 0));
    }
}
