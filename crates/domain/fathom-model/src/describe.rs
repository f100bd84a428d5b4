//! A machine described in catalogue names.

use fathom_plan::{EngineName, EngineSpec, Mode, SourceError};

use crate::array::RaidModel;
use crate::catalogue::Catalogue;
use crate::device::DeviceModel;
use crate::machine::{CostModel, CostOrigin, MachineModel, UplinkModel, UplinkPlace};
use crate::pcie::PcieLink;

/// A system in catalogue names. Empty parts stay unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// Name of a device.
    pub device: Option<String>,
    /// Drives of it.
    pub count: u32,
    /// Link of each drive, in place of its own.
    pub link: Option<PcieLink>,
    /// Link that all drives share.
    pub uplink: Option<PcieLink>,
    /// Name of an engine cost.
    pub engine: Option<String>,
    /// Name of a processor: its clock scales the engine's cost, its cores bound it.
    pub cpu: Option<String>,
    /// Cores, in place of the processor's.
    pub cores: Option<u32>,
    /// Array over the drives.
    pub raid: Option<RaidModel>,
}

/// Puts a description on top of `machine` (an inspected one, or one of which nothing is known).
///
/// # Errors
/// A name that the catalogue does not hold (the help names the nearest), a device without figures.
pub fn described(mut machine: MachineModel, what: &Description, all: &Catalogue) -> Result<MachineModel, SourceError> {
    if let Some(id) = &what.device {
        machine.device = Some(DeviceModel::of(all.device(id)?)?);
    }
    if let Some(link) = what.link {
        machine.links = vec![link];
    }
    if let Some(link) = what.uplink {
        machine.uplinks = vec![UplinkModel { place: UplinkPlace::Described, link, drives: what.count }];
    }
    let cpu = what.cpu.as_deref().map(|id| all.cpu(id)).transpose()?;
    machine.cores = what.cores.or(cpu.and_then(|c| c.cores)).or(machine.cores);
    if let Some(id) = &what.engine {
        machine.cost = Some(published_cost(id, what.cpu.as_deref(), all)?);
    }
    if what.raid.is_some() {
        machine.raid.clone_from(&what.raid);
    }
    Ok(machine)
}

/// What an I/O costs a core after the catalogue, at the clock of `cpu` where both clocks are known.
///
/// # Errors
/// A name that the catalogue does not hold (the help names the nearest).
pub fn published_cost(engine: &str, cpu: Option<&str>, all: &Catalogue) -> Result<CostModel, SourceError> {
    let cpu = cpu.map(|id| all.cpu(id)).transpose()?;
    let engine = all.engine(engine)?;
    let scaled_hz = engine.clock_hz.zip(cpu.and_then(|c| c.base_hz));
    let thread_ns = engine.ns_per_io * scaled_hz.map_or(1.0, |(from, to)| from as f64 / to as f64);
    let origin = CostOrigin::Published { program: engine.program.clone(), source: engine.source.clone(), scaled_hz };
    // The published rates are those of a whole core: submission, completion and interrupt together.
    Ok(CostModel { thread_ns, irq_ns: 0.0, origin })
}

/// The name in the catalogue of what an I/O costs through `engine`; `None`: nobody published it.
#[must_use]
pub fn catalogued_engine(engine: &EngineSpec) -> Option<&'static str> {
    match (engine.name, engine.mode) {
        (EngineName::Psync, _) => Some("psync"),
        (EngineName::Libaio, _) => Some("libaio"),
        (EngineName::IoUring, Mode::Iopoll) => Some("io_uring-iopoll"),
        (EngineName::IoUring, Mode::Interrupt) => Some("io_uring"),
        // Its submissions are made by a thread of the kernel, on a core of its own.
        (EngineName::IoUring, Mode::Sqpoll) => None,
        (
            EngineName::IoUringCmd
            | EngineName::Nvme
            | EngineName::Mmap
            | EngineName::Iocp
            | EngineName::Null
            | EngineName::Files
            | EngineName::Fio
            | EngineName::Spdk,
            _,
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use fathom_message::msg;

    use super::*;

    fn description() -> Description {
        Description {
            device: Some("p4800x-375".into()),
            count: 1,
            engine: Some("spdk".into()),
            cpu: Some("e5-4610v4".into()),
            ..Description::default()
        }
    }

    /// 10.39 M at 4.0 GHz on a core of 1.8 GHz: the cost grows by the clocks.
    #[test]
    fn the_clock_scales_the_cost_of_an_io() {
        let all = Catalogue::embedded();
        let m = described(MachineModel::named("r830"), &description(), &all).expect("is known");
        let cost = m.cost.expect("has a cost");
        assert!((cost.thread_ns - 96.0 * 4.0 / 1.8).abs() < 1e-9, "{cost:?}");
        assert_eq!(m.cores, Some(10));
    }

    #[test]
    fn what_an_engine_costs_is_in_the_catalogue_where_it_is_said_to_be() {
        let all = Catalogue::embedded();
        for name in [EngineName::Psync, EngineName::Libaio, EngineName::IoUring] {
            for mode in [Mode::Interrupt, Mode::Iopoll] {
                let engine = EngineSpec { name, mode, ..EngineSpec::default() };
                let id = catalogued_engine(&engine).expect("is published");
                assert!(published_cost(id, None, &all).is_ok_and(|cost| cost.thread_ns > 0.0), "{id}");
            }
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let all = Catalogue::embedded();
        let wrong = Description { device: Some("p48x0-375".into()), ..description() };
        let error = described(MachineModel::named("m"), &wrong, &all).expect_err("unknown");
        let near = msg!("did-you-mean", near = "p4800x-375");
        assert_eq!((error.message.id(), error.help), ("catalogue-no-such", Some(near)));
    }
}
