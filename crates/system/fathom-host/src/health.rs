//! Asks drives for their health while a step runs, from a thread of its own: an admin command may take a drive
//! milliseconds, and a sick drive may never answer it. How often is a choice: each look is a command among the I/Os that
//! are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fathom_nvme::{AdminCommand, Controller, Device, OcpSmartLog, SmartLog};
use fathom_record::{DriveSample, DriveSeries, HealthSource};

use crate::disk::{BlockDevice, devices_below};
use crate::interrupts::is_nvme_controller;
use crate::root::{Root, attribute, names_in};
use crate::sys;

/// A step begins without the first look when the drives take longer than this for it.
const FIRST_PATIENCE: Duration = Duration::from_millis(250);
/// A drive that does not answer the last look within this time is left behind with the looks it has.
const PATIENCE: Duration = Duration::from_secs(2);

/// When drives are asked for their health while a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthLooks {
    /// Never.
    Off,
    /// Before the first reading and after the last one.
    Ends,
    /// Also after each such time in between.
    Every(Duration),
}

impl Default for HealthLooks {
    /// Every 10 s: a drive heats up no faster.
    fn default() -> Self {
        HealthLooks::Every(Duration::from_secs(10))
    }
}

/// How one drive is asked.
enum Source {
    Nvme { device: Device, ocp: bool },
    Hwmon { input: PathBuf },
}

impl Source {
    fn look(&self) -> Option<DriveSample> {
        match self {
            Source::Hwmon { input } => {
                Some(DriveSample { celsius: Some(celsius_in(input)?), ..DriveSample::default() })
            }
            Source::Nvme { device, ocp } => {
                let page = |command: AdminCommand| device.admin(&command).ok().map(|(page, _)| page);
                let smart = SmartLog::decode(&page(AdminCommand::smart_log())?).ok()?;
                let extended = ocp
                    .then(|| page(AdminCommand::ocp_smart_log()))
                    .flatten()
                    .and_then(|page| OcpSmartLog::decode(&page).ok().flatten());
                Some(sample_of(&smart, extended))
            }
        }
    }
}

fn sample_of(smart: &SmartLog, extended: Option<OcpSmartLog>) -> DriveSample {
    DriveSample {
        at_ns: 0,
        celsius: smart.celsius.map(f64::from),
        critical_warning: Some(smart.critical_warning),
        host_written_bytes: Some(smart.host_written_bytes),
        nand_written_bytes: extended.map(|log| log.nand_written_bytes),
        throttle_transitions: Some(smart.throttle_transitions),
        throttle_level: extended.map(|log| log.throttle_level),
        warning_minutes: Some(smart.warning_minutes),
    }
}

/// Millidegrees in a file of hwmon, as degrees.
fn celsius_in(file: &Path) -> Option<f64> {
    let milli: f64 = attribute(file)?.parse().ok()?;
    Some(milli / 1000.0).filter(|c| c.is_finite() && (-50.0..250.0).contains(c))
}

/// What the thread gathers, readable while it waits for a drive.
#[derive(Default)]
struct Gathered {
    series: Vec<DriveSeries>,
    /// Of the looks between the first and the last one.
    cpu_ns: u64,
}

type Drives = Arc<Vec<(DriveSeries, Source)>>;

/// Watches the drives behind the targets of a step.
pub(crate) struct HealthWatch {
    drives: Drives,
    looks: HealthLooks,
    running: Option<Running>,
}

struct Running {
    gathered: Arc<Mutex<Gathered>>,
    stop: Sender<()>,
    ended: Receiver<()>,
}

impl HealthWatch {
    /// Finds out how each drive below `disks` can be asked. Drives that report nothing are left out.
    pub(crate) fn new(root: &Root, disks: &[String], looks: HealthLooks) -> Self {
        let mut found: Vec<(DriveSeries, Source)> = Vec::new();
        if looks != HealthLooks::Off {
            for device in leaves(root, disks) {
                found.extend(source_of(root, &device));
            }
        }
        HealthWatch { drives: Arc::new(found), looks, running: None }
    }

    #[cfg(test)]
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Takes the first look, and forgets what was gathered before. Returns when the drives have answered or patience is
    /// lost.
    pub(crate) fn begin(&mut self) {
        // Dropping its line ends the thread of the step before.
        self.running = None;
        if self.drives.is_empty() {
            return;
        }
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        let (stop, stopped) = channel();
        let (end, ended) = channel();
        let (looked, first) = channel();
        let (drives, into) = (self.drives.clone(), gathered.clone());
        let period = match self.looks {
            HealthLooks::Off | HealthLooks::Ends => None,
            HealthLooks::Every(period) => Some(period),
        };
        let spawned = thread::Builder::new().name("fathom-health".to_owned()).spawn(move || {
            watch(&drives, &into, period, &looked, &stopped);
            // Nobody waits any more when patience was lost.
            let _ = end.send(());
        });
        // Without the thread the step has no looks at its drives, as on a machine whose drives report nothing.
        self.running = spawned.ok().map(|_| Running { gathered, stop, ended });
        if self.running.is_some() {
            let _ = first.recv_timeout(FIRST_PATIENCE);
        }
    }

    /// Takes the last look: series with at least one look, and the CPU time of the looks in between.
    pub(crate) fn finish(&mut self) -> (Vec<DriveSeries>, u64) {
        let Some(running) = self.running.take() else { return (Vec::new(), 0) };
        if running.stop.send(()).is_ok() {
            let _ = running.ended.recv_timeout(PATIENCE);
        }
        let mut gathered = running.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut series = std::mem::take(&mut gathered.series);
        series.retain(|s| !s.samples.is_empty());
        (series, gathered.cpu_ns)
    }
}

/// Body of the thread: a look at once, after which `looked` gets a message, one each period, and one at the end.
fn watch(
    drives: &[(DriveSeries, Source)],
    into: &Mutex<Gathered>,
    period: Option<Duration>,
    looked: &Sender<()>,
    stopped: &Receiver<()>,
) {
    let begun = Instant::now();
    let lock = || into.lock().unwrap_or_else(PoisonError::into_inner);
    lock().series = drives.iter().map(|(series, _)| series.clone()).collect();
    let (mut is_last, mut first_ns) = (false, None);
    loop {
        for (index, (_, source)) in drives.iter().enumerate() {
            let Some(mut sample) = source.look() else { continue };
            sample.at_ns = begun.elapsed().as_nanos() as u64;
            // The series are gone when the step no longer waits for them.
            if let Some(series) = lock().series.get_mut(index) {
                series.samples.push(sample);
            }
        }
        if is_last {
            return;
        }
        let cpu_ns = sys::thread_cpu_ns();
        lock().cpu_ns = cpu_ns - *first_ns.get_or_insert(cpu_ns);
        // Nobody waits any more when patience was lost.
        let _ = looked.send(());
        let stopped = match period {
            Some(period) => stopped.recv_timeout(period),
            None => stopped.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match stopped {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(()) => is_last = true,
        }
    }
}

/// The devices at the bottom of `disks`, each once.
fn leaves(root: &Root, disks: &[String]) -> Vec<BlockDevice> {
    let mut all = devices_below(root, disks);
    all.retain(|device| device.slaves.is_empty());
    all
}

fn source_of(root: &Root, device: &BlockDevice) -> Option<(DriveSeries, Source)> {
    let mut series = DriveSeries {
        device: device.name.clone(),
        source: HealthSource::Nvme,
        warning_celsius: None,
        critical_celsius: None,
        samples: Vec::new(),
    };
    let controller = controller_of(root, &device.name);
    if let Some(opened) = controller.as_ref().and_then(|name| Device::open(&root.join("dev").join(name)).ok())
        && let Ok((page, _)) = opened.admin(&AdminCommand::identify_controller())
        && let Ok(described) = Controller::decode(&page)
    {
        series.warning_celsius = described.warning_celsius.map(f64::from);
        series.critical_celsius = described.critical_celsius.map(f64::from);
        let extended = opened.admin(&AdminCommand::ocp_smart_log()).map(|(page, _)| OcpSmartLog::decode(&page));
        let ocp = matches!(extended, Ok(Ok(Some(_))));
        return Some((series, Source::Nvme { device: opened, ocp }));
    }
    let home = match controller {
        Some(name) => root.join("sys/class/nvme").join(name),
        None => root.join("sys/class/block").join(&device.name).join("device"),
    };
    let sensor = sensor_below(&home)?;
    let limit = |name: &str| celsius_in(&sensor.join(name)).filter(|c| *c > 0.0);
    series.source = HealthSource::Hwmon;
    (series.warning_celsius, series.critical_celsius) = (limit("temp1_max"), limit("temp1_crit"));
    let input = sensor.join("temp1_input");
    celsius_in(&input)?;
    Some((series, Source::Hwmon { input }))
}

/// `nvme0` of `nvme0n1`. With native multipath the drive's head says nothing of controllers; its first path does.
fn controller_of(root: &Root, disk: &str) -> Option<String> {
    let parent = |name: &str| {
        let real = fs::canonicalize(root.join("sys/class/block").join(name)).ok()?;
        real.parent()?.file_name()?.to_str().map(str::to_owned).filter(|n| is_nvme_controller(n))
    };
    if let Some(name) = parent(disk) {
        return Some(name);
    }
    let (subsystem, namespace) = disk.strip_prefix("nvme")?.split_once('n')?;
    let is_path = |name: &String| {
        let rest = name.strip_prefix("nvme").and_then(|n| n.strip_prefix(subsystem)).and_then(|n| n.strip_prefix('c'));
        rest.and_then(|n| n.split_once('n')).is_some_and(|(_, n)| n == namespace)
    };
    names_in(&root.join("sys/block")).iter().filter(|n| is_path(n)).find_map(|path| parent(path)).or_else(|| {
        // Paths are hidden from /sys/class/block on some kernels, but not their names.
        let path = names_in(&root.join("sys/block")).into_iter().find(|n| is_path(n))?;
        let rest = path.split_once('c')?.1;
        rest.split_once('n').map(|(controller, _)| format!("nvme{controller}"))
    })
}

/// The hwmon device of a drive; older kernels put a folder `hwmon` between.
fn sensor_below(home: &Path) -> Option<PathBuf> {
    let direct = names_in(home).into_iter().find(|n| n.starts_with("hwmon") && n.len() > 5).map(|n| home.join(n));
    direct.or_else(|| names_in(&home.join("hwmon")).first().map(|n| home.join("hwmon").join(n)))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    fn nvme_tree() -> Tree {
        let tree = Tree::new();
        // Without the folder `block` that other drives have between.
        let home = "sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0";
        let disk = format!("{home}/nvme0n1");
        tree.file(&format!("{disk}/dev"), "259:0\n")
            .file(&format!("{disk}/size"), "2048\n")
            .file(&format!("{disk}/queue/logical_block_size"), "512\n")
            .file(&format!("{disk}/queue/physical_block_size"), "512\n")
            .link("sys/class/block/nvme0n1", &format!("../../{}", &disk[4..]))
            .file(&format!("{home}/hwmon2/temp1_input"), "41850\n")
            .file(&format!("{home}/hwmon2/temp1_max"), "69850\n")
            .link("sys/class/nvme/nvme0", &format!("../../{}", &home[4..]));
        tree
    }

    #[test]
    fn a_drive_that_may_not_be_asked_is_watched_by_its_sensor() {
        let tree = nvme_tree();
        let mut health = HealthWatch::new(&tree.root(), &["nvme0n1".to_owned()], HealthLooks::default());
        health.begin();
        tree.file("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/hwmon2/temp1_input", "72000\n");
        let (series, _) = health.finish();
        let [only] = &series[..] else { panic!("{series:?}") };
        assert_eq!((&*only.device, only.source), ("nvme0n1", HealthSource::Hwmon));
        assert!(only.samples.len() >= 2, "a look at the start and one at the end: {only:?}");
        assert_eq!((only.celsius_max(), only.warning_celsius), (Some(72.0), Some(69.85)));
        assert!(only.throttle_sign().is_some());
    }

    #[test]
    fn the_drives_below_an_array_are_watched_each_once() {
        let tree = nvme_tree();
        tree.disk("md0", "9:0", 8, "virtual").folder("sys/devices/virtual/block/md0/md");
        tree.folder("sys/devices/virtual/block/md0/slaves/nvme0n1");
        let names: Vec<String> = leaves(&tree.root(), &["md0".to_owned(), "nvme0n1".to_owned()])
            .into_iter()
            .map(|device| device.name)
            .collect();
        assert_eq!(names, ["nvme0n1"]);
    }

    #[test]
    fn every_drive_of_a_wide_array_is_watched_however_many_there_are() {
        let tree = Tree::new();
        tree.disk("md0", "9:0", 8, "virtual").folder("sys/devices/virtual/block/md0/md");
        for n in 0..200 {
            tree.disk(&format!("sd{n}"), &format!("8:{n}"), 8, &format!("pci0/ata{n}/host{n}"));
            tree.folder(&format!("sys/devices/virtual/block/md0/slaves/sd{n}"));
        }
        assert_eq!(leaves(&tree.root(), &["md0".to_owned()]).len(), 200);
    }

    #[test]
    fn devices_that_are_built_on_each_other_in_a_circle_end() {
        let tree = Tree::new();
        for (name, number, below) in [("dm-0", "253:0", "dm-1"), ("dm-1", "253:1", "dm-0")] {
            tree.disk(name, number, 8, "virtual").folder(&format!("sys/devices/virtual/block/{name}/slaves/{below}"));
        }
        assert_eq!(leaves(&tree.root(), &["dm-0".to_owned()]), []);
    }

    #[test]
    fn a_multipath_drive_is_asked_by_the_controller_of_its_first_path() {
        let tree = Tree::new();
        tree.disk("nvme5n1", "259:4", 2048, "virtual/nvme-subsystem/nvme-subsys5");
        tree.folder("sys/devices/pci0/nvme/nvme6/nvme5c6n1")
            .link("sys/block/nvme5c6n1", "../devices/pci0/nvme/nvme6/nvme5c6n1");
        assert_eq!(controller_of(&tree.root(), "nvme5n1"), Some("nvme6".to_owned()));
        assert_eq!(controller_of(&tree.root(), "sda"), None);
    }

    fn looks_in_between(looks: HealthLooks) -> Option<usize> {
        let tree = nvme_tree();
        let mut health = HealthWatch::new(&tree.root(), &["nvme0n1".to_owned()], looks);
        health.begin();
        let begun = Instant::now();
        let at_begin = health.running.as_ref().map(|r| r.gathered.lock().expect("no panic").series[0].samples.len());
        assert_ne!(at_begin, Some(0), "the first look lies before what begins next");
        let is_between = |h: &HealthWatch| {
            h.running.as_ref().is_some_and(|r| r.gathered.lock().is_ok_and(|g| g.series[0].samples.len() > 2))
        };
        // As long as looks are still to be expected, on a machine however busy; a while when none are.
        let most = if matches!(looks, HealthLooks::Every(p) if p < Duration::from_secs(1)) { 60_000 } else { 100 };
        while begun.elapsed() < Duration::from_millis(most) && !is_between(&health) {
            thread::sleep(Duration::from_millis(5));
        }
        health.finish().0.first().map(|series| series.samples.len() - 2)
    }

    #[test]
    fn drives_are_asked_as_often_as_was_said() {
        assert_eq!(HealthLooks::default(), HealthLooks::Every(Duration::from_secs(10)));
        assert_eq!(looks_in_between(HealthLooks::default()), Some(0));
        assert_eq!(looks_in_between(HealthLooks::Ends), Some(0));
        assert!(looks_in_between(HealthLooks::Every(Duration::from_millis(5))) > Some(0));
        assert_eq!(looks_in_between(HealthLooks::Off), None);
    }

    #[test]
    fn a_drive_that_does_not_answer_holds_no_step_up() {
        let tree = nvme_tree();
        let sensor = tree.root().join("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/hwmon2/temp1_input");
        let mut health = HealthWatch::new(&tree.root(), &["nvme0n1".to_owned()], HealthLooks::Ends);
        // Reading it waits for a writer.
        std::fs::remove_file(&sensor).expect("removed");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &sensor, rustix::fs::FileType::Fifo, mode, 0).expect("fifo");
        health.begin();
        assert!(health.is_running());
        assert_eq!(health.finish().0, []);
        // Lets the thread go: it reads the end of the file.
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&sensor).expect("opens"));
    }

    #[test]
    fn drives_that_report_nothing_cost_no_thread() {
        let tree = Tree::new();
        tree.disk("vda", "254:0", 8, "pci0/virtio1");
        let mut health = HealthWatch::new(&tree.root(), &["vda".to_owned(), "gone".to_owned()], HealthLooks::default());
        health.begin();
        assert!(health.running.is_none());
        assert_eq!(health.finish(), (Vec::new(), 0));
    }

    #[test]
    fn a_step_that_is_never_finished_leaves_no_thread_behind() {
        let tree = nvme_tree();
        let mut health = HealthWatch::new(&tree.root(), &["nvme0n1".to_owned()], HealthLooks::default());
        health.begin();
        let ended = health.running.take().map(|r| r.ended).expect("it watches");
        assert!(ended.recv_timeout(Duration::from_secs(60)).is_ok(), "the thread ends when its line is cut");
    }
}
