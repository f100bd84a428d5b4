//! Large pages for memory that drives reach: of 2 MiB, on the node of the drive (Documentation/admin-guide/mm/hugetlbpage.rst).

use serde::Serialize;

use crate::root::{Root, number};
use crate::settings::{Applied, Change, Journal, Setting, SettingError};

/// Size of the pages that are set aside, KiB.
const PAGE_KIB: u64 = 2048;

/// Large pages of one size on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LargePages {
    /// NUMA node; `None` where the machine has none.
    pub node: Option<u32>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages set aside.
    pub pages: u64,
    /// Those that nobody uses.
    pub free: u64,
}

impl LargePages {
    /// All sizes on all nodes.
    #[must_use]
    pub fn all(root: &Root) -> Vec<LargePages> {
        let of_node =
            |name: String| Some((Some(name.strip_prefix("node")?.parse().ok()?), format!("{NODES}/{name}/hugepages")));
        let mut homes: Vec<(Option<u32>, String)> = root.names(NODES).into_iter().filter_map(of_node).collect();
        homes.sort_unstable();
        if homes.is_empty() {
            homes.push((None, "sys/kernel/mm/hugepages".to_owned()));
        }
        let sizes = |(node, home): (Option<u32>, String)| {
            let of_size = move |name: &String| {
                let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
                Some((kib, node, format!("{home}/{name}")))
            };
            root.names(homes_of(node)).iter().filter_map(of_size).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = homes.into_iter().flat_map(sizes).collect();
        found.sort_unstable_by_key(|(kib, node, _)| (*node, *kib));
        let pages = |(kib, node, home): (u64, Option<u32>, String)| {
            let count = |name: &str| number(&root.join(&home).join(name));
            Some(LargePages {
                node,
                page_bytes: kib << 10,
                pages: count("nr_hugepages")?,
                free: count("free_hugepages")?,
            })
        };
        found.into_iter().filter_map(pages).collect()
    }
}

/// Sets so many large pages aside on a node, for a program that takes its memory from them; `None`: as many are free. What was
/// changed is in the journal, and put back when what is returned goes.
///
/// # Errors
/// [`SettingError`]; nothing was changed.
pub fn large_pages_for_a_program(
    root: &Root,
    journal: &Journal,
    node: Option<u32>,
    pages: u64,
) -> Result<Option<Applied>, SettingError> {
    let changes = changes(root, node, pages);
    (!changes.is_empty()).then(|| journal.apply_all(&changes)).transpose()
}

const NODES: &str = "sys/devices/system/node";

fn homes_of(node: Option<u32>) -> String {
    node.map_or_else(|| "sys/kernel/mm/hugepages".to_owned(), |node| format!("{NODES}/node{node}/hugepages"))
}

/// What makes so many pages free on a node, beyond those that are; nothing where there are enough, or no node of that number.
pub(super) fn changes(root: &Root, node: Option<u32>, wanted: u64) -> Vec<Change> {
    let all = LargePages::all(root);
    // Drives whose firmware names no node are as near to one as to another.
    let of_node = all.iter().filter(|pages| pages.page_bytes == PAGE_KIB << 10);
    let nearest = of_node.clone().find(|pages| pages.node == node).or_else(|| of_node.clone().next());
    let Some(pages) = nearest.filter(|pages| wanted > 0 && pages.free < wanted) else { return Vec::new() };
    let setting = Setting::Hugepages { node: pages.node, page_kib: PAGE_KIB };
    vec![Change { setting, value: (pages.pages - pages.free + wanted).to_string() }]
}
