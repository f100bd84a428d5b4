//! What `fathom predict` is asked about: a described, catalogued, inspected or simulated system.

use std::path::Path;

use fathom_host::{Root, read_text};
use fathom_inspect::Inventory;
use fathom_lab::{SimulatedTarget, simulated_members, step_facts};
use fathom_message::Say as _;
use fathom_model::{Catalogue, Description, MachineModel, PcieLink, catalogued_engine, described, published_cost};
use fathom_plan::{EngineSpec, Knobs, Mode, Step, TargetId};

use super::predict::by_hand;
use super::predict_array;
use crate::exit::{Exit, Problem};
use crate::model_args::PredictArgs;
use crate::terminal::say;

/// The system that is asked about.
pub(super) struct Subject {
    /// Without the cost of an I/O, unless the user named one.
    pub(super) machine: MachineModel,
    /// The part of a simulated machine that is asked about: its file says everything.
    pub(super) simulated: Option<SimulatedTarget>,
    /// What had to be assumed of it.
    pub(super) assumed: Vec<String>,
    catalogue: Catalogue,
    cpu: Option<String>,
    /// Whether the user named what an I/O costs.
    pub(super) is_cost_named: bool,
}

impl Subject {
    pub(super) fn new(options: &PredictArgs, count: u32) -> Result<Subject, Problem> {
        let simulated = simulated(options)?;
        let (machine, catalogue) = match &simulated {
            Some(target) => (of_simulated(target, &by_hand(&[], &["drive".to_owned()])?)?, Catalogue::embedded()),
            None => machine(options, count)?,
        };
        let assumed = machine.device.iter().flat_map(|d| &d.assumed).map(say).collect();
        Ok(Subject {
            machine,
            simulated,
            assumed,
            catalogue,
            cpu: options.cpu.clone(),
            is_cost_named: cost_named(options).is_some(),
        })
    }

    /// `2 x Intel SSD D7-P5510 3.84 TB`.
    pub(super) fn drives(&self, count: u32) -> String {
        let drives = format!("{count} x {}", self.machine.device.as_ref().map_or("", |d| &d.name));
        self.machine.raid.as_ref().map_or(drives.clone(), |raid| predict_array::named(raid, &drives))
    }

    /// What is assumed where loads go through the engines of these.
    pub(super) fn assumptions(&self, engines: &[Step]) -> Result<Vec<String>, Problem> {
        let mut out = Vec::new();
        for step in engines.iter().filter(|_| !self.is_cost_named) {
            if self.machine_for(step)?.cost.is_none() {
                let name = path(&step.engine);
                out.push(format!("no core limits {name}, for nobody published what an I/O costs there"));
            }
        }
        out.extend(self.machine.raid.iter().flat_map(predict_array::assumptions));
        out.extend(self.assumed.iter().cloned());
        Ok(out)
    }

    /// The system as `step` finds it; where nobody published what an I/O costs through its engine, no core limits it.
    pub(super) fn machine_for(&self, step: &Step) -> Result<MachineModel, Problem> {
        if let Some(target) = &self.simulated {
            return of_simulated(target, step);
        }
        let mut machine = self.machine.clone();
        if !self.is_cost_named {
            let published =
                catalogued_engine(&step.engine).map(|id| published_cost(id, self.cpu.as_deref(), &self.catalogue));
            machine.cost = published.transpose()?;
        }
        Ok(machine)
    }
}

/// The part of a simulated machine that `--target` names.
fn simulated(options: &PredictArgs) -> Result<Option<SimulatedTarget>, Problem> {
    let Some(name) = options.target.as_deref().and_then(Path::to_str).filter(|name| name.starts_with("sim:")) else {
        return Ok(None);
    };
    let said = [
        ("--device", options.device.is_some()),
        ("--count", options.count.is_some()),
        ("--members", options.members.is_some()),
        ("--link", options.link.is_some()),
        ("--uplink", options.uplink.is_some()),
        ("--cpu", options.cpu.is_some()),
        ("--cores", options.cores.is_some()),
        ("--raid", options.raid.is_some()),
        ("--engine", cost_named(options).is_some()),
        ("--goal", options.goal.is_some()),
    ];
    if let Some((flag, _)) = said.iter().find(|(_, is_given)| *is_given) {
        return Err(Problem::usage(
            format!("{flag} and {name}: the file of a simulated machine says what it is"),
            format!("leave {flag} out, or describe another system with its drives: --device {name}"),
        ));
    }
    Ok(Some(SimulatedTarget::new(name)?))
}

fn of_simulated(target: &SimulatedTarget, step: &Step) -> Result<MachineModel, Problem> {
    let model = target.machine_model(step);
    model.ok_or_else(|| Problem::usage("no formula knows this machine", "measure it: fathom io --target sim:MACHINE"))
}

/// The engine of `--engine`, where it is one by which loads are made.
pub(super) fn engine_named(options: &PredictArgs) -> Option<&str> {
    let is_engine = |name: &&str| Knobs::new().set("engine", name).is_ok();
    options.engine.as_deref().filter(is_engine)
}

/// The published cost of `--engine`, where it is no engine by which loads are made.
fn cost_named(options: &PredictArgs) -> Option<String> {
    options.engine.clone().filter(|_| engine_named(options).is_none())
}

/// The machine, and the catalogue with the user's own device.
fn machine(options: &PredictArgs, count: u32) -> Result<(MachineModel, Catalogue), Problem> {
    let mut catalogue = Catalogue::embedded();
    let mut device = options.device.clone();
    if let Some(path) = options.device.as_deref().filter(|d| d.ends_with(".toml") && !d.starts_with("sim:")) {
        let text = read_text(Path::new(path)).map_err(|e| {
            Problem::usage(format!("cannot read {path}: {e}"), "a device file is written by: fathom fit RUN -o FILE")
        })?;
        let own = Catalogue::parse(&[(path, &text)])?;
        device = own.devices().first().map(|d| d.id.clone());
        if device.is_none() {
            return Err(Problem::usage(format!("{path} holds no [[device]]"), "write one, or: fathom fit RUN -o FILE"));
        }
        catalogue = catalogue.with(own);
    }
    let mut base = match &options.target {
        Some(target) => inspected(options, target)?,
        None => MachineModel::named("a described machine"),
    };
    let mut own_card = None;
    if let Some(name) = device.take_if(|d| d.starts_with("sim:")) {
        let members = simulated_members(&name)?;
        (base.device, own_card) = (Some(members.device), members.card);
    }
    if device.is_none() && base.device.is_none() {
        return Err(Problem::usage(
            "nothing is known of the drive",
            "name one with --device (fathom catalogue list), or fit one from a run: fathom fit RUN -o my-ssd.toml",
        ));
    }
    let what = Description {
        device,
        count,
        link: link("--link", options.link.as_deref())?,
        uplink: link("--uplink", options.uplink.as_deref())?,
        engine: cost_named(options),
        cpu: options.cpu.clone(),
        cores: options.cores,
        raid: predict_array::array(options, count, own_card, &catalogue)?,
    };
    if what.cores == Some(0) {
        return Err(Problem::usage("--cores 0: no cores make no load", "at least 1"));
    }
    Ok((described(base, &what, &catalogue)?, catalogue))
}

/// Links and cores of this machine, as far as they matter to a target.
fn inspected(options: &PredictArgs, target: &Path) -> Result<MachineModel, Problem> {
    let root = options.root.as_deref().map_or_else(Root::live, Root::new);
    let inventory = Inventory::read(&root);
    let name = target.strip_prefix("/dev").unwrap_or(target).to_string_lossy().into_owned();
    let devices = if inventory.drives_below(&name).is_empty() {
        let facts = fathom_host::HostFacts::collect(&root, &[(TargetId::new(name.clone()), target.to_owned())])
            .map_err(|e| Problem::of(Exit::Failed, &e))?;
        let found = facts.targets.first().and_then(|t| t.device.as_ref()).map(|d| d.name.clone());
        vec![found.ok_or_else(|| {
            Problem::usage(format!("no device lies below {}", target.display()), "name a file on a disk, or a device")
        })?]
    } else {
        vec![name]
    };
    let mut machine = step_facts(&inventory, &devices).machine;
    // A link that this drive has for itself need not be shared by others like it.
    machine.uplinks.retain(|up| up.drives > 1);
    Ok(machine)
}

fn link(flag: &str, text: Option<&str>) -> Result<Option<PcieLink>, Problem> {
    let help =
        || format!("generation and lanes, as in {flag} gen4x4; `fathom inspect` shows the links of this machine");
    text.map(PcieLink::parse).transpose().map_err(|e| Problem::usage(format!("{flag}: {}", say(&e.message())), help()))
}

/// `io_uring`, `io_uring iopoll`.
pub(super) fn path(engine: &EngineSpec) -> String {
    match engine.mode {
        Mode::Interrupt => engine.name.as_str().to_owned(),
        mode => format!("{} {}", engine.name.as_str(), mode.as_str()),
    }
}
