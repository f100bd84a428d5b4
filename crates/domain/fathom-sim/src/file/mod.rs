//! Machine files: TOML with units in the values, and errors with line and column.

mod builtin;
mod device;
mod quantity;
mod table;
mod text;

use std::ops::Range;

use fathom_message::{Message, msg};
use fathom_pcie::lane_bytes_per_s;
use fathom_plan::SourceError;
use fathom_raid::{Layout, LayoutError, Level, MemberSet};
use fathom_units::advice;
use toml::de::DeTable;

use crate::machine::{
    Array, ArrayController, Card, Device, Drive, EngineCosts, Fault, FaultKind, Host, InterruptPolicy, Link, Machine,
    Md, MemberRebuild, SharedLink, UserSpace,
};
use device::{read_coalesce, read_device};
use table::{Source, Table, Value};

pub use builtin::{builtin_devices, builtin_machine, builtin_machines};
pub use text::self_contained;

/// Most drives that a machine may have.
const DRIVES_MAX: usize = 1_024;

/// Reads a machine file. Devices that it does not hold are taken from the shipped ones.
///
/// # Errors
/// Anything that cannot be simulated, with its line and column: TOML syntax, unknown keys, devices and links (with the
/// nearest word), missing units, negative times, links without lanes or in a circle.
pub fn parse_machine(text: &str, file_name: &str) -> Result<Machine, SourceError> {
    let read = |text: &str| read_machine(text, file_name, builtin_devices());
    read(text).map_err(|e| e.with_others_of_toml(text, &|rest| read(rest).err(), is_of_a_key))
}

/// Whether the error is about a key that is there; a key that is missing may have been left out.
fn is_of_a_key(error: &SourceError) -> bool {
    error.place.line > 0 && !error.place.source_line.trim_start().starts_with('[')
}

/// Reads the `[[device]]` tables of a file that may hold nothing else.
///
/// # Errors
/// As [`parse_machine`].
pub fn parse_devices(text: &str, file_name: &str) -> Result<Vec<Device>, SourceError> {
    let root = parse(text, file_name)?;
    let root = Table::new(Source { file: file_name, text }, root.get_ref(), 0..0);
    let devices = root.tables("device")?.into_iter().map(read_device).collect::<Result<_, _>>()?;
    root.finish()?;
    Ok(devices)
}

fn parse<'a>(text: &'a str, file: &'a str) -> Result<toml::Spanned<DeTable<'a>>, SourceError> {
    DeTable::parse(text).map_err(|e| {
        let message = msg!("invalid-toml", why = e.message().replace('\n', ", "));
        SourceError::at(file, text, e.span().unwrap_or(0..0), message, None)
    })
}

fn read_machine(text: &str, file_name: &str, shipped: &[Device]) -> Result<Machine, SourceError> {
    let document = parse(text, file_name)?;
    let root = Table::new(Source { file: file_name, text }, document.get_ref(), 0..0);
    let stem = file_name.rsplit('/').next().unwrap_or(file_name);
    let head = root.table("machine")?.ok_or_else(|| root.error(msg!("sim-no-machine-table")))?;
    let name = head.text("name")?.unwrap_or(stem.strip_suffix(".toml").unwrap_or(stem)).to_owned();
    let title = head.text("title")?.unwrap_or_default().to_owned();
    let sources = match head.get("source") {
        Some(value) => value.texts()?.iter().map(|t| t.text().map(str::to_owned)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let default = head.get("default");
    let host = read_host(&root)?;
    let links = read_links(&root)?;
    let mut devices = root.tables("device")?.into_iter().map(read_device).collect::<Result<Vec<_>, _>>()?;
    devices.extend(shipped.iter().cloned());
    let drives = read_drives(&root, &devices, &links, &host)?;
    let arrays = read_arrays(&root, &drives, &links, &host)?;
    let md = root.table("md")?.map(read_md).transpose()?.unwrap_or_default();
    let user_space = root.table("user_space")?.map(read_user_space).transpose()?.unwrap_or_default();
    let mut machine = Machine {
        name,
        title,
        sources,
        host,
        links,
        drives,
        arrays,
        md,
        user_space,
        faults: Vec::new(),
        default_target: String::new(),
    };
    machine.faults = read_faults(&root, &machine)?;
    machine.default_target = match &default {
        Some(value) => {
            let part = value.text()?;
            machine.members_of(Some(part)).map_err(|why| value.error(why))?;
            part.to_owned()
        }
        None => machine
            .arrays
            .first()
            .map(|a| a.name.clone())
            .or_else(|| machine.drives.first().map(|d| d.group.clone()))
            .ok_or_else(|| root.error(msg!("sim-no-drive")))?,
    };
    head.finish()?;
    root.finish()?;
    Ok(machine)
}

fn read_host(root: &Table<'_>) -> Result<Host, SourceError> {
    let table = root.table("host")?.ok_or_else(|| root.error(msg!("sim-no-host-table")))?;
    let host = Host {
        cpu_model: table.text("cpu")?.unwrap_or("unknown").to_owned(),
        os: table.text("os")?.unwrap_or("unknown").to_owned(),
        sockets: table.need("sockets")?.whole(1..=16)? as u32,
        cores_per_socket: table.need("cores")?.whole(1..=512)? as u32,
        threads_per_core: table.whole("smt", 1..=2)?.unwrap_or(1) as u32,
        smt_speed_pct: table.percent("smt_speed", 50..=100)?.unwrap_or(100),
        memory_bytes: table.size("memory")?.unwrap_or(64 << 30),
        copy_bytes_per_s: table.rate("copy_rate")?.unwrap_or(10_000_000_000),
        remote_ps: table.time("remote")?.unwrap_or(0),
        interrupts: match table.whole("interrupt_cpu", 0..=8191)? {
            Some(cpu) => InterruptPolicy::OneCpu(cpu as u32),
            None => InterruptPolicy::Submitter,
        },
        engines: read_engines(root)?,
    };
    if let InterruptPolicy::OneCpu(cpu) = host.interrupts
        && cpu >= host.cpus()
    {
        return Err(table.error(msg!("sim-interrupt-cpu", last = host.cpus() - 1)));
    }
    table.finish()?;
    Ok(host)
}

/// `[engine.NAME]`; what an entry does not say it takes from the less specific one.
fn read_engines(root: &Table<'_>) -> Result<Vec<(String, EngineCosts)>, SourceError> {
    let Some(all) = root.table("engine")? else {
        return Err(root.error(msg!("sim-no-engine-table")));
    };
    let mut out: Vec<(String, EngineCosts)> = Vec::new();
    let mut entries = all.entries();
    // `default`, then engines, then modes: each after what it builds on.
    entries.sort_by_key(|(name, _)| (name != "default", name.contains(':')));
    for (name, value) in entries {
        let table = table::as_table(&value)?;
        let base = name.split(':').next().unwrap_or_default();
        let known = |wanted: &str| out.iter().find(|(n, _)| n == wanted).map(|(_, costs)| *costs);
        let base = known(base).or_else(|| known("default")).unwrap_or_default();
        let time = |key, otherwise| table.time(key).map(|t| t.unwrap_or(otherwise));
        let costs = EngineCosts {
            user_ps: time("user", base.user_ps)?,
            submit_ps: time("submit", base.submit_ps)?,
            complete_ps: time("complete", base.complete_ps)?,
            interrupt_ps: time("interrupt", base.interrupt_ps)?,
            wake_ps: time("wake", base.wake_ps)?,
            wake_delay_ps: time("wake_delay", base.wake_delay_ps)?,
            migrate_ps: time("migrate", base.migrate_ps)?,
            sharing_ps: time("sharing", base.sharing_ps)?,
            serial_ps: time("serial", base.serial_ps)?,
        };
        table.finish()?;
        out.push((name, costs));
    }
    Ok(out)
}

fn read_links(root: &Table<'_>) -> Result<Vec<SharedLink>, SourceError> {
    let tables = root.tables("link")?;
    let mut names: Vec<String> = Vec::new();
    for table in &tables {
        let name = table.need("name")?;
        if names.iter().any(|n| name.text() == Ok(n)) {
            return Err(name.error(msg!("sim-name-taken")));
        }
        names.push(name.text()?.to_owned());
    }
    let mut links: Vec<SharedLink> = Vec::new();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (table, name) in tables.into_iter().zip(&names) {
        let upstream = read_upstream(&table, &names)?;
        spans.push(table.get("upstream").map_or(table.span.clone(), |v| v.value.span()));
        links.push(SharedLink { name: name.clone(), link: read_link(&table)?, upstream });
        table.finish()?;
    }
    for start in 0..links.len() {
        let mut at = links[start].upstream;
        for _ in 0..links.len() {
            match at {
                Some(next) if next == start => {
                    let message = msg!("sim-links-in-a-circle", link = &links[start].name);
                    return Err(root.source.error(spans[start].clone(), message, None));
                }
                Some(next) => at = links[next].upstream,
                None => break,
            }
        }
    }
    Ok(links)
}

fn read_upstream(table: &Table<'_>, names: &[String]) -> Result<Option<usize>, SourceError> {
    let Some(value) = table.get("upstream") else { return Ok(None) };
    let wanted = value.text()?;
    match names.iter().position(|n| n == wanted) {
        Some(index) => Ok(Some(index)),
        None => Err(value.error_with(msg!("sim-no-such-link", link = wanted.to_owned()), known_words(wanted, names))),
    }
}

fn known_words(wanted: &str, names: &[String]) -> Message {
    advice(wanted, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `gen`, `lanes` and `mps`, or `rate` and `command`.
fn read_link(table: &Table<'_>) -> Result<Link, SourceError> {
    if let Some(bytes_per_s) = table.rate("rate")? {
        if bytes_per_s == 0 {
            return Err(table.error(msg!("sim-link-without-rate")));
        }
        return Ok(Link::Rate { bytes_per_s, command_bytes: table.size("command")?.unwrap_or(0) });
    }
    let generation = table.need("gen")?.whole(1..=6)? as u32;
    let lanes = table.need("lanes")?.whole(1..=32)? as u32;
    let mps_bytes = table.size("mps")?.unwrap_or(256);
    if ![128, 256, 512, 1024, 2048, 4096].contains(&mps_bytes) {
        return Err(table.error(msg!("sim-mps")));
    }
    debug_assert!(lane_bytes_per_s(generation).is_some());
    Ok(Link::Pcie { generation, lanes, mps_bytes })
}

/// A link in a table of its own: `link = { gen = 4, lanes = 4 }`.
fn read_own_link(table: &Table<'_>) -> Result<Link, SourceError> {
    let inner = table.table("link")?.ok_or_else(|| table.error(msg!("sim-no-link")))?;
    let link = read_link(&inner)?;
    inner.finish()?;
    Ok(link)
}

fn read_drives(
    root: &Table<'_>,
    devices: &[Device],
    links: &[SharedLink],
    host: &Host,
) -> Result<Vec<Drive>, SourceError> {
    let link_names: Vec<String> = links.iter().map(|l| l.name.clone()).collect();
    let mut drives: Vec<Drive> = Vec::new();
    for table in root.tables("drive")? {
        let group = table.need("name")?.text()?.to_owned();
        let count = table.get("count").map(|v| v.whole(1..=DRIVES_MAX as u64)).transpose()?;
        let wanted = table.need("device")?;
        let device = devices.iter().find(|d| Ok(d.name.as_str()) == wanted.text()).ok_or_else(|| {
            let names: Vec<String> = devices.iter().map(|d| d.name.clone()).collect();
            let text = wanted.text().unwrap_or_default();
            wanted.error_with(msg!("sim-no-such-device", device = text.to_owned()), known_words(text, &names))
        })?;
        let link = read_own_link(&table)?;
        let upstream = read_upstream(&table, &link_names)?;
        let socket = read_socket(&table, host)?;
        let rest_filled_pct = table.percent("rest_filled", 0..=100)?.unwrap_or(100);
        for index in 0..count.unwrap_or(1) {
            let name = if count.is_some() { format!("{group}-{index}") } else { group.clone() };
            if drives.iter().any(|d| d.name == name) {
                return Err(table.error(msg!("sim-two-drives", drive = name)));
            }
            let (group, device) = (group.clone(), device.clone());
            drives.push(Drive { name, group, device, link, upstream, socket, rest_filled_pct });
        }
        if drives.len() > DRIVES_MAX {
            return Err(table.error(msg!("sim-too-many-drives", max = DRIVES_MAX)));
        }
        table.finish()?;
    }
    Ok(drives)
}

fn read_socket(table: &Table<'_>, host: &Host) -> Result<u32, SourceError> {
    Ok(table.whole("socket", 0..=u64::from(host.sockets - 1))?.unwrap_or(0) as u32)
}

fn read_arrays(
    root: &Table<'_>,
    drives: &[Drive],
    links: &[SharedLink],
    host: &Host,
) -> Result<Vec<Array>, SourceError> {
    let link_names: Vec<String> = links.iter().map(|l| l.name.clone()).collect();
    let levels = Level::ALL.map(|l| (l.as_str(), l));
    let mut arrays = Vec::new();
    for table in root.tables("array")? {
        let level_value = table.need("level")?;
        let level = level_value.word(&levels)?;
        let members = read_members(&table.need("members")?, drives)?;
        // A card shows a drive alone as an array of one.
        let least = if level == Level::Raid0 { 1 } else { level.members_min() as usize };
        if members.len() < least || (level == Level::Raid10 && members.len() % 2 == 1) {
            return Err(level_value.error(msg!("sim-members", members = members.len())));
        }
        let (card, md, own) = (table.table("card")?, table.table("md")?, table.table("user_space")?);
        let controller = match (card, md, own) {
            (Some(card), None, None) => ArrayController::Card(read_card(card, &link_names, host)?),
            (None, Some(md), None) => ArrayController::Md(read_md(md)?),
            (None, None, Some(own)) => ArrayController::UserSpace(read_user_space(own)?),
            _ => return Err(table.error(msg!("sim-card-or-md"))),
        };
        let chunk = table.get("chunk");
        let chunk_bytes = table.size("chunk")?.unwrap_or(65_536);
        let layout = Layout::new(level, members.len() as u32, chunk_bytes);
        if layout == Err(LayoutError::Chunk) {
            let error = |value: Value<'_>| value.error(msg!("sim-chunk"));
            return Err(chunk.map_or_else(|| table.error(msg!("sim-chunk")), error));
        }
        let (lost, rebuild) = read_lost(&table, members.len(), layout.ok(), &controller)?;
        arrays.push(Array {
            name: table.need("name")?.text()?.to_owned(),
            level,
            members,
            lost,
            rebuild,
            chunk_bytes,
            controller,
        });
        table.finish()?;
    }
    Ok(arrays)
}

/// `missing = [1]`, positions of lost members from 0 on, and `rebuild = "50 MB/s"` or `"full"`: the last of them is made new.
fn read_lost(
    table: &Table<'_>,
    members: usize,
    layout: Option<Layout>,
    controller: &ArrayController,
) -> Result<(MemberSet, Option<MemberRebuild>), SourceError> {
    let Some(value) = table.get("missing") else {
        return match table.get("rebuild") {
            Some(rebuild) => Err(rebuild.error(msg!("sim-rebuild-of-nothing"))),
            None => Ok((MemberSet::EMPTY, None)),
        };
    };
    let places = value.wholes(0..=members.saturating_sub(1) as u64)?;
    let lost: MemberSet = places.iter().map(|place| *place as u32).collect();
    if !layout.is_some_and(|layout| layout.survives(lost)) {
        return Err(value.error(msg!("sim-too-many-missing", missing = lost.count())));
    }
    let rebuild = match (table.get("rebuild"), places.last()) {
        (Some(speed), Some(_)) if matches!(controller, ArrayController::UserSpace(_)) => {
            return Err(speed.error(msg!("sim-rebuild-of-user-space")));
        }
        (Some(speed), Some(last)) => {
            let bytes_per_s = if speed.text() == Ok("full") { None } else { table.rate("rebuild")?.filter(|r| *r > 0) };
            Some(MemberRebuild { member: *last as u32, bytes_per_s })
        }
        _ => None,
    };
    Ok((lost, rebuild))
}

fn read_members(value: &Value<'_>, drives: &[Drive]) -> Result<Vec<usize>, SourceError> {
    let mut members = Vec::new();
    for item in value.texts()? {
        let wanted = item.text()?;
        let found: Vec<usize> =
            (0..drives.len()).filter(|i| drives[*i].name == wanted || drives[*i].group == wanted).collect();
        if found.is_empty() {
            let mut names: Vec<String> = drives.iter().map(|d| d.group.clone()).collect();
            names.dedup();
            names.extend(drives.iter().map(|d| d.name.clone()));
            return Err(
                item.error_with(msg!("sim-no-such-drive", drive = wanted.to_owned()), known_words(wanted, &names))
            );
        }
        members.extend(found);
    }
    Ok(members)
}

fn read_card(table: Table<'_>, links: &[String], host: &Host) -> Result<Card, SourceError> {
    let command = table.time("command")?.unwrap_or(0);
    let card = Card {
        link: read_own_link(&table)?,
        upstream: read_upstream(&table, links)?,
        socket: read_socket(&table, host)?,
        command_read_ps: table.time("command_read")?.unwrap_or(command),
        command_write_ps: table.time("command_write")?.unwrap_or(command),
        parity_ps: table.time("parity")?.unwrap_or(0),
        xor_bytes_per_s: table.rate("xor_rate")?.unwrap_or(0),
        cache_bytes_per_s: table.rate("cache_rate")?.unwrap_or(0),
        cache_bytes: table.size("cache")?.unwrap_or(0),
        fixed_ps: table.time("fixed")?.unwrap_or(0),
        queues: table.whole("queues", 1..=65_535)?.unwrap_or(1) as u32,
        coalesce: read_coalesce(&table)?,
    };
    table.finish()?;
    Ok(card)
}

/// What is not said of md is as it is by default: its time for a stripe as judged, its settings as the kernel's.
fn read_md(table: Table<'_>) -> Result<Md, SourceError> {
    let usual = Md::default();
    let stripe = table.time("stripe")?;
    let md = Md {
        remap_ps: table.time("remap")?.unwrap_or(usual.remap_ps),
        // Who says how long a stripe takes says all of it.
        lock_ps: table.time("lock")?.unwrap_or(if stripe.is_some() { 0 } else { usual.lock_ps }),
        stripe_ps: stripe.unwrap_or(usual.stripe_ps),
        threads: table.whole("threads", 1..=1024)?.unwrap_or(u64::from(usual.threads)) as u32,
        stripe_cache: table.whole("stripe_cache", 17..=32_768)?.unwrap_or(u64::from(usual.stripe_cache)) as u32,
        xor_bytes_per_s: table.rate("xor_rate")?.unwrap_or(usual.xor_bytes_per_s),
        bitmap_bytes: table.size("bitmap")?.unwrap_or(usual.bitmap_bytes),
    };
    table.finish()?;
    Ok(md)
}

fn read_user_space(table: Table<'_>) -> Result<UserSpace, SourceError> {
    let usual = UserSpace::default();
    let own = UserSpace {
        split_ps: table.time("split")?.unwrap_or(usual.split_ps),
        xor_bytes_per_s: table.rate("xor_rate")?.unwrap_or(usual.xor_bytes_per_s),
    };
    table.finish()?;
    Ok(own)
}

fn read_faults(root: &Table<'_>, machine: &Machine) -> Result<Vec<Fault>, SourceError> {
    let mut faults = Vec::new();
    for table in root.tables("fault")? {
        let drive = table.get("drive");
        if let Some(drive) = &drive {
            machine.members_of(Some(drive.text()?)).map_err(|why| drive.error(why))?;
        }
        faults.push(Fault {
            kind: read_fault_kind(&table, machine)?,
            drive: drive.map(|d| d.text().map(str::to_owned)).transpose()?,
            from_ps: table.time("from")?.unwrap_or(0),
            until_ps: table.time("until")?.unwrap_or(u64::MAX),
        });
        table.finish()?;
    }
    Ok(faults)
}

fn read_fault_kind(table: &Table<'_>, machine: &Machine) -> Result<FaultKind, SourceError> {
    let missing = |key| table.missing(key);
    let kinds = ["throttle", "drift", "slow_die", "gc_storm", "link_down", "interrupts", "page_cache"];
    let kind = table.need("kind")?;
    let words: Vec<(&str, usize)> = kinds.iter().enumerate().map(|(i, k)| (*k, i)).collect();
    Ok(match kinds[kind.word(&words)?] {
        "throttle" => {
            FaultKind::Throttle { speed_pct: table.percent("speed", 1..=100)?.ok_or_else(|| missing("speed"))? }
        }
        "drift" => FaultKind::Drift {
            loss_pct: table.share("loss_per_minute")?.ok_or_else(|| missing("loss_per_minute"))? as f64 / 10_000.0,
        },
        "slow_die" => FaultKind::SlowDie {
            die: table.need("die")?.whole(0..=4095)? as u32,
            factor: table.need("factor")?.whole(1..=10_000)? as u32,
        },
        "gc_storm" => FaultKind::GcStorm {
            period_ps: table.time("period")?.filter(|p| *p > 0).ok_or_else(|| missing("period"))?,
            length_ps: table.time("length")?.ok_or_else(|| missing("length"))?,
            dies_pct: table.percent("dies", 1..=100)?.unwrap_or(100),
        },
        "link_down" => FaultKind::LinkTrainedDown {
            generation: table.need("gen")?.whole(1..=6)? as u32,
            lanes: table.need("lanes")?.whole(1..=32)? as u32,
        },
        "interrupts" => FaultKind::InterruptsOnOneCpu {
            cpu: table.need("cpu")?.whole(0..=u64::from(machine.host.cpus() - 1))? as u32,
        },
        _ => FaultKind::PageCacheHits { hit_pct: table.percent("hits", 1..=100)?.ok_or_else(|| missing("hits"))? },
    })
}

#[cfg(test)]
mod tests;
