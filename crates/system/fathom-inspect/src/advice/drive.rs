//! Rules about drives and arrays.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};

use super::{Advice, Context, merged, named, names, note, warning};
use crate::Drive;

/// Hot, for a drive that names no limit of its own.
const HOT_CELSIUS: f64 = 70.0;
/// So near its limit a drive under load will reach it.
const MARGIN_CELSIUS: f64 = 5.0;

/// Share of its life used, from which a drive counts as worn.
const WORN_PCT: u8 = 80;

fn celsius(value: f64) -> Quantity {
    Quantity::new(value, Unit::Celsius)
}

fn microseconds(us: u32) -> Quantity {
    Quantity::ns(f64::from(us) * 1e3)
}

/// A control group limits the I/O of a drive.
pub(super) fn cgroup_io(context: &Context<'_>) -> Vec<Advice> {
    let found = context.inventory.limits.io_max.iter().filter_map(|limit| {
        let rate = |value: u64| Quantity::bytes_per_s(value as f64);
        let parts = [
            limit.read_bytes_per_s.map(|v| msg!("limit-read-rate", rate = rate(v))),
            limit.write_bytes_per_s.map(|v| msg!("limit-write-rate", rate = rate(v))),
            limit.read_iops.map(|v| msg!("limit-reads", count = v)),
            limit.write_iops.map(|v| msg!("limit-writes", count = v)),
        ];
        let parts: Vec<Message> = parts.into_iter().flatten().collect();
        // A device that is known by its number alone may be below any target.
        if parts.is_empty() || !limit.device.as_deref().is_none_or(|name| context.concerns(name)) {
            return None;
        }
        let name = limit.device.clone().unwrap_or_else(|| limit.number.clone());
        let reason = msg!("advice-cgroup-io", parts = parts);
        let advice = warning("limit.cgroup-io", reason, msg!("advice-cgroup-io-effect"));
        Some((Message::verbatim(name), advice.remedy(msg!("advice-cgroup-io-remedy"))))
    });
    merged(found)
}

/// A scheduler between the queues and a drive that needs none.
pub(super) fn scheduler(context: &Context<'_>) -> Vec<Advice> {
    let found = context.local_nvme().filter_map(|drive| {
        let scheduler = drive.device.scheduler.as_deref().filter(|s| *s != "none")?;
        let reason = msg!("advice-scheduler", scheduler = scheduler.to_owned());
        let advice = warning("disk.scheduler", reason, msg!("advice-scheduler-effect"));
        Some((named(drive), advice.remedy(msg!("advice-scheduler-remedy"))))
    });
    merged(found)
}

/// A cache that loses data must be flushed.
pub(super) fn write_cache(context: &Context<'_>) -> Vec<Advice> {
    let disks = context.drives.iter().copied().filter(|d| d.pci_address.is_some());
    let volatile: Vec<_> = disks.filter(|d| d.device.write_cache.as_deref() == Some("write back")).collect();
    if volatile.is_empty() {
        return Vec::new();
    }
    let advice = note("disk.write-cache", msg!("advice-write-cache"), msg!("advice-write-cache-effect"));
    vec![advice.about(names(volatile))]
}

/// A drive that will slow itself down.
pub(super) fn hot(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let now = drive.warmest();
        let (reason, effect) = match (throttled(drive), now) {
            (Some(what), Some(now)) => {
                (msg!("advice-hot-at", what = what, now = celsius(now.celsius)), msg!("advice-throttled-effect"))
            }
            (Some(what), None) => (what, msg!("advice-throttled-effect")),
            (None, now) => {
                let now = now?;
                let limit = now.warning_celsius.map_or(HOT_CELSIUS, |w| w - MARGIN_CELSIUS);
                if now.celsius < limit {
                    return None;
                }
                let reason = match now.warning_celsius {
                    Some(warns) => msg!("advice-hot-near", now = celsius(now.celsius), warns = celsius(warns)),
                    None => msg!("advice-hot", now = celsius(now.celsius)),
                };
                (reason, msg!("advice-hot-effect"))
            }
        };
        Some((named(drive), warning("drive.hot", reason, effect).remedy(msg!("advice-hot-remedy"))))
    });
    merged(found)
}

/// What the drive itself says of its heat.
fn throttled(drive: &Drive) -> Option<Message> {
    let admin = drive.admin()?;
    if let Some(level) = admin.ocp_smart.map(|log| log.throttle_level).filter(|level| *level > 0) {
        return Some(msg!("advice-throttled", level = level.to_string()));
    }
    let warns = admin.smart.as_ref().is_some_and(|smart| smart.warnings().temperature);
    warns.then(|| msg!("advice-warns-of-heat"))
}

/// A drive near or beyond the end of its life, or that warns of something other than heat.
pub(super) fn worn(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let smart = drive.admin()?.smart.as_ref()?;
        let mut warnings = smart.warnings();
        warnings.temperature = false;
        let warned = warnings.messages();
        let mut reasons: Vec<Message> = warned.into_iter().map(|w| msg!("advice-drive-warns", warning = w)).collect();
        if smart.used_pct >= WORN_PCT {
            reasons.push(msg!("advice-life-used", share = Quantity::pct(smart.used_pct.into())));
        }
        if smart.media_errors > 0 {
            reasons.push(msg!("advice-media-errors", count = smart.media_errors));
        }
        if reasons.is_empty() {
            return None;
        }
        let reason = msg!("several-sentences", list = Arg::list(reasons, Join::Semicolon));
        let advice = warning("drive.worn", reason, msg!("advice-worn-effect"));
        Some((named(drive), advice.remedy(msg!("advice-worn-remedy"))))
    });
    merged(found)
}

/// Interrupts that wait for company.
pub(super) fn coalescing(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let set = drive.admin()?.coalescing.filter(|c| c.is_on())?;
        let wait = microseconds(set.wait_us);
        let reason = msg!("advice-coalescing", completions = set.completions, wait = wait);
        let advice = note("drive.coalescing", reason, msg!("advice-coalescing-effect", wait = wait));
        Some((named(drive), advice.remedy(msg!("advice-coalescing-remedy"))))
    });
    merged(found)
}

/// A drive that falls asleep between I/Os.
pub(super) fn sleeps(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let admin = drive.admin()?;
        let state = |number: u8| admin.power_states.get(usize::from(number));
        let sleep = admin.transitions.as_ref()?.iter().find(|t| state(t.to).is_some_and(|s| !s.operational))?;
        let idle = Quantity::ns(f64::from(sleep.idle_ms) * 1e6);
        let reason = msg!("advice-sleeps", idle = idle, state = sleep.to.to_string());
        let effect = match state(sleep.to).map_or(0, |s| s.exit_us) {
            0 => msg!("advice-sleeps-effect"),
            us => msg!("advice-sleeps-effect-exit", exit = microseconds(us)),
        };
        Some((named(drive), note("drive.sleeps", reason, effect).remedy(msg!("advice-sleeps-remedy"))))
    });
    merged(found)
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
        let (now, better) = (Quantity::bytes(current.data_bytes?.into()), Quantity::bytes(best.data_bytes?.into()));
        let reason = msg!("advice-format", current = now, best = better);
        let advice = note("drive.format", reason, msg!("advice-format-effect"));
        Some((named(drive), advice.remedy(msg!("advice-format-remedy"))))
    });
    merged(found)
}

/// A drive that is not in order.
pub(super) fn state(context: &Context<'_>) -> Vec<Advice> {
    let found = context.drives.iter().filter_map(|drive| {
        let controllers = drive.controllers.iter().filter_map(|c| c.state.as_deref());
        let states = controllers.chain(drive.state.as_deref()).filter(|s| !matches!(*s, "live" | "running"));
        let bad: Vec<&str> = states.collect();
        if bad.is_empty() {
            return None;
        }
        let reason = msg!("advice-state", states = Arg::names(bad, Join::Comma));
        let advice = warning("drive.state", reason, msg!("advice-state-effect"));
        Some((named(drive), advice.remedy(msg!("advice-see-kernel-log"))))
    });
    merged(found)
}

/// An array that is incomplete or busy with itself.
pub(super) fn array(context: &Context<'_>) -> Vec<Advice> {
    let arrays = context.inventory.arrays.iter().filter(|a| context.concerns(&a.device.name));
    let found = arrays.filter_map(|array| {
        let degraded = array.degraded.filter(|n| *n > 0);
        let busy = array.sync_action.clone().filter(|a| !matches!(a.as_str(), "idle" | "frozen"));
        let missing = degraded.map(|n| msg!("advice-array-missing", count = n));
        let reasons: Vec<Message> =
            missing.into_iter().chain(busy.map(|action| msg!("advice-array-busy", action = action))).collect();
        if reasons.is_empty() {
            return None;
        }
        let effect = match degraded {
            Some(_) => msg!("advice-array-missing-effect"),
            None => msg!("advice-array-busy-effect"),
        };
        let reason = msg!("several-sentences", list = Arg::list(reasons, Join::Semicolon));
        Some((Message::verbatim(&*array.device.name), warning("array.not-whole", reason, effect)))
    });
    merged(found)
}

#[cfg(test)]
mod tests {
    use crate::advice::Subject;
    use crate::advice::testing::{ids, ids_for, reason, subjects};
    use crate::machines::Machine;

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
        assert!(reason(&machine, "disk.scheduler").contains("mq-deadline"));
    }

    #[test]
    fn a_volatile_cache_is_noted_and_a_safe_one_is_not() {
        let machine = with_drive();
        assert!(!has(&machine, "disk.write-cache"));
        machine.file("sys/block/nvme0n1/queue/write_cache", "write back\n");
        assert_eq!(subjects(&machine, "disk.write-cache"), ["nvme0n1"]);
    }

    #[test]
    fn a_drive_near_its_limit_is_hot() {
        let machine = with_drive();
        assert!(!has(&machine, "drive.hot"));
        machine.file("sys/class/nvme/nvme0/hwmon0/temp1_input", "79000\n");
        let reason = reason(&machine, "drive.hot");
        assert!(reason.contains("temperature 79 °C") && reason.contains("82 °C"), "{reason}");
    }

    #[test]
    fn a_drive_that_says_it_is_hot_is_believed() {
        let machine = with_drive();
        machine.give_pages("nvme0");
        assert!(!has(&machine, "drive.hot"));
        let mut smart = [0; 512];
        smart[0] = 0b10;
        machine.set_page("nvme0", "smart.bin", &smart);
        assert!(reason(&machine, "drive.hot").contains("the drive warns of its temperature"));
        assert!(!has(&machine, "drive.worn"), "heat is no wear");
    }

    #[test]
    fn a_drive_at_the_end_of_its_life_is_worn_and_a_young_one_is_not() {
        let machine = with_drive();
        machine.give_pages("nvme0");
        assert!(!has(&machine, "drive.worn"));
        let mut smart = [0; 512];
        (smart[0], smart[5], smart[160]) = (0b1, 104, 7);
        machine.set_page("nvme0", "smart.bin", &smart);
        let reason = reason(&machine, "drive.worn");
        for words in ["spare capacity is below", "104 % of the rated life", "7 media errors"] {
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn coalescing_sleep_and_a_slow_format_are_noted_where_the_drive_has_them() {
        let machine = with_drive();
        for id in ["drive.coalescing", "drive.sleeps", "drive.format"] {
            assert!(!has(&machine, id), "{id} without pages");
        }
        machine.give_pages("nvme0");
        assert!(reason(&machine, "drive.coalescing").contains("8 completions or 200 us"));
        assert!(reason(&machine, "drive.sleeps").contains("after 100 ms"));
        assert!(reason(&machine, "drive.format").contains("512 B blocks; the drive reports 4 KiB blocks"));
        machine.set_page("nvme0", "feature-08.bin", &[0; 4]);
        machine.set_page("nvme0", "feature-0c.bin", &[0; 4]);
        assert!(!has(&machine, "drive.coalescing") && !has(&machine, "drive.sleeps"));
    }

    #[test]
    fn a_drive_that_is_not_live_is_found() {
        let machine = with_drive();
        assert!(!has(&machine, "drive.state"));
        machine.file("sys/class/nvme/nvme0/state", "resetting\n");
        assert!(reason(&machine, "drive.state").contains("resetting"));
    }

    #[test]
    fn a_limit_on_a_drive_is_found_and_an_unlimited_one_is_not() {
        let machine = with_drive();
        machine.file("proc/self/cgroup", "0::/x\n").file("proc/self/mountinfo", "31 1 0:28 / /cg rw - cgroup2 c rw\n");
        machine.file("cg/x/io.max", "259:0 rbps=max wbps=max riops=max wiops=max\n");
        assert!(!has(&machine, "limit.cgroup-io"));
        machine.file("cg/x/io.max", "259:0 rbps=max wbps=1000000 riops=300 wiops=max\n");
        assert_eq!(subjects(&machine, "limit.cgroup-io"), ["nvme0n1"]);
        let reason = reason(&machine, "limit.cgroup-io");
        assert!(reason.contains("300 reads per second") && reason.contains("1.00 MB/s"), "{reason}");
    }

    #[test]
    fn an_array_that_rebuilds_is_found_and_a_whole_one_is_not() {
        let machine = with_drive();
        machine.array("md0", "raid5", &["nvme0n1"]);
        assert!(!has(&machine, "array.not-whole"));
        machine.file("sys/block/md0/md/degraded", "1\n").file("sys/block/md0/md/sync_action", "recover\n");
        assert!(reason(&machine, "array.not-whole").contains("busy with recover"));
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
