//! Several files for each thread: how many, how large, and in which order they are served.

use fathom_message::msg;
use fathom_units::format_block;

use super::super::spec::{Fio, Flag, Kind, KnobSpec, knob};
use super::super::value::{bounded, size_bytes};
use super::super::{REGION_BYTES_MAX, files};
use crate::file_ops::FileOp;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "nrfiles",
        Kind::Number,
        "100000",
        msg!("knob-nrfiles"),
        |k, v| {
            k.files_per_thread = Some(bounded(v, 1, u32::MAX)?);
            Ok(())
        },
        |s| s.workload.order.files.map(|files| files.files_per_thread.to_string()),
    )
    .flag(Flag::new("nrfiles")),
    knob(
        "filesize",
        Kind::Size,
        "4k",
        msg!("knob-filesize"),
        |k, v| {
            let (bytes, note) = size_bytes(v, REGION_BYTES_MAX)?;
            k.bytes_per_file = Some(bytes);
            k.remark(note);
            Ok(())
        },
        |s| {
            s.workload
                .order
                .files
                .map(|files| files.bytes_per_file)
                .filter(|bytes| *bytes > 0)
                .map(|bytes| format_block(bytes.into()))
        },
    )
    .flag(Flag::new("filesize").default("0")),
    knob(
        "stat_by",
        Kind::Word,
        "folder",
        msg!("knob-stat-by-what"),
        |k, v| {
            k.stat_by = Some(files::parse_stat_by(v)?);
            Ok(())
        },
        |s| {
            let load = s.workload.order.files.filter(|load| load.op == FileOp::Stat)?;
            Some(load.stat_by.as_str().to_owned())
        },
    ),
    knob(
        "file_service_type",
        Kind::Word,
        "random:4",
        msg!("knob-file-service-type"),
        |k, v| {
            k.service.order = Some(files::parse_file_service(v)?);
            Ok(())
        },
        |s| s.workload.order.service.map(|service| service.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "openfiles",
        Kind::Number,
        "64",
        msg!("knob-openfiles"),
        |k, v| {
            k.service.open_files = Some(bounded(v, 1, u32::MAX)?);
            Ok(())
        },
        |s| s.workload.order.service.and_then(|service| service.open_files).map(|files| files.to_string()),
    )
    .fio(Fio::SAME.value(|s| {
        // The engine of whole files has one open at a time.
        let of_whole = s.workload.order.files.map(|_| 1);
        of_whole.or_else(|| s.workload.order.service?.open_files).map(|files| files.to_string())
    })),
];
