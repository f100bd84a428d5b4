//! placeholder
use crate::shared::Shared;
use crate::worker::WorkerPlan;
use fathom_plan::{Op, Step};
use fathom_record::{StepFailure, VerifyReport};
pub(crate) enum Ledger {}
impl Ledger {
    pub(crate) fn for_step(_plan: &WorkerPlan, step: &Step) -> Result<Option<Self>, StepFailure> {
        if step.workload.verify.is_some() {
            return Err(crate::backend::refused("verify", "not built yet", "leave it out"));
        }
        Ok(None)
    }
    pub(crate) fn before_read(&mut self, _slot: u32, _unit: u64) {
        match *self {}
    }
    pub(crate) fn before_write(&mut self, _slot: u32, _unit: u64, _offset: u64, _b: &mut [u8]) {
        match *self {}
    }
    pub(crate) fn after(&mut self, _slot: u32, _op: Op, _ok: bool, _offset: u64, _b: &mut [u8]) {
        match *self {}
    }
    pub(crate) fn conclude(self, _plan: &WorkerPlan, _shared: &Shared) -> Result<VerifyReport, StepFailure> {
        match self {}
    }
}
pub(crate) fn merge(_a: &mut VerifyReport, _b: &VerifyReport) {}
