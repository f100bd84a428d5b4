//! Arrays by their names: `raid5:64k:/dev/sdb,/dev/sdc,missing,/dev/sde` in user space, `md-raid5:...` as Linux md.

use std::fmt;

use fathom_message::{Message, Say, msg, say_error};
use fathom_raid::{Layout, LayoutError, Level, MEMBERS_MAX, MemberSet};
use fathom_units::parse_size;

use crate::target::TargetId;

/// Who spreads an array over its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrayMaker {
    /// Fathom itself, in user space.
    #[default]
    UserSpace,
    /// Linux md, over block devices, for as long as steps need it.
    LinuxMd,
}

impl ArrayMaker {
    /// What stands before the level in names.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            ArrayMaker::UserSpace => "",
            ArrayMaker::LinuxMd => "md-",
        }
    }

    /// Who makes an array of that word, and what is left of it.
    fn of_word(word: &str) -> (ArrayMaker, &str) {
        match word.strip_prefix(ArrayMaker::LinuxMd.prefix()) {
            Some(rest) => (ArrayMaker::LinuxMd, rest),
            None => (ArrayMaker::UserSpace, word),
        }
    }
}

/// A level, and who makes it: `raid5`, `md-raid5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeLevel {
    /// Who makes it.
    pub maker: ArrayMaker,
    /// Which it is.
    pub level: Level,
}

impl MadeLevel {
    /// The level of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<MadeLevel> {
        let (maker, word) = ArrayMaker::of_word(word);
        Level::from_word(word).map(|level| MadeLevel { maker, level })
    }
}

impl fmt::Display for MadeLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.maker.prefix(), self.level)
    }
}

/// An array over members, made for the steps that are on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayTarget {
    maker: ArrayMaker,
    layout: Layout,
    /// The chunk as it stands in the name.
    chunk: String,
    members: Vec<Option<TargetId>>,
    rebuild: Option<Rebuild>,
}

/// A member that is rebuilt while the load runs: `50m+/dev/sdd`, `full+/dev/sdd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// Its place.
    pub member: u32,
    /// The speed as it stands in the name.
    text: String,
    /// At how many bytes of the member a second at most; `None`: as fast as can be.
    pub bytes_per_s: Option<u64>,
}

impl Rebuild {
    /// As fast as can be.
    pub(crate) const FULL: &str = "full";

    /// Of the member at that place; and its name alone. `None`: it is not rebuilt.
    fn of_name(member: usize, name: &str) -> Option<(Rebuild, &str)> {
        let (text, rest) = name.split_once('+')?;
        let bytes_per_s = Rebuild::parse_speed(text)?;
        Some((Rebuild { member: member as u32, text: text.to_owned(), bytes_per_s }, rest))
    }

    /// `full` or bytes a second; the outer `None`: neither.
    pub(crate) fn parse_speed(text: &str) -> Option<Option<u64>> {
        match text {
            Rebuild::FULL => Some(None),
            _ => parse_size(text).ok().filter(|bytes| *bytes >= 1024).map(Some),
        }
    }
}

/// Why a name that begins as that of an array is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayNameError {
    /// A level that there is not.
    Level {
        /// The word.
        word: String,
    },
    /// The name has no chunk or no members.
    Form {
        /// The name.
        name: String,
    },
    /// The chunk is no size, or none that an array can have.
    Chunk {
        /// As it stands in the name.
        text: String,
    },
    /// Fewer members than the level needs.
    TooFewMembers {
        /// The level.
        level: Level,
        /// How many it needs.
        min: u32,
        /// How many are named.
        count: usize,
    },
    /// More members than there can be.
    TooManyMembers {
        /// How many are named.
        count: usize,
    },
    /// A member is named twice.
    Twice {
        /// Its name.
        member: String,
    },
    /// A member that is no file or drive of this machine.
    Kind {
        /// Its name.
        member: String,
    },
    /// A member is rebuilt where there is no redundancy, or beside another, or is missing.
    Rebuild {
        /// Its name.
        member: String,
    },
    /// More members are missing than the level makes up for.
    TooManyMissing {
        /// The level.
        level: Level,
        /// How many are missing.
        count: u32,
    },
}

impl ArrayTarget {
    /// The array of that name; `None` for a name of anything else. A file whose name begins so is written `./raid5:...`.
    ///
    /// # Errors
    /// [`ArrayNameError`].
    #[must_use]
    pub fn parse(name: &str) -> Option<Result<ArrayTarget, ArrayNameError>> {
        let (word, rest) = name.split_once(':')?;
        let digits = ArrayMaker::of_word(word).1.strip_prefix("raid")?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let Some(level) = MadeLevel::from_word(word) else {
            return Some(Err(ArrayNameError::Level { word: word.to_owned() }));
        };
        Some(match rest.split_once(':') {
            Some((chunk, members)) if !members.is_empty() => ArrayTarget::of(level, chunk, members),
            _ => Err(ArrayNameError::Form { name: name.to_owned() }),
        })
    }

    fn of(made: MadeLevel, chunk: &str, members: &str) -> Result<ArrayTarget, ArrayNameError> {
        let MadeLevel { maker, level } = made;
        let bad_chunk = || ArrayNameError::Chunk { text: chunk.to_owned() };
        let chunk_bytes = parse_size(chunk).map_err(|_| bad_chunk())?;
        let mut names: Vec<&str> = members.split(',').map(str::trim).collect();
        let mut rebuild = None;
        for (at, name) in names.iter_mut().enumerate() {
            let Some((rebuilt, rest)) = Rebuild::of_name(at, name) else { continue };
            if !level.is_redundant() || rebuild.is_some() || rest == TargetId::MISSING {
                return Err(ArrayNameError::Rebuild { member: rest.to_owned() });
            }
            (*name, rebuild) = (rest, Some(rebuilt));
        }
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let layout = Layout::new(level, count, chunk_bytes).map_err(|error| match error {
            LayoutError::Chunk => bad_chunk(),
            LayoutError::TooFewMembers { min } => ArrayNameError::TooFewMembers { level, min, count: names.len() },
            LayoutError::TooManyMembers => ArrayNameError::TooManyMembers { count: names.len() },
        })?;
        let is_kind = |name: &&&str| !name.is_empty() && !TargetId::from(**name).is_null();
        if let Some(bad) = names.iter().find(|name| !is_kind(name) || ArrayTarget::parse(name).is_some()) {
            return Err(ArrayNameError::Kind { member: (*bad).to_owned() });
        }
        // Drives of a simulated machine stand beside none that are real.
        let simulated = |name: &&str| name.starts_with("sim:");
        let there = || names.iter().filter(|name| **name != TargetId::MISSING);
        let first = there().next().is_some_and(simulated);
        if let Some(unlike) = there().find(|name| simulated(name) != first) {
            return Err(ArrayNameError::Kind { member: (*unlike).to_owned() });
        }
        let is_twice = |at: usize| names[at] != TargetId::MISSING && names[..at].contains(&names[at]);
        if let Some(at) = (0..names.len()).find(|at| is_twice(*at)) {
            return Err(ArrayNameError::Twice { member: names[at].to_owned() });
        }
        let members: Vec<_> = names.iter().map(|n| (*n != TargetId::MISSING).then(|| TargetId::new(*n))).collect();
        let array = ArrayTarget { maker, layout, chunk: chunk.to_owned(), members, rebuild };
        let lost = array.rebuild().map_or(array.missing(), |rebuild| array.missing().with(rebuild.member));
        if !layout.survives(lost) {
            return Err(ArrayNameError::TooManyMissing { level, count: lost.count() });
        }
        Ok(array)
    }

    /// Who spreads it.
    #[must_use]
    pub fn maker(&self) -> ArrayMaker {
        self.maker
    }

    /// Its level, and who makes it.
    #[must_use]
    pub fn made_level(&self) -> MadeLevel {
        MadeLevel { maker: self.maker, level: self.layout.level() }
    }

    /// How its data lies on the members.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The members in their order; `None` for one that is missing.
    #[must_use]
    pub fn members(&self) -> &[Option<TargetId>] {
        &self.members
    }

    /// The members that are missing.
    #[must_use]
    pub fn missing(&self) -> MemberSet {
        (0..).zip(&self.members).filter(|(_, member)| member.is_none()).map(|(at, _)| at).collect()
    }

    /// The member that is rebuilt while the load runs.
    #[must_use]
    pub fn rebuild(&self) -> Option<&Rebuild> {
        self.rebuild.as_ref()
    }

    /// The array of which no member is rebuilt: what is laid out beforehand, and what steps without a rebuild are on.
    #[must_use]
    pub fn at_rest(&self) -> ArrayTarget {
        ArrayTarget { rebuild: None, ..self.clone() }
    }

    /// Its name.
    #[must_use]
    pub fn target(&self) -> TargetId {
        self.renamed(|member| member.as_str().to_owned())
    }

    /// Whether `member` is written whatever the load does: it is rebuilt, or Linux md has it, which mends what it cannot read.
    #[must_use]
    pub fn always_writes(&self, member: &TargetId) -> bool {
        let is_member = |at: usize| self.members.get(at).is_some_and(|held| held.as_ref() == Some(member));
        self.rebuild.as_ref().is_some_and(|rebuild| is_member(rebuild.member as usize))
            || self.maker == ArrayMaker::LinuxMd && self.members.iter().flatten().any(|held| held == member)
    }

    /// Its name with other names of its members, in the order of those that are there.
    #[must_use]
    pub fn renamed(&self, mut name_of: impl FnMut(&TargetId) -> String) -> TargetId {
        let speed = |at: u32| match &self.rebuild {
            Some(rebuild) if rebuild.member == at => format!("{}+", rebuild.text),
            _ => String::new(),
        };
        let name = |(at, member): (u32, &Option<TargetId>)| match member {
            Some(member) => format!("{}{}", speed(at), name_of(member)),
            None => TargetId::MISSING.to_owned(),
        };
        let names: Vec<String> = (0..).zip(&self.members).map(name).collect();
        TargetId::new(format!("{}:{}:{}", self.made_level(), self.chunk, names.join(",")))
    }
}

impl TargetId {
    /// The member of an array that is lost.
    pub(crate) const MISSING: &str = "missing";

    /// The array that it names, if it does.
    ///
    /// # Errors
    /// [`ArrayNameError`].
    #[must_use]
    pub fn array(&self) -> Option<Result<ArrayTarget, ArrayNameError>> {
        ArrayTarget::parse(self.as_str())
    }

    /// The array in user space that it names, if it does: what the engine itself spreads.
    ///
    /// # Errors
    /// [`ArrayNameError`].
    #[must_use]
    pub fn user_space_array(&self) -> Option<Result<ArrayTarget, ArrayNameError>> {
        self.array().filter(|array| array.as_ref().map_or(true, |array| array.maker == ArrayMaker::UserSpace))
    }

    /// The array of Linux md that it names, if it does.
    #[must_use]
    pub fn md_array(&self) -> Option<ArrayTarget> {
        self.array()?.ok().filter(|array| array.maker == ArrayMaker::LinuxMd)
    }

    /// How an array stands in labels: `on raid5:64k x4`, `on raid6:64k x6 without 2`; `None` for other targets.
    #[must_use]
    pub fn array_words(&self) -> Option<String> {
        let array = self.array()?.ok()?;
        let (level, members) = (array.made_level(), array.members.len());
        let without = match array.missing().count() {
            0 => String::new(),
            missing => format!(" without {missing}"),
        };
        let rebuilt = array.rebuild.map_or_else(String::new, |rebuild| format!(" rebuild {}", rebuild.text));
        Some(format!("on {level}:{} x{members}{without}{rebuilt}", array.chunk))
    }

    /// What is opened for it: the members of an array that are there, else itself.
    #[must_use]
    pub fn opened(&self) -> Vec<TargetId> {
        match self.array() {
            Some(Ok(array)) => array.members.into_iter().flatten().collect(),
            _ => vec![self.clone()],
        }
    }
}

impl Say for ArrayNameError {
    fn message(&self) -> Message {
        match self {
            ArrayNameError::Level { word } => msg!("array-level", word = word),
            ArrayNameError::Form { name } => msg!("array-form", name = name),
            ArrayNameError::Chunk { text } => msg!("array-chunk", text = text),
            ArrayNameError::TooFewMembers { level, min, count } => {
                msg!("array-too-few", level = level.as_str(), min = *min, count = *count)
            }
            ArrayNameError::TooManyMembers { count } => msg!("array-too-many", count = *count, max = MEMBERS_MAX),
            ArrayNameError::Twice { member } => msg!("array-twice", member = member),
            ArrayNameError::Kind { member } => msg!("array-kind", member = member),
            ArrayNameError::Rebuild { member } => msg!("array-rebuild", member = member),
            ArrayNameError::TooManyMissing { level, count } => {
                msg!("array-too-many-missing", level = level.as_str(), count = *count)
            }
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            ArrayNameError::Level { .. } => msg!("array-level-help"),
            ArrayNameError::Form { .. } => msg!("array-form-help"),
            ArrayNameError::Chunk { .. } => msg!("array-chunk-help"),
            ArrayNameError::TooFewMembers { .. } => msg!("array-too-few-help"),
            ArrayNameError::TooManyMembers { .. } => msg!("array-too-many-help"),
            ArrayNameError::Twice { .. } => msg!("array-twice-help"),
            ArrayNameError::Kind { .. } => msg!("array-kind-help"),
            ArrayNameError::Rebuild { .. } => msg!("array-rebuild-help"),
            ArrayNameError::TooManyMissing { .. } => msg!("array-too-many-missing-help"),
        })
    }
}
say_error!(ArrayNameError);

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Result<ArrayTarget, ArrayNameError> {
        ArrayTarget::parse(name).expect("an array")
    }

    #[test]
    fn a_name_gives_level_chunk_and_members_in_their_order() {
        let array = parsed("raid5:64k:/a,missing,/c").expect("an array");
        assert_eq!((array.layout().level(), array.layout().chunk_bytes()), (Level::Raid5, 64 << 10));
        assert_eq!(array.members(), [Some("/a".into()), None, Some("/c".into())]);
        assert!(array.missing().has(1) && array.missing().count() == 1);
        assert_eq!(TargetId::new("raid5:64k:/a,missing,/c").opened(), ["/a".into(), "/c".into()]);
        let words = |name: &str| TargetId::new(name).array_words();
        assert_eq!(words("raid5:64k:/a,missing,/c").as_deref(), Some("on raid5:64k x3 without 1"));
        assert_eq!(words("md-raid5:64k:/a,/b,/c").as_deref(), Some("on md-raid5:64k x3"));
        let md = parsed("md-raid5:64k:/a,/b,/c");
        let md = md.expect("an array of md");
        assert_eq!((md.maker(), md.layout().level()), (ArrayMaker::LinuxMd, Level::Raid5));
        assert_eq!(md.renamed(|m| m.as_str().to_owned()).as_str(), "md-raid5:64k:/a,/b,/c");
        let rebuilt = parsed("md-raid5:64k:/a,/b,50m+/c").expect("one is rebuilt");
        let of = rebuilt.rebuild().map(|rebuild| (rebuild.member, rebuild.bytes_per_s));
        assert_eq!((of, &rebuilt.members()[2]), (Some((2, Some(50 << 20))), &Some("/c".into())));
        assert_eq!(rebuilt.renamed(|m| m.as_str().to_owned()).as_str(), "md-raid5:64k:/a,/b,50m+/c");
        assert_eq!(words("md-raid5:64k:/a,/b,full+/c").as_deref(), Some("on md-raid5:64k x3 rebuild full"));
        assert!(parsed("md-raid5:64k:/a,/b,/x+/c").is_ok_and(|array| array.rebuild().is_none()), "a name with a plus");
        let own = parsed("raid6:64k:/a,20m+/b,missing,/d").expect("rebuilt in user space");
        assert_eq!(own.rebuild().map(|rebuild| (rebuild.member, rebuild.bytes_per_s)), Some((1, Some(20 << 20))));
        assert_eq!(own.at_rest().target().as_str(), "raid6:64k:/a,/b,missing,/d");
        let written = |array: &ArrayTarget| ["/a", "/b", "/d"].map(|member| array.always_writes(&member.into()));
        assert_eq!((written(&own), written(&own.at_rest())), ([false, true, false], [false; 3]));
        assert_eq!(written(&rebuilt), [true, true, false]);
        assert!(TargetId::new("md-raid5:64k:/a,/b,/c").user_space_array().is_none());
        assert!(TargetId::new("raid5:64k:/a,/b,/c").md_array().is_none());
        assert_eq!((words("raid10:1m:/a,/b").as_deref(), words("/a")), (Some("on raid10:1m x2"), None));
        let moved = array.renamed(|member| format!("/today{member}"));
        assert_eq!(moved.as_str(), "raid5:64k:/today/a,missing,/today/c");
    }

    #[test]
    fn other_names_are_no_arrays() {
        for name in ["/dev/md0", "raid.img", "raid5", "./raid5:64k:a,b,c", "sim:speed", "raidx:1"] {
            assert!(ArrayTarget::parse(name).is_none(), "{name}");
            assert_eq!(TargetId::new(name).opened(), [TargetId::new(name)]);
        }
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said_and_what_to_do() {
        for (name, part) in [
            ("raid1:64k:/a,/b", "raid1"),
            ("raid5:64k", "raid5:64k"),
            ("raid5:48k:/a,/b,/c", "48k"),
            ("raid5:big:/a,/b,/c", "big"),
            ("raid6:64k:/a,/b,/c", "4"),
            ("raid5:64k:/a,/b,/a", "/a"),
            ("raid0:64k:/a,sim:speed", "sim:speed"),
            ("raid0:64k:/a,null", "null"),
            ("raid0:64k:/a,", "named"),
            ("raid0:64k:/a,missing", "raid0"),
            ("raid5:64k:/a,missing,missing", "2"),
            ("raid0:64k:/a,full+/c", "/c"),
            ("raid5:64k:/a,10m+/b,full+/c", "/c"),
            ("raid6:64k:/a,missing,missing,full+/d", "3"),
            ("md-raid0:64k:/a,full+/c", "/c"),
            ("md-raid6:64k:/a,/b,full+/c,full+/d", "/d"),
            ("md-raid5:64k:/a,missing,full+/c", "2"),
        ] {
            let error = parsed(name).expect_err(name);
            let said = fathom_language::english(&error.message());
            assert!(said.contains(part), "{name}: {said}");
            assert!(error.help().is_some(), "{name}");
        }
    }
}
