//! `fathom inspect`: the machine as a tree, with advice; and machines captured to be looked at elsewhere.

use std::path::Path;

use fathom_host::{Root, open_to_read};
use fathom_inspect::{Advice, CaptureError, Inventory, Missing, Subject, advise, capture, unpack};
use fathom_units::parse_cpu_list;
use serde::Serialize;

use super::fix::{Asked, fix};
use super::output::Output;
use super::{command_line, to_json};
use crate::args::InspectArgs;
use crate::exit::{Exit, Problem};
use crate::inventory::{first_look, render_text};
use crate::terminal::{result, say, talk};

/// What `--json` prints.
#[derive(Serialize)]
struct Inspection {
    fathom: &'static str,
    schema: u32,
    inventory: Inventory,
    advice: Vec<Advice>,
}

/// Narrower than this a tree of devices cannot be read, wider lines are hard to follow.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=160;
/// Columns of a terminal that does not say.
const WIDTH: usize = 80;

/// Shows or captures the machine.
pub(crate) fn inspect(options: &InspectArgs) -> Result<Exit, Problem> {
    let cpus = options.cpus.as_deref().map(parse_cpu_list).transpose();
    let cpus = cpus.map_err(|e| Problem::of_flag("--cpus", &e))?.unwrap_or_default();
    if let Some(path) = &options.root {
        if path.is_dir() {
            return show(&Root::new(path), options, cpus);
        }
        let file = open_to_read(path).map_err(|e| {
            Problem::usage(
                format!("cannot open {}: {e}", path.display()),
                "name a capture, or the folder it was unpacked into",
            )
        })?;
        let captured = unpack(file).map_err(|e| capture_problem(path, &e))?;
        return show(&captured.root(), options, cpus);
    }
    show(&Root::live(), options, cpus)
}

fn show(root: &Root, options: &InspectArgs, cpus: Vec<u32>) -> Result<Exit, Problem> {
    if let Some(path) = &options.capture {
        return pack(root, path, options.with_serials);
    }
    let inventory = Inventory::read(root);
    if inventory.processors.topology.cpus.is_empty() && inventory.drives.is_empty() {
        let place = options.root.as_deref().unwrap_or(Path::new("/"));
        let has_both = ["proc", "sys"].iter().all(|folder| root.join(folder).is_dir());
        let is_of_these = |m: &&Missing| has_both && ["part-cpus", "part-drives"].contains(&m.what.id());
        let unread = inventory.missing.iter().filter(is_of_these);
        let unread: Vec<String> = unread.map(|m| format!("/{}: {}", m.example, say(&m.detail))).collect();
        return Err(Problem::new(
            Exit::Failed,
            format!("{} shows neither CPUs nor drives", place.display()),
            match unread.is_empty() {
                true => "it must contain proc and sys of a Linux machine".to_owned(),
                false => format!("it contains proc and sys, but not all that is needed: {}", unread.join("; ")),
            },
        ));
    }
    let targets = targets(&inventory, &options.target)?;
    check_cpus(&inventory, &cpus)?;
    let advice = advise(&inventory, &Subject { targets: Some(targets).filter(|t| !t.is_empty()), cpus });
    if let Some(rules) = &options.fix {
        return fix(root, &inventory, &advice, Asked { rules, yes: options.yes, json: options.json });
    }
    if options.json {
        result(&to_json(&Inspection { fathom: env!("CARGO_PKG_VERSION"), schema: 1, inventory, advice }));
    } else {
        let look = first_look(&inventory, &advice, &again(options));
        match options.details {
            true => result(&format!("{look}\n{}", render_text(&inventory, &advice, width()))),
            false => result(&look),
        }
    }
    Ok(Exit::Done)
}

/// The command that shows all of it.
fn again(options: &InspectArgs) -> String {
    let line = command_line();
    if options.details { line } else { format!("{line} --details") }
}

/// `COLUMNS`, if the shell hands it on.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(WIDTH);
    columns.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// Kernel names of what was named, which must be there.
fn targets(inventory: &Inventory, named: &[String]) -> Result<Vec<String>, Problem> {
    let known = |name: &str| !inventory.drives_below(name).is_empty();
    let check = |target: &String| {
        let name = target.strip_prefix("/dev/").unwrap_or(target);
        if known(name) {
            return Ok(name.to_owned());
        }
        let names: Vec<&str> = inventory.drives.iter().map(|d| d.device.name.as_str()).collect();
        Err(Problem::usage(
            format!("there is no drive {}", fathom_inspect::clean(name)),
            format!("name one of: {}", names.join(", ")),
        ))
    };
    named.iter().map(check).collect()
}

fn check_cpus(inventory: &Inventory, cpus: &[u32]) -> Result<(), Problem> {
    let online: Vec<u32> = inventory.processors.topology.cpus.iter().map(|c| c.id).collect();
    match cpus.iter().find(|c| !online.contains(c)) {
        None => Ok(()),
        Some(cpu) => Err(Problem::usage(
            format!("--cpus: CPU {cpu} is not online"),
            format!("online are {}", fathom_units::format_cpu_list(&online)),
        )),
    }
}

fn pack(root: &Root, path: &Path, with_serials: bool) -> Result<Exit, Problem> {
    let output = Output { path, force: false };
    let elsewhere = |problem: Problem| Problem { help: Some("name another file with --capture".to_owned()), ..problem };
    output.check().map_err(elsewhere)?;
    // A megabyte or two: put together first, so that the file is written whole or not at all.
    let mut packed = Vec::new();
    let count = capture(root, &mut packed, with_serials).map_err(|e| capture_problem(path, &e))?;
    output.write(|out| out.write_all(&packed)).map_err(elsewhere)?;
    let serials = if with_serials { "with serial numbers" } else { "without serial numbers" };
    talk(&format!(
        "{count} files written to {}, {serials}; look at it with: fathom inspect --root {0}",
        path.display()
    ));
    Ok(Exit::Done)
}

fn capture_problem(path: &Path, error: &CaptureError) -> Problem {
    let problem = Problem::of(Exit::Failed, error);
    Problem { message: format!("{}: {}", path.display(), problem.message), ..problem }
}
