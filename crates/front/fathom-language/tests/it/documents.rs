//! The pages of the repository: the README is short, and no link between pages leads nowhere.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of the README, as `wc -w` counts them, stay below this.
const README_WORDS: usize = 900;
/// Folders with pages, and how deep below them pages lie.
const FOLDERS: [(&str, usize); 4] = [("", 0), ("docs", 1), ("bench", 1), ("crates", 4)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Pages in a folder and `depth` folders below it.
fn pages(folder: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && depth > 0 {
            pages(&path, depth - 1, out);
        } else if path.extension().is_some_and(|end| end == "md") {
            out.push(path);
        }
    }
}

/// Text outside of blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// What a page links to in this repository.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let ends = text.match_indices("](").map(|(at, mark)| &text[at + mark.len()..]);
    let targets = ends.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// The anchors of a page, as forges make them of its headings.
fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page)
        .lines()
        .filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase()))
        .collect::<Vec<_>>();
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    headings.iter().map(|heading| heading.chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")).collect()
}

/// Why a link on a page leads nowhere, if it does.
fn broken(page: &Path, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() { page.to_owned() } else { page.parent().expect("a folder").join(file) };
    if !target.exists() {
        return Some(format!("{}: there is no {link}", page.display()));
    }
    let anchor = anchor?;
    let text = fs::read_to_string(&target).unwrap_or_default();
    (!anchors(&text).iter().any(|known| known == anchor)).then(|| format!("{}: no heading for {link}", page.display()))
}

#[test]
fn the_readme_is_short() {
    let words = fs::read_to_string(root().join("README.md")).expect("a README").split_whitespace().count();
    assert!(words < README_WORDS, "README.md has {words} words");
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let mut all = Vec::new();
    for (folder, depth) in FOLDERS {
        pages(&root().join(folder), depth, &mut all);
    }
    let found: Vec<(PathBuf, String)> = all
        .iter()
        .flat_map(|page| links(&fs::read_to_string(page).expect("a page")).into_iter().map(|link| (page.clone(), link)))
        .collect();
    assert!(all.len() > 20 && found.len() > 50, "{} pages, {} links", all.len(), found.len());
    let wrong: Vec<String> = found.iter().filter_map(|(page, link)| broken(page, link)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let text =
        "See [a](docs/TOUR.md#safe-by-default), [b](https://x.org/y) and ![c](no.png).\n```\n[d](code.md)\n```\n";
    assert_eq!(links(text), ["docs/TOUR.md#safe-by-default", "no.png"]);
    let readme = root().join("README.md");
    assert_eq!(broken(&readme, "docs/TOUR.md#safe-by-default"), None);
    assert!(broken(&readme, "no.png").is_some());
    assert!(broken(&readme, "docs/TOUR.md#no-such-heading").is_some());
    assert_eq!(anchors("# Beside fio's\n## p99, and `x_y`\n"), ["beside-fios", "p99-and-x_y"]);
}
