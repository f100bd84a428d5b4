//! Whether a launcher of another MPI started this process: then each of its processes takes itself for all of them, and each
//! would run the whole load on the same targets.

use crate::exit::{Exit, Problem};
use crate::ranks::Ended;
use crate::terminal;

/// What a launcher says in the environment of the processes that it starts.
struct Says {
    /// Whose word it is.
    name: &'static str,
    /// How many it started: all of them, or those on this host.
    size: &'static [&'static str],
    /// Number of this process.
    rank: &'static [&'static str],
}

/// Those that say how many processes there are. What the launcher of one MPI says stays in the environment of what another
/// one starts within it: the first that is there is not always the last that started something.
const LAUNCHERS: [Says; 3] = [
    Says { name: "Open MPI", size: &["OMPI_COMM_WORLD_SIZE"], rank: &["OMPI_COMM_WORLD_RANK"] },
    Says {
        name: "MPICH, Intel MPI or srun --mpi=pmi2",
        size: &["PMI_SIZE", "MPI_LOCALNRANKS"],
        rank: &["PMI_RANK", "MPI_LOCALRANKID"],
    },
    // A batch script has SLURM_NTASKS, too, and is one process: what srun starts has this.
    Says { name: "srun", size: &["SLURM_STEP_NUM_TASKS"], rank: &["SLURM_PROCID"] },
];
/// Says a number and no size: any but 0 is one of several.
const PMIX_RANK: &str = "PMIX_RANK";

/// A launcher whose processes do not see each other.
#[derive(Debug, PartialEq, Eq)]
struct Foreign {
    name: &'static str,
    /// `None`: more than one.
    size: Option<u32>,
    rank: u32,
}

/// The launcher that started more processes than this one, which sees itself alone. `says`: the environment.
fn foreign(says: impl Fn(&str) -> Option<String>) -> Option<Foreign> {
    let number = |names: &[&str]| names.iter().find_map(|name| says(name)?.trim().parse::<u32>().ok());
    let pmix = number(&[PMIX_RANK]);
    let of_several = |launcher: &Says| {
        let size = number(launcher.size).filter(|size| *size > 1)?;
        let rank = number(launcher.rank).or(pmix).unwrap_or(0);
        Some(Foreign { name: launcher.name, size: Some(size), rank })
    };
    let (mpi, slurm) = LAUNCHERS.split_at(2);
    mpi.iter().find_map(of_several).or_else(|| {
        // An MPI that says that there is one was asked for one, whatever Slurm started around it.
        let is_alone = mpi.iter().any(|launcher| number(launcher.size).is_some());
        let by_number = || pmix.filter(|rank| *rank > 0).map(|rank| Foreign { name: "PMIx", size: None, rank });
        if is_alone { None } else { slurm.iter().find_map(of_several).or_else(by_number) }
    })
}

/// Refuses to run where this process sees itself alone and a launcher started several; the first of them says so. `size`: of
/// the world that MPI shows; `library`: what MPI says that it is.
#[must_use]
pub fn refuse_foreign_launcher(size: u32, library: &str) -> Option<Ended> {
    let foreign = foreign(|name| std::env::var(name).ok()).filter(|_| size == 1)?;
    if foreign.rank == 0 {
        let library = library.split(',').next().unwrap_or_default().trim();
        let count = foreign.size.map_or_else(|| "several".to_owned(), |size| size.to_string());
        terminal::print_problem(&Problem::usage(
            format!(
                "{} started {count} processes, but this program is built with {library}, which sees each of them alone",
                foreign.name
            ),
            "start it with the mpirun of that MPI, with `srun --mpi=pmix` where Slurm has PMIx, or build it with the \
             launcher's MPI: `make mpi`",
        ));
    }
    Some(Ended { code: Exit::Usage as u8, lost: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(environment: &[(&str, &str)]) -> Option<Foreign> {
        foreign(|name| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_launcher_is_known_by_what_it_says() {
        let mpich = "MPICH, Intel MPI or srun --mpi=pmi2";
        let some = |name, size, rank| Some(Foreign { name, size, rank });
        for (environment, expected) in [
            (&[][..], None),
            (&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")], some("Open MPI", Some(4), 3)),
            (&[("PMI_SIZE", "2"), ("PMI_RANK", "0")], some(mpich, Some(2), 0)),
            (&[("MPI_LOCALNRANKS", "2"), ("MPI_LOCALRANKID", "1")], some(mpich, Some(2), 1)),
            (&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5")], some("srun", Some(8), 5)),
            (&[("PMIX_RANK", "1")], some("PMIx", None, 1)),
            // Alone by the word of its own launcher, within a step of Slurm; and a batch script.
            (&[("OMPI_COMM_WORLD_SIZE", "1"), ("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")], None),
            (&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")], None),
            (&[("PMI_SIZE", "1"), ("PMI_RANK", "0")], None),
            (&[("PMI_SIZE", "many")], None),
        ] {
            assert_eq!(of(environment), expected, "{environment:?}");
        }
    }
}
