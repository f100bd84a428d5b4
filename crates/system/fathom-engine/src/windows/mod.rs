//! What Windows has for workers: system calls on threads, memory, clocks and targets, and the engines made of them.

pub(crate) mod clock;
pub(crate) mod code;
pub(crate) mod engines;
pub(crate) mod iocp;
pub(crate) mod pages;
pub(crate) mod targets;
pub(crate) mod threads;

pub(crate) use fathom_host::system::{AsFd, OwnedFd};
