//! `nvme`: drives taken from the kernel's driver by hand, and given back.

use std::fmt::Write as _;
use std::sync::Arc;

use fathom_host::settings::{Done, Journal, Outcome};
use fathom_host::{
    BlockDevice, FunctionStatus, GroupAccess, LargePages, Root, Unbound, UserSpaceError, UserSpaceStatus, WithoutIommu,
    bind_by_hand, bound_drive, open_function, unbind,
};
use fathom_message::Say as _;
use fathom_nvme::driver::{Driver, DriverError};
use fathom_nvme::{AdminCommand, AdminPages, ShortPage};
use fathom_units::format_bytes;
use serde_json::{Value, json};

use super::restore::{failure, help, journal_dir, outcome_line, view};
use super::{command_line, to_json};
use crate::exit::{Exit, Problem};
use crate::nvme_args::{NvmeAction, NvmeArgs};
use crate::terminal::{result, say, stdout};

/// Runs the command.
pub(crate) fn nvme(args: &NvmeArgs) -> Result<Exit, Problem> {
    match &args.action {
        NvmeAction::Status { json } => {
            let status = UserSpaceStatus::read(&Root::live(), &journal_dir());
            result(&if *json { to_json(&as_json(&status)) } else { as_text(&status) });
            Ok(Exit::Done)
        }
        NvmeAction::Bind { drive, hugepages, no_iommu_i_accept_any_write_to_memory: accepts, json } => {
            bind(drive, *hugepages, without(*accepts), *json)
        }
        NvmeAction::Unbind { drive, json } => give_back(drive, *json),
        NvmeAction::Identify { drive, raw, namespace, no_iommu_i_accept_any_write_to_memory: accepts } => {
            identify(drive, raw.then_some(*namespace), without(*accepts))
        }
    }
}

/// The user's word for drives that no IOMMU guards memory from.
pub(crate) fn without(accepts: bool) -> WithoutIommu {
    if accepts { WithoutIommu::AcceptAnyWriteToMemory } else { WithoutIommu::Refuse }
}

/// `raw`: the page of a namespace, or of the controller, as bytes; else everything as JSON.
fn identify(drive: &str, raw: Option<Option<u32>>, without: WithoutIommu) -> Result<Exit, Problem> {
    let (address, group) = bound_drive(&Root::live(), &journal_dir(), drive)?;
    let failed = |error: DriverError| Problem::of(Exit::Failed, &error);
    let function = open_function(&Root::live(), &address, &group, without).map_err(failed)?;
    let driver = Driver::start(Arc::new(function)).map_err(failed)?;
    if let Some(namespace) = raw {
        let command = namespace.map_or_else(AdminCommand::identify_controller, AdminCommand::identify_namespace);
        let (page, _) = driver.ask(&command).map_err(failed)?;
        stdout(|out| out.write_all(&page))?;
        return Ok(Exit::Done);
    }
    let pages = AdminPages::by(|command| driver.ask(command)).map_err(failed)?;
    let short = |error: ShortPage| Problem::of(Exit::Failed, &error);
    let namespaces: Vec<Value> =
        pages.namespace_ids().map(|id| json!({ "id": id, "namespace": pages.namespace(id) })).collect();
    result(&to_json(&json!({
        "address": address,
        "controller": pages.controller().map_err(short)?,
        "namespaces": namespaces,
        "granted_queue_pairs": driver.granted_pairs(),
        "queue_entries_max": driver.capabilities().queue_entries_max(),
        "transfer_bytes_max": driver.transfer_bytes_max(),
        "shadow_doorbells": driver.has_shadow_doorbells(),
    })));
    Ok(Exit::Done)
}

impl From<UserSpaceError> for Problem {
    fn from(error: UserSpaceError) -> Self {
        match error {
            UserSpaceError::Setting(error) => error.into(),
            UserSpaceError::NoFunction { .. } | UserSpaceError::NoDrive { .. } | UserSpaceError::NotNvme { .. } => {
                Problem::of(Exit::Usage, &error)
            }
            refusal if refusal.is_refusal() => Problem::of(Exit::Refused, &refusal),
            failure => Problem::of(Exit::Failed, &failure),
        }
    }
}

fn bind(drive: &str, hugepages: u64, without: WithoutIommu, json: bool) -> Result<Exit, Problem> {
    let journal = Journal::open_kept(&Root::live(), journal_dir(), &command_line());
    let drive = bind_by_hand(&Root::live(), &journal, drive, hugepages, without)?;
    let name = drive.serial().unwrap_or(drive.address()).to_owned();
    if json {
        let changed: Vec<Value> = drive.done().iter().map(changed).collect();
        result(&to_json(&json!({ "bound": {
            "address": drive.address(), "serial": drive.serial(), "model": drive.model(),
            "numa_node": drive.numa_node(), "group": drive.group(), "was": names(drive.judged()), "changed": changed,
        }})));
    } else {
        let mut text = format!(
            "{} is bound to vfio-pci as {}; it was {}\n",
            called(drive.address(), drive.serial(), drive.model()),
            drive.group().node.display(),
            listed(&names(drive.judged())),
        );
        for Done { setting, from, to } in drive.done() {
            let _ = writeln!(text, "  {}: {from} -> {to}", say(&setting.message()));
        }
        let _ = writeln!(text, "Undo: fathom nvme unbind {name}");
        result(&text);
    }
    drive.keep();
    Ok(Exit::Done)
}

fn give_back(drive: &str, json: bool) -> Result<Exit, Problem> {
    let Unbound { drive, restoration, devices } = unbind(&Root::live(), &journal_dir(), drive)?;
    let failed = restoration.settings.iter().filter_map(failure).count() + restoration.damaged.len();
    if json {
        let restored: Vec<_> = restoration.settings.iter().map(view).collect();
        result(&to_json(&json!({ "unbound": {
            "address": drive.address, "serial": drive.serial, "model": drive.model, "devices": names(&devices),
            "restored": restored,
        }})));
    } else {
        let mut text: String = restoration.settings.iter().map(|r| outcome_line(r) + "\n").collect();
        if failed == 0 {
            let drive = called(&drive.address, drive.serial.as_deref(), drive.model.as_deref());
            let _ = writeln!(text, "{drive} is {} again", listed(&names(&devices)));
        }
        result(&text);
    }
    for restored in &restoration.settings {
        if let Outcome::Failed(error) = &restored.outcome {
            help(error);
        }
    }
    restoration.damaged.iter().for_each(super::restore::warn);
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn changed(done: &Done) -> Value {
    json!({ "setting": done.setting.to_string(), "from": done.from, "to": done.to })
}

fn names(devices: &[BlockDevice]) -> Vec<&str> {
    devices.iter().map(|device| device.name.as_str()).collect()
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "no block device".to_owned() } else { names.join(", ") }
}

/// `0000:5e:00.0 (S64GNE0R, FAST DRIVE)`.
fn called(address: &str, serial: Option<&str>, model: Option<&str>) -> String {
    let known: Vec<&str> = serial.into_iter().chain(model).collect();
    if known.is_empty() { address.to_owned() } else { format!("{address} ({})", known.join(", ")) }
}

fn as_json(status: &UserSpaceStatus) -> Value {
    let drives: Vec<Value> = status.functions.iter().map(drive_json).collect();
    json!({
        "drives": drives,
        "hugepages": status.large_pages,
        "iommu": status.has_iommu,
        "vfio_loaded": status.is_vfio_loaded,
        "locked_memory_max_bytes": status.locked_memory_max_bytes,
    })
}

fn drive_json(drive: &FunctionStatus) -> Value {
    let namespaces: Vec<Value> = drive
        .namespaces
        .iter()
        .map(|(device, refusal)| {
            json!({
                "name": device.name, "size_bytes": device.size_bytes, "logical_block_bytes": device.logical_block_bytes,
                "free": refusal.is_none(), "why": refusal.as_ref().map(|r| say(&r.message)),
            })
        })
        .collect();
    let against = drive.against.as_ref();
    json!({
        "address": drive.function.address,
        "serial": drive.serial(),
        "model": drive.model(),
        "driver": drive.function.driver,
        "driver_override": drive.function.driver_override,
        "controller": drive.function.controller,
        "numa_node": drive.function.numa_node,
        "group": drive.function.group,
        "group_access": drive.access,
        "group_open_in": drive.user.as_ref().map(|(pid, program)| json!({ "pid": pid, "program": program })),
        "bound_by": drive.bound,
        "namespaces": namespaces,
        "can_bind": against.is_none(),
        "why": against.map(|error| say(&error.message())),
        "help": against.and_then(|error| Some(say(&error.help()?))),
    })
}

fn as_text(status: &UserSpaceStatus) -> String {
    let mut text: String = status.functions.iter().map(drive_text).collect();
    if status.functions.is_empty() {
        text.push_str("This machine has no NVMe drive on PCI.\n");
    }
    let iommu = if status.has_iommu { "on" } else { "off, or not for every drive" };
    let _ = writeln!(text, "IOMMU      {iommu}");
    let _ = writeln!(text, "vfio-pci   {}", if status.is_vfio_loaded { "loaded" } else { "not loaded: bind loads it" });
    for pages in &status.large_pages {
        let _ = writeln!(text, "hugepages  {}", pages_text(pages));
    }
    if let Some(bytes) = status.locked_memory_max_bytes {
        let _ = writeln!(text, "memory     {} may be locked by who is not root (ulimit -l)", format_bytes(bytes));
    }
    text
}

fn pages_text(pages: &LargePages) -> String {
    let node = pages.node.map_or(String::new(), |node| format!("node {node}: "));
    format!("{node}{} of {}, {} free", pages.pages, format_bytes(pages.page_bytes), pages.free)
}

fn drive_text(drive: &FunctionStatus) -> String {
    let function = &drive.function;
    let mut text = called(&function.address, drive.serial(), drive.model());
    let driver = match (&function.driver, &function.controller) {
        (Some(driver), Some(controller)) => format!("{driver} as {controller}"),
        (Some(driver), None) => driver.clone(),
        (None, _) => "none".to_owned(),
    };
    let node = function.numa_node.map_or(String::new(), |node| format!(", node {node}"));
    let _ = writeln!(text, "\n  driver   {driver}{node}");
    if let Some(group) = &function.group {
        let others: Vec<String> = group
            .others
            .iter()
            .map(|other| format!("{} ({})", other.address, other.driver.as_deref().unwrap_or("no driver")))
            .collect();
        let others = if others.is_empty() { "alone".to_owned() } else { format!("with {}", others.join(", ")) };
        let _ = writeln!(text, "  group    {} of the IOMMU, {others}", group.number);
    }
    for (device, refusal) in &drive.namespaces {
        let state = refusal.as_ref().map_or_else(|| "free".to_owned(), |refusal| say(&refusal.message));
        let _ = writeln!(text, "  {:<8} {}, {state}", device.name, format_bytes(device.size_bytes));
    }
    if let (Some(access), Some(group)) = (&drive.access, &function.group) {
        let _ = writeln!(text, "  node     {}, {}", group.node.display(), access_text(access));
    }
    if let Some((pid, program)) = &drive.user {
        let _ = writeln!(text, "  in use   by {program} (process {pid})");
    }
    if let Some(bound) = &drive.bound {
        let until = if bound.alive { "until it ends" } else { "until `fathom nvme unbind` or `fathom restore`" };
        let _ = writeln!(text, "  bound    by `{}` (process {}), {until}", bound.command, bound.pid);
    }
    match &drive.against {
        None => _ = writeln!(text, "  bind     would give it to vfio-pci"),
        Some(error) => {
            let _ = writeln!(text, "  bind     refused: {}", say(&error.message()));
            error.help().iter().for_each(|help| _ = writeln!(text, "           help: {}", say(help)));
        }
    }
    text
}

fn access_text(access: &GroupAccess) -> String {
    match access {
        GroupAccess::Allowed => "which this user may open".to_owned(),
        GroupAccess::Denied(owner) => {
            format!("which this user may not open: it is of {} and group {} ({})", owner.user, owner.group, owner.mode)
        }
        GroupAccess::Missing => "which is not there".to_owned(),
    }
}
