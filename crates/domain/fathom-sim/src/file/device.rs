//! Devices in machine files: the `[[device]]` table.

use fathom_message::msg;
use fathom_plan::SourceError;

use super::quantity::share_millionths;
use super::table::{Table, as_table};
use crate::machine::{Device, Ftl, Media, Memory, Nand, Xpoint};

/// Reads a `[[device]]`.
pub(crate) fn read_device(table: Table<'_>) -> Result<Device, SourceError> {
    let name = table.need("name")?.text()?.to_owned();
    // Where the figures come from is for the reader of the file.
    table.get("source");
    table.get("note");
    let command = table.time("command")?.unwrap_or(0);
    let media = [
        table.table("nand")?.map(read_nand).transpose()?,
        table.table("xpoint")?.map(read_xpoint).transpose()?,
        table.table("memory")?.map(read_memory).transpose()?,
    ];
    let mut media = media.into_iter().flatten();
    let (Some(medium), None) = (media.next(), media.next()) else {
        return Err(table.error(msg!("sim-device-media")));
    };
    let device = Device {
        name,
        capacity_bytes: table.size("capacity")?.ok_or_else(|| table.missing("capacity"))?,
        command_read_ps: table.time("command_read")?.unwrap_or(command),
        command_write_ps: table.time("command_write")?.unwrap_or(command),
        read_bytes_per_s: table.rate("read_rate")?.unwrap_or(0),
        write_bytes_per_s: table.rate("write_rate")?.unwrap_or(0),
        fixed_ps: table.time("fixed")?.unwrap_or(0),
        outstanding_max: table.whole("outstanding", 1..=65_535)?.unwrap_or(0) as u32,
        queues: table.whole("queues", 1..=65_535)?.unwrap_or(0) as u32,
        coalesce: read_coalesce(&table)?,
        read_tail: read_tail(&table, "read_tail")?,
        write_tail: read_tail(&table, "write_tail")?,
        media: medium,
    };
    if device.capacity_bytes < 1 << 20 {
        return Err(table.error(msg!("sim-capacity-too-small")));
    }
    table.finish()?;
    Ok(device)
}

/// `coalesce = { ios = 8, time = "100us" }`.
pub(crate) fn read_coalesce(table: &Table<'_>) -> Result<Option<(u32, u64)>, SourceError> {
    let Some(coalesce) = table.table("coalesce")? else { return Ok(None) };
    let ios = coalesce.need("ios")?.whole(1..=256)? as u32;
    let time = coalesce.time("time")?.ok_or_else(|| coalesce.missing("time"))?;
    coalesce.finish()?;
    Ok(Some((ios, time)))
}

/// `[{ share = "0.001%", add = "2ms" }]`.
fn read_tail(table: &Table<'_>, key: &'static str) -> Result<Vec<(u32, u64)>, SourceError> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for entry in value.texts()? {
        let entry = as_table(&entry)?;
        let share = entry.need("share")?;
        // Billionths, because tails are rarer than millionths.
        let billionths = share
            .text()?
            .trim()
            .strip_suffix('%')
            .and_then(|n| share_millionths(&format!("{}%", n.trim())).ok().map(|_| n.trim().to_owned()))
            .and_then(|n| n.parse::<f64>().ok())
            .map(|percent| (percent * 1e7).round() as u64)
            .filter(|b| *b <= 1_000_000_000)
            .ok_or_else(|| share.error(msg!("sim-share-expected")))?;
        let add = entry.time("add")?.ok_or_else(|| entry.missing("add"))?;
        entry.finish()?;
        out.push((billionths as u32, add));
    }
    Ok(out)
}

fn read_nand(table: Table<'_>) -> Result<Media, SourceError> {
    let size = |key| -> Result<u64, SourceError> {
        table.size(key)?.filter(|s| *s > 0).ok_or_else(|| table.error(msg!("sim-key-missing-or-zero", key = key)))
    };
    let ftl = match table.get("ftl").map(|v| v.word(&[("mean", 0), ("pages", 1)])).transpose()? {
        Some(1) => Ftl::Pages {
            blocks: table.whole("ftl_blocks", 400..=1_000_000)?.unwrap_or(512) as u32,
            pages_per_block: table.whole("ftl_pages_per_block", 16..=65_536)?.unwrap_or(256) as u32,
            greedy: table.get("ftl_cleaning").map(|v| v.word(&[("oldest", false), ("greedy", true)])).transpose()?
                == Some(true),
        },
        _ => Ftl::MeanField,
    };
    let nand = Nand {
        dies: table.need("dies")?.whole(1..=4096)? as u32,
        channels: table.whole("channels", 1..=256)?.unwrap_or(0) as u32,
        channel_bytes_per_s: table.rate("channel_rate")?.unwrap_or(0),
        page_bytes: size("page")? as u32,
        read: table.service(["read", "read_spread", "read_distribution"])?,
        program: table.service(["program", "program_spread", "program_distribution"])?,
        program_bytes: size("program_unit")? as u32,
        erase_ps: table.time("erase")?.unwrap_or(0),
        block_bytes: size("block")?,
        buffer_bytes: size("buffer")?,
        ack_ps: table.time("ack")?.unwrap_or(0),
        spare_pct: table.share("spare")?.ok_or_else(|| table.missing("spare"))? as f64 / 10_000.0,
        suspend_ps: table.time("suspend")?,
        map_miss_permille: (table.share("map_miss")?.unwrap_or(0) / 1_000).min(1_000) as u32,
        read_ahead_ps: table.time("read_ahead")?.unwrap_or(0),
        ftl,
    };
    if nand.channels > 0 && nand.channel_bytes_per_s == 0 {
        return Err(table.error(msg!("sim-channels-without-rate")));
    }
    if nand.spare_pct <= 0.0 {
        return Err(table.error(msg!("sim-no-spare")));
    }
    table.finish()?;
    Ok(Media::Nand(nand))
}

fn read_xpoint(table: Table<'_>) -> Result<Media, SourceError> {
    let xpoint = Xpoint {
        units: table.need("units")?.whole(1..=4096)? as u32,
        unit_bytes: table.size("unit")?.filter(|s| *s > 0).ok_or_else(|| table.missing("unit"))? as u32,
        read: table.service(["read", "read_spread", "read_distribution"])?,
        write: table.service(["write", "write_spread", "write_distribution"])?,
    };
    table.finish()?;
    Ok(Media::Xpoint(xpoint))
}

fn read_memory(table: Table<'_>) -> Result<Media, SourceError> {
    let rate = |key| table.rate(key)?.filter(|r| *r > 0).ok_or_else(|| table.missing(key));
    let write_bytes_per_s = rate("write_rate")?;
    let memory = Memory {
        units: table.need("units")?.whole(1..=4096)? as u32,
        unit_bytes: table.size("unit")?.filter(|s| *s > 0).ok_or_else(|| table.missing("unit"))? as u32,
        read_ps: table.time("read")?.unwrap_or(0),
        write_ps: table.time("write")?.unwrap_or(0),
        read_bytes_per_s: rate("read_rate")?,
        write_bytes_per_s,
        random_write_bytes_per_s: table.rate("random_write_rate")?.unwrap_or(write_bytes_per_s),
    };
    table.finish()?;
    Ok(Media::Memory(memory))
}
