//! docs/TRUTH.md: the reliability diagram and what stands behind it.

use fathom_model::{Confidence, LimitName};

use super::case::Judged;
use super::noise::Series;
use super::score::{BINS_FROM_PCT, Score, is_right};

/// Wrong answers said with 90 % or more that are printed.
const SHOWN_MAX: usize = 12;
const BAR_MAX: f64 = 40.0;

pub(super) fn page(score: &Score, cases: u64) -> String {
    let (sure, sure_wrong) = score.sure();
    let mut text = format!(
        "# Truth: how often the named limit is right\n\n\
         Made by `make truth`: {cases} simulated machines drawn at random, {} measured steps on them. One part of each machine is\n\
         squeezed, the next stands 1.0 to 2.0 times above it; ladders have 2 to 9 depths, with and without a step of more\n\
         threads or fewer drives; steps differ by 0.3 to 8 % from run to run, their intervals are independent, remember\n\
         (AR 0.9), take turns between two levels or storm, and up to 30 % of the CPUs' time is stolen. What is right comes\n\
         from the simulator alone: queue depth where more in flight brings more than a tenth without noise, otherwise the\n\
         busiest part; *unknown* where no part is busy (a lock). Two parts within 3 % of each other are both right. The constants\n\
         of attribution were chosen on other machines than these (`fathom-model/src/attribution/posterior.rs`).\n\n\
         ## Reliability\n\n\
         | said | steps | right | |\n| --- | --- | --- | --- |\n",
        score.steps()
    );
    let bins = score.bins();
    for (at, bin) in bins.iter().enumerate() {
        let to = BINS_FROM_PCT.get(at + 1).copied().unwrap_or(100);
        let share = f64::from(bin.right) / f64::from(bin.said.max(1));
        let said = bin.probability_sum / f64::from(bin.said.max(1));
        let bar = "█".repeat((share * BAR_MAX).round() as usize);
        let right =
            if bin.said > 0 { format!("{:.1} % (said {:.1} %)", 100.0 * share, 100.0 * said) } else { "-".into() };
        text.push_str(&format!("| {} to {to} % | {} | {right} | {bar} |\n", BINS_FROM_PCT[at], bin.said));
    }
    let unknown = score.judged.iter().filter(|j| j.said == LimitName::Unknown);
    let (unknown, unknown_right) = unknown.fold((0, 0), |(n, right), j| (n + 1, right + u32::from(is_right(j))));
    text.push_str(&format!(
        "\nSaid with 90 % or more: {sure}, {sure_wrong} of them wrong ({:.1} %; the target is 2 %). Expected calibration error: \
         {:.1} %\n(target 5 %). Unknown: {unknown}, in {unknown_right} of them rightly.\n",
        100.0 * f64::from(sure_wrong) / f64::from(sure.max(1)),
        100.0 * score.calibration_error(),
    ));
    text.push_str(&matrix(score));
    text.push_str(&names(score));
    text.push_str(&groups(score));
    text.push_str(&wrong(score));
    text
}

/// Every step in a line: case, load, named, probability, right names.
pub(super) fn rows(score: &Score) -> String {
    let row = |j: &Judged| {
        let right: Vec<&str> = j.right.names.iter().map(|n| n.as_str()).collect();
        let probability = j.probability.map_or(String::new(), |p| format!("{p:.3}"));
        format!("{},{},{},{probability},{}\n", j.seed, j.label, j.said.as_str(), right.join("|"))
    };
    score.judged.iter().map(row).collect()
}

fn matrix(score: &Score) -> String {
    let matrix = score.matrix();
    let names: Vec<LimitName> =
        LimitName::ALL.into_iter().filter(|n| matrix.keys().any(|(t, s)| t == n || s == n)).collect();
    let mut text = "\n## Truth and answer\n\n| truth |".to_owned();
    names.iter().for_each(|n| text.push_str(&format!(" {} |", n.as_str())));
    text.push_str(&format!("\n| --- |{}", " --- |".repeat(names.len())));
    for truth in &names {
        text.push_str(&format!("\n| **{}** |", truth.as_str()));
        for said in &names {
            let n = matrix.get(&(*truth, *said)).map_or(String::new(), u32::to_string);
            text.push_str(&format!(" {n} |"));
        }
    }
    text.push('\n');
    text
}

/// Said and right by the part that was named.
fn names(score: &Score) -> String {
    let mut text =
        "\n## By the part that was named\n\n| said | n | mean probability | right |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for name in LimitName::ALL {
        let of: Vec<&Judged> = score.judged.iter().filter(|j| j.said == name && j.probability.is_some()).collect();
        if of.is_empty() {
            continue;
        }
        let n = of.len() as f64;
        let said = of.iter().filter_map(|j| j.probability).sum::<f64>() / n;
        let right = of.iter().filter(|j| is_right(j)).count() as f64 / n;
        text.push_str(&format!("| {} | {n} | {:.1} % | {:.1} % |\n", name.as_str(), 100.0 * said, 100.0 * right));
    }
    text
}

/// How groups of cases fared.
fn groups(score: &Score) -> String {
    type Is = Box<dyn Fn(&Judged) -> bool>;
    let series = |series: Series| -> Is { Box::new(move |j: &Judged| j.series == series) };
    let margin =
        |low: f64, high: f64| -> Is { Box::new(move |j: &Judged| j.right.margin >= low && j.right.margin < high) };
    let groups: [(&str, Is); 10] = [
        ("independent intervals", series(Series::Independent)),
        ("intervals that remember", series(Series::Remembering)),
        ("two levels", series(Series::TwoLevels)),
        ("storms", series(Series::Storms)),
        ("15 % stolen and more", Box::new(|j| j.stolen_share >= 0.15)),
        ("busiest part up to 1.1 times the next", margin(0.0, 1.1)),
        ("1.1 to 1.4 times", margin(1.1, 1.4)),
        ("more", margin(1.4, f64::INFINITY)),
        ("a part that the inventory does not show", Box::new(|j| j.is_hidden)),
        ("all", Box::new(|_| true)),
    ];
    let mut text =
        "\n## By kind of case\n\n| steps with | n | right | said with 90 % | of these wrong |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for (name, is) in groups {
        let of: Vec<&Judged> = score.judged.iter().filter(|j| is(j)).collect();
        let right = of.iter().filter(|j| is_right(j)).count();
        let sure: Vec<&&Judged> =
            of.iter().filter(|j| j.probability.is_some_and(|p| p >= Confidence::CONFIRMED_FROM)).collect();
        let wrong = sure.iter().filter(|j| !is_right(j)).count();
        let share = 100.0 * right as f64 / of.len().max(1) as f64;
        text.push_str(&format!("| {name} | {} | {share:.1} % | {} | {wrong} |\n", of.len(), sure.len()));
    }
    text
}

fn wrong(score: &Score) -> String {
    let wrong: Vec<&Judged> = score
        .judged
        .iter()
        .filter(|j| !is_right(j) && j.probability.is_some_and(|p| p >= Confidence::CONFIRMED_FROM))
        .collect();
    let mut text = format!("\n## Wrong and said with 90 % or more: {}\n\n", wrong.len());
    for j in wrong.iter().take(SHOWN_MAX) {
        let right: Vec<&str> = j.right.names.iter().map(|n| n.as_str()).collect();
        text.push_str(&format!(
            "- case {}{}, {}: right is {} (margin {:.2}); said: {}\n",
            j.seed,
            if j.is_hidden { " (hidden part)" } else { "" },
            j.label,
            right.join(" or "),
            j.right.margin,
            j.sentence
        ));
    }
    text
}
