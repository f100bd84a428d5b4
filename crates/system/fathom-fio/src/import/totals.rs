//! Counts, latencies and run times of an fio job: each direction with the time that it took.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_plan::Op;
use fathom_record::{Direction, Latency, QuotedLatency};
use serde_json::{Map, Value};

use super::{Entry, content};
use crate::error::ImportError;
use crate::latency::{self, count, has_distribution};
use crate::step::Measured;

const NS_PER_MS: u64 = 1_000_000;

const DIRECTIONS: [(Op, &str); 3] = [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim")];

/// Key of the figures of all directions together (`unified_rw_reporting`).
const MIXED: &str = "mixed";

/// Figures of a job, or of several jobs that are one step.
pub(super) struct Totals {
    /// Directions that completed I/Os, each with its run time.
    pub(super) directions: Vec<(Direction, u64)>,
    pub(super) syncs: Option<Direction>,
    /// True if the file has figures of all directions together, and no others.
    pub(super) is_unified: bool,
    /// Directions that are left out because their run time is 0, with their I/Os.
    pub(super) timeless: Vec<(String, u64)>,
}

impl Totals {
    /// Reads the figures of `entries`; `op` is that of a job whose directions are reported together.
    pub(super) fn of(
        entries: &[Entry<'_>],
        unified_op: Op,
        version: Option<&str>,
        file: &str,
        notes: &mut Vec<Message>,
    ) -> Result<Totals, ImportError> {
        let mut all = Totals { directions: Vec::new(), syncs: None, is_unified: false, timeless: Vec::new() };
        for entry in entries {
            // `both` adds the sum to its parts.
            let is_unified = DIRECTIONS.iter().all(|(_, key)| !entry.object.contains_key(*key));
            let unified = [(unified_op, MIXED)];
            for (op, key) in if is_unified { &unified[..] } else { &DIRECTIONS[..] } {
                let Some(object) = entry.object.get(*key).and_then(Value::as_object) else { continue };
                let place = format!("{}.{key}", entry.place);
                let Some((direction, ran_ns)) = direction(*op, object, &place, version, file, notes)? else { continue };
                all.is_unified |= is_unified;
                if ran_ns == 0 {
                    all.timeless.push((place, direction.ios));
                    continue;
                }
                match all.directions.iter_mut().find(|(d, _)| d.op == *op) {
                    None => all.directions.push((direction, ran_ns)),
                    Some((into, longest_ns)) => {
                        *longest_ns = ran_ns.max(*longest_ns);
                        merge(into, direction, notes);
                    }
                }
            }
        }
        all.syncs = entries.iter().filter_map(|entry| syncs(entry.object)).reduce(|mut all, more| {
            merge(&mut all, more, notes);
            all
        });
        Ok(all)
    }

    /// Run time of all directions, which ran at the same time.
    pub(super) fn runtime_ns(&self) -> u64 {
        self.directions.iter().map(|(_, ran_ns)| *ran_ns).max().unwrap_or(0)
    }

    /// I/Os and bytes of all directions.
    pub(super) fn moved(&self) -> (u64, u64) {
        self.directions.iter().fold((0, 0), |(ios, bytes), (d, _)| (ios + d.ios, bytes + d.bytes))
    }

    /// Takes out the reads that verified written blocks after the writes.
    pub(super) fn take_reads(&mut self) -> Option<Totals> {
        let at = self.directions.iter().position(|(d, _)| d.op == Op::Read)?;
        let reads = self.directions.remove(at);
        Some(Totals { directions: vec![reads], syncs: None, is_unified: false, timeless: Vec::new() })
    }
}

impl Measured {
    /// Figures to check a job's options against.
    pub(super) fn of(totals: &Totals, is_unified: bool) -> Measured {
        let (ios, bytes) = totals.moved();
        let by_op = totals.directions.iter().map(|(d, _)| (d.op, d.ios)).collect();
        Measured { runtime_ns: totals.runtime_ns(), ios, bytes, by_op, is_unified }
    }
}

/// fio's syncs between the writes. Its own number of them is 0 in some versions; the samples count them.
fn syncs(object: &Map<String, Value>) -> Option<Direction> {
    let sync = object.get("sync")?;
    let said = sync.get("total_ios").and_then(Value::as_u64).unwrap_or(0);
    let lat = latency::parse(sync.get("lat_ns")?.as_object()?, said)?;
    let ios = count(&lat);
    (ios > 0).then_some(Direction {
        op: Op::Sync,
        ios,
        bytes: 0,
        short_ios: 0,
        lat,
        slat: None,
        clat: None,
        service: None,
    })
}

/// Totals of a direction and its run time; `None` when nothing completed.
fn direction(
    op: Op,
    object: &Map<String, Value>,
    place: &str,
    version: Option<&str>,
    file: &str,
    notes: &mut Vec<Message>,
) -> Result<Option<(Direction, u64)>, ImportError> {
    if object.contains_key("clat") && !object.contains_key("clat_ns") {
        let version = version.map_or_else(|| msg!("import-fio-unknown"), Message::verbatim);
        return Err(ImportError::OldFio { file: file.to_owned(), version });
    }
    let number = |key: &str| {
        let value = object.get(key).and_then(Value::as_u64);
        value.ok_or_else(|| {
            content(file, &format!("{place}.{key}"), msg!("import-no-number"), msg!("import-no-number-help"))
        })
    };
    let ios = number("total_ios")?;
    if ios == 0 {
        return Ok(None);
    }
    let (bytes, runtime_ms) = (number("io_bytes")?, number("runtime")?);
    let kind = |key: &str| object.get(key).and_then(Value::as_object).filter(|o| !o.contains_key("fathom_note"));
    let latency = |key: &str| kind(key).and_then(|object| latency::parse(object, ios));
    let (slat, clat) = (latency("slat_ns"), latency("clat_ns"));
    let lat = response(latency("lat_ns"), clat.as_ref(), place, notes);
    if let Latency::Samples(samples) = &lat
        && samples.count() != ios
    {
        notes.push(msg!(
            "import-fio-bins",
            place = place.to_owned(),
            bins = samples.count().to_string(),
            ios = ios.to_string()
        ));
    }
    let short_ios = object.get("short_ios").and_then(Value::as_u64).unwrap_or(0);
    let direction = Direction { op, ios, bytes, short_ios, lat, slat, clat, service: None };
    Ok(Some((direction, runtime_ms.saturating_mul(NS_PER_MS))))
}

/// lat where its distribution is known, else clat: fio keeps percentiles of lat only when asked.
fn response(lat: Option<Latency>, clat: Option<&Latency>, place: &str, notes: &mut Vec<Message>) -> Latency {
    match (lat, clat) {
        (Some(lat), _) if has_distribution(&lat) => lat,
        (lat, Some(clat)) if has_distribution(clat) || lat.is_none() => {
            notes.push(match lat {
                Some(Latency::Quoted(quoted)) if count(clat) > 0 => {
                    let mean = Quantity::new(quoted.mean_ns, Unit::Ns);
                    msg!("import-fio-clat-mean", place = place.to_owned(), mean = mean)
                }
                _ => msg!("import-fio-clat", place = place.to_owned()),
            });
            clat.clone()
        }
        (Some(lat), _) => lat,
        (None, _) => {
            notes.push(msg!("import-fio-no-latencies", place = place.to_owned()));
            Latency::Quoted(QuotedLatency::default())
        }
    }
}

fn merge(into: &mut Direction, from: Direction, notes: &mut Vec<Message>) {
    let had = has_distribution(&into.lat);
    into.ios += from.ios;
    into.bytes += from.bytes;
    into.short_ios += from.short_ios;
    let pair = |a: Option<Latency>, b: Option<Latency>| match (a, b) {
        (Some(a), Some(b)) => Some(latency::merge(a, &b)),
        _ => None,
    };
    into.slat = pair(into.slat.take(), from.slat);
    into.clat = pair(into.clat.take(), from.clat);
    let lat = std::mem::replace(&mut into.lat, Latency::Quoted(QuotedLatency::default()));
    into.lat = latency::merge(lat, &from.lat);
    if had && !has_distribution(&into.lat) {
        notes.push(msg!("import-fio-no-merge"));
    }
}
