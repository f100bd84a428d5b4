//! The laws every step must keep, and the warnings that follow from the counters.

use fathom_message::{Arg, Join, Quantity, Unit, msg};
use fathom_model::{cpu_cost, thread_busy_shares};
use fathom_plan::{EngineName, Op, Step};
use fathom_record::{StepRecord, Warning};
use fathom_stats::littles_law;

use crate::document::{CheckCause, CheckName, CheckView};
use crate::health::heat_warnings;
use crate::sentences::counted;

/// Little's law may miss by this much, in percent (design, rules of measurement, 7).
const LITTLE_ERROR_MAX_PCT: f64 = 2.0;
/// The kernel's count of the device may miss ours by this much, in percent: other programs use the device too.
const DISK_ERROR_MAX_PCT: f64 = 2.0;
/// Footprints below this fit the write buffer or DRAM of many drives.
const SMALL_FOOTPRINT_BYTES: u64 = 256 << 20;
/// Own loop above this share of the mean latency is worth a word.
const OVERHEAD_MAX_PCT: f64 = 5.0;

/// Little's law, bytes, diskstats and page cache of one step.
pub(crate) fn checks(step: &Step, record: &StepRecord) -> Vec<CheckView> {
    let mut out = Vec::new();
    if let Some(law) = littles_law(record) {
        out.push(CheckView {
            name: CheckName::LittlesLaw,
            ok: Some(law.error_pct.abs() <= LITTLE_ERROR_MAX_PCT),
            sentence: msg!(
                "check-littles-law",
                computed = counted(law.computed),
                depth = counted(law.depth),
                error = Quantity::new(law.error_pct, Unit::ChangePct)
            ),
            cause: None,
        });
    }
    let moves_blocks = step.workload.order.files.is_none_or(|files| files.moved_bytes() > 0);
    if let [only] = step.workload.block_sizes[..]
        && moves_blocks
    {
        let short: u64 = record.directions.iter().map(|d| d.short_ios).sum();
        let expected = record.ios() * u64::from(only.bytes);
        out.push(CheckView {
            name: CheckName::Bytes,
            ok: Some(record.bytes() == expected || short > 0),
            sentence: msg!("check-bytes", moved = record.bytes(), expected = expected, short = short),
            cause: None,
        });
    }
    out.extend(disk_check(step, record));
    out.extend(cache_check(step, record));
    out
}

/// Whether pages of the target in memory may have answered for the device. Where the kernel counted all that was moved
/// on the device they did not, however many there are: direct I/O reads past clean pages and leaves them.
fn cache_check(step: &Step, record: &StepRecord) -> Option<CheckView> {
    let cached_bytes = record.host.as_ref()?.page_cache_bytes.filter(|_| step.workload.direct)?;
    let few = cached_bytes <= record.bytes() / 100 + (1 << 20);
    let past = !few && disk_check(step, record).is_some_and(|c| c.ok == Some(true));
    let cached = Quantity::bytes(cached_bytes);
    Some(CheckView {
        name: CheckName::PageCache,
        ok: Some(few || past),
        sentence: match past {
            true => msg!("check-page-cache-passed", cached = cached),
            false => msg!("check-page-cache", cached = cached),
        },
        cause: None,
    })
}

fn disk_check(step: &Step, record: &StepRecord) -> Option<CheckView> {
    let host = record.host.as_ref()?;
    // What an array does on its members is more than what was asked of it, by a factor that differs from I/O to I/O.
    if !record.arrays.is_empty() {
        return None;
    }
    // Passthrough commands go past the block layer, which therefore counts none of them.
    if host.disks.is_empty() || step.is_without_storage() || step.engine.name.is_past_block_layer() {
        return None;
    }
    let ours = |op: Op| record.direction(op).map_or(0, |d| d.bytes);
    let (our_bytes, kernel_bytes) = host.disks.iter().fold((ours(Op::Read) + ours(Op::Write), 0), |(o, k), d| {
        let reads = if ours(Op::Read) > 0 { d.read_bytes } else { 0 };
        let writes = if ours(Op::Write) > 0 { d.write_bytes } else { 0 };
        (o, k + reads + writes)
    });
    if our_bytes == 0 {
        return None;
    }
    let error_pct = (kernel_bytes as f64 / our_bytes as f64 - 1.0) * 100.0;
    // I/Os in flight at both ends of the window belong to one count and not to the other.
    let edge_bytes = f64::from(step.in_flight_max()) * f64::from(step.workload.block_bytes_max());
    let edge_pct = 200.0 * edge_bytes / our_bytes as f64;
    // A reading that a busy host makes early or late holds I/Os of the ramp or of the end, or lacks some of the window; of another
    // program's steps it holds the start-up, with I/O of its warm-up.
    let window_ns = record.runtime_ns.max(1) as f64;
    let late_pct = host.disks_ns.saturating_sub(record.runtime_ns) as f64 / window_ns * 100.0;
    let missed_pct = host.missed_ns as f64 / window_ns * 100.0;
    let allowed_pct = DISK_ERROR_MAX_PCT + edge_pct + if error_pct > 0.0 { late_pct } else { missed_pct };
    let devices = Arg::names(host.disks.iter().map(|d| d.device.clone()), Join::Comma);
    let ok = step.workload.direct.then_some(error_pct.abs() <= allowed_pct);
    // More than was asked for cannot be ours; what never reached the device is another matter.
    let is_excess = ok == Some(false) && kernel_bytes > our_bytes;
    let counts = msg!(
        "check-diskstats",
        kernel = Quantity::bytes(kernel_bytes),
        devices = devices,
        ours = Quantity::bytes(our_bytes),
        error = Quantity::new(error_pct, Unit::ChangePct)
    );
    let sentence = match ok {
        None => msg!("check-diskstats-buffered", counts = counts),
        Some(false) if is_excess => {
            msg!("check-diskstats-excess", counts = counts, excess = Quantity::bytes(kernel_bytes - our_bytes))
        }
        Some(_) => counts,
    };
    Some(CheckView { name: CheckName::Diskstats, ok, sentence, cause: is_excess.then_some(CheckCause::OtherLoad) })
}

/// Warnings that follow from the record and the step; `footprint_bytes` as prepared, `unwritten_pct` if known.
#[must_use]
pub fn derived_warnings(
    step: &Step,
    record: &StepRecord,
    footprint_bytes: Option<u64>,
    unwritten_pct: Option<f64>,
) -> Vec<Warning> {
    let mut out = Vec::new();
    if let Some(law) = littles_law(record)
        && law.error_pct.abs() > LITTLE_ERROR_MAX_PCT
    {
        out.push(Warning::LittlesLaw { computed: law.computed, depth: law.depth });
    }
    if let Some(check) = disk_check(step, record)
        && check.ok == Some(false)
        && let Some(host) = &record.host
    {
        let kernel = host.disks.iter().map(|d| d.read_ios + d.write_ios).sum();
        let devices = host.disks.iter().map(|d| d.device.clone()).collect();
        out.push(Warning::DiskstatsDisagree { devices, ours: record.ios(), kernel });
    }
    if let Some(unwritten_pct) = unwritten_pct.filter(|p| *p > 1.0 && step.workload.mix.read_pct > 0) {
        out.push(Warning::ReadsOfUnwrittenSpace { unwritten_pct });
    }
    out.extend(cache_warning(step, record));
    if let Some(bytes) = footprint_bytes.filter(|b| *b < SMALL_FOOTPRINT_BYTES && !step.is_without_storage()) {
        out.push(Warning::SmallFootprint { footprint_bytes: bytes });
    }
    if record.errors() > 0 && !record.warnings.iter().any(|w| matches!(w, Warning::IoErrors { .. })) {
        out.push(Warning::IoErrors { count: record.errors(), errno: record.failures[0].errno });
    }
    out.extend(overhead_warning(step, record));
    out.extend(host_warning(record));
    out.extend(heat_warnings(record));
    out.extend(md_warnings(record));
    out
}

/// What Linux md did beside the load, and which of its arrays were not whole; of an array that was made for the step only
/// what the step did not ask for.
fn md_warnings(record: &StepRecord) -> Vec<Warning> {
    let rebuilds = record.arrays.iter().any(|array| array.rebuild.is_some());
    let missing =
        record.arrays.iter().flat_map(|array| &array.members).filter(|member| member.target.is_none()).count();
    let asked = missing as u32 + u32::from(rebuilds);
    let disks = record.host.iter().flat_map(|host| host.disks.iter().chain(&host.members));
    let warnings = disks.filter_map(|disk| Some((disk.device.clone(), disk.md?))).flat_map(|(device, state)| {
        let syncing =
            state.sync.filter(|_| !rebuilds).map(|action| Warning::ArraySyncing { device: device.clone(), action });
        let degraded = (state.lost > asked).then_some(Warning::ArrayDegraded { device, lost: state.lost });
        syncing.into_iter().chain(degraded)
    });
    warnings.collect()
}

/// A target of several that gives less than this share of the median of the others is slow, in percent.
const SLOW_MEMBER_PCT: f64 = 80.0;

/// Targets of a step that are slower than the others; none where the load asks in which order they are served.
#[must_use]
pub fn slow_members(step: &Step, record: &StepRecord) -> Vec<Warning> {
    if step.workload.order.service.is_some() {
        return Vec::new();
    }
    let mut ios: Vec<f64> = record.targets.iter().map(|t| t.ios as f64).collect();
    ios.sort_by(f64::total_cmp);
    // Of two the faster one is the measure: the median of a pair would lie between them.
    let Some(median) = ios.get(ios.len() / 2).filter(|m| **m > 0.0) else { return Vec::new() };
    let share_pct = |ios: u64| ios as f64 / median * 100.0;
    record
        .targets
        .iter()
        .filter(|t| share_pct(t.ios) < SLOW_MEMBER_PCT)
        .map(|t| Warning::SlowMember { target: t.target.clone(), share_pct: share_pct(t.ios) })
        .collect()
}

fn cache_warning(step: &Step, record: &StepRecord) -> Option<Warning> {
    let cached_bytes = record.host.as_ref()?.page_cache_bytes?;
    let hot = cache_check(step, record).is_none_or(|check| check.ok == Some(false));
    hot.then_some(Warning::PageCache { cached_bytes })
}

fn overhead_warning(step: &Step, record: &StepRecord) -> Option<Warning> {
    if step.engine.name == EngineName::Null {
        return None;
    }
    let mean_ns = record.lat_merged()?.mean_ns()?;
    let overhead = record.overhead.as_ref()?;
    // A batch's stamp and the loop itself both hide inside the latency shown.
    let share_pct = (overhead.loop_ns_per_io + overhead.batch_stamp_error_ns_mean) / mean_ns * 100.0;
    (share_pct > OVERHEAD_MAX_PCT).then_some(Warning::EngineOverhead { share_pct })
}

fn host_warning(record: &StepRecord) -> Option<Warning> {
    let host = record.host.as_ref()?;
    let cost = cpu_cost(host, record.ios())?;
    let steal_pct = cost.steal_share * 100.0;
    let other_busy_cores = cost.other_programs_cores.unwrap_or(0.0).max(cost.baseline_busy_cores);
    let noisy = steal_pct > 2.0 || other_busy_cores > 0.25;
    // Without our own threads in the sample the host's work cannot be distinguished from ours.
    (noisy && !thread_busy_shares(host).is_empty()).then_some(Warning::NoisyHost { steal_pct, other_busy_cores })
}

#[cfg(test)]
mod tests {
    use fathom_record::{DiskDelta, HostDelta, MdState, MdSync};

    use super::*;
    use crate::samples;

    #[test]
    fn an_array_that_is_rebuilt_beside_the_load_or_lacks_members_is_said() {
        let (step, mut record) = counted(10_000 * 4096, true);
        let warned = |record: &StepRecord| derived_warnings(&step, record, None, None);
        let of_md = |w: &Warning| matches!(w, Warning::ArraySyncing { .. } | Warning::ArrayDegraded { .. });
        assert!(!warned(&record).iter().any(of_md));
        let array = DiskDelta {
            device: "md0".to_owned(),
            md: Some(MdState { sync: Some(MdSync::Recover), lost: 1 }),
            ..DiskDelta::default()
        };
        record.host.as_mut().expect("a host").members.push(array);
        let found: Vec<Warning> = warned(&record).into_iter().filter(of_md).collect();
        let device = || "md0".to_owned();
        assert_eq!(
            found,
            [
                Warning::ArraySyncing { device: device(), action: MdSync::Recover },
                Warning::ArrayDegraded { device: device(), lost: 1 }
            ]
        );
    }

    /// A step of 10,000 reads of 4 KiB, of which the device counted so many bytes.
    fn counted(read_bytes: u64, direct: bool) -> (Step, StepRecord) {
        let mut step = samples::step();
        step.workload.direct = direct;
        let mut record = samples::record(&[10_000]);
        let disk = DiskDelta { device: "vda".to_owned(), read_ios: 10_000, read_bytes, ..DiskDelta::default() };
        record.host = Some(HostDelta { disks: vec![disk], ..HostDelta::default() });
        (step, record)
    }

    fn diskstats(read_bytes: u64, direct: bool) -> CheckView {
        let (step, record) = counted(read_bytes, direct);
        checks(&step, &record).into_iter().find(|c| c.name == CheckName::Diskstats).expect("is checked")
    }

    #[test]
    fn cached_pages_are_held_against_direct_io_only_where_the_device_did_not_move_all() {
        const OURS: u64 = 10_000 * 4096;
        for (moved, ok) in [(OURS, true), (OURS / 2, false), (0, false)] {
            let (step, mut record) = counted(moved, true);
            record.host.as_mut().expect("has one").page_cache_bytes = Some(OURS);
            let check =
                checks(&step, &record).into_iter().find(|c| c.name == CheckName::PageCache).expect("is checked");
            assert_eq!(check.ok, Some(ok), "{}", check.sentence);
            assert_eq!(cache_warning(&step, &record).is_some(), !ok, "{moved}");
        }
        let (step, mut record) = counted(OURS, false);
        record.host.as_mut().expect("has one").page_cache_bytes = Some(0);
        assert!(cache_warning(&step, &record).is_some(), "buffered I/O is never the device's alone");
    }

    #[test]
    fn the_start_up_of_another_program_is_no_load_of_others() {
        const OURS: u64 = 10_000 * 4096;
        // Half as long again as was measured: so much of its warm-up may be in the counters, and no more.
        for (bytes, ok) in [(OURS * 14 / 10, true), (OURS * 16 / 10, false), (OURS * 9 / 10, false)] {
            let (mut step, mut record) = counted(bytes, true);
            step.engine.name = EngineName::Fio;
            record.host.as_mut().expect("has one").disks_ns = record.runtime_ns * 3 / 2;
            let found = checks(&step, &record);
            let check = found.iter().find(|c| c.name == CheckName::Diskstats).expect("is checked");
            assert_eq!(check.ok, Some(ok), "{bytes}: {}", check.sentence);
        }
    }

    #[test]
    fn an_excess_of_the_device_names_its_likely_cause_and_remedy_and_a_deficit_does_not() {
        const OURS: u64 = 10_000 * 4096;
        let excess = diskstats(OURS + (8 << 20), true);
        assert_eq!((excess.ok, excess.cause), (Some(false), Some(CheckCause::OtherLoad)));
        let said = fathom_language::english(&excess.sentence);
        assert!(said.contains("moved 8 MiB more than this step asked for"), "{said}");
        let deficit = diskstats(OURS - (8 << 20), true);
        assert_eq!((deficit.ok, deficit.cause), (Some(false), None));
        assert_eq!(deficit.sentence.id(), "check-diskstats", "{}", deficit.sentence);
        for (bytes, direct, ok) in [(OURS, true, Some(true)), (OURS + (8 << 20), false, None)] {
            let check = diskstats(bytes, direct);
            assert_eq!((check.ok, check.cause), (ok, None));
            assert!(!check.sentence.holds("check-diskstats-excess"), "{}", check.sentence);
        }
    }

    #[test]
    fn readings_that_were_early_or_late_allow_an_excess_and_what_they_missed_a_deficit() {
        const OURS: u64 = 10_000 * 4096;
        let ok = |moved: u64, late_pct: u64, missed_pct: u64| {
            let (step, mut record) = counted(moved, true);
            let runtime_ns = record.runtime_ns;
            let host = record.host.as_mut().expect("has one");
            host.disks_ns = runtime_ns + runtime_ns / 100 * late_pct;
            host.missed_ns = runtime_ns / 100 * missed_pct;
            checks(&step, &record).into_iter().find(|c| c.name == CheckName::Diskstats).expect("is checked").ok
        };
        for (moved, late_pct, missed_pct, is_ok) in [
            (OURS + OURS / 10, 0, 0, false),
            (OURS + OURS / 10, 9, 0, true),
            (OURS + OURS / 10, 0, 9, false),
            (OURS - OURS / 10, 9, 0, false),
            (OURS - OURS / 10, 0, 9, true),
            (OURS + OURS / 5, 9, 0, false),
        ] {
            assert_eq!(ok(moved, late_pct, missed_pct), Some(is_ok), "{moved} {late_pct} {missed_pct}");
        }
    }

    #[test]
    fn the_device_may_differ_by_two_percent_and_the_ends_of_the_window_and_no_more() {
        let ok = |pct: f64| diskstats((f64::from(10_000 * 4096) * (1.0 + pct / 100.0)) as u64, true).ok;
        assert_eq!([-2.1, -1.9, 1.9, 2.1].map(ok), [Some(false), Some(true), Some(true), Some(false)]);
    }
}
