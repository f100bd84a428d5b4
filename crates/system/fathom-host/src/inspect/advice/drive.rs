//! Rules about drives and arrays.

use fathom_units::{format_rate, format_significant};

use super::{Advice, Context, by_words, names, note, warning};
use crate::inspect::Drive;

/// Hot, for a drive that names no limit of its own.
const HOT_CELSIUS: f64 = 70.0;
/// So near its limit a drive under load will reach it.
const MARGIN_CELSIUS: f64 = 5.0;

/// Share of its life used, from which a drive counts as worn.
const WORN_PCT: u8 = 80;

/// A control group limits the I/O of a drive.
pub(super) fn cgroup_io(context: &Context<'_>) -> Vec<Advice> {
    let found = context.inventory.limits.io_max.iter().filter_map(|limit| {
        let rate = |value: Option<u64>, what: &str| value.map(|v| format!("{what} {}", format_rate(v as f64)));
        let count = |value: Option<u64>, what: &str| value.map(|v| format!("{v} {what} per second"));
        let parts: Vec<String> = [
            rate(limit.read_bytes_per_s, "reads at"),
            rate(limit.write_bytes_per_s, "writes at"),
            count(limit.read_iops, "reads"),
            count(limit.write_iops, "writes"),
        ]
        .into_iter()
        .flatten()
        .collect();
        // A device that is known by its number alone may be below any target.
        if parts.is_empty() || !limit.device.as_deref().is_none_or(|name| context.concerns(name)) {
            return None;
        }
        let name = limit.device.clone().unwrap_or_else(|| limit.number.clone());
        let reason = format!("the control group allows {}", parts.join(", "));
        let effect = "this is measured, not the drive";
        Some((
            name,
            warning("limit.cgroup-io", reason, effect).remedy("raise io.max of the group, or measure outside it"),
        ))
    });
    by_words(found)
}

/// A scheduler between the queues and a drive that needs none.
pub(super) fn scheduler(context: &Context<'_>) -> Vec<Advice> {
    let found = context.local_nvme().filter_map(|drive| {
        let scheduler = drive.device.scheduler.as_deref().filter(|s| *s != "none")?;
        let reason = format!("I/O scheduler {scheduler} on an NVMe drive");
        let effect =
            "it sorts behind locks what the drive sorts itself: more CPU per I/O, and fewer IOPS from many cores";
        let remedy = "echo none > /sys/block/NAME/queue/scheduler";
        Some((drive.device.name.clone(), warning("disk.scheduler", reason, effect).remedy(remedy)))
    });
    by_words(found)
}

/// A cache that loses data must be flushed.
pub(super) fn write_cache(context: &Context<'_>) -> Vec<Advice> {
    let disks = context.drives.iter().copied().filter(|d| d.pci_address.is_some());
    let volatile: Vec<_> = disks.filter(|d| d.device.write_cache.as_deref() == Some("write back")).collect();
    if volatile.is_empty() {
        return Vec::new();
    }
    let effect = "writes are quick until the cache is full, and each fsync waits for a flush; drives with power-loss protection report write through";
    vec![note("disk.write-cache", "a volatile write cache is on".to_owned(), effect).about(names(volatile))]
}

/// A drive that will slow itself down.
pub(super) fn hot(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let slowed = slowed_down(drive);
        let now = drive.warmest();
        if let Some(reason) = slowed {
            let at = now.map_or(String::new(), |t| format!(", at {} °C", format_significant(t.celsius)));
            let advice = warning("drive.hot", format!("{reason}{at}"), "throughput is that of a hot drive")
                .remedy("more air over the drive, then measure");
            return Some((drive.device.name.clone(), advice));
        }
        let now = now?;
        let limit = now.warning_celsius.map_or(HOT_CELSIUS, |w| w - MARGIN_CELSIUS);
        if now.celsius < limit {
            return None;
        }
        let warns =
            now.warning_celsius.map_or(String::new(), |w| format!("; it warns from {} °C on", format_significant(w)));
        let reason = format!("it has {} °C{warns}", format_significant(now.celsius));
        let effect = "a hot drive slows itself down in the middle of a run: throughput falls in steps";
        Some((
            drive.device.name.clone(),
            warning("drive.hot", reason, effect).remedy("more air over the drive, then measure"),
        ))
    });
    by_words(found)
}

/// What the drive itself says of its heat.
fn slowed_down(drive: &Drive) -> Option<String> {
    let admin = drive.admin()?;
    if let Some(level) = admin.ocp_smart.map(|log| log.throttle_level).filter(|level| *level > 0) {
        return Some(format!("it says that it is slowed down by heat (level {level})"));
    }
    let warns = admin.smart.as_ref().is_some_and(|smart| smart.warnings().temperature);
    warns.then(|| "it warns of its temperature".to_owned())
}

/// A drive near or beyond the end of its life, or that warns of something other than heat.
pub(super) fn worn(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let smart = drive.admin()?.smart.as_ref()?;
        let mut warnings = smart.warnings();
        warnings.temperature = false;
        let mut reasons: Vec<String> = warnings.words().into_iter().map(|w| format!("it warns: {w}")).collect();
        if smart.used_pct >= WORN_PCT {
            reasons.push(format!("{} % of the life its maker expects is used", smart.used_pct));
        }
        if smart.media_errors > 0 {
            reasons.push(format!("{} media errors so far", smart.media_errors));
        }
        let effect = "worn flash needs more retries and repairs: reads slow down, tails grow, and figures do not hold for a new drive";
        let advice = warning("drive.worn", reasons.join("; "), effect).remedy("measure another drive, and replace this one");
        (!reasons.is_empty()).then(|| (drive.device.name.clone(), advice))
    });
    by_words(found)
}

/// Interrupts that wait for company.
pub(super) fn coalescing(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let set = drive.admin()?.coalescing.filter(|c| c.is_on())?;
        let reason = format!("interrupts wait for {} completions or {} us", set.completions, set.wait_us);
        let effect = format!("up to {} us more latency at low queue depth, fewer interrupts at high", set.wait_us);
        let advice =
            note("drive.coalescing", reason, effect).remedy("nvme set-feature /dev/NAME -f 8 -V 0, and measure both");
        Some((drive.device.name.clone(), advice))
    });
    by_words(found)
}

/// A drive that falls asleep between I/Os.
pub(super) fn sleeps(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let admin = drive.admin()?;
        let state = |number: u8| admin.power_states.get(usize::from(number));
        let sleep = admin.transitions.as_ref()?.iter().find(|t| state(t.to).is_some_and(|s| !s.operational))?;
        let exit_us = state(sleep.to).map_or(0, |s| s.exit_us);
        let reason = format!("after {} ms without I/O it enters power state {}", sleep.idle_ms, sleep.to);
        let effect = match exit_us {
            0 => "the first I/O after a pause waits until it wakes".to_owned(),
            us => format!("the first I/O after a pause waits up to {us} us until it wakes"),
        };
        let advice = note("drive.sleeps", reason, effect).remedy("nvme_core.default_ps_max_latency_us=0");
        Some((drive.device.name.clone(), advice))
    });
    by_words(found)
}

/// A block size that the drive itself calls slower than another it offers.
pub(super) fn format(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let namespace = drive.admin()?.namespace(drive.namespace_id?)?;
        let current = namespace.formats.get(namespace.format)?;
        let offered = namespace.formats.iter().filter(|f| f.data_bytes.is_some() && f.metadata_bytes == 0);
        let best = offered.min_by_key(|f| f.relative_performance)?;
        if best.relative_performance >= current.relative_performance {
            return None;
        }
        let reason = format!(
            "it is formatted in blocks of {} bytes, and calls blocks of {} bytes faster",
            current.data_bytes?, best.data_bytes?
        );
        let effect = "smaller blocks cost the drive more work per write";
        let advice = note("drive.format", reason, effect).remedy("nvme format with another --lbaf destroys all data");
        Some((drive.device.name.clone(), advice))
    });
    by_words(found)
}

/// A drive that is not in order.
pub(super) fn state(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().flat_map(|drive| {
        let controllers = drive.controllers.iter().filter_map(|c| c.state.as_deref());
        let states = controllers.chain(drive.state.as_deref()).filter(|s| !matches!(*s, "live" | "running"));
        let bad: Vec<&str> = states.collect();
        (!bad.is_empty()).then(|| {
            let reason = format!("its state is {}", bad.join(", "));
            let effect = "I/O waits or fails; nothing measured on it means anything";
            (drive.device.name.clone(), warning("drive.state", reason, effect).remedy("see the kernel log"))
        })
    });
    by_words(found)
}

/// An array that is incomplete or busy with itself.
pub(super) fn array(context: &Context<'_>) -> Vec<Advice> {
    let arrays = context.inventory.arrays.iter().filter(|a| context.concerns(&a.device.name));
    let found = arrays.filter_map(|array| {
        let degraded = array.degraded.filter(|n| *n > 0);
        let missing = degraded.map(|n| if n == 1 { "a member is missing".to_owned() } else { format!("{n} members are missing") });
        let busy = array.sync_action.as_deref().filter(|a| !matches!(*a, "idle" | "frozen"));
        let parts: Vec<String> = missing.into_iter().chain(busy.map(|a| format!("it is busy with {a}"))).collect();
        (!parts.is_empty()).then(|| {
            let effect = match (degraded, busy) {
                (Some(_), _) => "reads of what is missing are computed from the other members, and the rebuild, now or later, shares the drives with the load",
                (None, _) => "its own reads and writes share the drives with the load",
            };
            (array.device.name.clone(), warning("array.not-whole", parts.join("; "), effect))
        })
    });
    by_words(found)
}

#[cfg(test)]
mod tests {
    use crate::inspect::admin::tests::{give_pages, set_page};
    use crate::inspect::advice::Subject;
    use crate::inspect::advice::testing::{ids, ids_for, the};
    use crate::inspect::machines::Machine;

    fn has(machine: &Machine, id: &str) -> bool {
        ids(machine).iter().any(|i| i == id)
    }

    fn with_drive() -> Machine {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine
    }

    #[test]
    fn a_scheduler_on_nvme_is_found_and_none_is_not() {
        let machine = with_drive();
        assert!(!has(&machine, "disk.scheduler"));
        machine.file("sys/block/nvme0n1/queue/scheduler", "none [mq-deadline]\n");
        assert!(the(&machine, "disk.scheduler").reason.contains("mq-deadline"));
    }

    #[test]
    fn a_volatile_cache_is_noted_and_a_safe_one_is_not() {
        let machine = with_drive();
        assert!(!has(&machine, "disk.write-cache"));
        machine.file("sys/block/nvme0n1/queue/write_cache", "write back\n");
        assert_eq!(the(&machine, "disk.write-cache").subjects, ["nvme0n1"]);
    }

    #[test]
    fn a_drive_near_its_limit_is_hot() {
        let machine = with_drive();
        assert!(!has(&machine, "drive.hot"));
        machine.file("sys/class/nvme/nvme0/hwmon0/temp1_input", "79000\n");
        let advice = the(&machine, "drive.hot");
        assert!(advice.reason.contains("79.0 °C") && advice.reason.contains("from 81.8 °C"), "{advice:?}");
    }

    #[test]
    fn a_drive_that_says_it_is_hot_is_believed() {
        let machine = with_drive();
        give_pages(&machine, "nvme0");
        assert!(!has(&machine, "drive.hot"));
        let mut smart = [0; 512];
        smart[0] = 0b10;
        set_page(&machine, "nvme0", "smart.bin", &smart);
        assert!(the(&machine, "drive.hot").reason.contains("it warns of its temperature"));
        assert!(!has(&machine, "drive.worn"), "heat is no wear");
    }

    #[test]
    fn a_drive_at_the_end_of_its_life_is_worn_and_a_young_one_is_not() {
        let machine = with_drive();
        give_pages(&machine, "nvme0");
        assert!(!has(&machine, "drive.worn"));
        let mut smart = [0; 512];
        (smart[0], smart[5], smart[160]) = (0b1, 104, 7);
        set_page(&machine, "nvme0", "smart.bin", &smart);
        let reason = the(&machine, "drive.worn").reason;
        for words in ["spare space is below", "104 % of the life", "7 media errors"] {
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn coalescing_sleep_and_a_slow_format_are_noted_where_the_drive_has_them() {
        let machine = with_drive();
        for id in ["drive.coalescing", "drive.sleeps", "drive.format"] {
            assert!(!has(&machine, id), "{id} without pages");
        }
        give_pages(&machine, "nvme0");
        assert!(the(&machine, "drive.coalescing").reason.contains("8 completions or 200 us"));
        assert!(the(&machine, "drive.sleeps").reason.contains("after 100 ms"));
        assert!(the(&machine, "drive.format").reason.contains("blocks of 512 bytes, and calls blocks of 4096"));
        set_page(&machine, "nvme0", "feature-08.bin", &[0; 4]);
        set_page(&machine, "nvme0", "feature-0c.bin", &[0; 4]);
        assert!(!has(&machine, "drive.coalescing") && !has(&machine, "drive.sleeps"));
    }

    #[test]
    fn a_drive_that_is_not_live_is_found() {
        let machine = with_drive();
        assert!(!has(&machine, "drive.state"));
        machine.file("sys/class/nvme/nvme0/state", "resetting\n");
        assert!(the(&machine, "drive.state").reason.contains("resetting"));
    }

    #[test]
    fn a_limit_on_a_drive_is_found_and_an_unlimited_one_is_not() {
        let machine = with_drive();
        machine.file("proc/self/cgroup", "0::/x\n").file("proc/self/mountinfo", "31 1 0:28 / /cg rw - cgroup2 c rw\n");
        machine.file("cg/x/io.max", "259:0 rbps=max wbps=max riops=max wiops=max\n");
        assert!(!has(&machine, "limit.cgroup-io"));
        machine.file("cg/x/io.max", "259:0 rbps=max wbps=1000000 riops=300 wiops=max\n");
        let advice = the(&machine, "limit.cgroup-io");
        assert_eq!(advice.subjects, ["nvme0n1"]);
        assert!(advice.reason.contains("300 reads per second") && advice.reason.contains("1.00 MB/s"), "{advice:?}");
    }

    #[test]
    fn an_array_that_rebuilds_is_found_and_a_whole_one_is_not() {
        let machine = with_drive();
        machine.array("md0", "raid5", &["nvme0n1"]);
        assert!(!has(&machine, "array.not-whole"));
        machine.file("sys/block/md0/md/degraded", "1\n").file("sys/block/md0/md/sync_action", "recover\n");
        assert!(the(&machine, "array.not-whole").reason.contains("busy with recover"));
    }

    #[test]
    fn limits_and_arrays_of_other_drives_are_no_advice_for_a_named_one() {
        let mut machine = with_drive();
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine.file("proc/self/cgroup", "0::/x\n").file("proc/self/mountinfo", "31 1 0:28 / /cg rw - cgroup2 c rw\n");
        machine.file("cg/x/io.max", "259:0 riops=300\n");
        machine.array("md0", "raid1", &["nvme0n1"]);
        machine.file("sys/block/md0/md/degraded", "1\n");
        let said = |target: &str| {
            let subject = Subject { targets: Some(vec![target.to_owned()]), cpus: Vec::new() };
            let ids = ids_for(&machine, &subject);
            ["limit.cgroup-io", "array.not-whole"].map(|id| ids.iter().any(|i| i == id))
        };
        assert_eq!(said("nvme0n1"), [true, true], "a rebuild shares the member with the load");
        assert_eq!(said("md0"), [true, true]);
        assert_eq!(said("nvme1n1"), [false, false]);
    }
}
