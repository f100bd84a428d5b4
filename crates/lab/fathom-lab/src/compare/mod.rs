//! Sets runs, or the two sides of one run, against each other: environment first, then step by step.

mod document;

pub use document::{
    COMPARISON_SCHEMA, ComparedLoad, ComparedMetric, ComparedStep, Comparison, Difference, Side, Unmatched,
};
