//! A rank beside rank 0: it does what it is told, at a site of its own, until it is told that there is no more.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::clock_ns;
use fathom_plan::{Plan, Step};
use fathom_record::Progress;
use fathom_store::MadeFile;

use super::gate::{Post, RankGate, Start};
use super::hub::WINDOW_END_NS;
use super::order::{Answer, Order, RankDone, RankFile, RankLooked, Refused};
use super::packed::packed_record;
use super::{Ranks, this_host, this_machine};
use crate::conduct::{ConductError, ConductOptions, permission};
use crate::site::{DrivesToday, RealSite, Site as _, SiteControl, SiteError, files_gone};

/// Between two looks for an order, right after one and when none came for a while.
const LOOK: Duration = Duration::from_micros(50);
const IDLE_LOOK: Duration = Duration::from_millis(2);
/// When none came for a while.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// Does what rank 0 says until it says that there is no more, or is cut off from it. `plan`: as this rank has read it; of a run
/// that goes on rank 0 alone has it.
///
/// # Errors
/// [`ConductError`] before rank 0 said anything; what goes wrong later is answered.
pub fn serve(
    ranks: &Ranks,
    plan: Option<&Plan>,
    options: &ConductOptions,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let permission = permission(options, None)?;
    let site = RealSite::new(permission, DrivesToday::default(), options).of_rank(ranks.link.rank());
    let member = Member {
        post: Rc::new(Post::new(ranks.link.clone())),
        version: ranks.version.clone(),
        plan_hash: ranks.hash_of(plan.map(|plan| ranks.plan(plan)).as_ref()),
        site,
        files: Vec::new(),
        sets: true,
        cpu_rows: true,
        silence: ranks.silence,
        patience: ranks.patience,
    };
    ranks.cut_off.set(member.serve(stop));
    Ok(())
}

struct Member {
    post: Rc<Post>,
    version: String,
    plan_hash: u64,
    site: RealSite,
    /// Those of the last look.
    files: Vec<MadeFile>,
    /// Whether it sets its host: one rank of each does.
    sets: bool,
    /// Whether rank 0 keeps what each CPU of this host did interval by interval.
    cpu_rows: bool,
    /// How long rank 0 may say nothing within a window.
    silence: Duration,
    /// Silence of rank 0 after which a rank stops waiting for the start of a step.
    patience: Duration,
}

impl Member {
    /// Whether it ended because it was cut off: then it has put back what it set and removed what it made.
    fn serve(mut self, stop: &AtomicBool) -> bool {
        let mut last = Instant::now();
        loop {
            match self.post.next() {
                Some(Order::End) => return false,
                Some(Order::Run { number, step }) => {
                    if self.run(number, *step, stop) {
                        // What cannot be put back stays in the journal of this host, for `fathom restore`.
                        let _ = self.site.restore();
                        self.site.release();
                        // Last, because rank 0 may end every process once a rank is lost.
                        let silence_ns = self.post.silence().as_nanos() as u64;
                        self.post.answer(&Answer::Left { silence_ns }, &[]);
                        return true;
                    }
                    last = Instant::now();
                }
                Some(order) => {
                    self.follow(order, stop);
                    last = Instant::now();
                }
                None => std::thread::sleep(if last.elapsed() < IDLE_AFTER { LOOK } else { IDLE_LOOK }),
            }
        }
    }

    fn follow(&mut self, order: Order, stop: &AtomicBool) {
        let answer = match order {
            Order::Join => {
                let (version, plan_hash) = (self.version.clone(), self.plan_hash);
                Answer::Joined { version, plan_hash, host: this_host(), machine: this_machine() }
            }
            Order::Permit { own, abandoned, sets, cpu_rows } => {
                self.site.permit(own, abandoned);
                (self.sets, self.cpu_rows) = (sets, cpu_rows);
                return;
            }
            Order::Tidy(plan) => Answer::Tidied(self.site.tidy(&plan)),
            Order::Look(plan) => Answer::Looked(self.look(&plan)),
            Order::Gone(files) => {
                let files: Vec<MadeFile> = files.into_iter().map(RankFile::known).collect();
                Answer::Gone(files_gone(&files))
            }
            Order::Again { plan, files, begun } => Answer::Looked(self.again(&plan, files, begun)),
            Order::Bind { plan, begun } => {
                let bound = self.site.bind(&plan, &self.files, begun);
                Answer::Bound(bound.map_err(|error| Refused::of(&error)))
            }
            Order::Prepare(plan) => Answer::Prepared(self.prepare(&plan, stop)),
            Order::Stop => return stop.store(true, Ordering::Relaxed),
            Order::Restore => Answer::Restored(self.site.restore().map_err(|error| Refused::of(&error))),
            Order::KeepFiles => return self.site.keep_files(),
            Order::Release => Answer::Released(self.site.release()),
            // A step that they are for ended before they came.
            Order::Ping { .. } | Order::Start { .. } | Order::Abandon { .. } | Order::Alive => return,
            // These two are done by `serve`.
            Order::Run { .. } | Order::End => return,
        };
        self.post.answer(&answer, &[]);
    }

    fn look(&mut self, plan: &Plan) -> Result<RankLooked, Refused> {
        let looked = self.site.look(plan).map_err(|error| Refused::of(&error))?;
        self.files = looked.files;
        Ok(RankLooked { files: self.files.iter().map(Into::into).collect(), written: self.site.written().to_vec() })
    }

    /// As [`Member::look`], of a run that goes on.
    fn again(&mut self, plan: &Plan, files: Vec<RankFile>, begun: bool) -> Result<RankLooked, Refused> {
        self.files = files.into_iter().map(RankFile::known).collect();
        let again = self.site.to_make_again(plan, &self.files, begun).map_err(|error| Refused::of(&error))?;
        let files = again.iter().map(Into::into).collect();
        self.files.extend(again);
        Ok(RankLooked { files, written: self.site.written().to_vec() })
    }

    fn prepare(&mut self, plan: &Plan, stop: &AtomicBool) -> Result<(), Refused> {
        let post = self.post.clone();
        let mut on_progress = |progress: &Progress| {
            post.look(stop);
            post.answer(&Answer::Beat(progress.clone()), &[]);
        };
        let mut control = SiteControl::new(stop, &mut on_progress);
        self.site.prepare(plan, &mut control).map_err(|error| match error {
            SiteError::LayOut(error) => Refused { why: error.why, help: Some(error.help) },
            SiteError::Probe(error) => Refused::of(&error),
        })
    }

    /// Whether rank 0 was not heard of for too long in it.
    fn run(&mut self, number: u64, mut step: Step, stop: &AtomicBool) -> bool {
        if !self.sets {
            step.role.settings.clear();
        }
        let start = Rc::new(Start::default());
        let gate = RankGate { post: self.post.clone(), number, patience: self.patience, start: start.clone() };
        self.site.set_gate(Box::new(gate));
        let asked_ns = clock_ns();
        let (post, silence) = (self.post.clone(), self.silence);
        let mut is_cut_off = false;
        let mut on_progress = |progress: &Progress| {
            post.look(stop);
            // Rank 0 measures, too, and says that it lives: else it hangs, or the network between is gone.
            let measures = progress.activity.is_none() && progress.remaining_ns > WINDOW_END_NS;
            if measures && post.silence() > silence {
                is_cut_off = true;
                stop.store(true, Ordering::Relaxed);
            }
            post.answer(&Answer::Beat(progress.clone()), &[]);
        };
        let mut control = SiteControl::new(stop, &mut on_progress);
        let result = self.site.run(&step, &mut control);
        let window_start_ns = start.window_ns.get().unwrap_or(asked_ns);
        match result {
            Ok(Ok(mut record)) => {
                if let Some(host) = record.host.as_mut().filter(|_| !self.cpu_rows) {
                    host.drop_cpu_rows();
                }
                let outcome = Ok(RankDone { window_start_ns, runtime_ns: record.runtime_ns });
                self.post.answer(&Answer::Done { number, outcome, waited: false }, &packed_record(record));
            }
            Ok(Err(failure)) => {
                let (outcome, waited) = (Err(failure), start.waited.get());
                self.post.answer(&Answer::Done { number, outcome, waited }, &[]);
            }
            Err(error) => self.post.answer(&Answer::SettingLost(Refused::of(&error)), &[]),
        }
        is_cut_off
    }
}
