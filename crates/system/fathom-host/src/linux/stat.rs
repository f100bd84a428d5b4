//! `/proc/stat`, parsed without allocation per line.

use std::path::Path;

use fathom_message::msg;
use fathom_record::CpuTime;

use crate::procfs::Stat;
use crate::root::ProbeError;

/// Parses /proc/stat (proc_stat(5)) into `into`. `tick_ns` is 1 s / USER_HZ.
pub(crate) fn parse_stat(path: &Path, text: &str, tick_ns: u64, into: &mut Stat) -> Result<(), ProbeError> {
    into.cpus.clear();
    let (mut seen_intr, mut seen_ctxt) = (false, false);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("cpu") {
            if rest.starts_with(' ') {
                continue; // The sum line: it counts CPUs that went offline too, so the parts are what we use.
            }
            into.cpus.push(parse_cpu(path, rest, tick_ns)?);
        } else if let Some(rest) = line.strip_prefix("intr ") {
            into.interrupts = first_number(path, rest, "intr")?;
            seen_intr = true;
        } else if let Some(rest) = line.strip_prefix("ctxt ") {
            into.context_switches = first_number(path, rest, "ctxt")?;
            seen_ctxt = true;
        }
    }
    if into.cpus.is_empty() || !seen_intr || !seen_ctxt {
        return Err(ProbeError::parse(path, msg!("probe-no-line", line = "cpuN, intr, ctxt")));
    }
    Ok(())
}

fn parse_cpu(path: &Path, rest: &str, tick_ns: u64) -> Result<(u32, CpuTime), ProbeError> {
    let bad = || ProbeError::parse(path, msg!("probe-bad-line", line = format!("cpu{rest}")));
    let mut words = rest.split_ascii_whitespace();
    let number = words.next().and_then(|w| w.parse().ok()).ok_or_else(bad)?;
    // user nice system idle iowait irq softirq steal; guest time is already part of user.
    let mut ticks = [0u64; 8];
    for slot in &mut ticks {
        *slot = words.next().and_then(|w| w.parse().ok()).ok_or_else(bad)?;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.map(|t| t * tick_ns);
    let time = CpuTime {
        user_ns: user + nice,
        system_ns: system,
        irq_ns: irq,
        softirq_ns: softirq,
        steal_ns: steal,
        iowait_ns: iowait,
        idle_ns: idle,
    };
    Ok((number, time))
}

fn first_number(path: &Path, rest: &str, line: &str) -> Result<u64, ProbeError> {
    let word = rest.split_ascii_whitespace().next().unwrap_or("");
    word.parse().map_err(|_| {
        ProbeError::parse(path, msg!("probe-line-no-number", line = line.to_owned(), text = word.to_owned()))
    })
}
