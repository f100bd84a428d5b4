//! The job file that fio is given, and the links by which it finds what was opened for it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fathom_host::{FIO_FOLDER_PREFIX, OwnFolder, create_new_file};
use fathom_plan::{FioJob, FioPlace, Step, TargetId};

/// How targets are reached.
pub(crate) struct Targets<'a> {
    /// The descriptor of a target, opened as its consent allows; `true`: to write.
    pub(crate) open: &'a dyn Fn(&TargetId, bool) -> io::Result<File>,
    /// Where the folder of a target is today.
    pub(crate) folder_of: &'a dyn Fn(&TargetId) -> PathBuf,
}

/// Everything that stands ready for a call of fio.
pub(crate) struct Workplace {
    /// Holds the job file, and the links to opened targets.
    links: OwnFolder,
    /// Folders in which fio makes its own files.
    folders: Vec<OwnFolder>,
    /// Targets as they were opened; the links lead here.
    _opened: Vec<File>,
    paths: Vec<PathBuf>,
    /// Names of the sections, in the order of the steps.
    pub(crate) sections: Vec<String>,
}

impl Workplace {
    /// Makes links and folders, and writes the job file.
    pub(crate) fn new(steps: &[Step], targets: &Targets<'_>) -> io::Result<Workplace> {
        let temporary = std::env::temp_dir();
        let links = OwnFolder::create(&temporary, FIO_FOLDER_PREFIX)?;
        let _gone = OwnFolder::remove_abandoned(&temporary, FIO_FOLDER_PREFIX);
        let mut place =
            Workplace { links, folders: Vec::new(), _opened: Vec::new(), paths: Vec::new(), sections: Vec::new() };
        // Percentiles from the slot's begin, as Fathom's own: fio has them only where they are asked for.
        // Of a verify that is stopped it would leave a file where it was called.
        let mut text = "[global]\nlat_percentiles=1\nverify_state_save=0\n".to_owned();
        for (number, step) in steps.iter().enumerate() {
            let Some(job) = &step.role.by_fio else { continue };
            let section = format!("s{number}");
            let _infallible = writeln!(text, "[{section}]\n{}", job.lines.join("\n"));
            if step.length.passes.is_none() && !job.options().any(|(key, _)| key == "runtime") {
                // Of a load of Fathom's own: how long it runs is known when it is its turn.
                let [ramp_us, runtime_us] = [step.length.ramp_ns, step.length.budget_ns].map(|ns| ns / 1_000);
                let _infallible = writeln!(text, "time_based\nramp_time={ramp_us}us\nruntime={runtime_us}us");
            }
            if step.length.delay_ns > 0 {
                let _infallible = writeln!(text, "startdelay={}us", step.length.delay_ns / 1_000);
            }
            place.add_files(&section, step, job, targets, &mut text)?;
            place.sections.push(section);
        }
        create_new_file(&place.job_file())?.write_all(text.as_bytes())?;
        Ok(place)
    }

    pub(crate) fn job_file(&self) -> PathBuf {
        self.links.path().join("job.fio")
    }

    /// A target's link that fio replaced by a file of its own: it did not work on the target then.
    pub(crate) fn replaced(&self) -> Option<&Path> {
        let is_link = |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_symlink());
        self.paths.iter().find(is_link).map(PathBuf::as_path)
    }

    fn add_files(
        &mut self,
        section: &str,
        step: &Step,
        job: &FioJob,
        targets: &Targets<'_>,
        text: &mut String,
    ) -> io::Result<()> {
        let writes = step.workload.mix.is_destructive();
        match &job.place {
            FioPlace::Nothing => {}
            FioPlace::Folder { .. } => {
                let folder = step.targets.first().map_or_else(|| PathBuf::from("."), |t| (targets.folder_of)(t));
                let _gone = OwnFolder::remove_abandoned(&folder, FIO_FOLDER_PREFIX);
                let made = OwnFolder::create(&folder, FIO_FOLDER_PREFIX)?;
                let _infallible = writeln!(text, "directory={}", escaped(made.path()));
                self.folders.push(made);
            }
            FioPlace::All => {
                let folder = self.folder_of_links(section)?;
                let names = step.targets.iter().enumerate().map(|(i, target)| {
                    let name = format!("t{i}");
                    self.link(&folder.join(&name), (targets.open)(target, writes)?)?;
                    Ok(name)
                });
                let names: Vec<String> = names.collect::<io::Result<_>>()?;
                let _infallible = writeln!(text, "directory={}\nfilename={}", escaped(&folder), names.join(":"));
            }
            FioPlace::OwnFiles { files_per_job } => {
                let folder = self.folder_of_links(section)?;
                let each = (*files_per_job).max(1) as usize;
                for (i, target) in step.targets.iter().enumerate() {
                    // fio's own rule: job, number of its clone, number of the file.
                    let name = format!("{section}.{}.{}", i / each, i % each);
                    self.link(&folder.join(name), (targets.open)(target, writes)?)?;
                }
                let _infallible = writeln!(text, "directory={}", escaped(&folder));
            }
        }
        Ok(())
    }

    fn folder_of_links(&self, section: &str) -> io::Result<PathBuf> {
        let folder = self.links.path().join(section);
        fs::create_dir(&folder)?;
        Ok(folder)
    }

    fn link(&mut self, path: &Path, opened: File) -> io::Result<()> {
        fathom_host::link_to_open(&opened, path)?;
        self._opened.push(opened);
        self.paths.push(path.to_owned());
        Ok(())
    }
}

/// fio takes `:` for the end of a name.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(':', "\\:")
}

#[cfg(test)]
mod tests {
    use fathom_plan::{FioReading, FioText, UnseenHost, parse_fio};

    use super::*;

    fn workplace(steps: &[Step], open: &dyn Fn(&TargetId, bool) -> io::Result<File>) -> Workplace {
        let folder_of = |target: &TargetId| PathBuf::from(target.as_str());
        Workplace::new(steps, &Targets { open, folder_of: &folder_of }).expect("a workplace")
    }

    fn steps(text: &str) -> Vec<Step> {
        let reading = FioReading { with_fio: true, ..FioReading::default() };
        let text = FioText::File { name: "job.fio".to_owned(), text: text.to_owned() };
        parse_fio(&[text], "job", &reading, &UnseenHost(&|_| None)).expect("a plan").steps
    }

    #[test]
    fn fio_finds_what_was_opened_even_when_the_name_is_another_file_by_then() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("f");
        fs::write(&path, "as opened").expect("a file");
        let steps = steps("[a]\nioengine=posixaio\nrw=read\nsize=4k\nfilename=f\n");
        let open = |_: &TargetId, writes: bool| {
            assert!(!writes);
            File::open(&path)
        };
        let place = workplace(&steps, &open);
        fs::rename(&path, dir.path().join("g")).expect("renamed");
        fs::write(&path, "another").expect("another file");
        let job = fs::read_to_string(place.job_file()).expect("a job file");
        let folder = job.lines().find_map(|line| line.strip_prefix("directory=")).expect("a folder");
        assert_eq!(fs::read_to_string(Path::new(folder).join("t0")).expect("the link"), "as opened");
        assert!(job.contains("filename=t0") && job.contains("ioengine=posixaio"), "{job}");
        assert!(job.contains("verify_state_save=0"), "a verify that is stopped would leave a file: {job}");
        assert_eq!(place.replaced(), None);
        fs::remove_file(Path::new(folder).join("t0")).expect("removed");
        fs::write(Path::new(folder).join("t0"), "fio's own").expect("replaced");
        assert!(place.replaced().is_some());
    }

    #[test]
    fn clones_of_a_job_find_their_files_by_fios_own_names() {
        let steps = steps("[a]\nioengine=posixaio\nrw=read\nsize=8k\nnrfiles=2\nnumjobs=2\n");
        assert_eq!(
            steps[0].targets.iter().map(TargetId::as_str).collect::<Vec<_>>(),
            ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]
        );
        let place = workplace(&steps, &|_, _| tempfile::tempfile());
        let mut names: Vec<String> =
            place.paths.iter().map(|p| p.file_name().expect("a name").to_string_lossy().into_owned()).collect();
        names.sort();
        assert_eq!(names, ["s0.0.0", "s0.0.1", "s0.1.0", "s0.1.1"]);
    }
}
