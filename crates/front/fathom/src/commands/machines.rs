//! `machines`: the simulated machines that ship with the program, and what a machine file says.

use std::collections::BTreeSet;

use fathom_lab::simulated_machine;
use fathom_sim::{ArrayController, Drive, Link, Machine, Media, builtin_machines};
use fathom_units::{format_bytes, format_rate};
use serde_json::{Value, json};

use super::to_json;
use crate::args::{MachinesAction, MachinesArgs};
use crate::exit::{Exit, Problem};
use crate::terminal::result;

/// Runs the command.
pub(crate) fn machines(args: &MachinesArgs) -> Result<Exit, Problem> {
    match &args.action {
        None | Some(MachinesAction::List) => list(args.json),
        Some(MachinesAction::Dump { name }) => {
            result(&simulated_machine(name)?.text);
            Ok(Exit::Done)
        }
        Some(MachinesAction::Show { name }) => show(name, args.json),
    }
}

fn list(json: bool) -> Result<Exit, Problem> {
    let machines = builtin_machines().iter().map(|(name, _)| simulated_machine(name)).collect::<Result<Vec<_>, _>>()?;
    if json {
        let rows: Vec<Value> = machines
            .iter()
            .map(|m| json!({ "name": m.name, "title": m.machine.title, "targets": m.machine.parts() }))
            .collect();
        result(&to_json(&json!({ "machines": rows })));
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for m in &machines {
        text.push_str(&format!("{:<14} {}\n", m.name, m.machine.title));
    }
    text.push_str("A run on one: fathom run quick --target sim:NAME    its parts: fathom machines show NAME\n");
    result(&text);
    Ok(Exit::Done)
}

fn show(name: &str, json: bool) -> Result<Exit, Problem> {
    let simulated = simulated_machine(name)?;
    let machine = &simulated.machine;
    if json {
        let mut value = as_json(machine);
        value["name"] = json!(simulated.name);
        value["text"] = json!(simulated.text);
        result(&to_json(&value));
    } else {
        result(&as_text(&simulated.name, machine));
    }
    Ok(Exit::Done)
}

fn as_json(machine: &Machine) -> Value {
    let host = &machine.host;
    let drives: Vec<Value> = machine
        .drives
        .iter()
        .map(|d| {
            json!({
                "name": d.name, "group": d.group, "device": d.device.name, "media": media(&d.device.media),
                "capacity_bytes": d.device.capacity_bytes, "link": link(d.link), "socket": d.socket,
                "upstream": d.upstream.map(|u| machine.links[u].name.clone()),
            })
        })
        .collect();
    let links: Vec<Value> = machine
        .links
        .iter()
        .map(|l| {
            json!({
                "name": l.name, "link": link(l.link), "upstream": l.upstream.map(|u| machine.links[u].name.clone()),
            })
        })
        .collect();
    let arrays: Vec<Value> = machine
        .arrays
        .iter()
        .map(|a| {
            let members: Vec<&str> = a.members.iter().map(|m| machine.drives[*m].name.as_str()).collect();
            json!({
                "name": a.name, "level": a.level.as_str(), "members": members, "by": controller(&a.controller),
                "capacity_bytes": machine.capacity_bytes_of(&a.name),
            })
        })
        .collect();
    json!({
        "title": machine.title, "sources": machine.sources, "default": machine.default_target,
        "host": {
            "cpu": host.cpu_model, "os": host.os, "sockets": host.sockets, "cores": host.cores(), "cpus": host.cpus(),
            "memory_bytes": host.memory_bytes,
        },
        "links": links, "drives": drives, "arrays": arrays, "faults": machine.faults.len(),
        "targets": machine.parts(),
    })
}

fn as_text(name: &str, machine: &Machine) -> String {
    let host = &machine.host;
    let mut text = format!("{name} · {}\n", machine.title);
    text.push_str(&format!(
        "host     {} · {} · {} sockets, {} cores, {} CPUs · {}\n",
        host.cpu_model,
        host.os,
        host.sockets,
        host.cores(),
        host.cpus(),
        format_bytes(host.memory_bytes)
    ));
    for l in &machine.links {
        let above = l.upstream.map_or(String::new(), |u| format!(" below {}", machine.links[u].name));
        text.push_str(&format!("link     {:<12} {}{above}\n", l.name, link(l.link)));
    }
    for (group, drives) in groups(machine) {
        let first = drives[0];
        let above = first.upstream.map_or(String::new(), |u| format!(" below {}", machine.links[u].name));
        let sockets: BTreeSet<u32> = drives.iter().map(|d| d.socket).collect();
        let sockets: Vec<String> = sockets.iter().map(u32::to_string).collect();
        text.push_str(&format!(
            "drives   {group:<12} {} x {} ({}, {}) · each {}{above} · socket {}\n",
            drives.len(),
            first.device.name,
            media(&first.device.media),
            decimal_bytes(first.device.capacity_bytes),
            link(first.link),
            sockets.join(", ")
        ));
    }
    for a in &machine.arrays {
        let members: Vec<&str> = a.members.iter().map(|m| machine.drives[*m].name.as_str()).collect();
        let by = controller(&a.controller);
        text.push_str(&format!("array    {:<12} {} by {by} over {}\n", a.name, a.level.as_str(), members.join(", ")));
    }
    for fault in &machine.faults {
        let of = fault.drive.as_deref().unwrap_or("all drives");
        text.push_str(&format!("fault    {:<12} {:?}\n", of, fault.kind));
    }
    for source in &machine.sources {
        text.push_str(&format!("source   {source}\n"));
    }
    text.push_str(&format!(
        "sim:{name} alone means {}; its parts: {}\n",
        machine.default_target,
        machine.parts().join(", ")
    ));
    text
}

/// Drives by the group that they were declared in, in the order of the file.
fn groups(machine: &Machine) -> Vec<(&str, Vec<&Drive>)> {
    let mut out: Vec<(&str, Vec<&Drive>)> = Vec::new();
    for drive in &machine.drives {
        match out.iter_mut().find(|(group, _)| *group == drive.group) {
            Some((_, drives)) => drives.push(drive),
            None => out.push((&drive.group, vec![drive])),
        }
    }
    out
}

fn media(media: &Media) -> &'static str {
    match media {
        Media::Nand(_) => "flash",
        Media::Xpoint(_) => "3D XPoint",
        Media::Memory(_) => "memory",
    }
}

fn controller(controller: &ArrayController) -> &'static str {
    match controller {
        ArrayController::Card(_) => "a RAID card",
        ArrayController::Md(_) => "Linux md",
        ArrayController::UserSpace(_) => "Fathom itself",
    }
}

fn link(link: Link) -> String {
    match link {
        Link::Pcie { generation, lanes, .. } => format!("Gen{generation} x{lanes}"),
        Link::Rate { bytes_per_s, .. } => format_rate(bytes_per_s as f64),
    }
}

/// Drives are sold in powers of ten.
fn decimal_bytes(bytes: u64) -> String {
    if bytes >= 1_000_000_000_000 {
        format!("{:.2} TB", bytes as f64 / 1e12)
    } else {
        format!("{:.0} GB", bytes as f64 / 1e9)
    }
}
