//! Devices, controllers, links, processors and published results, each with its source.
//!
//! The files of `catalogue/` are embedded; a file of the user has the same form and is read by [`Catalogue::parse`].

mod embedded;
mod hardware;
mod metric;
mod published;
mod read;
mod words;

use std::collections::BTreeMap;

use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::{FaultKind, SourceError};
use serde::Serialize;

pub use hardware::{Controller, Cpu, Device, DeviceSim, EngineCost, LinkEntry};
pub use metric::PublishedMetric;
pub use published::{Check, Claim, Conditions, Figure, Platform, Source};
pub use words::{FigureKind, FigureRelation, PublishedOp};

/// A word with fewer characters names no family of drives.
const FAMILY_CHARS_MIN: usize = 4;
/// Capacities that differ by no more than this share are the same.
const SAME_CAPACITY: f64 = 0.03;

/// Everything known before measuring. Entries keep the order of the files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Catalogue {
    sources: Vec<Source>,
    devices: Vec<Device>,
    controllers: Vec<Controller>,
    cpus: Vec<Cpu>,
    links: Vec<LinkEntry>,
    engines: Vec<EngineCost>,
    platforms: Vec<Platform>,
    figures: Vec<Figure>,
    checks: Vec<Check>,
    claims: Vec<Claim>,
}

/// One entry of any kind, as `fathom catalogue show` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry<'a> {
    /// A drive or module.
    Device(&'a Device),
    /// A RAID controller, boot card or switch card.
    Controller(&'a Controller),
    /// A processor.
    Cpu(&'a Cpu),
    /// A PCI Express link.
    Link(&'a LinkEntry),
    /// Cost of an I/O by an engine.
    Engine(&'a EngineCost),
    /// A machine results were published for.
    Platform(&'a Platform),
    /// A published figure.
    Figure(&'a Figure),
    /// A publication.
    Source(&'a Source),
}

impl Catalogue {
    /// The shipped catalogue.
    ///
    /// # Panics
    /// Never in a release: a test reads every shipped file.
    #[must_use]
    pub fn embedded() -> Catalogue {
        Catalogue::parse(embedded::FILES).unwrap_or_else(|e| panic!("the shipped catalogue is sound: {e}"))
    }

    /// Reads files given as `(name, TOML text)`. Sources may stand in another file of the same call.
    ///
    /// # Errors
    /// Not TOML, an unknown or unitless key, a name used twice, an entry without a known source.
    pub fn parse(files: &[(&str, &str)]) -> Result<Catalogue, SourceError> {
        let error = match (read::parse(files), files) {
            (Ok(all), _) => return Ok(all),
            (Err(error), &[(name, text)]) => error.with_others_of_toml(
                text,
                &|rest| read::parse(&[(name, rest)]).err(),
                // A key that is missing may have been left out.
                |error| error.place.line > 0 && error.fault != FaultKind::MissingKey,
            ),
            (Err(error), _) => error,
        };
        Err(error)
    }

    /// Adds the entries of another catalogue; an entry of the same name replaces the one here.
    #[must_use]
    pub fn with(mut self, other: Catalogue) -> Catalogue {
        fn put<T>(into: &mut Vec<T>, from: Vec<T>, id: impl Fn(&T) -> &str) {
            for entry in from {
                into.retain(|e| id(e) != id(&entry));
                into.push(entry);
            }
        }
        put(&mut self.sources, other.sources, |e| &e.id);
        put(&mut self.devices, other.devices, |e| &e.id);
        put(&mut self.controllers, other.controllers, |e| &e.id);
        put(&mut self.cpus, other.cpus, |e| &e.id);
        put(&mut self.links, other.links, |e| &e.id);
        put(&mut self.engines, other.engines, |e| &e.id);
        put(&mut self.platforms, other.platforms, |e| &e.id);
        put(&mut self.figures, other.figures, |e| &e.id);
        put(&mut self.checks, other.checks, |e| &e.id);
        put(&mut self.claims, other.claims, |e| &e.id);
        self
    }

    /// With this device in place of the one of its name.
    #[must_use]
    pub fn with_device(mut self, device: Device) -> Catalogue {
        self.devices.retain(|d| d.id != device.id);
        self.devices.push(device);
        self
    }

    /// Publications.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Drives and modules.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// RAID controllers, boot cards, switch cards.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// Processors.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// Costs of an I/O by engine.
    #[must_use]
    pub fn engines(&self) -> &[EngineCost] {
        &self.engines
    }

    /// Machines that results were published for.
    #[must_use]
    pub fn platforms(&self) -> &[Platform] {
        &self.platforms
    }

    /// Published figures.
    #[must_use]
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Arithmetic done on the figures.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// A device by its name.
    ///
    /// # Errors
    /// No such device; the help names the nearest.
    pub fn device(&self, id: &str) -> Result<&Device, SourceError> {
        let is_meant = |d: &&Device| d.id == id;
        let missing = || missing(msg!("catalogue-kind-device"), id, self.devices.iter().map(named_device));
        self.devices.iter().find(is_meant).ok_or_else(missing)
    }

    /// The device that a drive calls itself: its model names the family (`P5510`, `9550`), and the capacity fits. Drives that
    /// name a part number alone (`SSDPE2KX040T8`) are not found.
    #[must_use]
    pub fn device_like(&self, model: &str, capacity_bytes: u64) -> Option<&Device> {
        let words = |text: &str| -> Vec<String> {
            let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
            parts.filter(|w| w.len() >= FAMILY_CHARS_MIN && w.bytes().filter(u8::is_ascii_digit).count() >= 3).collect()
        };
        let said = words(model);
        let is_same = |rated: u64| rated.abs_diff(capacity_bytes) as f64 <= SAME_CAPACITY * rated as f64;
        let fits = |d: &Device| {
            let mut capacities = d.capacity_bytes.iter().chain(&d.capacity_bytes_list).peekable();
            capacities.peek().is_none() || capacities.any(|bytes| is_same(*bytes))
        };
        self.devices.iter().find(|d| words(&d.model).iter().any(|w| said.contains(w)) && fits(d))
    }

    /// A processor by its name.
    ///
    /// # Errors
    /// No such processor; the help names the nearest.
    pub fn cpu(&self, id: &str) -> Result<&Cpu, SourceError> {
        find(msg!("catalogue-kind-processor"), id, &self.cpus, |d| &d.id)
    }

    /// Cost of an I/O by the name of the engine.
    ///
    /// # Errors
    /// No such engine; the help names the nearest.
    pub fn engine(&self, id: &str) -> Result<&EngineCost, SourceError> {
        find(msg!("catalogue-kind-engine-cost"), id, &self.engines, |d| &d.id)
    }

    /// A published figure by its name.
    ///
    /// # Errors
    /// No such figure; the help names the nearest.
    pub fn figure(&self, id: &str) -> Result<&Figure, SourceError> {
        find(msg!("catalogue-kind-figure"), id, &self.figures, |d| &d.id)
    }

    /// A publication by its name.
    ///
    /// # Errors
    /// No such publication; the help names the nearest.
    pub fn source(&self, id: &str) -> Result<&Source, SourceError> {
        find(msg!("catalogue-kind-source"), id, &self.sources, |d| &d.id)
    }

    /// Published figures of one publication.
    pub fn figures_of<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a Figure> {
        self.figures.iter().filter(move |f| f.source == source)
    }

    /// An entry of any kind by its name.
    ///
    /// # Errors
    /// No such entry; the help names the nearest.
    pub fn entry<'a>(&'a self, id: &str) -> Result<Entry<'a>, SourceError> {
        let all: BTreeMap<&str, Entry<'a>> = self.entries().into_iter().rev().collect();
        if let Some(entry) = all.get(id) {
            return Ok(*entry);
        }
        let named = |(name, entry): (&'a str, Entry<'a>)| match entry {
            Entry::Device(device) => named_device(device),
            _ => (name, name.to_owned()),
        };
        Err(missing(msg!("catalogue-kind-entry"), id, all.into_iter().map(named)))
    }

    fn entries(&self) -> Vec<(&str, Entry<'_>)> {
        let mut out: Vec<(&str, Entry<'_>)> = Vec::new();
        out.extend(self.devices.iter().map(|e| (&e.id[..], Entry::Device(e))));
        out.extend(self.controllers.iter().map(|e| (&e.id[..], Entry::Controller(e))));
        out.extend(self.cpus.iter().map(|e| (&e.id[..], Entry::Cpu(e))));
        out.extend(self.links.iter().map(|e| (&e.id[..], Entry::Link(e))));
        out.extend(self.engines.iter().map(|e| (&e.id[..], Entry::Engine(e))));
        out.extend(self.platforms.iter().map(|e| (&e.id[..], Entry::Platform(e))));
        out.extend(self.figures.iter().map(|e| (&e.id[..], Entry::Figure(e))));
        out.extend(self.sources.iter().map(|e| (&e.id[..], Entry::Source(e))));
        out
    }
}

/// `kind`: what was looked for, as a sentence names it.
fn find<'a, T>(kind: Message, id: &str, all: &'a [T], name: impl Fn(&T) -> &str) -> Result<&'a T, SourceError> {
    all.iter().find(|e| name(e) == id).ok_or_else(|| {
        let names = all.iter().map(|e| (name(e), name(e).to_owned()));
        missing(kind, id, names)
    })
}

/// Name of a device, and the text that people may know it by.
fn named_device(device: &Device) -> (&str, String) {
    (&device.id, format!("{} {}", device.id, device.model))
}

/// Most names that a remedy lists.
const NAMES_LISTED_MAX: usize = 8;

/// Words of a name as people write them: `Kioxia CM7-R` and `kioxia_cm7 r` have the same.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

/// No such name; the help lists the names whose texts contain all its words, else the nearest name.
fn missing<'a>(kind: Message, id: &str, names: impl Iterator<Item = (&'a str, String)>) -> SourceError {
    let names: Vec<(&str, String)> = names.map(|(name, text)| (name, text.to_ascii_lowercase())).collect();
    let has_all_words = |text: &str| words_of(id).all(|word| text.contains(&word));
    let is_named = words_of(id).next().is_some();
    let longer: Vec<&str> =
        names.iter().filter(|(_, text)| is_named && has_all_words(text)).map(|(name, _)| *name).collect();
    let help = match (&longer[..], fathom_units::nearest(id, names.iter().map(|(name, _)| *name))) {
        ([only], _) => did_you_mean(only),
        ([_, ..], _) => {
            let names = longer.iter().take(NAMES_LISTED_MAX).map(|name| format!("`{name}`"));
            msg!("catalogue-did-you-mean-one-of", names = Arg::names(names, Join::Or))
        }
        (_, Some(near)) => did_you_mean(near),
        _ => msg!("catalogue-list-help"),
    };
    SourceError::without_place("", msg!("catalogue-no-such", kind = kind, name = id.to_owned()), Some(help))
}

fn did_you_mean(name: &str) -> Message {
    msg!("did-you-mean", near = name.to_owned())
}

#[cfg(test)]
mod tests;
