//! Simulated machines behind `sim:` targets: from a name to the machine, and the machine as a run keeps and shows it.

use std::path::{Path, PathBuf};

use fathom_host::{BlockDevice, Cpu, DeviceKind, HostFacts, TargetFacts, Topology, read_text};
use fathom_judge::document::StepView;
use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_model::{
    DriveFacts, MachineModel, MdModel, RaidLevel, RaidMaker, RaidModel, StepFacts, UplinkModel, UplinkPlace,
};
use fathom_plan::{MachineText, Plan, SourceError, Step, TargetId};
use fathom_sim::{
    Array, ArrayController, Fault, FaultKind, InterruptPolicy, Level, Link, Machine, SimRunner, builtin_machines,
    parse_machine, self_contained, target_name,
};
use fathom_units::nearest;
use serde::Serialize;

use super::members::{card_of, drive_model, pcie, time};
use super::{KNOWN_REL_HALF_WIDTH, TargetError};

/// What every simulated target begins with.
const PREFIX: &str = "sim:";

/// True if the targets of a plan are simulated: its run is in virtual time, whatever else this host does.
#[must_use]
pub fn is_simulated(plan: &Plan) -> bool {
    let mut targets = plan.steps.iter().flat_map(|step| &step.targets).flat_map(TargetId::opened);
    targets.any(|target| target_name(target.as_str()).is_some())
}

/// A machine with the name and the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedMachine {
    /// What stands between `sim:` and the part: a shipped machine's name, or the path of a file.
    pub name: String,
    /// The machine file with every device that it uses.
    pub text: String,
    /// What the text says.
    pub machine: Machine,
}

/// Reads a simulated machine: a shipped one by name, or a file that ends in `.toml`; `sim:` may stand before either.
///
/// # Errors
/// [`SourceError`]: an unknown name with the nearest one, a file that cannot be read, or what is wrong in it with line
/// and column.
pub fn simulated_machine(name: &str) -> Result<SimulatedMachine, SourceError> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let text = match builtin_machines().iter().find(|(known, _)| *known == name) {
        Some((_, text)) => (*text).to_owned(),
        None if name.ends_with(".toml") => read_text(Path::new(name)).map_err(|e| {
            SourceError::without_place("", msg!("machine-file-unreadable", name = name.to_owned(), error = e), None)
        })?,
        None => return Err(unknown_machine(name)),
    };
    let file = if name.ends_with(".toml") { name.to_owned() } else { format!("{name}.toml") };
    let machine = parse_machine(&text, &file)?;
    Ok(SimulatedMachine { name: name.to_owned(), text: self_contained(&text, &machine)?, machine })
}

fn unknown_machine(name: &str) -> SourceError {
    let names: Vec<&str> = builtin_machines().iter().map(|(known, _)| *known).collect();
    let near = nearest(name, names.iter().copied());
    let shipped = msg!("machine-unknown-help", names = Arg::names(names.iter().copied(), Join::Comma));
    let near = near.map(|near| msg!("did-you-mean", near = near.to_owned()));
    let help = Arg::list(near.into_iter().chain([shipped]), Join::Sentences);
    let message = msg!("machine-unknown", name = name.to_owned());
    SourceError::without_place("", message, Some(msg!("several-sentences", list = help)))
}

/// The targets that `sim:MACHINE/PART` stands for, each a drive or an array; `None` for a name of something real.
///
/// # Errors
/// [`TargetError::Machine`] when there is no such machine or no such part of it.
pub(crate) fn expand_simulated(name: &str) -> Result<Option<Vec<String>>, TargetError> {
    let Some(parsed) = target_name(name) else { return Ok(None) };
    let simulated = simulated_machine(parsed.machine)?;
    Ok(Some(simulated.targets_of(name)?))
}

impl SimulatedMachine {
    /// The machine of a plan whose targets are simulated, from the text it holds or by name; `None` when all are real.
    ///
    /// # Errors
    /// [`TargetError`]: real and simulated targets in one plan, two machines, an unknown machine or part.
    pub(crate) fn of_plan(plan: &Plan) -> Result<Option<SimulatedMachine>, TargetError> {
        let mut machines: Vec<&str> = Vec::new();
        let mut real: Option<&str> = None;
        let opened: Vec<TargetId> = plan.steps.iter().flat_map(|s| &s.targets).flat_map(TargetId::opened).collect();
        for target in &opened {
            match target_name(target.as_str()) {
                Some(name) if !machines.contains(&name.machine) => machines.push(name.machine),
                Some(_) => {}
                None => real = Some(target.as_str()),
            }
        }
        let (Some(first), others) = (machines.first(), machines.get(1)) else { return Ok(None) };
        if let Some(other) = real.map(str::to_owned).or(others.map(|m| format!("{PREFIX}{m}"))) {
            return Err(TargetError::Mixed { simulated: format!("{PREFIX}{first}"), other });
        }
        let simulated = match &plan.machine {
            Some(kept) if kept.name == *first => Self::kept(kept)?,
            _ => simulated_machine(first)?,
        };
        for target in plan.steps.iter().flat_map(|s| &s.targets) {
            simulated.targets_of(target.as_str())?;
        }
        Ok(Some(simulated))
    }

    /// Whether every target holds what the plan touches.
    ///
    /// # Errors
    /// [`TargetError::TooSmall`].
    pub(crate) fn check_regions(&self, plan: &Plan) -> Result<(), TargetError> {
        for step in &plan.steps {
            let region = step.workload.region;
            let need_bytes = region.offset_bytes + region.size_bytes.unwrap_or(0);
            for target in self.expanded(step)? {
                let have_bytes = self.capacity_bytes(&target).unwrap_or(0);
                if need_bytes > have_bytes {
                    return Err(TargetError::TooSmall { target, have_bytes, need_bytes });
                }
            }
        }
        Ok(())
    }

    /// Bytes that a drive or array of it holds.
    pub(super) fn capacity_bytes(&self, target: &TargetId) -> Option<u64> {
        if let Some(array) = self.machine.array_of(target) {
            return array.ok().map(|array| self.machine.array_bytes(&array));
        }
        self.machine.capacity_bytes_of(target_name(target.as_str())?.part?)
    }

    /// The machine of a run, as it was then.
    pub(crate) fn kept(kept: &MachineText) -> Result<SimulatedMachine, SourceError> {
        let machine = parse_machine(&kept.text, &kept.name)?;
        Ok(SimulatedMachine { name: kept.name.clone(), text: kept.text.clone(), machine })
    }

    /// The text as a plan keeps it.
    pub(crate) fn to_kept(&self) -> MachineText {
        MachineText { name: self.name.clone(), text: self.text.clone() }
    }

    /// Drives and arrays that a target name of this machine stands for.
    pub(super) fn targets_of(&self, path: &str) -> Result<Vec<String>, TargetError> {
        let wrong = |why| {
            let help = Some(msg!("machine-no-part-help", machine = &self.name));
            let message = msg!("machine-no-part", target = path.to_owned(), why = why);
            TargetError::Machine(Box::new(SourceError::without_place("", message, help)))
        };
        if let Some(array) = self.machine.array_of(&TargetId::new(path)) {
            return array.map(|_| vec![path.to_owned()]).map_err(wrong);
        }
        let part = target_name(path).and_then(|name| name.part);
        let members = self.machine.members_of(part).map_err(wrong)?;
        Ok(members.into_iter().map(|member| format!("{PREFIX}{}/{member}", self.name)).collect())
    }

    /// The step's targets, each a drive or an array.
    pub(crate) fn expanded(&self, step: &Step) -> Result<Vec<TargetId>, TargetError> {
        let mut out = Vec::new();
        for target in &step.targets {
            out.extend(self.targets_of(target.as_str())?.into_iter().map(TargetId::new));
        }
        Ok(out)
    }

    /// Something that runs steps on it.
    pub(crate) fn runner(&self, started_unix_ns: u64) -> SimRunner {
        SimRunner::new(self.machine.clone(), started_unix_ns)
    }

    /// The machine in the words of a real one, with the targets of the plan.
    pub(crate) fn facts(&self, plan: &Plan) -> HostFacts {
        let host = &self.machine.host;
        let cpu = |id: u32| {
            let mut siblings: Vec<u32> = std::iter::once(id).chain(host.sibling_of(id)).collect();
            siblings.sort_unstable();
            let (package, core) = (host.socket_of(id), id % host.cores() % host.cores_per_socket);
            Cpu { id, core, package, node: package, siblings, allowed: true }
        };
        let opened: Vec<TargetId> = plan.steps.iter().flat_map(|s| &s.targets).flat_map(TargetId::opened).collect();
        let mut paths: Vec<&str> = opened.iter().map(TargetId::as_str).collect();
        paths.sort_by_key(|p| self.position(p));
        paths.dedup();
        HostFacts {
            cpu_model: host.cpu_model.clone(),
            topology: Topology { cpus: (0..host.cpus()).map(cpu).collect(), ..Topology::default() },
            cores: host.cores(),
            packages: host.sockets,
            numa_nodes: host.sockets,
            clocksource: Some("virtual".to_owned()),
            governor: None,
            kernel: format!("{} (simulated)", host.os),
            memory_bytes: host.memory_bytes,
            hypervisor: Some("simulated".to_owned()),
            stand_in: None,
            mitigations: 0,
            io_uring_disabled: None,
            targets: paths.into_iter().map(|path| self.target_facts(path)).collect(),
        }
    }

    /// Place of a target in the machine file, so that drive 2 stands before drive 10.
    fn position(&self, path: &str) -> usize {
        let part = target_name(path).and_then(|n| n.part);
        self.machine.parts().iter().position(|p| Some(p.as_str()) == part).unwrap_or(usize::MAX)
    }

    fn target_facts(&self, path: &str) -> TargetFacts {
        let name = target_name(path).and_then(|n| n.part).unwrap_or_default();
        let drive = self.machine.drives.iter().find(|d| d.name == name);
        let array = self.machine.arrays.iter().find(|a| a.name == name);
        let model = drive.map(|d| d.device.name.clone()).or(array.map(|a| a.level.as_str().to_owned()));
        let device = BlockDevice {
            name: name.to_owned(),
            dev_path: PathBuf::from(path),
            number: String::new(),
            kind: if array.is_some() { DeviceKind::Md } else { DeviceKind::Disk },
            partition: None,
            slaves: array
                .map_or_else(Vec::new, |a| a.members.iter().map(|m| self.machine.drives[*m].name.clone()).collect()),
            model,
            serial: None,
            firmware: None,
            size_bytes: self.machine.capacity_bytes_of(name).unwrap_or(0),
            logical_block_bytes: 512,
            physical_block_bytes: 4096,
            rotational: false,
            scheduler: None,
            nr_requests: None,
            hw_queues: drive.map_or(0, |d| d.device.queues),
            write_cache: None,
            transport: "simulated".to_owned(),
            numa_node: drive.map(|d| d.socket),
            read_only: false,
            io_poll: true,
            poll_queues: None,
        };
        TargetFacts {
            target: Some(path.into()),
            path: path.to_owned(),
            mount: None,
            device: Some(device),
            no_device_because: None,
        }
    }

    /// What stands under `host` in the document.
    pub(crate) fn host_json(&self, facts: &HostFacts) -> String {
        #[derive(Serialize)]
        struct Seen<'a> {
            #[serde(flatten)]
            facts: &'a HostFacts,
            simulated: Named<'a>,
        }
        #[derive(Serialize)]
        struct Named<'a> {
            machine: &'a str,
            title: &'a str,
            sources: &'a [String],
        }
        let simulated =
            Named { machine: &self.machine.name, title: &self.machine.title, sources: &self.machine.sources };
        serde_json::to_string(&Seen { facts, simulated }).expect("facts are plain data")
    }

    /// What attribution may know of it for a step on `devices` (names of drives).
    #[must_use]
    pub fn step_facts(&self, devices: &[String]) -> StepFacts {
        let machine = &self.machine;
        let drives: Vec<&fathom_sim::Drive> = machine.drives.iter().filter(|d| devices.contains(&d.name)).collect();
        let mut model = MachineModel::named(machine.host.cpu_model.clone());
        model.cores = Some(machine.host.cores());
        let speed = f64::from(machine.host.smt_speed_pct) / 100.0;
        model.smt_gain = if machine.host.threads_per_core > 1 { 2.0 * speed } else { 1.0 };
        model.links = drives.iter().filter_map(|d| pcie(self.trained(d))).collect();
        model.uplinks = self.uplinks(&drives);
        model.raid = self.raid(&drives);
        let siblings = (0..machine.host.cores()).filter_map(|cpu| Some(vec![cpu, machine.host.sibling_of(cpu)?]));
        StepFacts {
            machine: model,
            drives: drives.iter().map(|d| self.drive_facts(d)).collect(),
            rate_limits: Vec::new(),
            io_controls: Vec::new(),
            is_guest: false,
            clocksource: None,
            siblings: siblings.collect(),
        }
    }

    /// The same for a step on an array that its name makes over these drives.
    pub(crate) fn array_facts(&self, devices: &[String], array: Option<&TargetId>) -> StepFacts {
        let mut facts = self.step_facts(devices);
        if let Some(array) = array.and_then(|target| self.array_behind(target)) {
            facts.machine.raid = Some(self.raid_model(&array));
            facts.machine.device = self.member_model(&array);
        }
        facts
    }

    /// What the kernel of such a machine shows of a drive: its link as trained, and where its interrupts go.
    fn drive_facts(&self, drive: &fathom_sim::Drive) -> DriveFacts {
        let host = &self.machine.host;
        let one_cpu = match self.machine.host.interrupts {
            InterruptPolicy::OneCpu(cpu) => Some(cpu),
            InterruptPolicy::Submitter => self.faults_of(drive).find_map(|kind| match kind {
                FaultKind::InterruptsOnOneCpu { cpu } => Some(cpu),
                _ => None,
            }),
        };
        DriveFacts {
            name: drive.name.clone(),
            model: Some(drive.device.name.clone()),
            // Drives of a shipped machine have data sheets; those of a user's file are samples.
            rated: self.is_shipped().then(|| drive_model(&drive.device, drive.link)).flatten(),
            link: pcie(self.trained(drive)),
            link_possible: pcie(drive.link),
            scheduler: None,
            poll_queues: None,
            hw_queues: drive.device.queues,
            requests_per_queue: None,
            irq_cpus: one_cpu.into_iter().collect(),
            remote_cpus: (0..host.cpus()).filter(|cpu| host.socket_of(*cpu) != drive.socket).collect(),
            temperature_celsius: None,
        }
    }

    fn is_shipped(&self) -> bool {
        builtin_machines().iter().any(|(name, _)| *name == self.name)
    }

    /// The drive's own link as it came up.
    fn trained(&self, drive: &fathom_sim::Drive) -> Link {
        let trained = self.faults_of(drive).find_map(|kind| match (kind, drive.link) {
            (FaultKind::LinkTrainedDown { generation, lanes }, Link::Pcie { mps_bytes, .. }) => {
                Some(Link::Pcie { generation, lanes, mps_bytes })
            }
            _ => None,
        });
        trained.unwrap_or(drive.link)
    }

    fn faults_of(&self, drive: &fathom_sim::Drive) -> impl Iterator<Item = FaultKind> {
        let is_of_drive = |f: &&Fault| f.drive.as_ref().is_none_or(|name| *name == drive.name || *name == drive.group);
        self.machine.faults.iter().filter(is_of_drive).map(|f| f.kind)
    }

    /// Shared links above the drives, with the number of them below each.
    fn uplinks(&self, drives: &[&fathom_sim::Drive]) -> Vec<UplinkModel> {
        let below = |index: usize| {
            let reaches = |d: &&&fathom_sim::Drive| {
                let mut at = d.upstream;
                while let Some(next) = at.filter(|next| *next != index) {
                    at = self.machine.links[next].upstream;
                }
                at.is_some()
            };
            drives.iter().filter(reaches).count() as u32
        };
        let uplink = |(index, shared): (usize, &fathom_sim::SharedLink)| {
            Some(UplinkModel {
                place: UplinkPlace::Named(shared.name.clone()),
                link: pcie(shared.link)?,
                drives: below(index),
            })
        };
        self.machine.links.iter().enumerate().filter_map(uplink).filter(|u| u.drives > 0).collect()
    }

    /// The array whose members these drives are.
    fn raid(&self, drives: &[&fathom_sim::Drive]) -> Option<RaidModel> {
        let names: Vec<&str> = drives.iter().map(|d| d.name.as_str()).collect();
        let array = self.machine.arrays.iter().find(|array| {
            array.members.len() == names.len()
                && array.members.iter().all(|m| names.contains(&self.machine.drives[*m].name.as_str()))
        })?;
        Some(self.raid_model(array))
    }

    /// The array that a target is: one that its name makes, or one of the machine.
    pub(super) fn array_behind(&self, target: &TargetId) -> Option<Array> {
        if let Some(array) = self.machine.array_of(target) {
            return array.ok();
        }
        let part = target_name(target.as_str())?.part?;
        self.machine.arrays.iter().find(|array| array.name == part).cloned()
    }

    /// An array as prediction sees it.
    pub(super) fn raid_model(&self, array: &Array) -> RaidModel {
        let level = match array.level {
            Level::Raid0 => RaidLevel::Raid0,
            Level::Raid10 => RaidLevel::Raid10,
            Level::Raid5 => RaidLevel::Raid5,
            Level::Raid6 => RaidLevel::Raid6,
        };
        let maker = match &array.controller {
            ArrayController::Card(card) => RaidMaker::Card(card_of(&self.machine.title, card)),
            ArrayController::UserSpace(_) => RaidMaker::UserSpace,
            ArrayController::Md(md) => RaidMaker::Md(MdModel {
                stripe_ns: time(md.stripe_ps),
                lock_ns: time(md.lock_ps),
                threads: md.threads,
                stripe_cache: Some(md.stripe_cache),
                parity_bytes_per_s: (md.xor_bytes_per_s > 0).then_some(md.xor_bytes_per_s as f64),
            }),
        };
        let members = Some(array.members.len() as u32);
        RaidModel { level, chunk_bytes: array.chunk_bytes, members, missing: array.lost.count(), maker }
    }
}

/// What an answer that rests on a simulation must say: `steps` measured on a machine, some of them perhaps for less time
/// than was asked for.
pub(crate) fn simulated_caveat(machine: &MachineText, steps: &[StepView]) -> Message {
    let shortened = |s: &StepView| s.clock.as_ref().and_then(|clock| clock.shortened);
    let asked_s: f64 = steps.iter().map(|s| shortened(s).map_or(s.runtime_s, |w| w.asked_ns as f64 / 1e9)).sum();
    let ran_s: f64 = steps.iter().map(|s| s.runtime_s).sum();
    if !steps.iter().any(|s| shortened(s).is_some()) {
        return msg!("simulated-caveat", machine = &machine.name);
    }
    let time = |seconds: f64| Quantity::duration_ns((seconds * 1e9) as u64);
    let within = Quantity::pct(100.0 * KNOWN_REL_HALF_WIDTH);
    msg!(
        "simulated-caveat-shortened",
        machine = &machine.name,
        within = within,
        ran = time(ran_s),
        asked = time(asked_s)
    )
}
