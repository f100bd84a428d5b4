//! The inventory as a tree that a person reads from top to bottom: machine, PCIe with drives, lanes, what is built on
//! the drives, interrupts, limits, what could not be seen, advice.

mod branch;
mod first_look;
#[cfg(test)]
mod golden;
mod parts;
mod pci;

use branch::Branch;
use fathom_inspect::{Advice, Inventory, Severity};
use fathom_language::english;
pub(crate) use first_look::first_look;

/// Renders everything in lines of about `width` columns. All texts are safe to print.
#[must_use]
pub(crate) fn render_text(inventory: &Inventory, advice: &[Advice], width: usize) -> String {
    let sections = [
        Some(parts::machine(inventory)),
        pci::tree(inventory),
        pci::lanes(inventory),
        parts::other_drives(inventory),
        parts::arrays(inventory),
        parts::file_systems(inventory),
        parts::interrupts(inventory),
        parts::limits(inventory),
        parts::settings(inventory),
        parts::missing(inventory),
        Some(advice_section(advice)),
    ];
    let mut out = String::new();
    for section in sections.into_iter().flatten() {
        if !out.is_empty() {
            out.push('\n');
        }
        section.write(width, &mut out);
    }
    out
}

fn advice_section(advice: &[Advice]) -> Branch {
    if advice.is_empty() {
        return Branch::line("Advice: none; no rule found anything to change");
    }
    let count = |severity| advice.iter().filter(|a| a.severity == severity).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let title =
        vec![format!("Advice: {}", plural(count(Severity::Warning), "warning")), plural(count(Severity::Note), "note")];
    Branch::new(title).with(advice.iter().map(one_advice).collect())
}

fn one_advice(advice: &Advice) -> Branch {
    let word = match advice.severity {
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut children = vec![
        Branch::line(format!("why:    {}", english(&advice.reason))),
        Branch::line(format!("effect: {}", english(&advice.effect))),
    ];
    children.extend(advice.remedy.iter().map(|r| Branch::line(format!("do:     {}", english(r)))));
    Branch::new(vec![
        format!("{word} {}", advice.id),
        subjects(&advice.subjects.iter().map(english).collect::<Vec<_>>()),
    ])
    .with(children)
}

/// Names; many are cut after six.
fn subjects(names: &[String]) -> String {
    const SHOWN: usize = 6;
    if names.len() <= SHOWN + 1 {
        return names.join(", ");
    }
    format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
}
