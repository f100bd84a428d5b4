//! What limits a run of order entry: the drives, the log's flushes, the CPUs, or sessions that wait for each other.
//!
//! Each piece of evidence speaks for some limits and against others. A limit is named when three speak for it, none
//! against it, and no other limit has as many; else it is not determined.

use serde::Serialize;

/// So many pieces of evidence have to agree.
const AGREEING_MIN: usize = 3;
/// A part that takes this share of the serving time dominates it.
const DOMINANT: f64 = 0.5;
/// One that takes less does not limit.
const MINOR: f64 = 0.2;
/// CPUs that are busy for this share are at their limit, and below the second far from it.
const CPU_BUSY: f64 = 0.8;
const CPU_IDLE: f64 = 0.6;
/// Sessions that serve and wait off the CPU for less than this are limited by nothing else than CPUs; for more than the
/// second, not by CPUs.
const HARDLY_WAITS: f64 = 0.1;
const WAITS: f64 = 0.5;
/// A device that has something in flight for this share of the time may be the limit. One that has less may be it too: what
/// caps it, a volume of a cloud or a control group, lets it rest while everybody waits.
const DEVICE_BUSY: f64 = 0.6;
/// Device reads of a transaction: with fewer than the second the data come from memory.
const READS: f64 = 1.0;
const HARDLY_READS: f64 = 0.1;
/// Commits that need not wait for the device gain this much where the flush of the log is the limit, and less than the
/// second where it is not.
const RELAXED_GAIN: f64 = 1.3;
const RELAXED_NO_GAIN: f64 = 1.15;

/// A device that gives this share of its calibrated reads has no more to give.
const READS_USED: f64 = 0.85;

/// What limits order entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OltpLimit {
    /// The CPUs, or the one that a single writer has.
    Cpu,
    /// CPU time that other programs use.
    CpuTaken,
    /// Data that are read from the drives.
    Storage,
    /// Commits wait for the log to be on the device.
    LogFlush,
    /// Sessions wait for each other.
    Locks,
}

impl OltpLimit {
    /// The parts of order entry itself, which evidence speaks for or against.
    const PARTS: [OltpLimit; 4] = [OltpLimit::Cpu, OltpLimit::Storage, OltpLimit::LogFlush, OltpLimit::Locks];
}

/// What a run showed. Shares are in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OltpLoad {
    /// One session at a time can write: the others wait for their turn, which is no limit of its own.
    pub has_one_writer: bool,
    /// Of the serving time (that of sessions without their turns, for a single writer): on a CPU or ready for one.
    pub cpu_share: f64,
    /// Of the serving time: for data.
    pub data_share: f64,
    /// Of the serving time: for the log.
    pub log_share: f64,
    /// Of the serving time: for locks.
    pub lock_share: f64,
    /// Of the serving time: neither on a CPU nor ready for one, whatever part it belongs to.
    pub off_cpu_share: f64,
    /// How busy the CPUs are that can serve: all of the host, or the one that a single writer has.
    pub cpus_busy: f64,
    /// Share of those CPUs that programs other than the client and the server use; `None` where the server is not watched.
    pub others_busy: Option<f64>,
    /// Time that the device had something in flight; `None` where nothing tells.
    pub device_busy: Option<f64>,
    /// Device reads of a transaction; `None` where nothing tells.
    pub reads_per_transaction: Option<f64>,
    /// Reads of the device over the most that plain reads of the same files got; `None`: not calibrated.
    pub reads_used: Option<f64>,
    /// Rate with commits that do not wait over that with commits that do, of the pair that gained least and of the one that
    /// gained most; `None`: not tried.
    pub relaxed_gain: Option<(f64, f64)>,
}

/// What a piece of evidence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OltpEvidenceName {
    /// Where the serving time goes; the number is the share of the largest part.
    ServingTime,
    /// How busy the CPUs are.
    CpusBusy,
    /// Share of the CPUs that other programs use.
    OtherPrograms,
    /// How much of the serving time is spent off the CPUs.
    OffCpu,
    /// How busy the device is.
    DeviceBusy,
    /// Device reads of a transaction.
    #[serde(rename = "device_reads_per_transaction")]
    DeviceReads,
    /// Reads of the device over what a calibration got.
    #[serde(rename = "share_of_calibrated_reads")]
    ReadsUsed,
    /// What commits gain that do not wait.
    #[serde(rename = "gain_of_relaxed_commits")]
    RelaxedCommits,
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct OltpEvidence {
    /// What it is about.
    pub name: OltpEvidenceName,
    /// Its number: a share in [0, 1], reads of a transaction, or a gain.
    pub number: f64,
    /// Limits it speaks for.
    pub speaks_for: Vec<OltpLimit>,
    /// Limits it speaks against.
    pub speaks_against: Vec<OltpLimit>,
}

/// The verdict with all that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct OltpVerdict {
    /// The limit; `None`: not determined.
    pub limit: Option<OltpLimit>,
    /// All evidence, whatever it says.
    pub evidence: Vec<OltpEvidence>,
}

/// Weighs what a run showed.
#[must_use]
pub fn judge_oltp(load: &OltpLoad) -> OltpVerdict {
    use OltpLimit::{Cpu, CpuTaken, Locks, LogFlush, Storage};
    let shares =
        [(Cpu, load.cpu_share), (Storage, load.data_share), (LogFlush, load.log_share), (Locks, load.lock_share)];
    let largest = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(shares[0]);
    let minor = shares.into_iter().filter(|(_, share)| *share < MINOR).map(|(limit, _)| limit).collect();
    let piece = |name, number, speaks_for: &[OltpLimit], speaks_against: &[OltpLimit]| OltpEvidence {
        name,
        number,
        speaks_for: speaks_for.to_vec(),
        speaks_against: speaks_against.to_vec(),
    };
    let mut evidence = vec![OltpEvidence {
        name: OltpEvidenceName::ServingTime,
        number: largest.1,
        speaks_for: if largest.1 >= DOMINANT { vec![largest.0] } else { Vec::new() },
        speaks_against: minor,
    }];
    let cpus = |pro: &[OltpLimit], con: &[OltpLimit]| piece(OltpEvidenceName::CpusBusy, load.cpus_busy, pro, con);
    evidence.push(match load.cpus_busy {
        busy if busy >= CPU_BUSY => cpus(&[Cpu], &[]),
        busy if busy < CPU_IDLE => cpus(&[Storage, LogFlush, Locks], &[Cpu]),
        _ => cpus(&[], &[]),
    });
    let off = |pro: &[OltpLimit], con: &[OltpLimit]| piece(OltpEvidenceName::OffCpu, load.off_cpu_share, pro, con);
    evidence.push(match load.off_cpu_share {
        share if share < HARDLY_WAITS => off(&[Cpu], &[Storage, Locks]),
        share if share >= WAITS => off(&[Storage, LogFlush, Locks], &[Cpu]),
        _ => off(&[], &[]),
    });
    if let Some(busy) = load.device_busy {
        let device = |pro: &[OltpLimit], con: &[OltpLimit]| piece(OltpEvidenceName::DeviceBusy, busy, pro, con);
        let pro: &[OltpLimit] = if busy >= DEVICE_BUSY { &[Storage, LogFlush] } else { &[] };
        evidence.push(device(pro, &[]));
    }
    if let Some(reads) = load.reads_per_transaction {
        let pro: &[OltpLimit] = if reads >= READS { &[Storage] } else { &[] };
        let con: &[OltpLimit] = if reads < HARDLY_READS { &[Storage] } else { &[] };
        evidence.push(piece(OltpEvidenceName::DeviceReads, reads, pro, con));
    }
    if let Some(used) = load.reads_used {
        // Below it storage may still be what few sessions wait for, one read after the other.
        let pro: &[OltpLimit] = if used >= READS_USED { &[Storage] } else { &[] };
        evidence.push(piece(OltpEvidenceName::ReadsUsed, used, pro, &[]));
    }
    if let Some((least, most)) = load.relaxed_gain {
        let relaxed = |pro: &[OltpLimit], con: &[OltpLimit]| {
            piece(OltpEvidenceName::RelaxedCommits, (least * most).sqrt(), pro, con)
        };
        // Pairs that disagree say nothing: what lies between them is this host's noise.
        evidence.push(if least >= RELAXED_GAIN {
            relaxed(&[LogFlush], &[Cpu, Storage])
        } else if most < RELAXED_NO_GAIN {
            relaxed(&[Cpu, Storage, Locks], &[LogFlush])
        } else {
            relaxed(&[], &[])
        });
    }
    let mut limit = named(&evidence);
    if let Some(others) = load.others_busy.filter(|others| limit == Some(Cpu) && *others > load.cpus_busy - others) {
        limit = Some(CpuTaken);
        evidence.push(piece(OltpEvidenceName::OtherPrograms, others, &[CpuTaken], &[]));
    }
    OltpVerdict { limit, evidence }
}

/// The one limit that enough speaks for and nothing against.
fn named(evidence: &[OltpEvidence]) -> Option<OltpLimit> {
    let for_it = |limit: OltpLimit| evidence.iter().filter(|piece| piece.speaks_for.contains(&limit)).count();
    let against = |limit: OltpLimit| evidence.iter().any(|piece| piece.speaks_against.contains(&limit));
    let most = OltpLimit::PARTS.into_iter().map(for_it).max().unwrap_or(0);
    let mut leading = OltpLimit::PARTS.into_iter().filter(|&limit| for_it(limit) == most);
    let (first, second) = (leading.next()?, leading.next());
    (most >= AGREEING_MIN && second.is_none() && !against(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything in memory, one CPU at work, nothing to wait for.
    const OF_CPU: OltpLoad = OltpLoad {
        has_one_writer: true,
        cpu_share: 0.9,
        data_share: 0.02,
        log_share: 0.08,
        lock_share: 0.0,
        off_cpu_share: 0.05,
        cpus_busy: 0.92,
        others_busy: None,
        device_busy: Some(0.1),
        reads_per_transaction: Some(0.0),
        reads_used: None,
        relaxed_gain: Some((1.0, 1.1)),
    };
    const OF_LOG: OltpLoad = OltpLoad {
        cpu_share: 0.2,
        log_share: 0.78,
        off_cpu_share: 0.45,
        cpus_busy: 0.2,
        device_busy: Some(0.85),
        relaxed_gain: Some((3.7, 4.1)),
        ..OF_CPU
    };
    const OF_STORAGE: OltpLoad = OltpLoad {
        cpu_share: 0.1,
        data_share: 0.75,
        log_share: 0.15,
        off_cpu_share: 0.8,
        cpus_busy: 0.15,
        device_busy: Some(0.95),
        reads_per_transaction: Some(14.0),
        ..OF_CPU
    };

    #[test]
    fn agreeing_evidence_names_each_limit() {
        let of_locks = OltpLoad {
            cpu_share: 0.1,
            lock_share: 0.85,
            log_share: 0.05,
            off_cpu_share: 0.9,
            cpus_busy: 0.2,
            ..OF_CPU
        };
        let cases = [
            (OF_CPU, OltpLimit::Cpu),
            (OF_LOG, OltpLimit::LogFlush),
            (OF_STORAGE, OltpLimit::Storage),
            (of_locks, OltpLimit::Locks),
        ];
        for (load, limit) in cases {
            let verdict = judge_oltp(&load);
            assert_eq!(verdict.limit, Some(limit), "{verdict:?}");
        }
    }

    /// The sessions wait for CPUs because other programs have most of them.
    #[test]
    fn cpus_that_other_programs_use_are_no_limit_of_the_database() {
        let beside = |others| judge_oltp(&OltpLoad { others_busy: Some(others), ..OF_CPU });
        assert_eq!(beside(0.6).limit, Some(OltpLimit::CpuTaken));
        assert!(beside(0.6).evidence.iter().any(|piece| piece.speaks_for == [OltpLimit::CpuTaken]));
        assert_eq!(beside(0.2).limit, Some(OltpLimit::Cpu));
        assert_eq!(judge_oltp(&OltpLoad { others_busy: Some(0.6), ..OF_LOG }).limit, Some(OltpLimit::LogFlush));
    }

    #[test]
    fn evidence_that_contradicts_or_is_too_little_names_nothing() {
        // The sessions' time says the log, and commits that do not wait gain nothing.
        assert_eq!(judge_oltp(&OltpLoad { relaxed_gain: Some((0.98, 1.02)), ..OF_LOG }).limit, None);
        // One pair says the log and the other does not: then it is not told.
        assert_eq!(judge_oltp(&OltpLoad { relaxed_gain: Some((1.0, 2.2)), device_busy: None, ..OF_LOG }).limit, None);
        // Nothing was tried and nothing told: two pieces at most.
        let bare = OltpLoad { device_busy: None, reads_per_transaction: None, relaxed_gain: None, ..OF_LOG };
        assert_eq!(judge_oltp(&bare).limit, None);
        // Half for the CPU and half for the log.
        let both = OltpLoad {
            cpu_share: 0.5,
            log_share: 0.5,
            off_cpu_share: 0.3,
            cpus_busy: 0.7,
            device_busy: Some(0.5),
            relaxed_gain: Some((1.2, 1.2)),
            ..OF_CPU
        };
        assert_eq!(judge_oltp(&both).limit, None);
        // Read often, says the time, and the device was hardly read.
        assert_eq!(judge_oltp(&OltpLoad { reads_per_transaction: Some(0.01), ..OF_STORAGE }).limit, None);
    }
}
