//! Trees of lines that fit a width.

/// A line and the lines below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// Parts of the line, set apart by dots; a line breaks between parts if it can.
    pub(super) parts: Vec<String>,
    pub(super) children: Vec<Branch>,
}

const BETWEEN: &str = " · ";

impl Branch {
    pub(super) fn new(parts: Vec<String>) -> Branch {
        Branch { parts: parts.into_iter().filter(|p| !p.is_empty()).collect(), children: Vec::new() }
    }

    pub(super) fn line(text: impl Into<String>) -> Branch {
        Branch::new(vec![text.into()])
    }

    pub(super) fn with(mut self, children: Vec<Branch>) -> Branch {
        self.children = children.into_iter().filter(|c| !c.parts.is_empty()).collect();
        self
    }

    /// Writes the tree, its top without a branch mark.
    pub(super) fn write(&self, width: usize, out: &mut String) {
        self.write_below(width, "", "", out);
    }

    fn write_below(&self, width: usize, first: &str, rest: &str, out: &mut String) {
        let bar = if self.children.is_empty() { "  " } else { "│ " };
        let room = width.saturating_sub(rest.chars().count() + 2).max(20);
        for (i, line) in wrap(&self.parts, room).into_iter().enumerate() {
            let lead = if i == 0 { first.to_owned() } else { format!("{rest}{bar}") };
            out.push_str(format!("{lead}{line}").trim_end());
            out.push('\n');
        }
        for (i, child) in self.children.iter().enumerate() {
            let (mark, pass) = if i + 1 == self.children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            child.write_below(width, &format!("{rest}{mark}"), &format!("{rest}{pass}"), out);
        }
    }
}

/// Fills lines with whole parts; a part that is longer than a line breaks between its words.
fn wrap(parts: &[String], room: usize) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let mut lines = vec![String::new()];
    for part in parts {
        let last = lines.last_mut().expect("never empty");
        let joined = length(last) + length(BETWEEN) + length(part);
        if last.is_empty() || joined <= room {
            let between = if last.is_empty() { "" } else { BETWEEN };
            last.push_str(between);
            last.push_str(part);
        } else {
            last.push_str(" ·");
            lines.push(part.clone());
        }
    }
    lines.into_iter().flat_map(|line| wrap_words(line, room)).collect()
}

fn wrap_words(line: String, room: usize) -> Vec<String> {
    if line.chars().count() <= room + 2 {
        return vec![line];
    }
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        let last = lines.last_mut().expect("never empty");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= room {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tree_has_its_branches_drawn() {
        let leaf = |t: &str| Branch::line(t);
        let tree = leaf("top").with(vec![leaf("one").with(vec![leaf("deep")]), leaf("two")]);
        let mut out = String::new();
        tree.write(80, &mut out);
        assert_eq!(out, "top\n├─ one\n│  └─ deep\n└─ two\n");
    }

    #[test]
    fn lines_break_between_parts_and_go_on_below_them() {
        let parts = |n: usize| vec!["twelve chars".to_owned(); n];
        let tree = Branch::line("t").with(vec![Branch::new(parts(3)).with(vec![Branch::line("x")])]);
        let mut out = String::new();
        tree.write(33, &mut out);
        assert_eq!(out, "t\n└─ twelve chars · twelve chars ·\n   │ twelve chars\n   └─ x\n");
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_is_too_long(texts in prop::collection::vec("[a-z]{1,9}( [a-z]{1,9}){0,12}", 1..8), room in 20_usize..90) {
            let lines = wrap(&texts, room);
            let flat = |t: String| t.split(' ').filter(|w| !w.is_empty() && *w != "·").map(ToOwned::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(flat(lines.join(" ")), flat(texts.join(" ")));
            prop_assert!(lines.iter().all(|l| l.chars().count() <= room + 2), "{lines:?}");
        }
    }
}
