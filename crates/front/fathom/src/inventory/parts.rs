//! Everything but PCIe: the machine's head, drives, arrays, interrupts, limits, what is missing.

use std::collections::{BTreeMap, BTreeSet};

use fathom_language::english;
use fathom_units::{format_bytes, format_cpu_list, format_iops, format_pct, format_rate, format_significant};

use super::branch::Branch;
use fathom_inspect::{AdminFacts, Drive, Interrupts, Inventory, Why};
use fathom_inspect::{Cache, Frequency, Processors, Smt};

pub(super) fn plural(n: u32, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

pub(super) fn machine(inventory: &Inventory) -> Branch {
    let cpus = &inventory.processors;
    let smt = match cpus.smt {
        Smt::On => ", SMT on",
        Smt::Off => ", SMT off",
        Smt::None => "",
    };
    let of_cpus = |text: String| if cpus.topology.cpus.is_empty() { String::new() } else { text };
    let title = vec![
        if cpus.model.is_empty() { "unknown CPU".to_owned() } else { cpus.model.clone() },
        of_cpus(plural(cpus.sockets, "socket")),
        of_cpus(plural(cpus.cores, "core")),
        of_cpus(format!("{}{smt}", plural(cpus.topology.cpus.len() as u32, "CPU"))),
        cpus.memory_bytes.map_or(String::new(), format_bytes),
        inventory.kernel.as_ref().map_or(String::new(), |k| format!("Linux {k}")),
    ];
    let mut children = nodes(cpus);
    if !cpus.caches.is_empty() {
        children.push(Branch::new(std::iter::once("caches".to_owned()).chain(cpus.caches.iter().map(cache)).collect()));
    }
    children.extend(cpus.frequency.iter().map(frequency));
    if !cpus.idle.is_empty() {
        let state = |s: &fathom_inspect::IdleState| {
            let disabled = if s.disabled { " off" } else { "" };
            format!("{} {} us{disabled}", s.name, s.exit_latency_us)
        };
        children.push(Branch::new(std::iter::once("idle".to_owned()).chain(cpus.idle.iter().map(state)).collect()));
    }
    children.extend(cpus.clocksource.iter().map(|c| Branch::line(format!("clock {c}"))));
    children.extend(mitigations(cpus));
    children.extend(cpus.isolated.iter().map(|c| Branch::line(format!("isolated CPUs {c}"))));
    children.extend(cpus.hypervisor.iter().map(|h| Branch::line(format!("virtual machine ({h})"))));
    Branch::new(title).with(children)
}

fn nodes(cpus: &Processors) -> Vec<Branch> {
    let line = |node: &fathom_inspect::Node| {
        let far: Vec<String> = node.distances.iter().map(u32::to_string).collect();
        Branch::new(vec![
            format!("node {}", node.id),
            match node.cpus.as_deref() {
                None => "CPUs not seen".to_owned(),
                Some("") => "no CPUs".to_owned(),
                Some(cpus) => format!("CPUs {cpus}"),
            },
            node.memory_bytes.map_or(String::new(), format_bytes),
            if far.len() > 1 { format!("distances {}", far.join(" ")) } else { String::new() },
        ])
    };
    cpus.nodes.iter().map(line).collect()
}

fn cache(cache: &Cache) -> String {
    let kind = match cache.kind.as_str() {
        "Data" => "d",
        "Instruction" => "i",
        _ => "",
    };
    let each = if cache.cpus_each > 1 { format!(" per {} CPUs", cache.cpus_each) } else { String::new() };
    format!("L{}{kind} {}{each} x{}", cache.level, format_bytes(cache.size_bytes), cache.count)
}

fn frequency(frequency: &Frequency) -> Branch {
    let ghz = |khz: u64| format_significant(khz as f64 / 1e6);
    let range = frequency.min_khz.zip(frequency.max_khz).map(|(a, b)| format!("{} to {} GHz", ghz(a), ghz(b)));
    Branch::new(vec![
        format!("frequency of CPUs {}", frequency.cpus),
        frequency.governor.as_ref().map_or(String::new(), |g| format!("governor {g}")),
        frequency.driver.clone().unwrap_or_default(),
        frequency.energy_preference.as_ref().map_or(String::new(), |e| format!("prefers {e}")),
        range.unwrap_or_default(),
    ])
}

fn mitigations(cpus: &Processors) -> Option<Branch> {
    let active = cpus.mitigations.iter().filter(|m| m.state.starts_with("Mitigation"));
    let names: Vec<&str> = active.map(|m| m.name.as_str()).collect();
    let all = cpus.mitigations.len();
    (all > 0).then(|| match names.len() {
        0 => Branch::line(format!("no weakness of {all} is worked around")),
        n => Branch::line(format!("{n} of {all} weaknesses worked around: {}", names.join(", "))),
    })
}

/// A drive and its settings; settings that an earlier drive has too are not repeated.
pub(super) fn drive_lines(inventory: &Inventory, drive: &Drive) -> Branch {
    let d = &drive.device;
    let optional = |value: &Option<String>, word: &str| value.as_ref().map_or(String::new(), |v| format!("{word} {v}"));
    let blocks = if d.logical_block_bytes == d.physical_block_bytes {
        format!("blocks of {}", format_bytes(u64::from(d.logical_block_bytes)))
    } else {
        format!(
            "blocks of {} ({} physical)",
            format_bytes(d.logical_block_bytes.into()),
            format_bytes(d.physical_block_bytes.into())
        )
    };
    let head = Branch::new(vec![
        format!("{} {}", d.name, d.model.as_deref().unwrap_or(&d.transport)).trim_end().to_owned(),
        capacity(d.size_bytes),
        blocks,
        optional(&d.serial, "serial"),
        optional(&d.firmware, "firmware"),
        drive.numa_node().map_or(String::new(), |n| format!("node {n}")),
        temperature(drive),
        state(drive),
    ]);
    let parts = queue_parts(drive);
    let alike =
        inventory.drives.iter().find(|d| queue_parts(d) == parts).filter(|d| d.device.name != drive.device.name);
    let settings = match alike {
        Some(first) if parts.iter().any(|p| !p.is_empty()) => {
            Branch::line(format!("settings as {}", first.device.name))
        }
        _ => Branch::new(parts),
    };
    let itself = drive.admin().map(|admin| Branch::new(admin_parts(drive, admin)));
    head.with(std::iter::once(settings).chain(itself).collect())
}

/// What the drive says of itself.
fn admin_parts(drive: &Drive, admin: &AdminFacts) -> Vec<String> {
    let smart = admin.smart.as_ref();
    let health = smart.map_or_else(Vec::new, |s| {
        let warnings = s.warnings().messages().iter().map(english).collect::<Vec<_>>().join(", ");
        vec![
            format!("{} % of its life used", s.used_pct),
            format!("spare {} %", s.spare_pct),
            format!("{} written", decimal(s.host_written_bytes)),
            if s.media_errors > 0 { format!("{} media errors", s.media_errors) } else { String::new() },
            if warnings.is_empty() { String::new() } else { format!("warns: {warnings}") },
        ]
    });
    let state = admin.power_state.map_or(String::new(), |state| {
        let watts = admin.power_states.get(usize::from(state)).and_then(|s| s.max_watts);
        let most = watts.map_or(String::new(), |w| format!(" (up to {} W)", format_significant(w)));
        format!("power state {state}{most}")
    });
    let cache = match (admin.has_write_cache, admin.write_cache_on) {
        (false, _) => "no volatile write cache".to_owned(),
        (true, Some(on)) => format!("volatile write cache {}", if on { "on" } else { "off" }),
        (true, None) => "volatile write cache".to_owned(),
    };
    let coalescing = match admin.coalescing {
        Some(c) if c.is_on() => format!("coalescing {} completions or {} us", c.completions, c.wait_us),
        Some(_) => "no coalescing".to_owned(),
        None => String::new(),
    };
    let formats = drive.namespace_id.and_then(|id| admin.namespace(id)).map_or(String::new(), |namespace| {
        let sizes: Vec<String> =
            namespace.formats.iter().filter_map(|f| Some(format_bytes(f.data_bytes?.into()))).collect();
        format!("formats {}", sizes.join(", "))
    });
    health.into_iter().chain([state, cache, coalescing, formats]).collect()
}

/// Decimal, as drives are sold, and binary.
fn capacity(bytes: u64) -> String {
    if bytes < 1_000_000 { format_bytes(bytes) } else { format!("{} ({})", decimal(bytes), format_bytes(bytes)) }
}

/// Decimal, as drives are sold and count what they write.
fn decimal(bytes: u64) -> String {
    let unit = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")].into_iter().find(|(unit, _)| bytes as f64 >= *unit);
    unit.map_or_else(
        || format_bytes(bytes),
        |(unit, name)| format!("{} {name}", format_significant(bytes as f64 / unit)),
    )
}

fn temperature(drive: &Drive) -> String {
    drive.warmest().map_or(String::new(), |t| {
        let limit = t.warning_celsius.map_or(String::new(), |w| format!(" (warns at {})", format_significant(w)));
        format!("{} °C{limit}", format_significant(t.celsius))
    })
}

fn state(drive: &Drive) -> String {
    let states: Vec<&str> =
        drive.controllers.iter().filter_map(|c| c.state.as_deref()).chain(drive.state.as_deref()).collect();
    match states.len() {
        0 => String::new(),
        1 => states[0].to_owned(),
        n => format!("{n} paths: {}", states.join(", ")),
    }
}

fn queue_parts(drive: &Drive) -> Vec<String> {
    let d = &drive.device;
    let queue = &drive.queue;
    let queues = match (drive.interrupt_queues(), drive.poll_queues()) {
        (Some(n), Some(0)) => format!("{}, no poll queues", plural(n, "queue")),
        (Some(n), Some(p)) => format!("{} + {p} poll", plural(n, "queue")),
        (Some(n), None) => plural(n, "queue"),
        (None, _) => String::new(),
    };
    let flag =
        |value: Option<u64>, when: u64, word: &str| if value == Some(when) { word.to_owned() } else { String::new() };
    vec![
        queues,
        d.scheduler.as_ref().map_or(String::new(), |s| format!("scheduler {s}")),
        d.nr_requests.map_or(String::new(), |n| format!("nr_requests {n}")),
        d.write_cache.clone().unwrap_or_default(),
        queue.read_ahead_bytes.map_or(String::new(), |b| format!("read-ahead {}", format_bytes(b))),
        flag(queue.nomerges, 2, "merges off"),
        flag(queue.iostats, 0, "iostats off"),
        if d.io_poll { "can poll".to_owned() } else { String::new() },
        if d.read_only { "read-only".to_owned() } else { String::new() },
    ]
}

/// Drives that are attached to no PCI function.
pub(super) fn other_drives(inventory: &Inventory) -> Option<Branch> {
    let is_placed = |d: &&Drive| d.pci_address.as_ref().is_some_and(|a| inventory.pcie.find(a).is_some());
    let others: Vec<Branch> =
        inventory.drives.iter().filter(|d| !is_placed(d)).map(|d| drive_lines(inventory, d)).collect();
    (!others.is_empty()).then(|| Branch::line("Block devices beside PCIe").with(others))
}

pub(super) fn arrays(inventory: &Inventory) -> Option<Branch> {
    let line = |array: &fathom_inspect::Array| {
        let members: Vec<String> = array
            .members
            .iter()
            .map(|m| match m.state.as_deref() {
                None | Some("in_sync") => m.name.clone(),
                Some(state) => format!("{} ({state})", m.name),
            })
            .collect();
        let name = array.mapper_name.as_ref().map_or(String::new(), |n| format!(" {n}"));
        Branch::new(vec![
            format!("{}{name}", array.device.name),
            array.level.clone().unwrap_or_default(),
            capacity(array.device.size_bytes),
            array.chunk_bytes.map_or(String::new(), |b| format!("chunks of {}", format_bytes(b))),
            format!("on {}", members.join(", ")),
            array
                .degraded
                .filter(|n| *n > 0)
                .map_or(String::new(), |n| format!("{} missing", plural(n as u32, "member"))),
            array.sync_action.as_ref().filter(|a| *a != "idle").cloned().unwrap_or_default(),
        ])
    };
    (!inventory.arrays.is_empty()).then(|| Branch::line("Arrays").with(inventory.arrays.iter().map(line).collect()))
}

pub(super) fn file_systems(inventory: &Inventory) -> Option<Branch> {
    let line = |fs: &fathom_inspect::FileSystem| {
        let on = if fs.device == fs.whole_device {
            format!("on {}", fs.device)
        } else {
            format!("on {} of {}", fs.device, fs.whole_device)
        };
        Branch::new(vec![fs.mount_point.clone(), fs.fs_type.clone(), on])
    };
    let over_network = |fs: &fathom_inspect::NetworkFileSystem| {
        let server = if fs.server.is_empty() { String::new() } else { format!("from {}", fs.server) };
        let link = fs.link.as_ref().map_or(String::new(), |link| match link.bits_per_s {
            Some(bits) => format!("by {} at {} Gbit/s", link.device, bits as f64 / 1e9),
            None => format!("by {}, speed not known", link.device),
        });
        Branch::new(vec![fs.mount_point.clone(), fs.fs_type.clone(), server, link, fs.options.clone()])
    };
    let on_network = inventory.network_file_systems.iter().map(over_network);
    let lines: Vec<Branch> = inventory.file_systems.iter().map(line).chain(on_network).collect();
    (!lines.is_empty()).then(|| Branch::line("File systems").with(lines))
}

/// Where queues interrupt; devices that are alike share a line.
pub(super) fn interrupts(inventory: &Inventory) -> Option<Branch> {
    let all = &inventory.interrupts;
    let mut devices: Vec<&str> = all.vectors.iter().filter(|v| v.queue.is_some()).map(|v| v.device.as_str()).collect();
    devices.dedup();
    let mut groups: Vec<(Vec<&str>, u64, Vec<String>)> = Vec::new();
    for device in devices {
        let total: u64 = all.io_vectors(device).fold(0, |sum, v| sum.saturating_add(v.total));
        let words = vec![spread(all, device), busiest(all, device, total)];
        match groups.iter_mut().find(|(_, _, known)| *known == words) {
            Some((names, sum, _)) => {
                names.push(device);
                *sum = sum.saturating_add(total);
            }
            None => groups.push((vec![device], total, words)),
        }
    }
    let lines = groups.into_iter().map(|(names, total, words)| {
        let since = vec![format!("{} since boot", count(total))];
        Branch::new([vec![names.join(", ")], words, since].concat())
    });
    let lines: Vec<Branch> = lines.collect();
    let title = if all.irqbalance { "Interrupts (irqbalance runs)" } else { "Interrupts" };
    (!lines.is_empty()).then(|| Branch::line(title).with(lines))
}

/// How many: each digit below a thousand, three from there on.
fn count(total: u64) -> String {
    if total < 1000 { total.to_string() } else { format_iops(total as f64) }
}

fn spread(all: &Interrupts, device: &str) -> String {
    let vectors: Vec<_> = all.io_vectors(device).collect();
    let targets: Vec<&str> = vectors.iter().filter_map(|v| v.effective.as_deref().or(v.affinity.as_deref())).collect();
    let single: BTreeSet<u32> = targets.iter().filter_map(|t| t.parse().ok()).collect();
    let cpus = format_cpu_list(&single.iter().copied().collect::<Vec<_>>());
    let queues = plural(vectors.len() as u32, "queue");
    match (targets.len(), single.len()) {
        (0, _) => format!("{queues}, CPUs not reported"),
        (1, _) => format!("{queues} to CPU {}", targets[0]),
        (n, s) if n == s => format!("{queues}, one each to CPUs {cpus}"),
        (_, 1) if targets.iter().all(|t| *t == targets[0]) => format!("{queues}, all to CPU {cpus}"),
        (_, 0) => format!("{queues}, shared among CPUs"),
        _ => format!("{queues} to CPUs {cpus}"),
    }
}

/// The CPU that takes more than twice its share, if one does.
fn busiest(all: &Interrupts, device: &str, total: u64) -> String {
    let mut by_cpu = BTreeMap::<u32, u64>::new();
    for (cpu, count) in all.io_vectors(device).flat_map(|v| &v.by_cpu) {
        let sum = by_cpu.entry(*cpu).or_default();
        *sum = sum.saturating_add(*count);
    }
    let queues = all.io_vectors(device).count();
    let most = by_cpu.iter().max_by_key(|(_, count)| **count).filter(|_| total > 0 && queues > 1);
    let share = |count: u64| count as f64 / total as f64;
    match most.filter(|(_, count)| share(**count) > 2.0 / queues as f64) {
        Some((cpu, count)) => format!("{} of them on CPU {cpu}", format_pct(share(*count) * 100.0)),
        None => String::new(),
    }
}

pub(super) fn limits(inventory: &Inventory) -> Option<Branch> {
    let limits = &inventory.limits;
    let cpus = &inventory.processors;
    let mut lines: Vec<String> = Vec::new();
    lines.extend(limits.container.iter().map(|c| format!("inside a container ({c})")));
    lines.extend(limits.cpu_max.map(|c| format!("CPU time of {} CPUs", format_significant(c))));
    lines.extend(limits.memory_max_bytes.map(|b| format!("memory {}", format_bytes(b))));
    let allowed = cpus.allowed();
    if allowed.len() < cpus.topology.cpus.len() {
        lines.push(format!("may run on CPUs {}", format_cpu_list(&allowed)));
    }
    for io in &limits.io_max {
        let name = io.device.as_ref().unwrap_or(&io.number);
        let rate = |value: Option<u64>, word: &str| value.map(|v| format!("{word} {}", format_rate(v as f64)));
        let count = |value: Option<u64>, word: &str| value.map(|v| format!("{v} {word} per second"));
        let parts: Vec<String> = [
            rate(io.read_bytes_per_s, "reads"),
            rate(io.write_bytes_per_s, "writes"),
            count(io.read_iops, "reads"),
            count(io.write_iops, "writes"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !parts.is_empty() {
            lines.push(format!("{name}: {}", parts.join(", ")));
        }
    }
    (!lines.is_empty()).then(|| Branch::line("Limits").with(lines.into_iter().map(Branch::line).collect()))
}

pub(super) fn settings(inventory: &Inventory) -> Option<Branch> {
    let line = |s: &fathom_inspect::Setting| {
        let value = if s.value.is_empty() { String::new() } else { format!(" = {}", s.value) };
        format!("{} {}{value}", s.of, s.name)
    };
    let all: Vec<String> = inventory.settings.iter().map(line).collect();
    (!all.is_empty()).then(|| Branch::line("Options").with(vec![Branch::new(all)]))
}

pub(super) fn missing(inventory: &Inventory) -> Option<Branch> {
    let line = |m: &fathom_inspect::Missing| {
        let why = match m.why {
            Why::Absent => "not offered here",
            Why::NeedsRoot => "root would add it",
            Why::Unreadable => "unreadable",
        };
        let times = if m.count > 1 { format!(" ({} times)", m.count) } else { String::new() };
        let detail = if m.why == Why::Unreadable { english(&m.detail) } else { String::new() };
        Branch::new(vec![format!("{}{times}", english(&m.what)), why.to_owned(), format!("/{}", m.example), detail])
    };
    let lines: Vec<Branch> = inventory.missing.iter().map(line).collect();
    (!lines.is_empty()).then(|| Branch::line("Not seen").with(lines))
}
