//! A call of another program: watched under the sampler, and ended when the user wants it or its time is over.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fathom_host::child::{interrupt, kill_with_children};
use fathom_host::{HostSampler, ProbeError};
use fathom_record::{HostDelta, RunControl};

/// How often the user's wish to stop, and the program's end, are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often the host's counters are read.
const SAMPLE: Duration = Duration::from_millis(500);
/// What a program printed before its end is read this long after it at most.
const REST: Duration = Duration::from_secs(1);
/// After it was asked to end it has this long.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(10);
/// Lines of a program's own messages that an error repeats.
const SAID_LINES: usize = 3;

/// Why a call has no end of its own.
#[derive(Debug)]
pub(crate) enum CallError {
    /// It was not started, or cannot be waited for.
    Io(io::Error),
    /// The host's counters cannot be read.
    Probe(ProbeError),
}

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The user wanted it to end.
    pub(crate) is_stopped: bool,
    /// It did not end by itself in its time.
    pub(crate) is_late: bool,
    pub(crate) stderr: String,
    pub(crate) host: Option<HostDelta>,
}

/// What is done with a program's words as they come.
pub(crate) trait Listener {
    /// It printed this, so long after its start.
    fn take(&mut self, text: &str, elapsed: Duration, control: &mut RunControl<'_>);

    /// It runs, and has done so for this long.
    fn tick(&mut self, _elapsed: Duration, _control: &mut RunControl<'_>) {}
}

/// A call that is to be made.
pub(crate) struct Call {
    /// Reads the host's counters.
    pub(crate) sampler: HostSampler,
    /// The counters are read from so long after the start on.
    pub(crate) warm_up: Duration,
    /// It must have ended then; `None`: it ends when it has done what it was told.
    pub(crate) deadline: Option<Duration>,
    /// After it was asked to end it has this long.
    pub(crate) stop_grace: Duration,
}

impl Call {
    /// Makes it and waits for its end; its output goes to `listener`.
    ///
    /// # Errors
    /// [`CallError`]; the program has ended.
    pub(crate) fn run(
        mut self,
        mut command: Command,
        listener: &mut dyn Listener,
        control: &mut RunControl<'_>,
    ) -> Result<Ended, CallError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.sampler.prepare();
        let mut is_sampling = self.warm_up.is_zero();
        if is_sampling {
            self.sampler.begin_prepared().map_err(CallError::Probe)?;
        }
        let mut running = Running(command.spawn().map_err(CallError::Io)?);
        let child = &mut running.0;
        self.sampler.follow(child.id());
        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let begun = Instant::now();
        let mut stop_asked: Option<Instant> = None;
        let mut sampled = Instant::now();
        let (mut is_stopped, mut is_late) = (false, false);
        let status = loop {
            match stdout.recv_timeout(TICK) {
                Ok(text) => listener.take(&text, begun.elapsed(), control),
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its output, and is about to end.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            if let Some(status) = child.try_wait().map_err(CallError::Io)? {
                break status;
            }
            listener.tick(begun.elapsed(), control);
            if !is_sampling && begun.elapsed() >= self.warm_up {
                is_sampling = true;
                self.sampler.begin_prepared().map_err(CallError::Probe)?;
            }
            if is_sampling && sampled.elapsed() >= SAMPLE {
                sampled = Instant::now();
                self.sampler.interval().map_err(CallError::Probe)?;
            }
            is_late |= self.deadline.is_some_and(|deadline| begun.elapsed() > deadline);
            is_stopped |= control.stopped();
            match stop_asked {
                None if is_stopped || is_late => {
                    interrupt(child);
                    stop_asked = Some(Instant::now());
                }
                Some(asked) if asked.elapsed() > self.stop_grace => kill_with_children(child),
                _ => {}
            }
        };
        let host = match is_sampling {
            true => Some(self.sampler.finish(1).map_err(CallError::Probe)?),
            false => None,
        };
        for text in rest_of(&stdout) {
            listener.take(&text, begun.elapsed(), control);
        }
        let stderr: String = rest_of(&stderr).collect();
        Ok(Ended { status, is_stopped, is_late, stderr, host })
    }
}

/// The first lines of what a program said.
pub(crate) fn said<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.take(SAID_LINES).collect::<Vec<_>>().join("; ")
}

/// A program while it runs: whatever ends the watch ends it, with all that it started.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            kill_with_children(&mut self.0);
            let _ended = self.0.wait();
        }
    }
}

/// What is left in a pipe whose program has ended: a child that it lost may hold the pipe open for as long as it likes.
fn rest_of(texts: &Receiver<String>) -> impl Iterator<Item = String> + '_ {
    std::iter::from_fn(|| texts.recv_timeout(REST).ok())
}

/// What a pipe gives, as it comes, from a thread of its own: a full pipe would hold the program up.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (to_here, texts) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let mut tail = Vec::new();
            while let Ok(length) = pipe.read(&mut buffer) {
                if length == 0 {
                    break;
                }
                tail.extend_from_slice(&buffer[..length]);
                // A character may be cut by the end of the buffer.
                let whole = match std::str::from_utf8(&tail) {
                    Ok(_) => tail.len(),
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Err(_) => tail.len(),
                };
                let rest = tail.split_off(whole);
                let text = String::from_utf8_lossy(&std::mem::replace(&mut tail, rest)).into_owned();
                if to_here.send(text).is_err() {
                    break;
                }
            }
        });
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_ends_with_an_error_leaves_no_program_behind() {
        let mut call = Command::new("sh");
        call.args(["-c", "sleep 100 & wait"]).stdout(Stdio::piped());
        let mut running = Running(call.spawn().expect("sh starts"));
        let texts = read_all(running.0.stdout.take());
        drop(running);
        // The pipe ends when the last of them is gone.
        assert_eq!(texts.recv_timeout(Duration::from_secs(30)), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_lost_child_that_holds_the_pipe_does_not_hold_up_the_result() {
        let mut call = Command::new("sh");
        call.args(["-c", "echo said; sleep 30 &"]).stdout(Stdio::piped());
        let mut child = call.spawn().expect("sh starts");
        let texts = read_all(child.stdout.take());
        assert!(child.wait().expect("ended").success());
        let begun = Instant::now();
        assert_eq!(rest_of(&texts).collect::<String>(), "said\n");
        assert!(begun.elapsed() < Duration::from_secs(20), "it waited for the child");
    }
}
