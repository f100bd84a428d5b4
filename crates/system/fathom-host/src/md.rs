//! What Linux md does with the arrays below a step, beside its load (Documentation/admin-guide/md.rst).

use std::path::PathBuf;

use fathom_record::{MdState, MdSync};

use crate::root::{Root, attribute, number};

/// The arrays among the devices of a step.
pub(crate) struct MdWatch {
    /// Kernel name and folder of each.
    arrays: Vec<(String, PathBuf)>,
    /// As they were before the window.
    first: Vec<MdState>,
}

impl MdWatch {
    pub(crate) fn new<'n>(root: &Root, devices: impl IntoIterator<Item = &'n String>) -> MdWatch {
        let home = |name: &String| (name.clone(), root.join("sys/class/block").join(name).join("md"));
        let arrays: Vec<_> = devices.into_iter().map(home).filter(|(_, home)| home.is_dir()).collect();
        MdWatch { arrays, first: Vec::new() }
    }

    pub(crate) fn begin(&mut self) {
        self.first = self.states();
    }

    /// What was so before the window or after it; `None` for a device that is no array.
    pub(crate) fn finish(&self) -> impl Fn(&str) -> Option<MdState> + use<> {
        let of = |(at, last): (usize, MdState)| {
            let first = self.first.get(at).copied().unwrap_or_default();
            let state = MdState { sync: first.sync.or(last.sync), lost: first.lost.max(last.lost) };
            (self.arrays[at].0.clone(), state)
        };
        let states: Vec<(String, MdState)> = self.states().into_iter().enumerate().map(of).collect();
        move |name| states.iter().find(|(array, _)| array == name).map(|(_, state)| *state)
    }

    fn states(&self) -> Vec<MdState> {
        let state = |(_, home): &(String, PathBuf)| MdState {
            sync: attribute(&home.join("sync_action")).as_deref().and_then(sync_of),
            lost: number(&home.join("degraded")).unwrap_or(0) as u32,
        };
        self.arrays.iter().map(state).collect()
    }
}

/// `idle` and `frozen` are none.
fn sync_of(action: &str) -> Option<MdSync> {
    MdSync::ALL.into_iter().find(|sync| sync.as_str() == action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn a_rebuild_before_or_after_the_window_is_one_beside_it() {
        let tree = Tree::new();
        let home = "sys/devices/virtual/block/md0";
        tree.disk("md0", "9:0", 2048, "virtual").disk("sda", "8:0", 2048, "pci0");
        let set = |action: &str, degraded: &str| {
            tree.file(&format!("{home}/md/sync_action"), action).file(&format!("{home}/md/degraded"), degraded);
        };
        set("recover\n", "1\n");
        let names = ["md0".to_owned(), "sda".to_owned()];
        let mut watch = MdWatch::new(&tree.root(), &names);
        let state = |sync, lost| Some(MdState { sync, lost });
        watch.begin();
        set("idle\n", "0\n");
        assert_eq!((watch.finish()("md0"), watch.finish()("sda")), (state(Some(MdSync::Recover), 1), None));
        watch.begin();
        assert_eq!(watch.finish()("md0"), state(None, 0));
        set("check\n", "0\n");
        assert_eq!(watch.finish()("md0"), state(Some(MdSync::Check), 0));
        // RAID 0 has neither file.
        tree.disk("md1", "9:1", 2048, "virtual").folder("sys/devices/virtual/block/md1/md");
        let mut plain = MdWatch::new(&tree.root(), &["md1".to_owned()]);
        plain.begin();
        assert_eq!(plain.finish()("md1"), state(None, 0));
    }
}
