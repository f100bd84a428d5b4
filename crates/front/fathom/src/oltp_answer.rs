//! The answer of `fathom oltp`: six lines, and what there is to warn of.

use std::fmt::Write as _;

use fathom_judge::oltp::{BoundJudgement, EvidenceView, KindView, OltpDocument, RateView};
use fathom_model::{OltpEvidenceName, OltpLimit};
use fathom_units::{format_bytes, format_iops, format_ns};

use crate::terminal::{fill, warning_word};

/// Others that take more than this share of the CPUs are said.
const MANY_OTHERS: f64 = 0.35;

/// What the terminal prints.
pub(crate) fn answer(document: &OltpDocument) -> String {
    let mut out = String::new();
    for (label, text) in lines(document) {
        let filled = fill(&text, "           ");
        let _infallible = writeln!(out, "{label:<11}{}", filled.trim());
    }
    for warning in warnings(document) {
        let _infallible = writeln!(out, "{}: {warning}", warning_word());
    }
    out
}

/// The answer line by line, each with its label.
pub(crate) fn lines(document: &OltpDocument) -> Vec<(&'static str, String)> {
    let all = [
        ("Orders", rates(document)),
        ("Response", responses(&document.transactions)),
        ("Limit", limit(document)),
        ("Time", time(document)),
        ("Log", log(document)),
        ("Open loop", open_loop(document)),
        ("Drive", drive(document)),
        ("Database", database(document)),
        ("Notice", format!("order entry, {}: it does not comply with the specification", document.notice)),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// What a server tells of its log; nothing where there is none.
fn log(document: &OltpDocument) -> String {
    let Some(server) = &document.server else { return String::new() };
    let hit =
        server.cache_hit.map(|share| format!("; {:.1} % of pages in its own cache", share * 100.0)).unwrap_or_default();
    let bytes = format_bytes(server.log_bytes_per_transaction as u64);
    let checkpoints = match server.checkpoints {
        0 => "no checkpoint in the run: a longer one has them, and may be slower".to_owned(),
        1 => "1 checkpoint in the run".to_owned(),
        more => format!("{more} checkpoints in the run"),
    };
    format!("{bytes} and {:.2} syncs per transaction; {checkpoints}{hit}", server.log_syncs_per_transaction)
}

/// Responses at shares of the rate; nothing where that was not asked for.
fn open_loop(document: &OltpDocument) -> String {
    let runs = document.open_loop.iter().map(|run| {
        let told = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| format_ns(ns as f64));
        let kept = if run.is_sustained { "" } else { " (not sustained)" };
        format!(
            "{:.0} %{kept}: p50 {}, p99 {}",
            run.share * 100.0,
            told(run.new_order.p50_ns),
            told(run.new_order.p99_ns)
        )
    });
    runs.collect::<Vec<_>>().join("; ")
}

fn rates(document: &OltpDocument) -> String {
    let minutes = match (document.nopm.best_minute, document.nopm.worst_minute) {
        (Some(best), Some(worst)) => {
            format!(", minutes from {} to {}", format_iops(worst), format_iops(best))
        }
        _ => String::new(),
    };
    format!(
        "{} NOPM{minutes}; {} TPM, {} TPS, by {}",
        rate(&document.nopm),
        rate(&document.tpm),
        format_iops(document.tps),
        counted(document.drive.sessions.into(), "session")
    )
}

/// `1 session`, `8 sessions`.
fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `12.3k ±2 %`.
fn rate(rate: &RateView) -> String {
    let mean = format_iops(rate.mean);
    match rate.ci95 {
        Some([low, high]) if rate.mean > 0.0 => format!("{mean} ±{:.1} %", (high - low) / 2.0 / rate.mean * 100.0),
        _ => format!("{mean} (no interval: too short or too uneven)"),
    }
}

fn responses(kinds: &[KindView]) -> String {
    let Some(orders) = kinds.first() else { return String::new() };
    let told = |name: &str, ns: Option<u64>| ns.map(|ns| format!("{name} {}", format_ns(ns as f64)));
    let figures = [
        orders.latency.mean_ns.map(|ns| format!("mean {}", format_ns(ns))),
        told("p50", orders.latency.p50_ns),
        told("p99", orders.latency.p99_ns),
        told("p99.9", orders.latency.p999_ns),
    ];
    let commit = orders.commit.as_ref().and_then(|commit| commit.mean_ns);
    let commit = commit.map(|ns| format!("; its commit {}", format_ns(ns))).unwrap_or_default();
    format!("a new order takes {}{commit}", figures.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn limit(document: &OltpDocument) -> String {
    let verdict = &document.verdict;
    let one_writer = if document.database.has_one_writer { ", of the one session that writes at a time" } else { "" };
    let named = match verdict.limit {
        Some(OltpLimit::Cpu) => format!("the CPU{one_writer}"),
        Some(OltpLimit::CpuTaken) => "CPU time that other programs use".to_owned(),
        Some(OltpLimit::Storage) => "the drive: statements wait for data from it".to_owned(),
        Some(OltpLimit::LogFlush) => format!("the flush of the log at each commit{one_writer}"),
        Some(OltpLimit::Locks) => "sessions that wait for each other's locks".to_owned(),
        None => "not determined: the evidence does not agree".to_owned(),
    };
    // What speaks for the limit; where none is named, everything, as the reader has to weigh it.
    let speaks = |piece: &&EvidenceView| verdict.limit.is_none_or(|limit| piece.speaks_for.contains(&limit));
    let has_one_writer = document.database.has_one_writer;
    let evidence: Vec<String> = verdict
        .evidence
        .iter()
        .filter(speaks)
        .map(|piece| piece_of(piece, has_one_writer, verdict.limit.is_some()))
        .collect();
    format!("{named} ({})", evidence.join("; "))
}

/// A piece of evidence with its number.
fn piece_of(piece: &EvidenceView, has_one_writer: bool, is_named: bool) -> String {
    let percent = format!("{:.0} %", piece.number * 100.0);
    match piece.name {
        OltpEvidenceName::ServingTime if is_named => format!("{percent} of serving time"),
        OltpEvidenceName::ServingTime => format!("{percent} of serving time in its largest part"),
        OltpEvidenceName::CpusBusy if has_one_writer => format!("statements keep one CPU {percent} busy"),
        OltpEvidenceName::CpusBusy => format!("CPUs {percent} busy"),
        OltpEvidenceName::OtherPrograms => format!("other programs use {percent} of the CPUs"),
        OltpEvidenceName::OffCpu => format!("{percent} of that time off the CPU"),
        OltpEvidenceName::DeviceBusy => format!("drive {percent} busy"),
        OltpEvidenceName::ReadsUsed => format!("the drive gives {percent} of its calibrated reads"),
        OltpEvidenceName::DeviceReads => format!("{:.2} pages read from the device per transaction", piece.number),
        OltpEvidenceName::RelaxedCommits => format!("{:.2}x the rate if commits do not wait", piece.number),
    }
}

fn time(document: &OltpDocument) -> String {
    let time = &document.session_time;
    let share = |share: f64| format!("{:.0} %", share * 100.0);
    let (cpu, turn, data) = (share(time.on_cpu), share(time.for_turn), share(time.for_data));
    let parts = if document.database.has_one_writer {
        let ready = share(time.for_cpu);
        format!(
            "{cpu} on a CPU, {ready} waiting for a CPU, {turn} for their turn, {} in commits, {data} for data",
            share(time.for_log)
        )
    } else {
        format!(
            "{cpu} on a CPU or ready, {turn} waiting for locks, {} for the log, {data} for data",
            share(time.for_log)
        )
    };
    let server = document.cpus.server_cores.map(|cores| format!(", the server {cores:.2}")).unwrap_or_default();
    format!(
        "sessions spend {parts}; {} CPUs are {} busy, the client uses {:.2}{server}",
        document.cpus.allowed,
        share(document.cpus.busy),
        document.cpus.client_cores
    )
}

fn drive(document: &OltpDocument) -> String {
    let Some(device) = &document.device else {
        return "no block device is behind the folder: nothing can be said of it".to_owned();
    };
    let flushes = device.flushes_per_transaction.map(|f| format!(", {f:.2} flushes")).unwrap_or_default();
    let calibrated = document.calibration.as_ref().and_then(|made| Some((made, made.most_iops()?)));
    let calibrated = calibrated.map_or(String::new(), |(made, most)| {
        let could = document.verdict.reads_a_transaction_could_make;
        let could = could.map(|reads| format!(", {reads:.1} per transaction")).unwrap_or_default();
        format!("; it gives {} random {} reads/s{could}", format_iops(most), format_bytes(made.block_bytes))
    });
    let cached = match document.verdict.is_cached {
        Some(true) => ". All data is cached: reads of the drive are not tested",
        _ => "",
    };
    let own = document.own_page_reads_per_transaction;
    let own = own.map(|pages| format!(" ({pages:.2} page reads by the database)")).unwrap_or_default();
    format!(
        "{}: per transaction {:.2} reads{own}, {:.2} writes{flushes}, {} written; {} per million orders{calibrated}{cached}",
        device.name,
        device.reads_per_transaction,
        device.writes_per_transaction,
        format_bytes(device.written_bytes_per_transaction as u64),
        format_bytes(device.written_bytes_per_million_orders as u64)
    )
}

fn database(document: &OltpDocument) -> String {
    let database = &document.database;
    let settings: Vec<String> =
        database.settings.iter().take(3).map(|(name, value)| format!("{name}={value}")).collect();
    let consistency = match &document.consistency.broken_after_run[..] {
        [] => "consistent after the run".to_owned(),
        some => format!("{} CONDITIONS OF CONSISTENCY ARE BROKEN", some.len()),
    };
    format!(
        "{} {}, {}, {}, {}; {consistency}",
        database.engine,
        database.version,
        settings.join(" "),
        counted(database.warehouses.into(), "warehouse"),
        format_bytes(database.bytes)
    )
}

fn warnings(document: &OltpDocument) -> Vec<String> {
    let mut out = Vec::new();
    let consistency = &document.consistency;
    for (when, broken) in [
        ("load", consistency.broken_after_load.as_deref().unwrap_or_default()),
        ("run", &consistency.broken_after_run[..]),
    ] {
        for (number, places) in broken {
            out.push(format!("after the {when}, condition {number} of clause 3.3.2 is broken in {places} places"));
        }
    }
    for bound in document.audit.iter().filter(|bound| bound.judgement == BoundJudgement::Outside) {
        out.push(format!("the inputs are not as specified: {} is {:.4}", bound.rule, bound.found));
    }
    let others = document.cpus.others_cores.filter(|cores| *cores > document.cpus.allowed as f64 * MANY_OTHERS);
    if let Some(cores) = others {
        let allowed = document.cpus.allowed;
        out.push(format!(
            "others, the kernel among them, took {cores:.1} of {allowed} CPUs: the figures are those of a busy host"
        ));
    }
    if document.drive.is_stopped {
        out.push(format!("ended early, after {:.0} s", document.drive.measured_s));
    }
    out
}
