//! Machines kept as text: their format is described in `fixtures/README.md`.

use fathom_host::testing::Tree;

/// The machines in `fixtures`, by name.
const FIXTURES: &[(&str, &str)] = &[
    ("virtio-guest", include_str!("../../fixtures/virtio-guest.tree")),
    ("laptop", include_str!("../../fixtures/laptop.tree")),
    ("container-multipath", include_str!("../../fixtures/container-multipath.tree")),
    ("trained-down", include_str!("../../fixtures/trained-down.tree")),
    ("qemu-two-sockets", include_str!("../../fixtures/qemu-two-sockets.tree")),
    ("qemu-one-socket", include_str!("../../fixtures/qemu-one-socket.tree")),
    ("qemu-three-nodes", include_str!("../../fixtures/qemu-three-nodes.tree")),
];

/// Names of the machines kept as text.
pub fn fixture_names() -> impl Iterator<Item = &'static str> {
    FIXTURES.iter().map(|(name, _)| *name)
}

/// A machine of [`fixture_names`].
///
/// # Panics
/// On another name.
#[must_use]
pub fn fixture(name: &str) -> Tree {
    let (_, text) = FIXTURES.iter().find(|(known, _)| *known == name).expect("a machine of that name");
    expand(text)
}

/// Expands a manifest into a tree. Lines are `path = value`, `path -> target of a link`, `path/` for a folder, `#` for
/// a comment; `path <<` starts several lines that end with `>>`; `{0..7}` in a path stands for eight lines, and `{}` in
/// the value for the number; a value `zeros:64` is that many zero bytes, `bytes:64 4:0a0b 9:ff` as many with some set.
pub fn expand(manifest: &str) -> Tree {
    let tree = Tree::new();
    let mut lines = manifest.lines();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(path) = line.strip_suffix(" <<") {
            let body: Vec<&str> = lines.by_ref().take_while(|l| *l != ">>").collect();
            tree.file(path, body.join("\n") + "\n");
        } else if let Some((link, target)) = line.split_once(" -> ") {
            tree.link(link, target);
        } else if let Some((path, value)) = line.split_once(" = ") {
            for (path, value) in numbered(path, value) {
                let zeros = value.strip_prefix("zeros:").map(|n| vec![0; n.parse().expect("a number of zeros")]);
                match zeros.or_else(|| value.strip_prefix("bytes:").map(sparse)) {
                    Some(bytes) => tree.file(&path, bytes),
                    None => tree.file(&path, value + "\n"),
                };
            }
        } else {
            tree.folder(line.strip_suffix('/').unwrap_or_else(|| panic!("no manifest line: {line}")));
        }
    }
    tree
}

/// `64 4:0a0b 9:ff`: 64 bytes, all zero but those at 4, 5 and 9.
fn sparse(text: &str) -> Vec<u8> {
    let mut words = text.split(' ');
    let mut bytes = vec![0; words.next().and_then(|n| n.parse().ok()).expect("a number of bytes")];
    for word in words {
        let (at, digits) = word.split_once(':').expect("an offset and digits");
        let at: usize = at.parse().expect("an offset");
        for (index, pair) in digits.as_bytes().chunks(2).enumerate() {
            let pair = std::str::from_utf8(pair).expect("digits");
            bytes[at + index] = u8::from_str_radix(pair, 16).expect("two digits");
        }
    }
    bytes
}

fn numbered(path: &str, value: &str) -> Vec<(String, String)> {
    let parts = path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (range, tail))) = parts else { return vec![(path.to_owned(), value.to_owned())] };
    let (from, to) = range.split_once("..").expect("a range such as {0..7}");
    let (from, to): (u32, u32) = (from.parse().expect("first"), to.parse().expect("last"));
    (from..=to).map(|n| (format!("{head}{n}{tail}"), value.replace("{}", &n.to_string()))).collect()
}
