//! Drives: what they are, their queues and settings, what they are attached to.

use fathom_units::parse_cpu_list;
use serde::{Deserialize, Serialize};

use crate::admin::AdminFacts;
use crate::interrupts::Interrupts;
use crate::look::{Look, Why, clean, natural_key, pci_address_of};
use crate::part::Part;
use fathom_host::{BlockDevice, DeviceKind, DiskError, ProbeError, device_by_name};
use fathom_message::{Message, Say as _, msg};

/// An NVMe controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Controller {
    /// `nvme0`.
    pub name: String,
    /// `live`, `resetting`, `dead`...
    pub state: Option<String>,
    /// `pcie`, `tcp`, `rdma`, `fc`, `loop`.
    pub transport: Option<String>,
    /// PCI function.
    pub pci_address: Option<String>,
    /// NUMA node.
    pub numa_node: Option<u32>,
    /// I/O queues completed by interrupt.
    pub interrupt_queues: Option<u32>,
    /// I/O queues that can be polled.
    pub poll_queues: Option<u32>,
    /// Temperature.
    pub temperature: Option<Temperature>,
    /// What it says of itself; `None` where it may not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<Box<AdminFacts>>,
}

/// What the drive's sensor says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// Now.
    pub celsius: f64,
    /// From here on the drive warns, and many slow down.
    pub warning_celsius: Option<f64>,
    /// From here on it may switch itself off.
    pub critical_celsius: Option<f64>,
}

/// Settings of the kernel's request queue; `None` where the driver does not offer one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSettings {
    /// 0: merge, 1: simple merges only, 2: never.
    pub nomerges: Option<u64>,
    /// The kernel counts I/Os and their time.
    pub iostats: Option<u64>,
    /// 0: complete anywhere, 1: on the CPU group of the submitter, 2: on the submitter itself.
    pub rq_affinity: Option<u64>,
    /// Read-ahead for buffered reads.
    pub read_ahead_bytes: Option<u64>,
    /// Largest request.
    pub max_request_bytes: Option<u64>,
    /// Latency that writeback throttling aims at; 0 is off.
    pub wbt_latency_us: Option<u64>,
}

/// A block device that holds data itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// What the guard and the engine know of it.
    #[serde(flatten)]
    pub device: BlockDevice,
    /// PCI function it is attached to.
    pub pci_address: Option<String>,
    /// Driver's name for its interrupts: `nvme0`, `virtio1`.
    pub interrupt_device: Option<String>,
    /// Number of the NVMe namespace within its controller; present where the controller reports something about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_id: Option<u32>,
    /// NVMe controllers that lead to it; several with native multipath.
    pub controllers: Vec<Controller>,
    /// CPU list of each hardware queue.
    pub hw_queue_cpus: Vec<String>,
    /// Settings.
    pub queue: QueueSettings,
    /// State, as SCSI and SATA drivers say it.
    pub state: Option<String>,
    /// Temperature, for drives without NVMe controller.
    pub temperature: Option<Temperature>,
}

impl Drive {
    /// Served by the nvme driver over PCIe, so that the rules for local NVMe drives hold.
    #[must_use]
    pub fn is_local_nvme(&self) -> bool {
        self.controllers.iter().any(|c| c.transport.as_deref() == Some("pcie"))
    }

    /// Poll queues of its controllers; `None` when not known.
    #[must_use]
    pub fn poll_queues(&self) -> Option<u32> {
        self.controllers.iter().filter_map(|c| c.poll_queues).max().or(self.device.poll_queues)
    }

    /// Queues that complete by interrupt: by their vectors, else what polling leaves of the hardware queues.
    #[must_use]
    pub fn interrupt_queues(&self) -> Option<u32> {
        let known = self.controllers.iter().filter_map(|c| c.interrupt_queues).max();
        // The kernel counts queues for polling among its hardware queues.
        let all = self.device.hw_queues.saturating_sub(self.poll_queues().unwrap_or(0));
        known.or((all > 0).then_some(all))
    }

    /// What it says of itself, by the first controller that may be asked.
    #[must_use]
    pub fn admin(&self) -> Option<&AdminFacts> {
        self.controllers.iter().find_map(|c| c.admin.as_deref())
    }

    /// NUMA node of the drive or of its controller.
    #[must_use]
    pub fn numa_node(&self) -> Option<u32> {
        self.device.numa_node.or_else(|| self.controllers.iter().find_map(|c| c.numa_node))
    }

    /// Warmest sensor.
    #[must_use]
    pub fn warmest(&self) -> Option<Temperature> {
        let all = self.controllers.iter().filter_map(|c| c.temperature).chain(self.temperature);
        all.max_by(|a, b| a.celsius.total_cmp(&b.celsius))
    }
}

/// Reads all block devices but those built on others (md, dm).
pub(crate) fn read(look: &Look<'_>, interrupts: &Interrupts) -> Vec<Drive> {
    let controllers = controllers(look, interrupts);
    let mut drives = Vec::new();
    for name in look.names("sys/block") {
        if path_of_head(&name).is_some() {
            continue; // One path of a multipath drive: counted with its head.
        }
        match device_by_name(look.root(), &name) {
            Ok(device) if matches!(device.kind, DeviceKind::Md | DeviceKind::DeviceMapper) => {}
            // loop and zram nodes exist in advance, without anything behind them.
            Ok(device) if device.size_bytes == 0 => {}
            Ok(device) => drives.push(drive(look, device, &controllers)),
            Err(error) => {
                let path = format!("sys/block/{name}");
                // Some ways to copy a folder leave a file in the place of a link.
                let is_file = look.quietly(&path).is_some();
                let detail = if is_file { msg!("missing-not-a-link") } else { detail_of(&error) };
                look.miss(Part::Drives, Why::Unreadable, &path, detail);
            }
        }
    }
    drives
}

/// Why a drive could not be read; the path stands beside it.
fn detail_of(error: &DiskError) -> Message {
    match error {
        DiskError::Probe(ProbeError::Parse { what, .. }) => what.clone(),
        DiskError::Probe(ProbeError::Read { source, .. }) => Message::verbatim(source.to_string()),
        other => other.message(),
    }
}

/// `nvme0c1n2` is the path of head `nvme0n2` by controller `nvme1`.
fn path_of_head(name: &str) -> Option<(String, String)> {
    let rest = name.strip_prefix("nvme")?;
    let (subsystem, rest) = rest.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let numeric = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    [subsystem, controller, namespace]
        .iter()
        .all(|t| numeric(t))
        .then(|| (format!("nvme{subsystem}n{namespace}"), format!("nvme{controller}")))
}

fn drive(look: &Look<'_>, device: BlockDevice, all: &[Controller]) -> Drive {
    let mut device = cleaned(device);
    let home = format!("sys/block/{}", device.name);
    let real = look.real(&home).unwrap_or_default();
    let paths: Vec<(String, String)> = look
        .names("sys/block")
        .into_iter()
        .filter_map(|n| path_of_head(&n).filter(|(head, _)| *head == device.name).map(|(_, c)| (n, c)))
        .collect();
    // The queues of a multipath drive are those of its first path.
    let queue_home = paths.first().map_or_else(|| home.clone(), |(path, _)| format!("sys/block/{path}"));
    let own = controller_in(&real);
    let is_its = |c: &&Controller| Some(&c.name) == own.as_ref() || paths.iter().any(|(_, name)| *name == c.name);
    let controllers: Vec<Controller> = all.iter().filter(is_its).cloned().collect();
    let hw_queues = look.names(&format!("{queue_home}/mq"));
    let cpus = |q: &String| look.word(&format!("{queue_home}/mq/{q}/cpu_list"), Part::QueueCpus).unwrap_or_default();
    if device.hw_queues == 0 {
        device.hw_queues = hw_queues.len() as u32;
    }
    let scsi = look.real(&format!("{home}/device"));
    Drive {
        pci_address: controllers.iter().find_map(|c| c.pci_address.clone()).or_else(|| pci_address_of(&real)),
        interrupt_device: own.or_else(|| real.split('/').find(|c| c.starts_with("virtio")).map(ToOwned::to_owned)),
        hw_queue_cpus: hw_queues.iter().map(cpus).map(|list| kernel_list(&list)).collect(),
        queue: settings(look, &format!("{queue_home}/queue")),
        state: if controllers.is_empty() { look.word(&format!("{home}/device/state"), Part::DriveState) } else { None },
        temperature: if controllers.is_empty() { scsi.and_then(|d| temperature(look, &d)) } else { None },
        namespace_id: controllers
            .iter()
            .any(|c| c.admin.is_some())
            .then(|| namespace_id(look, &home, &device.name))
            .flatten(),
        controllers,
        device,
    }
}

/// Number of a namespace; kernels that do not report it count their names alike as long as no namespace was deleted.
fn namespace_id(look: &Look<'_>, home: &str, name: &str) -> Option<u32> {
    let reported = look.quietly(&format!("{home}/nsid"));
    reported.and_then(|t| t.parse().ok()).or_else(|| name.rsplit_once('n')?.1.parse().ok())
}

/// `0, 1` as the kernel writes queue maps -> `0-1`; what is no list stays as it is.
fn kernel_list(text: &str) -> String {
    match parse_cpu_list(text) {
        Ok(mut cpus) => {
            cpus.sort_unstable();
            fathom_units::format_cpu_list(&cpus)
        }
        Err(_) => text.to_owned(),
    }
}

/// Texts that come from the device made safe to print.
pub(crate) fn cleaned(mut device: BlockDevice) -> BlockDevice {
    let fields = [
        &mut device.model,
        &mut device.serial,
        &mut device.firmware,
        &mut device.scheduler,
        &mut device.write_cache,
        &mut device.partition,
    ];
    for text in fields.into_iter().flatten() {
        *text = clean(text);
    }
    device.number = clean(&device.number);
    device.transport = clean(&device.transport);
    for slave in &mut device.slaves {
        *slave = clean(slave);
    }
    device.slaves.sort_by_cached_key(|name| natural_key(name));
    device
}

/// The controller a namespace lies below: `.../nvme/nvme0/nvme0n1`.
fn controller_in(real: &str) -> Option<String> {
    let mut components = real.split('/').rev().skip(1);
    let parent = components.next()?;
    let digits = parent.strip_prefix("nvme")?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| parent.to_owned())
}

fn settings(look: &Look<'_>, home: &str) -> QueueSettings {
    let number = |name: &str| look.number(&format!("{home}/{name}"), Part::QueueSettings);
    let kib = |name: &str| number(name).map(|k| k.saturating_mul(1024));
    QueueSettings {
        nomerges: number("nomerges"),
        iostats: number("iostats"),
        rq_affinity: number("rq_affinity"),
        read_ahead_bytes: kib("read_ahead_kb"),
        max_request_bytes: kib("max_sectors_kb"),
        // Its file exists but cannot be read where the feature is not built in.
        wbt_latency_us: look.quietly(&format!("{home}/wbt_lat_usec")).and_then(|t| t.parse().ok()),
    }
}

fn controllers(look: &Look<'_>, interrupts: &Interrupts) -> Vec<Controller> {
    let mut all = Vec::new();
    for name in look.names("sys/class/nvme") {
        let home = format!("sys/class/nvme/{name}");
        let word = |attribute: &str| look.word(&format!("{home}/{attribute}"), Part::NvmeController);
        let real = look.real(&home).unwrap_or_default();
        let by_interrupt = interrupts.io_vectors(&name).count() as u32;
        let queues = look.number(&format!("{home}/queue_count"), Part::NvmeQueues).map(|n| n.min(65_536) as u32);
        let asked =
            look.number("sys/module/nvme/parameters/poll_queues", Part::PollQueues).map(|n| n.min(65_536) as u32);
        // The admin queue is counted too. Without vectors to subtract, what the driver was asked for must do.
        let left = queues.filter(|_| by_interrupt > 0).map(|all| all.saturating_sub(1 + by_interrupt));
        let transport = word("transport");
        let is_pcie = transport.as_deref() == Some("pcie");
        let state = word("state");
        // A controller that resets would hold the inventory up.
        let may_answer = state.as_deref().is_none_or(|state| state == "live");
        all.push(Controller {
            admin: if may_answer { AdminFacts::read(look, &name).map(Box::new) } else { None },
            state,
            pci_address: pci_address_of(&real),
            numa_node: look
                .node(&format!("{home}/numa_node"))
                .or_else(|| look.node(&format!("{home}/device/numa_node"))),
            interrupt_queues: (by_interrupt > 0).then_some(by_interrupt),
            poll_queues: if is_pcie { left.or(asked) } else { None },
            temperature: temperature(look, &home),
            transport,
            name,
        });
    }
    all
}

/// First sensor of the hwmon device below `home`; older kernels put a folder `hwmon` between. Millidegrees.
fn temperature(look: &Look<'_>, home: &str) -> Option<Temperature> {
    let direct = look.names(home).into_iter().find(|n| n.starts_with("hwmon") && n.len() > 5);
    let sensor = match direct {
        Some(name) => format!("{home}/{name}"),
        None => format!("{home}/hwmon/{}", look.names(&format!("{home}/hwmon")).first()?),
    };
    let celsius = |name: &str| {
        let milli: f64 = look.word(&format!("{sensor}/{name}"), Part::DriveTemperature)?.parse().ok()?;
        // Drives without a limit report one at 0 K or beyond the melting point of solder.
        Some(milli / 1000.0).filter(|c| c.is_finite() && (-50.0..250.0).contains(c))
    };
    Some(Temperature {
        celsius: celsius("temp1_input")?,
        warning_celsius: celsius("temp1_max").filter(|c| *c > 0.0),
        critical_celsius: celsius("temp1_crit").filter(|c| *c > 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::Tree;

    #[test]
    fn a_multipath_drive_takes_queues_and_controllers_from_its_paths() {
        let tree = Tree::new();
        let bus = "virtual/nvme-subsystem/nvme-subsys5";
        tree.disk("nvme5n1", "259:4", 2048, bus);
        for (controller, slot) in [("nvme5", "0000:81:00.0"), ("nvme6", "0000:82:00.0")] {
            let home = format!("sys/devices/pci0000:80/{slot}/nvme/{controller}");
            let path = format!("nvme5c{}n1", &controller[4..]);
            tree.file(&format!("{home}/state"), "live\n")
                .file(&format!("{home}/transport"), "pcie\n")
                .file(&format!("{home}/{path}/mq/0/cpu_list"), "0, 2, 1\n")
                .file(&format!("{home}/{path}/queue/nomerges"), "2\n")
                .file(&format!("{home}/hwmon1/temp1_input"), "41850\n")
                .link(
                    &format!("sys/class/nvme/{controller}"),
                    &format!("../../../{}", &home[4..]).replace("../../../", "../../"),
                )
                .link(&format!("sys/block/{path}"), &format!("../{}/{path}", &home[4..]));
        }
        let root = tree.root();
        let look = Look::new(&root);
        let drives = read(&look, &Interrupts::default());
        assert_eq!(drives.len(), 1, "{:?}", look.into_missing());
        let drive = &drives[0];
        assert_eq!((drive.controllers.len(), drive.device.hw_queues, drive.queue.nomerges), (2, 1, Some(2)));
        assert_eq!((&drive.hw_queue_cpus[..], drive.is_local_nvme()), (&["0-2".to_owned()][..], true));
        assert_eq!(drive.pci_address.as_deref(), Some("0000:81:00.0"));
        assert_eq!(drive.warmest().map(|t| t.celsius), Some(41.85));
        let text = serde_json::to_string(drive).expect("json");
        assert_eq!(&serde_json::from_str::<Drive>(&text).expect("json"), drive);
    }

    #[test]
    fn a_folder_without_the_class_of_block_devices_has_its_drives() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 488_397_168, "pci0/ata1/host0").file("sys/block/sdb", "../devices/pci0/block/sdb");
        let root = tree.root();
        std::fs::remove_dir_all(root.join("sys/class")).expect("the class");
        let look = Look::new(&root);
        let drives = read(&look, &Interrupts::default());
        let found: Vec<(&str, u64)> = drives.iter().map(|d| (d.device.name.as_str(), d.device.size_bytes)).collect();
        assert_eq!(found, [("sda", 488_397_168 * 512)]);
        // A link that became a file when the folder was copied.
        let missing = look.into_missing();
        let told = missing.iter().find(|m| m.example == "sys/block/sdb").expect("a note");
        assert_eq!(told.detail.id(), "missing-not-a-link");
    }

    #[test]
    fn a_drive_that_vanishes_while_it_is_read_is_noted() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 8, "pci0/ata1/host0").link("sys/block/sdb", "../devices/gone/block/sdb");
        tree.link("sys/class/block/sdb", "../../devices/gone/block/sdb");
        let root = tree.root();
        let look = Look::new(&root);
        let drives = read(&look, &Interrupts::default());
        assert_eq!(drives.iter().map(|d| d.device.name.as_str()).collect::<Vec<_>>(), ["sda"]);
        assert!(
            look.into_missing().iter().any(|m| m.what.id() == "part-drives" && m.detail.to_string().contains("sdb"))
        );
    }

    #[test]
    fn poll_queues_are_what_interrupts_leave_over() {
        let tree = Tree::new();
        let home = "sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0";
        tree.file(&format!("{home}/queue_count"), "11\n")
            .file(&format!("{home}/transport"), "pcie\n")
            .link("sys/class/nvme/nvme0", "../../devices/pci0000:00/0000:00:04.0/nvme/nvme0")
            .file("sys/module/nvme/parameters/poll_queues", "4\n");
        let mut text = "CPU0\n".to_owned();
        for queue in 0..9 {
            text.push_str(&format!("{}: 1 PCI-MSIX 0-edge nvme0q{queue}\n", 40 + queue));
        }
        let root = tree.root();
        let look = Look::new(&root);
        let none = &controllers(&look, &Interrupts::default())[0];
        assert_eq!((none.interrupt_queues, none.poll_queues), (None, Some(4)));
        tree.file("proc/interrupts", text);
        let interrupts = Interrupts::read(&look, &crate::pcie::Pcie::default());
        let known = &controllers(&look, &interrupts)[0];
        assert_eq!((known.interrupt_queues, known.poll_queues), (Some(8), Some(2)));
    }

    #[test]
    fn names_of_paths_are_told_from_names_of_drives() {
        assert_eq!(path_of_head("nvme5c6n1"), Some(("nvme5n1".to_owned(), "nvme6".to_owned())));
        assert_eq!((path_of_head("nvme5n1"), path_of_head("nvmec1n1"), path_of_head("sda")), (None, None, None));
    }
}
