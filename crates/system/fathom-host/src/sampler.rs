//! Reads the kernel's counters before, during and after a step and hands over the differences.
//!
//! Cheapness: files stay open and are re-read with pread into one buffer; the texts are parsed in place. What the
//! sampler itself costs between its two readings is measured with the threads' CPU clocks and handed over as
//! `sampler_ns`; what it costs before the first and after the last is in no counter.

use std::thread;
use std::time::{Duration, Instant};

use fathom_record::{CpuSeries, CpuShares, CpuTime, DiskDelta, HostDelta, ProgramsCpu, WriteCache};

use crate::control_groups::throttled_ns;
use crate::cpu::Topology;
use crate::disk::devices_below;
use crate::health::{HealthLooks, HealthWatch};
use crate::interrupts::InterruptTable;
use crate::kernel_threads::KernelThreadWatch;
use crate::md::MdWatch;
use crate::mount::Mount;
use crate::network::NetworkWatch;
use crate::procfs::{DiskCounters, Stat, cpu_difference, parse_diskstats};
use crate::programs::ProgramWatch;
use crate::root::{ProbeError, Root};
use crate::sys;
use crate::system::machine::Counters;
use crate::tasks::TaskWatch;
use crate::text::OpenText;
use crate::vectors::{interrupt_devices, vector_deltas};

/// Samples the whole host around a step.
///
/// Order of calls: [`take_baseline`](Self::take_baseline) (optional), then per step [`begin`](Self::begin),
/// [`interval`](Self::interval) at each interval's end, [`finish`](Self::finish). `begin` is to be called a little before
/// the measured window: all it has to look for comes first, its reading of the counters last. The counters are rates
/// over the time between the two readings, which is measured, not over the window that was asked for.
pub struct HostSampler {
    disks: Vec<String>,
    /// What the disks are built on.
    members: Vec<String>,
    /// Those of `disks`.
    write_caches: Vec<Option<WriteCache>>,
    md: MdWatch,
    counters: Counters,
    diskstats_file: Option<OpenText>,
    /// Open when the disks have interrupts of their own.
    interrupts_file: Option<OpenText>,
    interrupt_devices: Vec<String>,
    vectors_first: InterruptTable,
    tick_ns: u64,
    buffer: Vec<u8>,
    baseline: Baseline,
    /// When the counters were read first.
    first_read: Instant,
    stat_first: Stat,
    stat_last: Stat,
    stat_last_read: Instant,
    scratch: Stat,
    disks_first: Vec<DiskCounters>,
    /// Before the first reading of the disks.
    disks_first_read: Instant,
    members_first: Vec<DiskCounters>,
    /// Time that CPU limits had stopped this process at the first reading, ns.
    throttled_first_ns: u64,
    root: Root,
    tasks: TaskWatch,
    kernel_threads: KernelThreadWatch,
    programs: ProgramWatch,
    health: HealthWatch,
    network: NetworkWatch,
    busy_by_interval: Vec<Vec<f32>>,
    /// Columns as in `stat_first`.
    shares_by_interval: Vec<Vec<CpuShares>>,
    /// (interrupts, context switches).
    events_by_interval: Vec<(u64, u64)>,
    core_of: Vec<(u32, u32)>,
    sampler_ns: u64,
}

/// What the host does on its own.
#[derive(Clone, Copy, Default)]
struct Baseline {
    time: CpuTime,
    interrupts: u64,
    context_switches: u64,
    programs: Option<ProgramsCpu>,
    window_ns: u64,
}

impl Baseline {
    fn between(before: &Stat, after: &Stat, window_ns: u64) -> Baseline {
        Baseline {
            time: pairs(before, after).fold(CpuTime::default(), |sum, (_, first, last)| {
                sum.plus(&cpu_difference(last, first).with_exact_busy_time(window_ns))
            }),
            interrupts: after.interrupts.wrapping_sub(before.interrupts),
            context_switches: after.context_switches.wrapping_sub(before.context_switches),
            programs: None,
            window_ns,
        }
    }
}

fn ns_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl HostSampler {
    /// Opens the kernel's files below `root`; `disks` are kernel names of whole devices, e.g. `nvme0n1`. Drives are asked
    /// for their health as [`HealthLooks::default`] says.
    ///
    /// # Errors
    /// [`ProbeError`] when a file is missing or a disk is not in /proc/diskstats.
    pub fn new(root: &Root, disks: Vec<String>) -> Result<HostSampler, ProbeError> {
        HostSampler::with_health(root, disks, HealthLooks::default())
    }

    /// As [`HostSampler::new`], with a choice when drives are asked for their health.
    ///
    /// # Errors
    /// As [`HostSampler::new`].
    pub fn with_health(root: &Root, disks: Vec<String>, looks: HealthLooks) -> Result<HostSampler, ProbeError> {
        let diskstats_file = if disks.is_empty() { None } else { Some(OpenText::open(root.join("proc/diskstats"))?) };
        let tick_ns = sys::tick_ns();
        let interrupt_devices = interrupt_devices(root, &disks);
        let health = HealthWatch::new(root, &disks, looks);
        let below = devices_below(root, &disks).into_iter().map(|d| d.name);
        let members: Vec<String> = below.filter(|name| !disks.contains(name)).collect();
        let md = MdWatch::new(root, disks.iter().chain(&members));
        let write_caches = disks.iter().map(|disk| write_cache(root, disk)).collect();
        let mut sampler = HostSampler {
            disks,
            write_caches,
            md,
            members,
            counters: Counters::open(root)?,
            diskstats_file,
            // Not every sandbox shows it, and a record without vectors is still one.
            interrupts_file: OpenText::open(root.join("proc/interrupts"))
                .ok()
                .filter(|_| !interrupt_devices.is_empty()),
            interrupt_devices,
            vectors_first: InterruptTable::default(),
            tick_ns,
            buffer: Vec::new(),
            baseline: Baseline::default(),
            first_read: Instant::now(),
            stat_first: Stat::default(),
            stat_last: Stat::default(),
            stat_last_read: Instant::now(),
            scratch: Stat::default(),
            disks_first: Vec::new(),
            disks_first_read: Instant::now(),
            members_first: Vec::new(),
            health,
            network: NetworkWatch::new(root, &[]),
            throttled_first_ns: 0,
            root: root.clone(),
            tasks: TaskWatch::new(root.clone(), tick_ns),
            kernel_threads: KernelThreadWatch::new(root.clone(), tick_ns),
            programs: ProgramWatch::new(root.clone(), tick_ns),
            busy_by_interval: Vec::new(),
            shares_by_interval: Vec::new(),
            events_by_interval: Vec::new(),
            core_of: core_of(root),
            sampler_ns: 0,
        };
        // A disk that is not listed is refused now, and not when the step begins.
        sampler.read_first()?;
        Ok(sampler)
    }

    /// Watches also those of `mounts` that are network file systems.
    #[must_use]
    pub fn with_mounts(mut self, root: &Root, mounts: &[Mount]) -> HostSampler {
        self.network = NetworkWatch::new(root, mounts);
        self
    }

    /// Measures what the host does on its own: sleeps for `duration` and keeps the difference for all later steps.
    ///
    /// # Errors
    /// [`ProbeError`] when /proc/stat cannot be read.
    pub fn take_baseline(&mut self, duration: Duration) -> Result<(), ProbeError> {
        let (mut before, mut after) = (Stat::default(), Stat::default());
        self.programs.mark_start();
        self.read_stat(&mut before)?;
        let start = Instant::now();
        thread::sleep(duration);
        self.read_stat(&mut after)?;
        let length_ns = ns_since(start);
        let programs = self.programs.used(length_ns);
        self.baseline = Baseline { programs, ..Baseline::between(&before, &after, length_ns) };
        Ok(())
    }

    /// Watches the threads of another process, and of all that it starts, as if they were this one's. Until the next
    /// [`prepare`](Self::prepare).
    pub fn follow(&mut self, pid: u32) {
        self.tasks.follow(pid);
    }

    /// Takes the first reading, at its end, and forgets the step before.
    ///
    /// # Errors
    /// [`ProbeError`] when a counter cannot be read.
    pub fn begin(&mut self) -> Result<(), ProbeError> {
        self.prepare();
        self.begin_prepared()
    }

    /// What takes long and may lie some time before the first reading: all processes are looked through, drives answer.
    pub fn prepare(&mut self) {
        self.tasks.restart();
        self.kernel_threads.restart();
        self.health.begin();
        self.network.prepare();
        self.md.begin();
    }

    /// [`begin`](Self::begin) after [`prepare`](Self::prepare): takes the first reading alone.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_prepared(&mut self) -> Result<(), ProbeError> {
        self.busy_by_interval.clear();
        self.shares_by_interval.clear();
        self.events_by_interval.clear();
        self.read_first()
    }

    /// The first reading of all counters, the times of the CPUs last.
    fn read_first(&mut self) -> Result<(), ProbeError> {
        self.kernel_threads.mark_start();
        self.programs.mark_start();
        self.tasks.mark_start();
        self.network.mark_start();
        self.disks_first_read = Instant::now();
        let mut first = (std::mem::take(&mut self.disks_first), std::mem::take(&mut self.members_first));
        self.read_disks(&mut first.0, &mut first.1)?;
        (self.disks_first, self.members_first) = first;
        self.vectors_first = self.read_vectors()?;
        self.throttled_first_ns = throttled_ns(&self.root);
        let mut stat = std::mem::take(&mut self.stat_first);
        self.read_stat(&mut stat)?;
        self.first_read = Instant::now();
        self.stat_last_read = self.first_read;
        self.stat_last.clone_from(&stat);
        self.stat_first = stat;
        self.sampler_ns = 0;
        Ok(())
    }

    /// Marks the end of an interval: keeps each CPU's busy share since the last mark and the threads' times so far.
    ///
    /// # Errors
    /// [`ProbeError`] when /proc/stat cannot be read.
    pub fn interval(&mut self) -> Result<(), ProbeError> {
        let cpu_ns = sys::thread_cpu_ns();
        self.tasks.sample();
        self.kernel_threads.sample();
        let mut now = std::mem::take(&mut self.scratch);
        self.read_stat(&mut now)?;
        let interval_ns = ns_since(self.stat_last_read);
        self.stat_last_read = Instant::now();
        // In the order of the first reading, so that every interval has the same columns. A CPU offline did nothing.
        let times = self.stat_first.cpus.iter().map(|(number, _)| {
            match (find(&self.stat_last, *number), find(&now, *number)) {
                (Some(before), Some(after)) => cpu_difference(after, before).with_exact_busy_time(interval_ns),
                _ => CpuTime::default(),
            }
        });
        let (busy, shares) = times.map(|time| (busy_share(&time), CpuShares::of(&time))).unzip();
        self.busy_by_interval.push(busy);
        self.shares_by_interval.push(shares);
        let interrupts = now.interrupts.wrapping_sub(self.stat_last.interrupts);
        self.events_by_interval.push((interrupts, now.context_switches.wrapping_sub(self.stat_last.context_switches)));
        self.scratch = std::mem::replace(&mut self.stat_last, now);
        self.sampler_ns += sys::thread_cpu_ns() - cpu_ns;
        Ok(())
    }

    /// Takes the last reading, at its beginning, and hands over everything since [`begin`](Self::begin). `measured_ns`:
    /// length of the window that the I/Os are counted over.
    ///
    /// # Errors
    /// [`ProbeError`] when a counter cannot be read.
    pub fn finish(&mut self, measured_ns: u64) -> Result<HostDelta, ProbeError> {
        let mut now = std::mem::take(&mut self.scratch);
        self.read_stat(&mut now)?;
        let window_ns = ns_since(self.first_read);
        let (mut disks_now, mut members_now) = (Vec::with_capacity(self.disks.len()), Vec::new());
        self.read_disks(&mut disks_now, &mut members_now)?;
        let disks_ns = ns_since(self.disks_first_read);
        let vectors_now = self.read_vectors()?;
        self.tasks.sample();
        let cpus = pairs(&self.stat_first, &now)
            .map(|(n, first, last)| (n, cpu_difference(last, first).with_exact_busy_time(window_ns)))
            .collect();
        let (drives, health_ns) = self.health.finish();
        let network = self.network.finish();
        let md_state = self.md.finish();
        let deltas = |now: &[DiskCounters], first: &[DiskCounters], names: &[String]| {
            let since = |((now, first), name): ((&DiskCounters, &DiskCounters), &String)| DiskDelta {
                md: md_state(name),
                ..now.since(first, name)
            };
            now.iter().zip(first).zip(names).map(since).collect()
        };
        let mut disks: Vec<DiskDelta> = deltas(&disks_now, &self.disks_first, &self.disks);
        disks.iter_mut().zip(&self.write_caches).for_each(|(disk, cache)| disk.write_cache = *cache);
        let delta = HostDelta {
            window_ns,
            measured_ns,
            disks_ns,
            missed_ns: 0,
            cpus,
            idle_baseline: self.baseline.time,
            idle_baseline_window_ns: self.baseline.window_ns,
            idle_baseline_interrupts: self.baseline.interrupts,
            idle_baseline_context_switches: self.baseline.context_switches,
            throttled_ns: throttled_ns(&self.root).saturating_sub(self.throttled_first_ns),
            threads: self.tasks.times(),
            kernel_threads: self.kernel_threads.finish(window_ns),
            other_programs: self.programs.used(window_ns),
            idle_baseline_programs: self.baseline.programs,
            interrupts: now.interrupts.wrapping_sub(self.stat_first.interrupts),
            context_switches: now.context_switches.wrapping_sub(self.stat_first.context_switches),
            disks,
            members: deltas(&members_now, &self.members_first, &self.members),
            vectors: vector_deltas(&self.vectors_first, &vectors_now),
            drives,
            core_of: self.core_of.clone(),
            cpu_series: self.series(),
            sampler_ns: self.sampler_ns + health_ns,
            cpu_busy_by_interval: std::mem::take(&mut self.busy_by_interval),
            page_cache_bytes: None,
            allocated_bytes: None,
            network,
        };
        self.scratch = now;
        Ok(delta)
    }

    /// The intervals, without the CPUs that did nothing in any of them.
    fn series(&mut self) -> CpuSeries {
        let rows = std::mem::take(&mut self.shares_by_interval);
        let numbers = self.stat_first.cpus.iter().map(|(number, _)| *number).enumerate();
        let did: Vec<(usize, u32)> =
            numbers.filter(|(column, _)| rows.iter().any(|row| row[*column] != CpuShares::default())).collect();
        let kept = |row: &Vec<CpuShares>| did.iter().map(|(column, _)| row[*column]).collect();
        let (interrupts, context_switches) = std::mem::take(&mut self.events_by_interval).into_iter().unzip();
        CpuSeries {
            cpus: did.iter().map(|(_, number)| *number).collect(),
            shares_pct: rows.iter().map(kept).collect(),
            interrupts,
            context_switches,
        }
    }

    fn read_stat(&mut self, into: &mut Stat) -> Result<(), ProbeError> {
        self.counters.read(self.tick_ns, into)
    }

    fn read_vectors(&mut self) -> Result<InterruptTable, ProbeError> {
        let Some(file) = &self.interrupts_file else { return Ok(InterruptTable::default()) };
        let text = file.read(&mut self.buffer)?;
        Ok(InterruptTable::parse(text, |_, device| self.interrupt_devices.iter().any(|d| d == device)))
    }

    fn read_disks(&mut self, disks: &mut Vec<DiskCounters>, members: &mut Vec<DiskCounters>) -> Result<(), ProbeError> {
        let Some(file) = &self.diskstats_file else { return Ok(()) };
        let text = file.read(&mut self.buffer)?;
        parse_diskstats(&file.path, text, &self.disks, disks)?;
        parse_diskstats(&file.path, text, &self.members, members)
    }
}

/// What the kernel takes the cache of a device for.
fn write_cache(root: &Root, disk: &str) -> Option<WriteCache> {
    let text = std::fs::read_to_string(root.join(format!("sys/block/{disk}/queue/write_cache"))).ok()?;
    match text.trim() {
        "write back" => Some(WriteCache::Back),
        "write through" => Some(WriteCache::Through),
        _ => None,
    }
}

/// (CPU, lowest CPU of its core); empty without siblings, and where the kernel does not report it.
fn core_of(root: &Root) -> Vec<(u32, u32)> {
    let Ok(topology) = Topology::read(root) else { return Vec::new() };
    if !topology.has_smt() {
        return Vec::new();
    }
    topology.cpus.iter().map(|c| (c.id, c.siblings.first().copied().unwrap_or(c.id))).collect()
}

fn find(stat: &Stat, number: u32) -> Option<&CpuTime> {
    stat.cpus.iter().find(|(n, _)| *n == number).map(|(_, time)| time)
}

/// CPUs present in both readings. One that went off- or online in between has no difference.
fn pairs<'s>(first: &'s Stat, last: &'s Stat) -> impl Iterator<Item = (u32, &'s CpuTime, &'s CpuTime)> {
    first.cpus.iter().filter_map(|(number, before)| Some((*number, before, find(last, *number)?)))
}

fn busy_share(time: &CpuTime) -> f32 {
    let busy = time.busy_ns();
    let total = busy + time.steal_ns + time.iowait_ns + time.idle_ns;
    if total == 0 { 0.0 } else { (busy as f64 / total as f64) as f32 }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;
    use crate::system::stat::parse_stat;

    fn stat_text(busy: u64, idle: u64, interrupts: u64, switches: u64) -> String {
        format!(
            "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 {busy} 0 {busy} {idle} 0 0 0 0 0 0\ncpu1 0 0 0 {idle} 0 0 0 0 0 0\n\
             intr {interrupts} 0\nctxt {switches}\n"
        )
    }

    fn task_text(name: &str, user: u64, system: u64) -> String {
        format!("7 ({name}) S 1 7 7 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 1 0 0 0 0\n")
    }

    fn tree() -> Tree {
        let tree = Tree::new();
        tree.file("proc/stat", stat_text(100, 1000, 50, 70))
            .file("proc/diskstats", " 254 0 vda 10 0 80 5 20 0 160 6 0 40 50 3 0 0 0\n")
            .file("proc/self/task/7/stat", task_text("fathom-w0", 5, 6))
            .file("proc/self/task/8/stat", task_text("iou-sqp-7", 0, 9));
        tree
    }

    #[test]
    fn a_window_is_the_difference_of_two_readings() {
        let tree = tree();
        let tick = sys::tick_ns();
        let mut sampler = HostSampler::new(&tree.root(), vec!["vda".to_owned()]).expect("opens");
        sampler.begin().expect("begins");
        tree.file("proc/stat", stat_text(115, 1070, 80, 170))
            .file("proc/self/task/7/stat", task_text("fathom-w0", 9, 8))
            .file("proc/self/task/9/stat", task_text("iou-wrk-7", 0, 2));
        sampler.interval().expect("interval");
        tree.file("proc/stat", stat_text(125, 1080, 90, 171))
            .file("proc/diskstats", " 254 0 vda 14 0 112 5 22 0 176 6 0 90 150 4 0 0 0\n");
        sampler.interval().expect("interval");
        let delta = sampler.finish(1_000_000).expect("finishes");

        assert_eq!(delta.measured_ns, 1_000_000);
        assert_eq!(delta.cpus[0].1.user_ns, 25 * tick);
        assert_eq!(delta.cpus[0].1.system_ns, 25 * tick);
        assert_eq!(delta.cpus[1].1.busy_ns(), 0);
        assert_eq!((delta.interrupts, delta.context_switches), (40, 101));
        assert_eq!((delta.disks[0].read_ios, delta.disks[0].write_bytes, delta.disks[0].discard_ios), (4, 16 * 512, 1));
        assert_eq!(delta.cpu_busy_by_interval, [[0.3, 0.0], [20.0 / 30.0, 0.0]]);
        // CPU 1 did nothing and is left out.
        let shares = [[CpuShares([15, 15, 0, 0, 0, 0])], [CpuShares([33, 33, 0, 0, 0, 0])]];
        assert_eq!(
            (&delta.cpu_series.cpus[..], &delta.cpu_series.shares_pct[..]),
            (&[0][..], &shares.map(Vec::from)[..])
        );
        assert_eq!(
            (&delta.cpu_series.interrupts[..], &delta.cpu_series.context_switches[..]),
            (&[30, 10][..], &[100, 1][..])
        );
        let thread = |name: &str| delta.threads.iter().find(|t| t.name == name).expect(name).clone();
        assert_eq!((thread("fathom-w0").user_ns, thread("fathom-w0").system_ns), (4 * tick, 2 * tick));
        assert!(!thread("fathom-w0").kernel);
        assert!(thread("iou-sqp-7").kernel);
        // It began inside the window, so all its time belongs to the window.
        assert_eq!((thread("iou-wrk-7").kernel, thread("iou-wrk-7").system_ns), (true, 2 * tick));
    }

    #[test]
    fn counters_are_rates_over_the_time_between_the_two_readings() {
        let tree = tree();
        let mut sampler = HostSampler::new(&tree.root(), Vec::new()).expect("opens");
        let before = Instant::now();
        sampler.begin().expect("begins");
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(30));
        let ends = Instant::now();
        // The step counts its I/Os over a part of that time.
        let delta = sampler.finish(10_000_000).expect("finishes");
        let (least, most) = (ends.duration_since(begun).as_nanos() as u64, ns_since(before));
        assert!((least..=most).contains(&delta.window_ns), "{least} to {most}: {}", delta.window_ns);
        assert_eq!(delta.measured_ns, 10_000_000);
        let ios = delta.ios_between_readings(1000);
        assert!((ios - 1000.0 * delta.window_ns as f64 / 1e7).abs() < 1e-6 && ios >= 3000.0, "{ios}");
    }

    #[test]
    fn what_the_host_does_on_its_own_is_counted_in_interrupts_too() {
        let parsed = |text: String| {
            let mut stat = Stat::default();
            parse_stat(std::path::Path::new("stat"), &text, 1, &mut stat).expect("parses");
            stat
        };
        let (before, after) = (parsed(stat_text(100, 1000, 50, 70)), parsed(stat_text(101, 1002, 57, 81)));
        let mut sampler = HostSampler::new(&tree().root(), Vec::new()).expect("opens");
        sampler.baseline = Baseline::between(&before, &after, 500);
        let delta = sampler.finish(1).expect("finishes");
        assert_eq!((delta.idle_baseline_interrupts, delta.idle_baseline_context_switches), (7, 11));
        assert_eq!((delta.idle_baseline.busy_ns(), delta.idle_baseline_window_ns), (2, 500));
    }

    #[test]
    fn a_sampler_that_is_only_made_asks_no_drive() {
        let tree = tree();
        tree.file("sys/devices/pci0/virtio1/hwmon2/temp1_input", "40000\n");
        let sampler = HostSampler::new(&tree.root(), vec!["vda".to_owned()]).expect("opens");
        assert!(!sampler.health.is_running());
    }

    #[test]
    fn a_thread_that_ends_keeps_its_last_seen_time() {
        let tree = tree();
        let mut sampler = HostSampler::new(&tree.root(), Vec::new()).expect("opens");
        sampler.begin().expect("begins");
        tree.file("proc/self/task/7/stat", task_text("fathom-w0", 25, 6));
        sampler.interval().expect("interval");
        // A read of an ended thread brings no text.
        tree.file("proc/self/task/7/stat", "");
        sampler.interval().expect("interval");
        let delta = sampler.finish(1).expect("finishes");
        let ours: Vec<_> = delta.threads.iter().filter(|t| t.name == "fathom-w0").collect();
        assert_eq!(ours.len(), 1);
        assert_eq!(ours[0].user_ns, 20 * sys::tick_ns());
    }

    #[test]
    fn members_of_an_array_are_counted_beside_it() {
        let tree = tree();
        let stats = |md: u64, member: u64| {
            let line = |name: &str, ios: u64| format!(" 9 0 {name} 0 0 0 0 {ios} 0 {} 6 0 40 50\n", ios * 8);
            [line("md0", md), line("sda", member), line("sdb", member), line("sdc", 7)].concat()
        };
        tree.disk("md0", "9:0", 8, "virtual").disk("sda", "8:0", 8, "pci0/ata1").disk("sdb", "8:16", 8, "pci0/ata2");
        let below = "sys/devices/virtual/block/md0/slaves";
        tree.folder(&format!("{below}/sda")).folder(&format!("{below}/sdb")).file("proc/diskstats", stats(10, 20));
        let mut sampler = HostSampler::new(&tree.root(), vec!["md0".to_owned()]).expect("opens");
        sampler.begin().expect("begins");
        tree.file("proc/diskstats", stats(110, 220));
        let delta = sampler.finish(1).expect("finishes");
        let ios = |disks: &[fathom_record::DiskDelta]| -> Vec<(String, u64)> {
            disks.iter().map(|d| (d.device.clone(), d.write_ios)).collect()
        };
        assert_eq!(ios(&delta.disks), [("md0".to_owned(), 100)]);
        assert_eq!(ios(&delta.members), [("sda".to_owned(), 200), ("sdb".to_owned(), 200)]);
    }

    #[test]
    fn kernel_threads_are_counted_over_the_window() {
        let tree = tree();
        let kernel =
            |system: u64| format!("300 (md0_raid5) S 2 0 0 0 -1 2129984 0 0 0 0 0 {system} 0 0 20 0 1 0 0 0 0\n");
        tree.file("proc/300/stat", kernel(100));
        let mut sampler = HostSampler::new(&tree.root(), Vec::new()).expect("opens");
        sampler.begin().expect("begins");
        tree.file("proc/300/stat", kernel(130));
        let delta = sampler.finish(1).expect("finishes");
        let names: Vec<&str> = delta.kernel_threads.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["md0_raid5"]);
        assert!(delta.kernel_threads[0].busy_ns > 0);
    }

    #[test]
    fn cpus_are_grouped_by_core_only_where_siblings_share_cores() {
        let tree = crate::testing::eight_cpus();
        assert_eq!(core_of(&tree.root())[5..], [(5, 1), (6, 2), (7, 3)]);
        tree.file("sys/devices/system/cpu/online", "0-3\n");
        assert_eq!(core_of(&tree.root()), []);
    }

    #[test]
    fn an_unknown_disk_is_refused_when_the_sampler_is_made() {
        let error = HostSampler::new(&tree().root(), vec!["sdz".to_owned()]).err().expect("no such disk");
        assert!(error.to_string().contains("sdz"), "{error}");
    }

    #[test]
    fn the_live_host_counts_work_done_in_the_window() {
        let mut sampler = HostSampler::new(&Root::live(), Vec::new()).expect("opens");
        sampler.take_baseline(Duration::from_millis(20)).expect("baseline");
        sampler.begin().expect("begins");
        // Burn CPU time until the kernel must have seen several ticks of it, however busy the machine is.
        let start = sys::thread_cpu_ns();
        let mut x = 1u64;
        while sys::thread_cpu_ns() - start < 5 * sys::tick_ns() {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        sampler.interval().expect("interval");
        let delta = sampler.finish(1).expect("finishes");
        let threads_ns: u64 = delta.threads.iter().map(|t| t.user_ns + t.system_ns).sum();
        assert!(threads_ns >= 3 * sys::tick_ns(), "saw {threads_ns} ns of thread time");
        assert!(delta.interrupts > 0);
        assert!(delta.sampler_ns > 0);
        assert!(delta.idle_baseline_window_ns >= 20_000_000);
        assert!(delta.idle_baseline_interrupts + delta.idle_baseline_context_switches > 0, "this machine wakes up");
        assert_eq!(delta.cpu_busy_by_interval.len(), 1);
        assert_eq!(delta.cpu_busy_by_interval[0].len(), delta.cpus.len());
    }
}
