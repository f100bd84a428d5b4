//! A database as the load: is it the CPUs, the drives, or the database itself?

use fathom_units::{format_iops, format_pct};
use serde::Serialize;

use super::{Limit, LimitName, evidence, found};

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
        evidence("transactions", load.transactions_per_s, "1/s"),
        evidence("mean busy share of all CPUs", load.cpu_busy_share * 100.0, "%"),
        evidence("busy share of the busiest CPU", load.busiest_cpu_share * 100.0, "%"),
        evidence("used share of the drives", used * 100.0, "%"),
    ];
    let drives = format!("the drives give {} of {} IOPS", format_iops(load.iops), format_iops(load.calibrated_iops));
    let flat = load.gain_of_more_load.is_some_and(|g| g < 1.1);
    if load.cpu_busy_share >= 0.80 {
        let sentence = format!("All CPUs are the limit: {} busy; {drives}.", format_pct(load.cpu_busy_share * 100.0));
        return found(LimitName::AllCores, flat, sentence, numbers);
    }
    if used >= 0.80 {
        return found(LimitName::Device, flat, format!("The drives are the limit: {drives}."), numbers);
    }
    if load.busiest_cpu_share >= 0.95 {
        let sentence = format!(
            "One core is the limit: it is {} busy, all together {}; {drives}.",
            format_pct(load.busiest_cpu_share * 100.0),
            format_pct(load.cpu_busy_share * 100.0)
        );
        return found(LimitName::Core, flat, sentence, numbers);
    }
    let sentence = format!(
        "The database is the limit: CPUs are {} busy and {drives}; it waits for itself (locks, log) or for more sessions.",
        format_pct(load.cpu_busy_share * 100.0)
    );
    found(LimitName::Database, flat, sentence, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
