//! The three kernel texts the sampler reads, parsed without allocation per line.

use std::path::Path;

use fathom_message::msg;
use fathom_record::{CpuTime, DiskDelta, FlushDelta};

use crate::root::ProbeError;

/// /proc/stat at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// (CPU number, time), in the kernel's order.
    pub(crate) cpus: Vec<(u32, CpuTime)>,
    /// Interrupts since boot.
    pub(crate) interrupts: u64,
    /// Context switches since boot.
    pub(crate) context_switches: u64,
}

/// `after - before`, kind by kind. Idle and iowait may step back by a tick when an idle CPU wakes, hence saturating.
pub(crate) fn cpu_difference(after: &CpuTime, before: &CpuTime) -> CpuTime {
    CpuTime {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        irq_ns: after.irq_ns.saturating_sub(before.irq_ns),
        softirq_ns: after.softirq_ns.saturating_sub(before.softirq_ns),
        steal_ns: after.steal_ns.saturating_sub(before.steal_ns),
        iowait_ns: after.iowait_ns.saturating_sub(before.iowait_ns),
        idle_ns: after.idle_ns.saturating_sub(before.idle_ns),
    }
}

/// Counters of one device (Documentation/admin-guide/iostats.rst). Sectors are 512 bytes whatever the device says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskCounters {
    fields: [u64; 17],
    /// How many of them this kernel has.
    known: usize,
}

/// Kernels before 4.18 end here; discards are then not counted.
const FIELDS_MIN: usize = 11;

/// Fills `into[i]` with the counters of `names[i]`.
pub(crate) fn parse_diskstats(
    path: &Path,
    text: &str,
    names: &[String],
    into: &mut Vec<DiskCounters>,
) -> Result<(), ProbeError> {
    into.clear();
    for name in names {
        let line = text
            .lines()
            .find_map(|line| {
                let mut words = line.split_ascii_whitespace().skip(2);
                (words.next() == Some(name)).then_some(words)
            })
            .ok_or_else(|| ProbeError::parse(path, msg!("probe-disk-not-listed", device = name)))?;
        let mut counters = DiskCounters::default();
        let mut seen = 0;
        for (slot, word) in counters.fields.iter_mut().zip(line) {
            *slot = word.parse().map_err(|_| {
                ProbeError::parse(path, msg!("probe-line-no-number", line = name, text = word.to_owned()))
            })?;
            seen += 1;
        }
        counters.known = seen;
        if seen < FIELDS_MIN {
            return Err(ProbeError::parse(path, msg!("probe-few-fields", line = name, min = FIELDS_MIN, found = seen)));
        }
        into.push(counters);
    }
    Ok(())
}

impl DiskCounters {
    /// What happened to device `name` from `before` to `self`.
    pub(crate) fn since(&self, before: &DiskCounters, name: &str) -> DiskDelta {
        const SECTOR_BYTES: u64 = 512;
        const MS: u64 = 1_000_000;
        let count = |i: usize| self.fields[i].wrapping_sub(before.fields[i]);
        // Times are printed as 32-bit milliseconds and wrap after 49 days.
        let time_ns = |i: usize| u64::from((self.fields[i] as u32).wrapping_sub(before.fields[i] as u32)) * MS;
        DiskDelta {
            device: name.to_owned(),
            read_ios: count(0),
            read_merges: count(1),
            read_bytes: count(2) * SECTOR_BYTES,
            write_ios: count(4),
            write_merges: count(5),
            write_bytes: count(6) * SECTOR_BYTES,
            discard_ios: count(11),
            busy_ns: time_ns(9),
            weighted_ns: time_ns(10),
            flushes: (self.known == 17).then(|| FlushDelta { ios: count(15), time_ns: time_ns(16) }),
            write_cache: None,
            md: None,
        }
    }
}

/// Flag of the kernel's own threads (include/linux/sched.h).
const PF_KTHREAD: u64 = 0x0020_0000;

/// Name and CPU time of a thread from its `stat` (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskStat<'a> {
    pub(crate) name: &'a str,
    /// Whether it is one of the kernel's own.
    pub(crate) is_kernel: bool,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// Parses a thread's `stat`; `None` when it is cut or malformed, as for a thread that is just ending.
pub(crate) fn parse_task(text: &str, tick_ns: u64) -> Option<TaskStat<'_>> {
    // The name may hold blanks and brackets, so it ends at the last bracket.
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let name = text.get(open + 1..close)?;
    // After the name: state is field 3, flags 9, utime 14, stime 15.
    let mut words = text.get(close + 1..)?.split_ascii_whitespace();
    let flags: u64 = words.nth(6)?.parse().ok()?;
    let user: u64 = words.nth(4)?.parse().ok()?;
    let system: u64 = words.next()?.parse().ok()?;
    let is_kernel = flags & PF_KTHREAD != 0;
    Some(TaskStat { name, is_kernel, user_ns: user * tick_ns, system_ns: system * tick_ns })
}

/// A process and its CPU time from its `stat` (proc_pid_stat(5)), with that of its ended children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// True for the kernel's own threads.
    pub(crate) is_kernel: bool,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// Parses a process's `stat`; `None` when it is cut or malformed, as for a process that is just ending.
pub(crate) fn parse_process(text: &str, tick_ns: u64) -> Option<ProcessStat> {
    let pid = text.get(..text.find(' ')?)?.parse().ok()?;
    // After the name: state is field 3, ppid 4, flags 9, utime 14, stime 15, cutime 16, cstime 17.
    let words: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().take(15).collect();
    let number = |field: usize| words.get(field - 3)?.parse::<u64>().ok();
    Some(ProcessStat {
        pid,
        parent: u32::try_from(number(4)?).ok()?,
        is_kernel: number(9)? & PF_KTHREAD != 0,
        user_ns: (number(14)? + number(16)?) * tick_ns,
        system_ns: (number(15)? + number(17)?) * tick_ns,
    })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::stat::parse_stat;

    const TICK_NS: u64 = 10_000_000;
    const STAT: &str = "cpu  30 0 20 200 10 0 2 0 0 0\ncpu0 10 1 5 100 2 3 1 4 0 0\ncpu3 20 0 15 100 8 0 1 0 0 0\n\
                        intr 285095 0 1 2\nctxt 567814\nbtime 1\nprocesses 2\n";

    #[test]
    fn stat_is_read_per_cpu_with_nice_as_user() {
        let mut stat = Stat::default();
        parse_stat(Path::new("stat"), STAT, TICK_NS, &mut stat).expect("parses");
        assert_eq!(stat.interrupts, 285_095);
        assert_eq!(stat.context_switches, 567_814);
        assert_eq!(stat.cpus.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 3]);
        let want = CpuTime {
            user_ns: 11 * TICK_NS,
            system_ns: 5 * TICK_NS,
            irq_ns: 3 * TICK_NS,
            softirq_ns: TICK_NS,
            steal_ns: 4 * TICK_NS,
            iowait_ns: 2 * TICK_NS,
            idle_ns: 100 * TICK_NS,
        };
        assert_eq!(stat.cpus[0].1, want);
    }

    #[test]
    fn stat_without_interrupts_is_refused_not_guessed() {
        let error = parse_stat(Path::new("stat"), "cpu0 1 1 1 1 1 1 1 1\nctxt 1\n", TICK_NS, &mut Stat::default());
        assert!(error.expect_err("no intr line").to_string().contains("intr"));
    }

    #[test]
    fn a_thread_name_may_hold_brackets_and_blanks() {
        let line = "42 (a) (b c) S 1 42 42 0 -1 4194560 10 0 0 0 7 5 0 0 20 0 1 0 100 0 0\n";
        let task = parse_task(line, TICK_NS).expect("parses");
        assert_eq!(task, TaskStat { name: "a) (b c", is_kernel: false, user_ns: 7 * TICK_NS, system_ns: 5 * TICK_NS });
        assert_eq!(parse_task("42 (x) S 1", TICK_NS), None);
        let kernel = "39 (kswapd0) S 2 0 0 0 -1 10488896 0 0 0 0 0 5 0 0 20 0 1 0 100 0 0\n";
        assert!(parse_task(kernel, TICK_NS).expect("parses").is_kernel);
    }

    #[test]
    fn disk_times_survive_the_32_bit_wrap_and_old_kernels() {
        let names = vec!["vda".to_owned()];
        let path = Path::new("diskstats");
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let a = " 254 0 vda 10 1 80 5 20 2 160 6 0 4294967290 4294967200\n";
        let b = " 259 0 vdaa 9 9 9 9 9 9 9 9 9 9 9\n 254 0 vda 13 1 104 5 25 4 200 6 0 10 100\n";
        parse_diskstats(path, a, &names, &mut before).expect("parses");
        parse_diskstats(path, b, &names, &mut after).expect("parses");
        let delta = after[0].since(&before[0], "vda");
        assert_eq!((delta.read_ios, delta.read_bytes, delta.write_ios, delta.write_bytes), (3, 24 * 512, 5, 40 * 512));
        assert_eq!((delta.write_merges, delta.discard_ios), (2, 0));
        assert_eq!((delta.busy_ns, delta.weighted_ns), (16_000_000, 196_000_000));
        assert_eq!(delta.flushes, None, "not counted before 5.5");
    }

    #[test]
    fn flushes_are_counted_where_the_kernel_does() {
        let names = vec!["vda".to_owned()];
        let path = Path::new("diskstats");
        let (mut before, mut after) = (Vec::new(), Vec::new());
        parse_diskstats(path, " 254 0 vda 1 1 1 1 1 1 1 1 0 1 1 0 0 0 0 100 2000\n", &names, &mut before)
            .expect("parses");
        parse_diskstats(path, " 254 0 vda 1 1 1 1 9 1 1 1 0 1 1 0 0 0 0 107 2035\n", &names, &mut after)
            .expect("parses");
        let delta = after[0].since(&before[0], "vda");
        assert_eq!(delta.flushes, Some(FlushDelta { ios: 7, time_ns: 35_000_000 }));
    }

    #[test]
    fn an_unknown_disk_is_named() {
        let error = parse_diskstats(Path::new("d"), " 254 0 vda 1 1\n", &["sdz".to_owned()], &mut Vec::new());
        assert!(error.expect_err("not listed").to_string().contains("sdz"));
    }
}
