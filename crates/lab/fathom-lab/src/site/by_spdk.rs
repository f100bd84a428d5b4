//! Steps that `spdk_nvme_perf` runs: on the drive that left the kernel for them, which our own driver lets go of meanwhile
//! and looks at before and after.

use fathom_fio::{SpdkRun, run_by_spdk};
use fathom_host::settings::Applied;
use fathom_host::{HostSampler, Root, Topology, large_pages_for_a_program, resolve_placement};
use fathom_message::{Message, msg};
use fathom_nvme::driver::DrivenNamespace;
use fathom_plan::{Placement, Step};
use fathom_record::{RunControl, StepFailure, StepRecord};

use super::measure::probe_failure;
use super::real::RealSite;
use super::{SiteControl, TakeError};

/// Large pages of 2 MiB that SPDK takes for itself and for the queues of a thread, beside buffers.
const PAGES_OF_ITS_OWN: u64 = 32;
const PAGES_OF_A_THREAD: u64 = 8;
const LARGE_PAGE_BYTES: u64 = 2 << 20;

impl RealSite {
    /// Runs a step by `spdk_nvme_perf`.
    ///
    /// # Errors
    /// [`StepFailure`]; the drive is in user space still, and goes back to the kernel as after any other step.
    pub(super) fn measure_by_spdk(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<StepRecord, StepFailure> {
        let refused = |why: Message, help: Message| StepFailure::Refused {
            what: Message::verbatim(step.label.clone()),
            why,
            help,
        };
        let target = step.targets.first().cloned().unwrap_or_else(|| fathom_plan::TargetId::new(""));
        let bound = self.bound.bindings.get(&target).cloned();
        let Some((binding, driven)) = bound.and_then(|b| b.driven().cloned().map(|driven| (b, driven))) else {
            return Err(refused(msg!("engine-nvme-kind"), msg!("engine-nvme-kind-help")));
        };
        // What it may write is what our own engine may.
        if step.workload.mix.is_destructive() && binding.consent().is_none() {
            return Err(StepFailure::refused(
                Message::verbatim(step.label.clone()),
                &TakeError::WritesToBound { target },
            ));
        }
        let region = step.workload.region;
        let block_bytes = u64::from(step.workload.block_bytes_max());
        let rest = driven.size_bytes().saturating_sub(region.size_bytes.unwrap_or(driven.size_bytes()));
        if region.offset_bytes > 0 || rest >= block_bytes {
            return Err(refused(msg!("cross-check-spdk-region"), msg!("spdk-run-region-help")));
        }
        let cpus = self.cpus_for_spdk(step, driven.driver().numa_node())?;
        let pages = self.pages_for_spdk(step, driven.driver().numa_node())?;
        let sampler = HostSampler::new(&Root::live(), Vec::new()).map_err(|e| probe_failure(&e))?;
        let before = Looked::of(&driven);
        let Some(address) = self.address_of_taken(&target) else {
            return Err(refused(msg!("engine-nvme-kind"), msg!("engine-nvme-kind-help")));
        };
        // Our driver lets go when nobody has the drive any more.
        self.bound.bindings.take(&target);
        drop((binding, driven));
        let run = SpdkRun { step, address: &address, namespace: before.number, cpus: &cpus, sampler };
        let mut spdk_control =
            RunControl { stop: control.stop, on_progress: control.on_progress, precise_enough: &|_, _| false };
        let ran = run_by_spdk(run, &mut spdk_control);
        let is_stopped = spdk_control.stopped();
        let again = self.drive_again(&target, step, before.number);
        let pages = pages.map_or(Ok(()), Applied::restore);
        let mut record = ran?;
        let failed = |error: &TakeError| StepFailure::refused(Message::verbatim(step.label.clone()), error);
        let again = again.map_err(|error| failed(&error))?;
        if again.driven().map(Looked::of).as_ref() != Some(&before) {
            return Err(failed(&TakeError::OtherDrive { target }));
        }
        self.bound.bindings.add(again);
        pages.map_err(|error| StepFailure::refused(Message::verbatim(step.label.clone()), &error))?;
        self.complete(step, &mut record, is_stopped).map_err(|e| probe_failure(&e))?;
        Ok(record)
    }

    /// CPUs of its threads, of which no two share one: those of the step, and for threads that are bound to none cores on the
    /// drive's node.
    fn cpus_for_spdk(&self, step: &Step, node: Option<u32>) -> Result<Vec<u32>, StepFailure> {
        let topology = Topology::read(&Root::live()).map_err(|e| probe_failure(&e))?;
        let of_step = self.cpus_for(step, &topology)?;
        let mut cpus = if step.placement == Placement::Unpinned {
            let workers = step.workers();
            resolve_placement(&topology, &Placement::Local, workers, node)
                .or_else(|_| resolve_placement(&topology, &Placement::Cores, workers, node))
                .map_err(|error| StepFailure::refused(Message::verbatim(step.label.clone()), &error))?
        } else {
            of_step
        };
        cpus.sort_unstable();
        cpus.dedup();
        let threads = step.workers();
        if cpus.len() < threads as usize {
            return Err(StepFailure::Refused {
                what: Message::verbatim(step.label.clone()),
                why: msg!("spdk-run-cpus", threads = threads, cpus = cpus.len()),
                help: msg!("spdk-run-cpus-help"),
            });
        }
        Ok(cpus)
    }

    /// Large pages that are set aside for it, where not enough are free.
    fn pages_for_spdk(&self, step: &Step, node: Option<u32>) -> Result<Option<Applied>, StepFailure> {
        let threads = u64::from(step.workers());
        let buffers = threads * u64::from(step.load.queue_depth) * u64::from(step.workload.block_bytes_max());
        let pages = PAGES_OF_ITS_OWN + threads * PAGES_OF_A_THREAD + buffers.div_ceil(LARGE_PAGE_BYTES);
        large_pages_for_a_program(&Root::live(), self.settings.journal(), node, pages)
            .map_err(|error| StepFailure::refused(Message::verbatim(step.label.clone()), &error))
    }
}

/// By what a drive is known again.
#[derive(PartialEq, Eq)]
struct Looked {
    serial: String,
    model: String,
    number: u32,
    size_bytes: u64,
}

impl Looked {
    fn of(namespace: &DrivenNamespace) -> Looked {
        let described = namespace.driver().described();
        Looked {
            serial: described.serial.clone(),
            model: described.model.clone(),
            number: namespace.number(),
            size_bytes: namespace.size_bytes(),
        }
    }
}
