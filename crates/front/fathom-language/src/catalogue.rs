//! The catalogues of words, one per area.

use crate::language::Language;

/// The words of one area.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// Name of the area, also that of its files.
    pub area: &'static str,
    english: &'static str,
    chinese: &'static str,
}

impl Catalogue {
    /// Its words as Fluent text.
    #[must_use]
    pub fn text(&self, language: Language) -> &'static str {
        match language {
            Language::English => self.english,
            Language::Chinese => self.chinese,
        }
    }
}

macro_rules! catalogues {
    ($($area:literal),+ $(,)?) => {
        /// All catalogues.
        pub const CATALOGUES: &[Catalogue] = &[$(Catalogue {
            area: $area,
            english: include_str!(concat!("../messages/en/", $area, ".ftl")),
            chinese: include_str!(concat!("../messages/zh/", $area, ".ftl")),
        }),+];
    };
}

catalogues![
    "shared", "units", "trace", "plan", "record", "stats", "model", "sim", "judge", "compare", "nvme", "host", "guard",
    "settings", "binding", "inspect", "engine", "oltp", "ranks", "store", "lab", "report", "import", "cli",
];
