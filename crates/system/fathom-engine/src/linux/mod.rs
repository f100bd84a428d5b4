//! What Linux has for workers: system calls on threads, memory, clocks and targets, and the engines that need them.

pub(crate) mod clock;
pub(crate) mod code;
pub(crate) mod engines;
pub(crate) mod pages;
pub(crate) mod raw_call;
pub(crate) mod targets;
pub(crate) mod threads;

pub(crate) use std::os::fd::{AsFd, OwnedFd};
