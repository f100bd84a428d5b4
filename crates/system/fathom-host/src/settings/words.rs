//! From what a person writes (`scheduler=none`, `idle_max_us=20`) to single settings of the kernel.

use fathom_message::{Arg, Join, Message, msg};
use fathom_units::nearest;

use super::{ArrayAttribute, Change, QueueAttribute, Setting, SettingError};
use crate::cpu::Topology;
use crate::disk::device_by_name;
use crate::interrupts::InterruptTable;
use crate::root::{Root, names_in, number};
use crate::user_space::NvmeFunction;
use crate::vectors::interrupt_devices;

/// The one word that stands for settings of many idle states.
const IDLE_MAX: &str = "idle_max_us";

/// All words of settings, as [`changes_for`] takes them.
pub const SETTING_WORDS: [&str; 22] = [
    "scheduler",
    "nr_requests",
    "nomerges",
    "read_ahead_kb",
    "rq_affinity",
    "iostats",
    "io_poll",
    "io_poll_delay",
    "wbt_lat_usec",
    "write_cache",
    "max_sectors_kb",
    "add_random",
    "stripe_cache_size",
    "group_thread_cnt",
    "sync_speed_min",
    "sync_speed_max",
    "governor",
    "energy_preference",
    IDLE_MAX,
    "smt",
    "irq_affinity",
    "interrupt_coalescing",
];

/// The single changes that `word=value` means for the named block devices (kernel names of devices or partitions).
///
/// Words of the queue, and of an array of Linux md, apply to each device; `governor`, `energy_preference` and `idle_max_us` (forbid every idle state
/// that takes longer to leave) to all online CPUs; `irq_affinity` to all vectors of the devices. Each value is checked
/// against what the kernel offers; nothing is changed.
///
/// # Errors
/// [`SettingError`]: unknown word, no device, not offered here, or a value it does not take.
pub fn changes_for(root: &Root, text: &str, devices: &[String]) -> Result<Vec<Change>, SettingError> {
    let (word, value) = text.split_once('=').ok_or_else(|| SettingError::Form { text: text.to_owned() })?;
    let (word, value) = (word.trim(), value.trim());
    let Some(&word) = SETTING_WORDS.iter().find(|known| **known == word) else {
        let near = nearest(word, &SETTING_WORDS);
        let nearest = SETTING_WORDS.iter().find(|known| Some(**known) == near).copied();
        return Err(SettingError::UnknownWord { word: word.to_owned(), nearest });
    };
    if word == IDLE_MAX {
        return idle_changes(root, value);
    }
    let settings = settings_of(root, word, devices)?;
    let change = |setting: Setting| {
        // What is not there is named before what is wrong with its value.
        setting.read(root)?;
        Ok(Change { value: setting.checked(root, value)?, setting })
    };
    settings.into_iter().map(change).collect()
}

fn settings_of(root: &Root, word: &'static str, devices: &[String]) -> Result<Vec<Setting>, SettingError> {
    if let Some(attribute) = QueueAttribute::ALL.into_iter().find(|a| a.as_str() == word) {
        let wholes = whole_devices(root, word, devices)?;
        return Ok(wholes.into_iter().map(|device| Setting::Queue { device, attribute }).collect());
    }
    if let Some(attribute) = ArrayAttribute::ALL.into_iter().find(|a| a.as_str() == word) {
        let wholes = whole_devices(root, word, devices)?;
        return Ok(wholes.into_iter().map(|device| Setting::Array { device, attribute }).collect());
    }
    match word {
        "smt" => Ok(vec![Setting::Smt]),
        "irq_affinity" => interrupts_of(root, word, devices),
        "interrupt_coalescing" => controllers_of(root, word, devices),
        _ => {
            let of =
                |cpu| if word == "governor" { Setting::Governor { cpu } } else { Setting::EnergyPreference { cpu } };
            Ok(online(root).into_iter().map(of).collect())
        }
    }
}

fn whole_devices(root: &Root, word: &'static str, devices: &[String]) -> Result<Vec<String>, SettingError> {
    let mut names = Vec::new();
    for name in devices {
        let missing = || SettingError::Missing {
            what: msg!("setting-of-devices", word = word, devices = name),
            path: root.join("sys/class/block").join(name).join("queue").join(word),
        };
        let whole = device_by_name(root, name).map_err(|_| missing())?.name;
        if !names.contains(&whole) {
            names.push(whole);
        }
    }
    if names.is_empty() { Err(SettingError::NoDevice { word }) } else { Ok(names) }
}

/// The controllers of NVMe drives.
fn controllers_of(root: &Root, word: &'static str, devices: &[String]) -> Result<Vec<Setting>, SettingError> {
    let mut settings = Vec::new();
    for device in whole_devices(root, word, devices)? {
        let address = NvmeFunction::address_of(root, &device);
        let function = address.and_then(|address| NvmeFunction::at(root, &address).ok().flatten());
        let controller = function.and_then(|function| function.controller).ok_or_else(|| SettingError::Missing {
            what: msg!("setting-of-devices", word = word, devices = device.clone()),
            path: root.join("sys/class/block").join(&device),
        })?;
        let setting = Setting::Coalescing { controller };
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    Ok(settings)
}

fn online(root: &Root) -> Vec<u32> {
    Topology::read(root).map_or_else(|_| Vec::new(), |t| t.cpus.iter().map(|c| c.id).collect())
}

/// One change per CPU and state; states that are allowed and fast stay, slow ones are forbidden.
fn idle_changes(root: &Root, value: &str) -> Result<Vec<Change>, SettingError> {
    let mut changes = Vec::new();
    for cpu in online(root) {
        let home = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpuidle"));
        for name in names_in(&home) {
            let Some(state) = name.strip_prefix("state").and_then(|n| n.parse().ok()) else { continue };
            let setting = Setting::IdleDisable { cpu, state };
            let most: u64 = value.parse().map_err(|_| SettingError::Value {
                what: Message::verbatim(IDLE_MAX),
                value: value.to_owned(),
                takes: msg!("setting-takes-microseconds"),
            })?;
            let latency_us = number(&home.join(&name).join("latency")).unwrap_or(0);
            changes.push(Change { value: u8::from(latency_us > most).to_string(), setting });
        }
    }
    if changes.is_empty() {
        let path = root.join("sys/devices/system/cpu/cpu0/cpuidle");
        return Err(SettingError::Missing { what: Message::verbatim(IDLE_MAX), path });
    }
    Ok(changes)
}

/// Vectors of the devices, and of all they are built on, that complete I/O.
fn interrupts_of(root: &Root, word: &'static str, devices: &[String]) -> Result<Vec<Setting>, SettingError> {
    let wholes = whole_devices(root, word, devices)?;
    let devices = interrupt_devices(root, &wholes);
    let text = root.read("proc/interrupts").unwrap_or_default();
    let table = InterruptTable::parse(&text, |_, device| devices.iter().any(|d| d == device));
    let of_io = table.rows.iter().filter(|row| row.queue.is_some());
    let settings: Vec<Setting> = of_io.map(|row| Setting::IrqAffinity { irq: row.irq }).collect();
    if settings.is_empty() {
        let what = msg!("setting-of-devices", word = word, devices = Arg::names(wholes, Join::Comma));
        return Err(SettingError::Missing { what, path: root.join("proc/irq") });
    }
    Ok(settings)
}
