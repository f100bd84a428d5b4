//! Machines built by hand for tests: their trees, as a kernel would show them.
#![allow(missing_docs)] // Names of parts and figures say what they are.

mod manifest;

use std::cell::RefCell;
use std::collections::HashMap;

use fathom_units::format_cpu_list;

use fathom_host::Root;
use fathom_host::testing::Tree;

pub use manifest::{expand, fixture, fixture_names};

/// Generation and width.
pub type Link = (u8, u8);

struct Irq {
    number: u32,
    name: String,
    counts: Vec<u64>,
    chip: String,
}

/// A machine that grows part by part.
pub struct Machine {
    tree: Tree,
    cpus: u32,
    sockets: u32,
    cores: u32,
    irqs: RefCell<Vec<Irq>>,
    ports: HashMap<String, u32>,
    buses: HashMap<String, u32>,
    drives: u32,
    /// I/O queues of drives added from now on; `None`: one per CPU.
    pub queues_per_drive: Option<u32>,
    /// Poll queues of drives added from now on.
    pub poll_queues: u32,
    /// Model and bytes of drives added from now on.
    pub drive_model: (&'static str, u64),
}

const CPU: &str = "sys/devices/system/cpu";

fn speed(generation: u8) -> &'static str {
    ["2.5 GT/s PCIe", "5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"]
        [usize::from(generation) - 1]
}

/// A configuration space with the PCIe capability at 0x40: kind of port, and 256 bytes of payload.
fn config(port_type: u8) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    (bytes[6], bytes[0x34]) = (0x10, 0x40);
    (bytes[0x40], bytes[0x42], bytes[0x48]) = (0x10, port_type << 4 | 2, 1 << 5);
    bytes
}

impl Machine {
    /// A server without devices: every socket is a node; CPU `i` and `i + cores` are siblings.
    pub fn server(sockets: u32, cores_per_socket: u32, threads: u32) -> Machine {
        let cores = sockets * cores_per_socket;
        let machine = Machine {
            tree: Tree::new(),
            cpus: cores * threads,
            sockets,
            cores,
            irqs: RefCell::default(),
            ports: HashMap::new(),
            buses: HashMap::new(),
            drives: 0,
            queues_per_drive: None,
            poll_queues: 0,
            drive_model: ("FATHOM TEST DRIVE", 1_920_383_410_176),
        };
        let all = format!("0-{}\n", machine.cpus - 1);
        machine
            .file(&format!("{CPU}/online"), &all)
            .file("proc/self/status", &format!("Name:\tfathom\nCpus_allowed_list:\t{all}"))
            .file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU\nflags\t\t: fpu\n")
            .file("proc/meminfo", &format!("MemTotal:       {} kB\n", u64::from(sockets) * (192 << 20)))
            .file("proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
            .file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
            .file("proc/self/mountinfo", "24 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n")
            .file("proc/self/cgroup", "0::/\n");
        for node in 0..sockets {
            let cpus: Vec<u32> = (0..machine.cpus).filter(|c| c % cores / cores_per_socket == node).collect();
            let distances: Vec<&str> = (0..sockets).map(|n| if n == node { "10" } else { "21" }).collect();
            let home = format!("sys/devices/system/node/node{node}");
            machine
                .file(&format!("{home}/cpulist"), &format!("{}\n", format_cpu_list(&cpus)))
                .file(&format!("{home}/distance"), &format!("{}\n", distances.join(" ")))
                .file(&format!("{home}/meminfo"), &format!("Node {node} MemTotal:  {} kB\n", 192_u64 << 20));
        }
        for cpu in 0..machine.cpus {
            let core = cpu % cores;
            let siblings: Vec<String> = (0..threads).map(|t| (core + t * cores).to_string()).collect();
            let home = format!("{CPU}/cpu{cpu}");
            machine
                .file(&format!("{home}/topology/core_id"), &format!("{}\n", core % cores_per_socket))
                .file(&format!("{home}/topology/physical_package_id"), &format!("{}\n", core / cores_per_socket))
                .file(&format!("{home}/topology/thread_siblings_list"), &format!("{}\n", siblings.join(",")))
                .file(&format!("{home}/cpufreq/scaling_driver"), "acpi-cpufreq\n")
                .file(&format!("{home}/cpufreq/scaling_governor"), "performance\n")
                .file(&format!("{home}/cpufreq/scaling_min_freq"), "1500000\n")
                .file(&format!("{home}/cpufreq/scaling_max_freq"), "3700000\n");
        }
        machine.write_interrupts();
        machine
    }

    pub fn root(&self) -> Root {
        self.tree.root()
    }

    pub fn file(&self, path: &str, content: &str) -> &Self {
        self.tree.file(path, content);
        self
    }

    pub fn for_each_cpu(&self, attribute: &str, content: &str) -> &Self {
        for cpu in 0..self.cpus {
            self.file(&format!("{CPU}/cpu{cpu}/{attribute}"), content);
        }
        self
    }

    pub fn idle_state(&self, index: u32, name: &str, exit_latency_us: u32) -> &Self {
        self.for_each_cpu(&format!("cpuidle/state{index}/name"), &format!("{name}\n"))
            .for_each_cpu(&format!("cpuidle/state{index}/latency"), &format!("{exit_latency_us}\n"))
            .for_each_cpu(&format!("cpuidle/state{index}/disable"), "0\n")
    }

    /// A cache level that `cpus_each` neighbouring cores (and their siblings) share.
    pub fn cache(&self, index: u32, level: u32, kind: &str, size: &str, cores_each: u32) -> &Self {
        for cpu in 0..self.cpus {
            let group = cpu % self.cores / cores_each;
            let shared: Vec<u32> = (0..self.cpus).filter(|c| c % self.cores / cores_each == group).collect();
            let home = format!("{CPU}/cpu{cpu}/cache/index{index}");
            self.file(&format!("{home}/level"), &format!("{level}\n"))
                .file(&format!("{home}/type"), &format!("{kind}\n"))
                .file(&format!("{home}/size"), &format!("{size}\n"))
                .file(&format!("{home}/shared_cpu_list"), &format!("{}\n", format_cpu_list(&shared)));
        }
        self
    }

    pub fn iommu_group(&self, address: &str, group: u32, domain: &str) -> &Self {
        let link = format!("sys/bus/pci/devices/{address}/iommu_group");
        if std::fs::symlink_metadata(self.root().join(&link)).is_err() {
            self.tree.link(&link, &format!("../../../../kernel/iommu_groups/{group}"));
        }
        self.file(&format!("sys/kernel/iommu_groups/{group}/type"), &format!("{domain}\n"))
    }

    /// A function at `path` below `sys/devices`; returns its home.
    fn function(
        &self,
        path: &str,
        ids: (&str, &str, &str),
        node: u32,
        port_type: u8,
        current: Option<Link>,
        max: Link,
    ) -> String {
        let address = path.rsplit('/').next().expect("address");
        let home = format!("sys/devices/{path}");
        let (class, vendor, device) = ids;
        self.file(&format!("{home}/class"), &format!("0x{class}\n"))
            .file(&format!("{home}/vendor"), &format!("0x{vendor}\n"))
            .file(&format!("{home}/device"), &format!("0x{device}\n"))
            .file(&format!("{home}/numa_node"), &format!("{}\n", if self.sockets > 1 { node as i32 } else { -1 }))
            .file(&format!("{home}/max_link_speed"), &format!("{}\n", speed(max.0)))
            .file(&format!("{home}/max_link_width"), &format!("{}\n", max.1))
            .file(&format!("{home}/current_link_speed"), &format!("{}\n", speed(current.map_or(1, |l| l.0))))
            .file(&format!("{home}/current_link_width"), &format!("{}\n", current.map_or(0, |l| l.1)));
        self.tree.file(&format!("{home}/config"), config(port_type));
        self.tree.link(&format!("sys/bus/pci/devices/{address}"), &format!("../../../devices/{path}"));
        home
    }

    fn next_bus(&mut self, complex: &str) -> u32 {
        let base = u32::from_str_radix(complex.rsplit(':').next().expect("bus"), 16).expect("hexadecimal");
        let bus = self.buses.entry(complex.to_owned()).or_insert(base);
        *bus += 1;
        *bus
    }

    /// A port of the processor; returns its path.
    pub fn port(&mut self, complex: &str, node: u32, current: Option<Link>, max: Link) -> String {
        let count = self.ports.entry(complex.to_owned()).or_insert(0);
        let path = format!("pci{complex}/{complex}:{count:02x}.0");
        *count += 1;
        self.function(&path, ("060400", "8086", "2030"), node, 4, current, max);
        path
    }

    /// A device that is no NVMe drive on a port of its own.
    pub fn card(&mut self, complex: &str, node: u32, class: &str, driver: &str, current: Link, port: Link) {
        let above = self.port(complex, node, Some(current), port);
        let bus = self.next_bus(complex);
        let path = format!("{above}/0000:{bus:02x}:00.0");
        let home = self.function(&path, (class, "15b3", "1017"), node, 0, Some(current), current);
        self.tree.link(&format!("{home}/driver"), &format!("../../../../bus/pci/drivers/{driver}"));
    }

    /// An NVMe drive on a port of the processor.
    pub fn drive_on_port(&mut self, complex: &str, node: u32, current: Link, drive: Link, port: Link) {
        let above = self.port(complex, node, Some(current), port);
        let bus = self.next_bus(complex);
        self.drive(&format!("{above}/0000:{bus:02x}:00.0"), node, current, drive);
    }

    /// A switch on a port of the processor, with NVMe drives below.
    pub fn switch_with_drives(&mut self, complex: &str, node: u32, up: Link, down: Link, drives: u32) {
        let above = self.port(complex, node, Some(up), up);
        let bus = self.next_bus(complex);
        let switch = format!("{above}/0000:{bus:02x}:00.0");
        self.function(&switch, ("060400", "10b5", "9765"), node, 5, Some(up), up);
        let inner = self.next_bus(complex);
        for slot in 0..drives {
            let port = format!("{switch}/0000:{inner:02x}:{:02x}.0", slot + 4);
            self.function(&port, ("060400", "10b5", "9765"), node, 6, Some(down), down);
            let bus = self.next_bus(complex);
            self.drive(&format!("{port}/0000:{bus:02x}:00.0"), node, down, down);
        }
    }

    fn drive(&mut self, path: &str, node: u32, current: Link, max: Link) {
        let number = self.drives;
        self.drives += 1;
        let function = self.function(path, ("010802", "144d", "a824"), node, 0, Some(current), max);
        self.tree.link(&format!("{function}/driver"), "../../../../bus/pci/drivers/nvme");
        let (name, namespace) = (format!("nvme{number}"), format!("nvme{number}n1"));
        let home = format!("{function}/nvme/{name}");
        let queues = self.queues_per_drive.unwrap_or(self.cpus);
        self.file(&format!("{home}/model"), &format!("{:<40}\n", self.drive_model.0))
            .file(&format!("{home}/serial"), &format!("S64GNE0R{number:06}  \n"))
            .file(&format!("{home}/firmware_rev"), "GDC5602Q\n")
            .file(&format!("{home}/state"), "live\n")
            .file(&format!("{home}/transport"), "pcie\n")
            .file(&format!("{home}/queue_count"), &format!("{}\n", 1 + queues + self.poll_queues))
            .file(&format!("{home}/hwmon{number}/temp1_input"), &format!("{}\n", 36850 + number * 1000 % 7000))
            .file(&format!("{home}/hwmon{number}/temp1_max"), "81850\n")
            .file(&format!("{home}/hwmon{number}/temp1_crit"), "84850\n")
            .file("sys/module/nvme/parameters/poll_queues", &format!("{}\n", self.poll_queues));
        self.tree.link(&format!("sys/class/nvme/{name}"), &format!("../../devices/{path}/nvme/{name}"));
        self.namespace(&format!("{path}/nvme/{name}/{namespace}"), &namespace, number, queues);
        self.add_vectors(&function, &name, queues);
    }

    fn namespace(&self, path: &str, name: &str, minor: u32, queues: u32) {
        let home = format!("sys/devices/{path}");
        self.file(&format!("{home}/dev"), &format!("259:{minor}\n"))
            .file(&format!("{home}/size"), &format!("{}\n", self.drive_model.1 / 512))
            .file(&format!("{home}/ro"), "0\n");
        for (attribute, value) in [
            ("logical_block_size", "512"),
            ("physical_block_size", "4096"),
            ("rotational", "0"),
            ("scheduler", "[none] mq-deadline"),
            ("nr_requests", "1023"),
            ("write_cache", "write through"),
            ("io_poll", if self.poll_queues > 0 { "1" } else { "0" }),
            ("nomerges", "0"),
            ("iostats", "1"),
            ("rq_affinity", "1"),
            ("read_ahead_kb", "128"),
            ("max_sectors_kb", "512"),
        ] {
            self.file(&format!("{home}/queue/{attribute}"), &format!("{value}\n"));
        }
        for queue in 0..queues {
            self.file(&format!("{home}/mq/{queue}/cpu_list"), &format!("{}\n", queue % self.cpus));
        }
        self.tree
            .link(&format!("{home}/device"), &format!("../../{}", name.trim_end_matches("n1")))
            .link(&format!("sys/dev/block/259:{minor}"), &format!("../../devices/{path}"))
            .link(&format!("sys/block/{name}"), &format!("../devices/{path}"))
            .link(&format!("sys/class/block/{name}"), &format!("../../devices/{path}"));
    }

    /// Vector 0 for administration, then one per queue, each on its CPU.
    fn add_vectors(&self, function: &str, name: &str, queues: u32) {
        let address = function.rsplit('/').next().expect("address");
        for vector in 0..=queues {
            let number = 40 + self.irqs.borrow().len() as u32;
            let cpu = if vector == 0 { 0 } else { (vector - 1) % self.cpus };
            let mut counts = vec![0; self.cpus as usize];
            counts[cpu as usize] = if vector == 0 { 12 } else { 1000 + u64::from(number) };
            let chip = format!("IR-PCI-MSIX-{address} {vector}-edge");
            self.irqs.borrow_mut().push(Irq { number, name: format!("{name}q{vector}"), counts, chip });
            self.file(&format!("{function}/msi_irqs/{number}"), "msix\n")
                .file(&format!("proc/irq/{number}/smp_affinity_list"), &format!("{cpu}\n"))
                .file(&format!("proc/irq/{number}/effective_affinity_list"), &format!("{cpu}\n"));
        }
        self.write_interrupts();
    }

    fn write_interrupts(&self) {
        let heading: Vec<String> = (0..self.cpus).map(|c| format!("CPU{c}")).collect();
        let mut text = format!("      {}\n", heading.join(" "));
        for irq in self.irqs.borrow().iter() {
            let counts: Vec<String> = irq.counts.iter().map(u64::to_string).collect();
            text.push_str(&format!("{:>4}: {} {} {}\n", irq.number, counts.join(" "), irq.chip, irq.name));
        }
        self.file("proc/interrupts", &text);
    }

    /// Every vector of every drive goes to one CPU.
    pub fn steer_all_interrupts_to(&self, cpu: u32) {
        for irq in self.irqs.borrow().iter() {
            self.file(&format!("proc/irq/{}/effective_affinity_list", irq.number), &format!("{cpu}\n"));
        }
    }

    /// An md array of whole drives.
    pub fn array(&self, name: &str, level: &str, members: &[&str]) -> &Self {
        self.tree.disk(name, "9:0", 4 * self.drive_model.1 / 512, "virtual");
        let home = format!("sys/devices/virtual/block/{name}");
        for member in members {
            self.tree.folder(&format!("{home}/slaves/{member}"));
            self.file(&format!("{home}/md/dev-{member}/state"), "in_sync\n");
        }
        self.file(&format!("{home}/md/level"), &format!("{level}\n"))
            .file(&format!("{home}/md/chunk_size"), "524288\n")
            .file(&format!("{home}/md/degraded"), "0\n")
            .file(&format!("{home}/md/sync_action"), "idle\n")
    }

    /// Raw pages of a drive in a hand-built machine, written after the tables of the specification: 3 % used, 61 C,
    /// 2 TB written, formats of 512 and 4096 bytes, interrupt coalescing on.
    pub fn give_pages(&self, controller: &str) {
        let mut identify = vec![0_u8; 4096];
        identify[4..24].copy_from_slice(b"S64GNE0R000000      ");
        identify[77] = 5; // 2^5 pages
        identify[80..84].copy_from_slice(&[0, 4, 1, 0]); // 1.4.0
        identify[256] = 1 << 1; // format
        identify[263] = 1; // two power states
        identify[265] = 1; // transitions of its own accord
        identify[520] = 1 << 2; // trim
        identify[525] = 1; // write cache
        identify[2048..2050].copy_from_slice(&2500_u16.to_le_bytes()); // 25 W
        identify[2080..2082].copy_from_slice(&5_u16.to_le_bytes());
        identify[2083] = 0b10; // no I/O in this state
        let mut namespace = vec![0_u8; 4096];
        namespace[25] = 1; // two formats, the first in force
        namespace[128..132].copy_from_slice(&[0, 0, 9, 2]);
        namespace[132..136].copy_from_slice(&[0, 0, 12, 0]);
        let mut smart = vec![0_u8; 512];
        smart[1..3].copy_from_slice(&334_u16.to_le_bytes());
        smart[3..6].copy_from_slice(&[100, 10, 3]);
        smart[48..56].copy_from_slice(&(2_000_000_000_000_u64 / 512_000).to_le_bytes());
        let mut transitions = vec![0_u8; 256];
        transitions[..4].copy_from_slice(&(100_u32 << 8 | 1 << 3).to_le_bytes());
        for (name, bytes) in [
            ("identify.bin", &identify[..]),
            ("namespace-1.bin", &namespace),
            ("smart.bin", &smart),
            ("transitions.bin", &transitions),
            ("feature-02.bin", &[0, 0, 0, 0]),
            ("feature-06.bin", &[1, 0, 0, 0]),
            ("feature-08.bin", &[7, 2, 0, 0]),
            ("feature-0c.bin", &[1, 0, 0, 0]),
        ] {
            self.set_page(controller, name, bytes);
        }
    }

    /// One raw page of a drive in a hand-built machine.
    pub fn set_page(&self, controller: &str, name: &str, bytes: &[u8]) {
        let path = self.root().join(crate::admin::PAGES_FOLDER).join(controller).join(name);
        std::fs::create_dir_all(path.parent().expect("folder")).expect("folder");
        std::fs::write(path, bytes).expect("page");
    }

    fn named(self, cpu: &str) -> Machine {
        let cpuinfo = format!("processor\t: 0\nmodel name\t: {cpu}\nflags\t\t: fpu\n");
        self.file("proc/cpuinfo", &cpuinfo);
        self
    }
}

/// The Dell R740xd of the article on Oracle: two Xeon Gold 6130, three switch cards x16 with four Gen3 x4 drives each,
/// a RAID card, a boot card and a 25GbE card: 68 of the 96 lanes.
pub fn r740xd() -> Machine {
    let mut machine = Machine::server(2, 16, 2).named("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz");
    machine.drive_model = ("SAMSUNG MZWLL800HEHP-00003", 800_166_076_416);
    machine
        .for_each_cpu("cpufreq/scaling_driver", "intel_pstate\n")
        .for_each_cpu("cpufreq/scaling_governor", "powersave\n");
    machine.for_each_cpu("cpufreq/energy_performance_preference", "balance_performance\n");
    machine.idle_state(0, "POLL", 0).idle_state(1, "C1", 2).idle_state(2, "C1E", 10).idle_state(3, "C6", 133);
    machine.cache(0, 1, "Data", "32K", 1).cache(2, 2, "Unified", "1024K", 1).cache(3, 3, "Unified", "22528K", 16);
    machine.card("0000:16", 0, "010601", "ahci", (2, 4), (3, 8));
    machine.card("0000:16", 0, "010400", "megaraid_sas", (3, 8), (3, 8));
    machine.card("0000:64", 0, "020000", "mlx5_core", (3, 8), (3, 16));
    machine.switch_with_drives("0000:3a", 0, (3, 16), (3, 4), 4);
    machine.switch_with_drives("0000:85", 1, (3, 16), (3, 4), 4);
    machine.switch_with_drives("0000:ae", 1, (3, 16), (3, 4), 4);
    machine.port("0000:d7", 1, None, (3, 16));
    machine
}

/// The 64-core machine of the article on cores and drives: one EPYC 9534, sixteen Gen4 x4 drives, untuned.
pub fn epyc_sixteen_drives() -> Machine {
    let mut machine = Machine::server(1, 64, 2).named("AMD EPYC 9534 64-Core Processor");
    machine.drive_model = ("FATHOM GEN4 1.1M", 3_840_755_982_336);
    machine.idle_state(0, "POLL", 0).idle_state(1, "C1", 1).idle_state(2, "C2", 800);
    machine.cache(0, 1, "Data", "32K", 1).cache(2, 2, "Unified", "1024K", 1).cache(3, 3, "Unified", "32768K", 8);
    for complex in ["0000:00", "0000:40", "0000:80", "0000:c0"] {
        for _ in 0..4 {
            machine.drive_on_port(complex, 0, (4, 4), (4, 4), (5, 4));
        }
    }
    machine.card("0000:e0", 0, "020700", "mlx5_core", (4, 16), (5, 16));
    machine
}

/// Two sockets, 256 CPUs, 24 Gen4 drives, twelve per socket, poll queues, a passthrough IOMMU.
pub fn two_sockets_24_drives() -> Machine {
    let mut machine = Machine::server(2, 64, 2).named("AMD EPYC 7763 64-Core Processor");
    machine.drive_model = ("KIOXIA KCM6XRUL3T84", 3_840_755_982_336);
    // The nvme driver asks for no more vectors than the drive has, here 63 with the admin queue apart.
    (machine.queues_per_drive, machine.poll_queues) = (Some(63), 16);
    machine.idle_state(0, "POLL", 0).idle_state(1, "C1", 1);
    machine.cache(3, 3, "Unified", "32768K", 8);
    for (complex, node) in
        [("0000:00", 0), ("0000:20", 0), ("0000:40", 0), ("0000:80", 1), ("0000:a0", 1), ("0000:c0", 1)]
    {
        for _ in 0..4 {
            machine.drive_on_port(complex, node, (4, 4), (4, 4), (4, 4));
        }
    }
    machine.card("0000:60", 0, "020000", "mlx5_core", (4, 16), (4, 16));
    machine.card("0000:e0", 1, "020000", "mlx5_core", (4, 16), (4, 16));
    for (index, address) in ["0000:01:00.0", "0000:81:00.0"].into_iter().enumerate() {
        machine.iommu_group(address, index as u32, "identity");
    }
    machine
}

/// Eight cores with SMT switched off, a RAID 5 of four drives that rebuilds, one drive hot, irqbalance, a strict IOMMU.
pub fn smt_off_with_troubles() -> Machine {
    let mut machine = Machine::server(1, 8, 1).named("Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz");
    for _ in 0..4 {
        machine.drive_on_port("0000:00", 0, (4, 4), (4, 4), (4, 4));
    }
    machine.array("md0", "raid5", &["nvme0n1", "nvme1n1", "nvme2n1", "nvme3n1"]);
    machine
        .file("sys/devices/system/cpu/smt/control", "off\n")
        .file("sys/block/md0/md/degraded", "1\n")
        .file("sys/block/md0/md/sync_action", "recover\n")
        .file("sys/class/nvme/nvme2/hwmon2/temp1_input", "79850\n")
        .file("sys/block/nvme1n1/queue/scheduler", "none [mq-deadline]\n")
        .file("sys/block/nvme3n1/queue/write_cache", "write back\n")
        .file("proc/901/comm", "irqbalance\n")
        .file("proc/self/mountinfo", "30 1 9:0 / /srv/data rw,noatime - xfs /dev/md0 rw\n");
    machine.iommu_group("0000:01:00.0", 1, "DMA").iommu_group("0000:02:00.0", 2, "DMA");
    machine
}

/// Two sockets; a Gen4 x4 drive that trained at Gen3 x2, a Gen5 drive in a Gen4 slot, eight drives behind one x8
/// uplink, all on node 1, while the process may run on node 0 only.
pub fn links_in_trouble() -> Machine {
    let mut machine = Machine::server(2, 4, 1).named("Intel(R) Xeon(R) Silver 4309Y CPU @ 2.80GHz");
    machine.drive_on_port("0000:80", 1, (3, 2), (4, 4), (4, 4));
    machine.drive_on_port("0000:80", 1, (4, 4), (5, 4), (4, 4));
    machine.switch_with_drives("0000:a0", 1, (4, 8), (4, 4), 8);
    machine.file("proc/self/status", "Name:\tfathom\nCpus_allowed_list:\t0-3\n");
    machine
}

/// Files whose content a drive, a guest's firmware or a stranger decides.
pub const HOSTILE: [&str; 14] = [
    "sys/class/nvme/nvme0/model",
    "sys/class/nvme/nvme0/serial",
    "sys/class/nvme/nvme0/firmware_rev",
    "sys/class/nvme/nvme0/state",
    "sys/class/nvme/nvme0/queue_count",
    "sys/block/nvme0n1/queue/scheduler",
    "sys/block/nvme0n1/queue/write_cache",
    "sys/block/nvme0n1/size",
    "sys/bus/pci/devices/0000:11:00.0/class",
    "sys/bus/pci/devices/0000:11:00.0/current_link_speed",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "proc/interrupts",
    "proc/self/mountinfo",
    "proc/cpuinfo",
];

/// Whether a terminal can be shown the text.
#[must_use]
pub fn is_safe(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'))
}
