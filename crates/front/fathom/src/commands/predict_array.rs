//! `fathom predict --raid`: the array that is asked about, in words and as a model.

use fathom_message::{Quantity, Say as _, msg};
use fathom_model::{ArrayPart, ArrayPrediction, CardModel, Catalogue, MdModel, RaidLevel, RaidMaker, RaidModel};
use fathom_units::{format_iops, parse_duration_ns, parse_size};

use crate::exit::Problem;
use crate::model_args::PredictArgs;
use crate::terminal::say;

/// Chunks that md and the cards take, in bytes.
const CHUNK_BYTES: std::ops::RangeInclusive<u64> = 4096..=64 << 20;

/// The array of `--raid` over `count` members; `own_card`: that of the machine which the drives were taken from.
pub(super) fn array(
    options: &PredictArgs,
    count: u32,
    own_card: Option<CardModel>,
    catalogue: &Catalogue,
) -> Result<Option<RaidModel>, Problem> {
    let Some(text) = options.raid.as_deref() else { return Ok(None) };
    let help = "the level alone, as in --raid 10; without --raid each drive is on its own";
    let level = RaidLevel::parse(text)
        .map_err(|e| Problem::usage(format!("--raid: {}", say(&e.message())), help.to_owned()))?;
    // With a goal the number of members is the answer.
    let is_counted = options.goal.is_none() || options.members.is_some();
    let least = level.members_min();
    if is_counted && count < least {
        return Err(Problem::usage(
            format!("--raid {text} over {count} drives"),
            match options.members {
                Some(_) => format!("it takes at least {least}: --members {least}"),
                None => format!("it takes at least {least}: --count {least}"),
            },
        ));
    }
    if count > fathom_model::ARRAY_MEMBERS_MAX {
        let most = fathom_model::ARRAY_MEMBERS_MAX;
        return Err(Problem::usage(format!("--raid {text} over {count} drives"), format!("at most {most} members")));
    }
    let whole = RaidModel::of(level);
    let missing = options.missing.unwrap_or(0);
    let members = if is_counted { count } else { fathom_model::ARRAY_MEMBERS_MAX };
    if missing > level.lost_max(members) {
        let most = level.lost_max(members);
        return Err(Problem::usage(
            format!("--missing {missing}: {} over {members} members is lost without so many", level.name()),
            match most {
                0 => "it survives the loss of none: leave out --missing".to_owned(),
                most => format!("it survives the loss of {most} at most: --missing {most}"),
            },
        ));
    }
    Ok(Some(RaidModel {
        chunk_bytes: chunk(options)?.unwrap_or(whole.chunk_bytes),
        missing,
        maker: maker(options, own_card, catalogue)?,
        ..whole
    }))
}

fn chunk(options: &PredictArgs) -> Result<Option<u64>, Problem> {
    let Some(text) = options.chunk.as_deref() else { return Ok(None) };
    let bytes =
        parse_size(text).map_err(|e| Problem::usage(format!("--chunk: {}", say(&e.message())), "as in --chunk 64k"))?;
    if !bytes.is_power_of_two() || !CHUNK_BYTES.contains(&bytes) {
        return Err(Problem::usage(
            format!("--chunk {text} is no power of two from 4k to 64m"),
            "as in --chunk 64k; md takes 512k unless told",
        ));
    }
    Ok(Some(bytes))
}

fn maker(options: &PredictArgs, own_card: Option<CardModel>, catalogue: &Catalogue) -> Result<RaidMaker, Problem> {
    let stripe_ns = match options.md_write.as_deref() {
        Some(text) => {
            let wrong = |e: fathom_units::UnitError| {
                Problem::usage(format!("--md-write: {}", say(&e.message())), "as in --md-write 10us")
            };
            Some(parse_duration_ns(text).map_err(wrong)? as f64)
        }
        None => None,
    };
    let maker = match (options.by.as_deref(), own_card) {
        (None, Some(card)) if stripe_ns.is_none() => RaidMaker::Card(card),
        (Some("md") | None, _) => RaidMaker::Md(MdModel::of_stripe(stripe_ns)),
        (Some("user-space"), _) => RaidMaker::UserSpace,
        (Some(name), _) => {
            let known = catalogue.controllers().iter().find(|c| c.id == name).map(CardModel::of);
            let card = known.ok_or_else(|| {
                let all: Vec<&str> = catalogue.controllers().iter().map(|c| c.id.as_str()).collect();
                let makers = all.iter().copied().chain(["md", "user-space"]);
                Problem::usage(
                    format!("--by {name}: no such maker of arrays"),
                    match fathom_units::nearest(name, makers) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("md, user-space, or a card of the catalogue: {}", all.join(", ")),
                    },
                )
            })?;
            if !card.is_known() {
                return Err(Problem::usage(
                    format!("--by {name}: nothing is published of what {} can do", card.name),
                    "leave it out for the members' own ceilings, or take --by h755n",
                ));
            }
            RaidMaker::Card(card)
        }
    };
    match (&maker, stripe_ns) {
        (RaidMaker::UserSpace | RaidMaker::Card(_), Some(_)) => {
            Err(Problem::usage("--md-write is of md alone", "--by md, or leave it out"))
        }
        _ => Ok(maker),
    }
}

/// `RAID 5 of 8 x Intel SSD D7-P5510 3.84 TB, 1 missing, by card Dell PERC H755N front`.
pub(super) fn named(raid: &RaidModel, drives: &str) -> String {
    let by = match &raid.maker {
        RaidMaker::UserSpace => msg!("predict-array-in-user-space"),
        RaidMaker::Md(_) => msg!("predict-array-by-md"),
        RaidMaker::Card(card) => msg!("predict-array-by-card", card = &card.name),
    };
    let level = raid.level.name();
    say(&match raid.missing {
        0 => msg!("predict-array", level = level, drives = drives.to_owned(), by = by),
        missing => {
            msg!("predict-array-degraded", level = level, drives = drives.to_owned(), missing = missing, by = by)
        }
    })
}

/// What is assumed of an array because nothing is published.
pub(super) fn assumptions(raid: &RaidModel) -> Vec<String> {
    let has_parity = matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6);
    let own = match &raid.maker {
        RaidMaker::UserSpace => Some(msg!("predict-array-no-core-time")),
        RaidMaker::Md(MdModel { stripe_ns: None, .. }) if has_parity => Some(msg!("predict-array-md-free")),
        RaidMaker::Md(_) => None,
        RaidMaker::Card(card) if card.link.is_none() => Some(msg!("predict-array-link-free")),
        RaidMaker::Card(_) => None,
    };
    let chunks = msg!("predict-array-chunks", chunk = Quantity::block(raid.chunk_bytes));
    own.into_iter().chain([chunks]).map(|message| say(&message)).collect()
}

/// What binds an array, as a sentence names it.
pub(super) fn part(part: ArrayPart) -> String {
    say(&match part {
        ArrayPart::Member => msg!("predict-part-member"),
        ArrayPart::MemberLink => msg!("predict-part-member-link"),
        ArrayPart::Card => msg!("predict-part-card"),
        ArrayPart::CardLink => msg!("predict-part-card-link"),
        ArrayPart::MdThread => msg!("predict-part-md-thread"),
        ArrayPart::StripeCache => msg!("predict-part-stripe-cache"),
    })
}

/// What counting says, what the members' time says, and what an I/O costs them.
pub(super) fn counted(array: &ArrayPrediction) -> String {
    let iops = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), format_iops);
    let hundredths = |x: f64| format!("{x:.2}");
    let said = msg!(
        "predict-array-counted",
        members = iops(array.member_iops),
        counted = iops(array.counted_iops),
        reads = hundredths(array.member_reads),
        writes = hundredths(array.member_writes)
    );
    let whole = match array.written_per_byte {
        Some(bytes) => msg!("predict-array-written", said = said, bytes = hundredths(bytes)),
        None => said,
    };
    format!("{}\n", say(&whole))
}
