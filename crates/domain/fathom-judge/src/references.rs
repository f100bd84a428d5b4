//! Published results of a study, from the catalogue, as marks beside the measured points.

use fathom_message::{Arg, Join, Message, msg};
use fathom_model::catalogue::{Catalogue, Figure, FigureKind, PublishedMetric, Source};
use fathom_plan::PlacementKind;

use crate::document::{Reference, ReferencePoint};

/// Which publications did what a shipped study does.
const OF_STUDY: [(&str, &[&str]); 7] = [
    ("quick", &["anandtech-p4800x-2017", "p4800x-windows-pinning"]),
    ("pinning", &["p4800x-windows-pinning"]),
    ("baseline", &["epyc-nvme-tuning"]),
    ("enterprise", &["storagereview-intel-windows"]),
    ("scaling", &["r740xd-oracle", "epyc-nvme-tuning", "perc11-nvme-raid"]),
    ("engines", &["axboe-optane2-2020", "spdk-p4800x-2018"]),
    ("qos", &["anandtech-p4800x-2017"]),
];

/// What pictures show.
const METRICS: [PublishedMetric; 8] = [
    PublishedMetric::Iops,
    PublishedMetric::IopsPerCore,
    PublishedMetric::BytesPerS,
    PublishedMetric::LatMeanNs,
    PublishedMetric::LatP50Ns,
    PublishedMetric::LatP99Ns,
    PublishedMetric::LatP99_999Ns,
    PublishedMetric::CpuPct,
];

/// Measured figures of the publications that belong to `study`; none for a study of the user's own.
#[must_use]
pub fn references(study: &str) -> Vec<Reference> {
    let Some((_, sources)) = OF_STUDY.iter().find(|(name, _)| *name == study) else { return Vec::new() };
    let catalogue = Catalogue::embedded();
    sources.iter().filter_map(|id| catalogue.source(id).ok()).flat_map(|s| of_source(&catalogue, s)).collect()
}

/// One reference for each subject of a publication: figures of different drives are never one curve.
fn of_source(catalogue: &Catalogue, source: &Source) -> Vec<Reference> {
    let mut out: Vec<Reference> = Vec::new();
    for figure in catalogue.figures_of(&source.id).filter(|f| f.kind == FigureKind::Measured) {
        let Some(point) = point(figure) else { continue };
        let subject = match &figure.conditions.os {
            Some(os) => format!("{}, {os}", figure.conditions.subject),
            None => figure.conditions.subject.clone(),
        };
        match out.iter_mut().find(|r| r.subject == subject) {
            Some(reference) => reference.points.push(point),
            None => out.push(Reference {
                id: source.id.clone(),
                subject,
                source: source
                    .year
                    .map_or_else(|| source.publisher.clone(), |year| format!("{}, {year}", source.publisher)),
                url: source.url.clone(),
                points: vec![point],
            }),
        }
    }
    out
}

/// A figure as a point; `None` for metrics that no picture shows, and for figures without a load.
fn point(figure: &Figure) -> Option<ReferencePoint> {
    if !METRICS.contains(&figure.metric) {
        return None;
    }
    let at = &figure.conditions;
    Some(ReferencePoint {
        metric: figure.metric,
        value: figure.value,
        op: Some(at.op?.io()?),
        read_pct: at.read_pct,
        block_size_bytes: at.block_size_bytes,
        threads: at.threads,
        queue_depth: at.queue_depth,
        outstanding: at.outstanding,
        devices: at.devices,
        placement: at.placement.as_deref().and_then(placement_of),
        group: None,
        doubt: doubt(figure),
    })
}

/// Fathom's name for a placement in the words of a publication.
fn placement_of(text: &str) -> Option<PlacementKind> {
    let words = [
        ("unpinned", PlacementKind::Unpinned),
        ("default", PlacementKind::Unpinned),
        ("smt", PlacementKind::Smt),
        ("pinned", PlacementKind::Cores),
    ];
    words.into_iter().find(|(start, _)| text.starts_with(start)).map(|(_, placement)| placement)
}

fn doubt(figure: &Figure) -> Message {
    let mut doubts = Vec::new();
    if !figure.doubted_by.is_empty() {
        doubts.push(msg!("doubt-contradicts"));
    }
    if figure.corrected {
        doubts.push(msg!("doubt-garbled"));
    }
    if figure.approx {
        doubts.push(msg!("doubt-round"));
    }
    match doubts.is_empty() {
        true => Message::verbatim(""),
        false => msg!("several", list = Arg::list(doubts, Join::Semicolon)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_publication_of_a_study_is_in_the_catalogue_and_has_points() {
        for (study, sources) in OF_STUDY {
            let found = references(study);
            for source in sources {
                assert!(found.iter().any(|r| r.id == *source), "{study}: {source} gives no point");
            }
        }
        assert!(references("my own study").is_empty());
    }

    #[test]
    fn a_published_figure_keeps_its_load_its_unit_and_its_doubts() {
        let found = references("pinning");
        let points = found.iter().flat_map(|r| &r.points);
        let one: Vec<_> = points
            .filter(|p| {
                p.op == Some(fathom_plan::ReadWrite::RandRead)
                    && p.queue_depth == Some(1)
                    && p.metric == PublishedMetric::LatMeanNs
            })
            .collect();
        assert!(!one.is_empty());
        for point in one {
            assert!((5_000.0..50_000.0).contains(&point.value), "{point:?}: nanoseconds");
        }
        let placed = found.iter().flat_map(|r| &r.points).filter(|p| p.placement == Some(PlacementKind::Cores));
        assert!(placed.count() > 0, "pinned figures are known as such");
    }
}
