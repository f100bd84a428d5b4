//! The look at the host before a run: said first when it is busy, with the choice to wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_lab::{HostLook, look_at_host};
use fathom_message::Say as _;
use fathom_units::format_duration_ns;

use crate::exit::{Exit, Problem};
use crate::terminal::{say, talk, warning_word};

/// Looks in a row that must find the host idle: work that pauses for a second is not over.
const IDLE_LOOKS: u32 = 3;

/// Reports other work on this host; with `wait`, waits until it ends. Each sample takes `sample`. Returns true when the
/// user stopped it.
///
/// # Errors
/// The host is still busy when the time to wait is over, or cannot be looked at although it is to be waited for.
pub(crate) fn before_run(
    wait: Option<Duration>,
    sample: Duration,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<bool, Problem> {
    let look = match (look_at_host(sample), wait) {
        (Ok(look), _) => look,
        (Err(error), Some(_)) => return Err(Problem::of(Exit::Failed, &error)),
        (Err(error), None) => {
            let why = say(&error.message());
            talk(&format!("{}: whether the host is busy is not known: {why}", warning_word()));
            return Ok(false);
        }
    };
    if look.is_idle() {
        return Ok(false);
    }
    let Some(most) = wait else {
        if !quiet {
            talk(&format!(
                "{}: {}: rates will be lower bounds; --wait-idle waits until the host is idle",
                warning_word(),
                in_words(&look)
            ));
        }
        return Ok(false);
    };
    wait_for_idle(look, sample, most, quiet, stop)
}

fn wait_for_idle(
    first: HostLook,
    sample: Duration,
    most: Duration,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<bool, Problem> {
    let (began, mut look, mut idle) = (Instant::now(), first, 0);
    let mut said = Instant::now();
    let report = |look: &HostLook| {
        let left = most.saturating_sub(began.elapsed()).as_nanos() as u64;
        talk(&format!("waiting for an idle host, {} at most: {}", format_duration_ns(left), in_words(look)));
    };
    if !quiet {
        report(&look);
    }
    while idle < IDLE_LOOKS {
        if stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if began.elapsed() >= most {
            return Err(Problem::new(
                Exit::Failed,
                format!(
                    "the host did not become idle within {}: {}",
                    format_duration_ns(most.as_nanos() as u64),
                    in_words(&look)
                ),
                "stop other work, wait longer (--wait-idle=1h), or run without --wait-idle",
            ));
        }
        look = look_at_host(sample).map_err(|e| Problem::of(Exit::Failed, &e))?;
        idle = if look.is_idle() { idle + 1 } else { 0 };
        if !quiet && said.elapsed() >= Duration::from_secs(10) {
            said = Instant::now();
            report(&look);
        }
    }
    Ok(false)
}

/// `1.9 of 2 CPUs are busy with other work, the hypervisor takes 5 % of their time`.
fn in_words(look: &HostLook) -> String {
    let mut parts = vec![format!("{:.1} of {} CPUs are busy with other work", look.busy_cores, look.cpus)];
    if look.stolen_share >= 0.01 {
        parts.push(format!("the hypervisor takes {:.0} % of their time", 100.0 * look.stolen_share));
    }
    if look.slowdowns > 0 {
        parts.push("heat slows them down".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Duration = Duration::from_millis(10);

    #[test]
    fn what_is_busy_is_said_with_its_share() {
        let look = HostLook { busy_cores: 1.94, cpus: 2, stolen_share: 0.051, slowdowns: 2 };
        let said =
            "1.9 of 2 CPUs are busy with other work, the hypervisor takes 5 % of their time, heat slows them down";
        assert_eq!(in_words(&look), said);
    }

    #[test]
    fn waiting_ends_with_an_error_when_its_time_is_over_and_at_once_when_it_is_stopped() {
        let busy = HostLook { busy_cores: 2.0, cpus: 2, stolen_share: 0.0, slowdowns: 0 };
        let stop = AtomicBool::new(false);
        let problem = wait_for_idle(busy, SAMPLE, Duration::ZERO, true, &stop).expect_err("no time to wait");
        assert!(problem.message.contains("2.0 of 2 CPUs") && problem.exit == Exit::Failed, "{}", problem.message);
        stop.store(true, Ordering::Relaxed);
        assert!(wait_for_idle(busy, SAMPLE, Duration::from_secs(60), true, &stop).is_ok_and(|stopped| stopped));
    }
}
