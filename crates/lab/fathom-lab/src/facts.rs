//! What the inventory knows of the machine a step ran on, in the words of attribution and ceilings.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use fathom_host::BlockDevice;
use fathom_inspect::{Drive, Inventory, LinkRate, PciFunction, Smt};
use fathom_model::{
    Catalogue, DeviceModel, DriveFacts, MachineModel, MdModel, Observation, PcieLink, RaidLevel, RaidMaker, RaidModel,
    RateLimit, RateSource, StepFacts, UplinkModel, UplinkPlace, level_turns,
};
use fathom_plan::{ArrayMaker, ArrayTarget, Plan, Step, TargetId};
use fathom_record::StepRecord;
use fathom_sim::Level;
use fathom_store::{Lab, RunId, StoreError};
use fathom_units::parse_cpu_list;
use serde::Deserialize;

use crate::site::SimulatedMachine;

/// Gain of the second hardware thread of a core, where it was not measured (catalogue: t1-smt-gain).
const SMT_GAIN: f64 = 1.64;

/// Facts by the devices of a step: most steps of a run share them.
pub(crate) struct FactsOfRun<'a> {
    machine: MachineOfRun<'a>,
    made: BTreeMap<(Vec<String>, Option<TargetId>), Arc<StepFacts>>,
}

/// What a run was conducted on.
enum MachineOfRun<'a> {
    Real(&'a Inventory),
    Simulated(Box<SimulatedMachine>),
}

impl<'a> FactsOfRun<'a> {
    /// Of the machine that the run keeps, or of the inventory of a real one; `None` when it keeps neither.
    pub(crate) fn of_run(plan: &Plan, inventory: Option<&'a Inventory>) -> Option<Self> {
        let simulated = plan.machine.as_ref().and_then(|kept| SimulatedMachine::kept(kept).ok());
        let machine = match simulated {
            Some(simulated) => MachineOfRun::Simulated(Box::new(simulated)),
            None => MachineOfRun::Real(inventory?),
        };
        Some(FactsOfRun { machine, made: BTreeMap::new() })
    }

    /// The facts for a step on these devices, given by kernel name; `array`: that which is over them, where its name says so
    /// and not the inventory, which was taken before md made it, or knows nothing of user space.
    pub(crate) fn of(&mut self, devices: &[String], array: Option<&TargetId>) -> Arc<StepFacts> {
        let key = (devices.to_vec(), array.cloned());
        let over = array.and_then(TargetId::array).and_then(Result::ok);
        let made = || match (&self.machine, &over) {
            (MachineOfRun::Real(inventory), Some(over)) => array_facts(inventory, devices, over),
            (MachineOfRun::Real(inventory), None) => step_facts(inventory, devices),
            (MachineOfRun::Simulated(machine), Some(_)) => machine.array_facts(devices, array),
            (MachineOfRun::Simulated(machine), None) => machine.step_facts(devices),
        };
        self.made.entry(key).or_insert_with(|| Arc::new(made())).clone()
    }
}

/// The facts of a step on `devices` (kernel names of whole devices).
#[must_use]
pub fn step_facts(inventory: &Inventory, devices: &[String]) -> StepFacts {
    let drives: Vec<&Drive> = devices.iter().flat_map(|d| inventory.drives_below(d)).collect();
    let mut machine = MachineModel::named(inventory.processors.model.clone());
    machine.cores = Some(allowed_cores(inventory));
    machine.smt_gain = if inventory.processors.smt == Smt::On { SMT_GAIN } else { 1.0 };
    machine.links = drives.iter().filter_map(|d| own_link(inventory, d)).collect();
    machine.uplinks = uplinks(inventory, &drives);
    machine.raid = devices.iter().find_map(|d| array(inventory, d));
    machine.device = machine.raid.as_ref().and_then(|_| equal_members(&drives));
    machine.memory_bytes_per_s = inventory.processors.memory_bytes_per_s.map(|rate| rate as f64);
    machine.is_ram_disk = !devices.is_empty() && devices.iter().all(|d| is_ram_disk(d));
    StepFacts {
        machine,
        drives: drives.iter().map(|d| drive_facts(inventory, d)).collect(),
        rate_limits: rate_limits(inventory, devices),
        io_controls: io_controls(inventory, devices),
        is_guest: inventory.processors.hypervisor.is_some(),
        clocksource: inventory.processors.clocksource.clone(),
        siblings: siblings(inventory),
    }
}

/// The facts of a step on an array over `devices` (kernel names of its members that are not missing). The ceiling of its
/// members stands where each is a drive of its own: files of one drive share it.
fn array_facts(inventory: &Inventory, devices: &[String], array: &ArrayTarget) -> StepFacts {
    let mut facts = step_facts(inventory, devices);
    let drives: Vec<&Drive> = devices.iter().flat_map(|d| inventory.drives_below(d)).collect();
    let layout = array.layout();
    let level = match layout.level() {
        Level::Raid0 => RaidLevel::Raid0,
        Level::Raid5 => RaidLevel::Raid5,
        Level::Raid6 => RaidLevel::Raid6,
        Level::Raid10 => RaidLevel::Raid10,
    };
    // A member that is rebuilt is written beside the load, and read from no more than one that is missing.
    let missing = array.missing().count() + u32::from(array.rebuild().is_some());
    let maker = match array.maker() {
        ArrayMaker::UserSpace => RaidMaker::UserSpace,
        ArrayMaker::LinuxMd => RaidMaker::Md(MdModel::default()),
    };
    let members = Some(layout.members());
    facts.machine.raid = Some(RaidModel { level, chunk_bytes: layout.chunk_bytes(), members, missing, maker });
    let is_one_each = drives.len() as u32 == layout.members() - array.missing().count();
    facts.machine.device = if is_one_each { equal_members(&drives) } else { None };
    facts
}

/// Whether a device is memory: `zram0`, `ram1`, `pmem0`.
fn is_ram_disk(device: &str) -> bool {
    let number = ["zram", "ram", "pmem"].iter().find_map(|kind| device.strip_prefix(kind));
    number.is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
}

/// Physical cores that this process may run on.
fn allowed_cores(inventory: &Inventory) -> u32 {
    let cpus = inventory.processors.topology.cpus.iter().filter(|c| c.allowed);
    let mut cores: Vec<(u32, u32)> = cpus.map(|c| (c.package, c.core)).collect();
    cores.sort_unstable();
    cores.dedup();
    cores.len() as u32
}

fn siblings(inventory: &Inventory) -> Vec<Vec<u32>> {
    let mut out: Vec<Vec<u32>> = inventory.processors.topology.cpus.iter().map(|c| c.siblings.clone()).collect();
    out.sort();
    out.dedup();
    out.retain(|core| core.len() > 1);
    out
}

fn link(rate: LinkRate, max_payload_bytes: u32) -> PcieLink {
    PcieLink { generation: rate.generation, lanes: rate.width, max_payload_bytes }
}

fn functions<'a>(inventory: &'a Inventory, drive: &Drive) -> Vec<&'a PciFunction> {
    drive.pci_address.as_deref().map_or_else(Vec::new, |a| inventory.pcie.path_to(a))
}

/// The drive's own link as trained.
fn own_link(inventory: &Inventory, drive: &Drive) -> Option<PcieLink> {
    let path = functions(inventory, drive);
    let hop = path.last()?.hop.as_ref()?;
    Some(link(hop.current, hop.max_payload_bytes))
}

/// Links above the drives' own, with the drives of the step below each.
fn uplinks(inventory: &Inventory, drives: &[&Drive]) -> Vec<UplinkModel> {
    let mut out: BTreeMap<&str, UplinkModel> = BTreeMap::new();
    for drive in drives {
        let path = functions(inventory, drive);
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        for function in above {
            let Some(hop) = &function.hop else { continue };
            let link = link(hop.current, hop.max_payload_bytes);
            let place = UplinkPlace::Above { address: function.address.clone() };
            let entry = out.entry(&function.address).or_insert(UplinkModel { place, link, drives: 0 });
            entry.drives += 1;
        }
    }
    out.into_values().collect()
}

fn array(inventory: &Inventory, device: &str) -> Option<RaidModel> {
    let array = inventory.arrays.iter().find(|a| a.device.name == device)?;
    let level = RaidLevel::parse(array.level.as_deref().filter(|l| l.starts_with("raid"))?).ok()?;
    // What is being rebuilt, or is out, is among the members and does not count as one.
    let is_whole = |member: &&fathom_inspect::Member| member.state.as_deref().is_none_or(|s| s.contains("in_sync"));
    let missing = array.degraded.unwrap_or(0) as u32;
    let whole = RaidModel::of(level);
    Some(RaidModel {
        chunk_bytes: array.chunk_bytes.unwrap_or(whole.chunk_bytes),
        members: Some(array.members.iter().filter(is_whole).count() as u32 + missing),
        missing,
        ..whole
    })
}

fn drive_facts(inventory: &Inventory, drive: &Drive) -> DriveFacts {
    let path = functions(inventory, drive);
    let hop = path.last().and_then(|f| f.hop.as_ref());
    let vectors = drive.interrupt_device.as_deref().map(|d| inventory.interrupts.io_vectors(d));
    let mut irq_cpus: Vec<u32> = vectors
        .into_iter()
        .flatten()
        .filter_map(|v| v.effective.as_deref().or(v.affinity.as_deref()))
        .flat_map(|list| parse_cpu_list(list).unwrap_or_default())
        .collect();
    irq_cpus.sort_unstable();
    irq_cpus.dedup();
    DriveFacts {
        name: drive.device.name.clone(),
        model: drive.device.model.clone(),
        rated: rated(&drive.device),
        link: hop.map(|h| link(h.current, h.max_payload_bytes)),
        link_possible: hop.map(|h| link(h.possible(), h.max_payload_bytes)),
        // Only drives that need no reordering are judged by their scheduler.
        scheduler: drive.device.scheduler.clone().filter(|_| drive.is_local_nvme()),
        poll_queues: drive.poll_queues(),
        hw_queues: drive.device.hw_queues,
        requests_per_queue: drive.device.nr_requests,
        irq_cpus,
        remote_cpus: drive.numa_node().map_or_else(Vec::new, |node| cpus_beyond(inventory, node)),
        temperature_celsius: drive.warmest().map(|t| (t.celsius, t.warning_celsius)),
    }
}

/// CPUs of other NUMA nodes.
fn cpus_beyond(inventory: &Inventory, node: u32) -> Vec<u32> {
    inventory.processors.topology.cpus.iter().filter(|c| c.node != node).map(|c| c.id).collect()
}

/// What the catalogue says of the members of an array, where all are of one make.
fn equal_members(drives: &[&Drive]) -> Option<DeviceModel> {
    let first = rated(&drives.first()?.device)?;
    drives.iter().all(|d| rated(&d.device).as_ref() == Some(&first)).then_some(first)
}

/// What the catalogue says of a drive of this model and size.
fn rated(device: &BlockDevice) -> Option<DeviceModel> {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    let catalogue = CATALOGUE.get_or_init(Catalogue::embedded);
    DeviceModel::of(catalogue.device_like(device.model.as_deref()?, device.size_bytes)?).ok()
}

/// Whether `name` is one of the devices, or a drive below one.
fn is_below(inventory: &Inventory, devices: &[String], name: &str) -> bool {
    devices.iter().any(|d| d == name || inventory.drives_below(d).iter().any(|x| x.device.name == name))
}

/// Controls of the devices, or of what lies below them, that know no fixed rate.
fn io_controls(inventory: &Inventory, devices: &[String]) -> Vec<(String, String)> {
    let named = inventory.limits.io_controls.iter().filter_map(|c| Some((c.name.clone(), c.device.clone()?)));
    named.filter(|(_, device)| is_below(inventory, devices, device)).collect()
}

/// What control groups allow the devices, or what lies below them: of all levels the tightest holds.
fn rate_limits(inventory: &Inventory, devices: &[String]) -> Vec<RateLimit> {
    let below = |name: &str| is_below(inventory, devices, name);
    let mut tightest: BTreeMap<&str, RateLimit> = BTreeMap::new();
    for limit in inventory.limits.io_max.iter().filter(|l| l.device.as_deref().is_some_and(below)) {
        let device = limit.device.as_deref().unwrap_or(&limit.number);
        let held = tightest.entry(device).or_insert_with(|| RateLimit {
            source: RateSource::ControlGroup { device: device.to_owned() },
            read_iops: None,
            write_iops: None,
            read_bytes_per_s: None,
            write_bytes_per_s: None,
        });
        let tighten = |rate: &mut Option<f64>, other: Option<u64>| {
            *rate = rate.iter().copied().chain(other.map(|r| r as f64)).reduce(f64::min);
        };
        tighten(&mut held.read_iops, limit.read_iops);
        tighten(&mut held.write_iops, limit.write_iops);
        tighten(&mut held.read_bytes_per_s, limit.read_bytes_per_s);
        tighten(&mut held.write_bytes_per_s, limit.write_bytes_per_s);
    }
    tightest.into_values().collect()
}

/// The inventory that a run keeps; `None`: runs of other machines and of other versions may hold none that can be read.
pub(crate) fn inventory_of(host: &serde_json::Value) -> Option<Inventory> {
    host.get("inventory").and_then(|i| Inventory::deserialize(i).ok())
}

/// The measured steps of a run as attribution and fits see them, with what its inventory knows.
///
/// # Errors
/// [`StoreError`] when the run is not in the lab or cannot be read.
pub fn observations_of(lab: &Lab, run: RunId) -> Result<Vec<Observation>, StoreError> {
    let head = lab.load_head(run)?;
    let inventory = inventory_of(&lab.host_of(&head)?);
    let mut facts = FactsOfRun::of_run(&head.plan, inventory.as_ref());
    let mut out = Vec::new();
    for index in lab.step_indexes(run)? {
        let stored = lab.load_step(run, index)?;
        // What the host counted is of all streams of a set together.
        if let (Ok(record), None) = (&stored.outcome, &stored.step.role.stream) {
            out.push(observation(&stored.step, record, facts.as_mut()));
        }
    }
    level_turns(&mut out);
    Ok(out)
}

/// A step as attribution sees it, with what the inventory knows of its devices.
pub(crate) fn observation(step: &Step, record: &StepRecord, facts: Option<&mut FactsOfRun<'_>>) -> Observation {
    let seen = Observation::of(step, record);
    let array = match &step.targets[..] {
        [one] => Some(one).filter(|t| t.array().is_some()),
        _ => None,
    };
    // Of an array that md made for the step the kernel counts the members beside it.
    let is_of_md = array.is_some_and(|t| t.md_array().is_some());
    let counted =
        record.host.iter().flat_map(|h| if is_of_md && !h.members.is_empty() { &h.members } else { &h.disks });
    let devices: Vec<String> = counted.map(|d| d.device.clone()).collect();
    match facts {
        Some(facts) => seen.on(facts.of(&devices, array)),
        None => seen,
    }
}

#[cfg(test)]
mod tests {
    use fathom_record::{DiskDelta, HostDelta};
    use fathom_store::NewRun;

    use super::*;
    use crate::samples;
    use crate::view::document_of;

    #[test]
    fn memory_that_was_measured_is_a_ceiling_and_a_ram_disk_crosses_it_twice() {
        let mut inventory = Inventory::read(&fathom_host::Root::live());
        inventory.processors.memory_bytes_per_s = Some(8_000_000_000);
        let facts = |device: &str| step_facts(&inventory, &[device.to_owned()]).machine;
        assert_eq!(facts("nvme0n1").memory_bytes_per_s, Some(8e9));
        let are: Vec<bool> =
            ["zram0", "ram15", "pmem0", "nvme0n1", "vda"].iter().map(|d| facts(d).is_ram_disk).collect();
        assert_eq!(are, [true, true, true, false, false]);
    }

    /// An md array of drives that call themselves so.
    fn array_of(models: &[&str]) -> StepFacts {
        let mut inventory = Inventory::read(&fathom_host::Root::live());
        let like = inventory.drives.first().expect("this machine has a block device").clone();
        let named = |name: String, model: &str| {
            let mut drive = like.clone();
            (drive.device.name, drive.device.model) = (name, Some(model.to_owned()));
            drive.device.size_bytes = 3_840_755_982_336;
            drive
        };
        inventory.drives = (0..).zip(models).map(|(i, model)| named(format!("nvme{i}n1"), model)).collect();
        let member = |d: &Drive| fathom_inspect::Member { name: d.device.name.clone(), state: None };
        inventory.arrays = vec![fathom_inspect::Array {
            device: BlockDevice { name: "md0".into(), ..like.device },
            level: Some("raid5".into()),
            mapper_name: None,
            members: inventory.drives.iter().map(member).collect(),
            chunk_bytes: None,
            degraded: None,
            sync_action: None,
        }];
        step_facts(&inventory, &["md0".to_owned()])
    }

    #[test]
    fn the_ceiling_of_an_array_rests_on_what_the_catalogue_says_of_its_members() {
        let p5510 = "Dell Ent NVMe P5510 RI U.2 3.84TB";
        let facts = array_of(&[p5510; 4]);
        assert_eq!((facts.drives.len(), facts.machine.raid.as_ref().map(|r| r.level)), (4, Some(RaidLevel::Raid5)));
        let mut step = samples::step();
        (step.workload.mix.read_pct, step.workload.mix.write_pct) = (0, 100);
        step.workload.pattern = fathom_plan::Pattern::Random;
        let seen = Observation::of(&step, &samples::record(&[1_000])).on(Arc::new(facts));
        assert!(seen.ceilings().iter().any(|c| c.name == fathom_model::LimitName::Raid), "{:?}", seen.ceilings());
        assert_eq!(array_of(&[p5510, p5510, "Another P3700"]).machine.device, None);
        assert_eq!(array_of(&["QEMU NVMe Ctrl"; 3]).machine.device, None);
    }

    /// An array that a step names is known by its name: nothing of it is in the inventory.
    #[test]
    fn arrays_of_user_space_and_those_that_md_makes_have_the_ceiling_of_their_members() {
        let mut inventory = Inventory::read(&fathom_host::Root::live());
        let like = inventory.drives.first().expect("this machine has a block device").clone();
        inventory.drives = (0..4)
            .map(|i| {
                let mut drive = like.clone();
                drive.device.name = format!("nvme{i}n1");
                drive.device.model = Some("Dell Ent NVMe P5510 RI U.2 3.84TB".to_owned());
                drive.device.size_bytes = 3_840_755_982_336;
                drive
            })
            .collect();
        inventory.arrays.clear();
        let ceiling = |name: &str, devices: &[&str]| {
            let mut step = samples::step();
            (step.workload.mix.read_pct, step.workload.mix.write_pct) = (100, 0);
            step.workload.pattern = fathom_plan::Pattern::Random;
            step.targets = vec![name.into()];
            let mut record = samples::record(&[1_000]);
            let disks = devices.iter().map(|name| DiskDelta { device: (*name).to_owned(), ..DiskDelta::default() });
            record.host = Some(HostDelta { disks: disks.collect(), window_ns: 1, ..HostDelta::default() });
            let mut facts = FactsOfRun { machine: MachineOfRun::Real(&inventory), made: BTreeMap::new() };
            let seen = observation(&step, &record, Some(&mut facts));
            let own = seen.ceilings().iter().find(|c| c.part == Some(fathom_model::ArrayPart::Member)).map(|c| c.iops);
            own.map(f64::round)
        };
        let all = ["nvme0n1", "nvme1n1", "nvme2n1", "nvme3n1"];
        let whole = ceiling("raid5:64k:/dev/a,/dev/b,/dev/c,/dev/d", &all);
        assert_eq!(whole, Some(2_800_000.0), "4 x 700 000 reads");
        assert_eq!(ceiling("md-raid5:64k:/dev/a,/dev/b,/dev/c,/dev/d", &all), whole);
        // Without one of four the others read for it: each is as busy as two were.
        assert_eq!(ceiling("raid5:64k:/dev/a,/dev/b,/dev/c,missing", &all[..3]), Some(1_400_000.0));
        assert_eq!(ceiling("raid5:64k:/a,/b,/c,/d", &all[..1]), None, "files of one drive share it");
        assert_eq!(ceiling("/dev/nvme0n1", &all[..1]), None);
    }

    #[test]
    fn of_the_limits_of_all_levels_the_tightest_holds() {
        let mut inventory = Inventory::read(&fathom_host::Root::live());
        let device = inventory.drives.first().expect("this machine has a block device").device.name.clone();
        let limit = |read_iops, write_iops| fathom_inspect::IoLimit {
            device: Some(device.clone()),
            read_iops,
            write_iops,
            ..fathom_inspect::IoLimit::default()
        };
        inventory.limits.io_max = vec![limit(Some(1_000), None), limit(Some(500), Some(70)), limit(Some(800), None)];
        let (name, number) = ("io.cost".to_owned(), String::new());
        inventory.limits.io_controls = vec![fathom_inspect::IoControl { name, number, device: Some(device.clone()) }];
        let facts = step_facts(&inventory, std::slice::from_ref(&device));
        assert_eq!(facts.io_controls, [("io.cost".to_owned(), device.clone())]);
        let rates: Vec<_> = facts.rate_limits.iter().map(|l| (l.read_iops, l.write_iops)).collect();
        assert_eq!(rates, [(Some(500.0), Some(70.0))]);
        assert_eq!(step_facts(&inventory, &["another".to_owned()]).rate_limits, []);
    }

    #[test]
    fn a_run_that_lost_its_host_keeps_its_figures_and_says_so_and_nothing_is_fitted_to_it() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut lab = Lab::open(&dir.path().join("lab.db")).expect("made");
        let plan = samples::document(1, serde_json::Value::Null, Vec::new()).run.plan;
        let mut begin = |host_json: &str| {
            let new = NewRun {
                study: "quick",
                question: "How fast?",
                plan: &plan,
                host_json,
                fathom_version: "0.1.0",
                started_unix_ns: 0,
                command_line: "fathom run quick",
                is_import: false,
            };
            lab.begin_run(&new).expect("begins")
        };
        let (sound, lost) = (begin("{}"), begin("{\"kernel\":"));
        let caveats = |run| {
            let document = document_of(&lab, run).expect("has its figures");
            crate::samples::words(&document.verdict[0].caveats)
        };
        assert_eq!(caveats(sound), [""; 0]);
        assert!(caveats(lost)[0].contains("is damaged"), "{:?}", caveats(lost));
        assert!(observations_of(&lab, sound).is_ok());
        let error = observations_of(&lab, lost).expect_err("cannot be judged");
        assert!(fathom_message::Say::message(&error).holds("lab-bad-host"), "{error}");
    }
}
