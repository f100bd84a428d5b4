//! Tables of the lab. Units are in the column names; a `_json` column holds what no query asks for by itself.

/// `FATM`: marks a SQLite file as a Fathom lab (PRAGMA application_id).
pub const APPLICATION_ID: i64 = 0x4641_544D;

/// Version of the tables below (PRAGMA user_version): the number of migrations.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Step `i` brings a lab of version `i` to version `i + 1`. Released ones are never edited, only followed.
pub(crate) const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6];

/// Histograms of intervals are packed, all of a step in one blob: 50,000 rows of blobs (1,000 steps of 50 intervals)
/// cost several times the time of 1,000, because SQLite chases an overflow chain for each, and nobody asks for one
/// interval's histogram alone. Counts per interval stay rows, so that a time series can be queried.
///
/// AUTOINCREMENT: the number of a deleted run is never given to another, so that a note "run 7" stays true.
const VERSION_1: &str = "
CREATE TABLE run (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    study               TEXT NOT NULL,
    question            TEXT NOT NULL,
    state               TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    started_unix_ns     INTEGER NOT NULL,
    finished_unix_ns    INTEGER,
    fathom_version      TEXT NOT NULL,
    command_line        TEXT NOT NULL,
    steps_planned       INTEGER NOT NULL,
    plan_json           TEXT NOT NULL,
    host_json           TEXT NOT NULL,
    owner_pid           INTEGER NOT NULL,
    owner_started_ticks INTEGER NOT NULL,
    owner_boot_id       TEXT NOT NULL
) STRICT;

CREATE TABLE step (
    id               INTEGER PRIMARY KEY,
    run_id           INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    step_index       INTEGER NOT NULL,
    label            TEXT NOT NULL,
    phase            TEXT NOT NULL,
    group_name       TEXT NOT NULL,
    op               TEXT NOT NULL,
    block_size_bytes INTEGER NOT NULL,
    engine           TEXT NOT NULL,
    mode             TEXT NOT NULL,
    threads          INTEGER NOT NULL,
    queue_depth      INTEGER NOT NULL,
    step_json        TEXT NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('measured', 'refused', 'failed')),
    what             TEXT,
    why              TEXT,
    help             TEXT,
    started_unix_ns  INTEGER,
    runtime_ns       INTEGER,
    setup_ns         INTEGER,
    ios              INTEGER,
    bytes            INTEGER,
    errors           INTEGER,
    iops             REAL,
    bytes_per_s      REAL,
    record_json      TEXT,
    UNIQUE (run_id, step_index)
) STRICT;

CREATE TABLE direction (
    step_id     INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    op          TEXT NOT NULL,
    ios         INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    short_ios   INTEGER NOT NULL,
    lat_mean_ns REAL,
    lat_p50_ns  INTEGER,
    lat_p99_ns  INTEGER,
    lat_max_ns  INTEGER,
    PRIMARY KEY (step_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
    step_id     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('lat', 'slat', 'clat', 'service')),
    samples     BLOB,
    quoted_json TEXT,
    PRIMARY KEY (step_id, position, kind),
    FOREIGN KEY (step_id, position) REFERENCES direction (step_id, position) ON DELETE CASCADE,
    CHECK ((samples IS NULL) <> (quoted_json IS NULL))
) STRICT;

CREATE TABLE interval (
    step_id        INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
    interval_index INTEGER NOT NULL,
    position       INTEGER NOT NULL,
    start_ns       INTEGER NOT NULL,
    length_ns      INTEGER NOT NULL,
    op             TEXT,
    ios            INTEGER NOT NULL,
    bytes          INTEGER NOT NULL,
    PRIMARY KEY (step_id, interval_index, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval_histograms (
    step_id     INTEGER PRIMARY KEY REFERENCES step (id) ON DELETE CASCADE,
    lat_samples BLOB NOT NULL
) STRICT;
";

/// Predictions. A run has one for each ladder that was screened; a step is predicted at most once.
const VERSION_2: &str = "
CREATE TABLE prediction (
    id           INTEGER PRIMARY KEY,
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    made_unix_ns INTEGER NOT NULL,
    screens_json TEXT NOT NULL
) STRICT;

CREATE INDEX prediction_of_run ON prediction (run_id);

CREATE TABLE predicted_step (
    prediction_id INTEGER NOT NULL REFERENCES prediction (id) ON DELETE CASCADE,
    step_index    INTEGER NOT NULL,
    iops          REAL NOT NULL,
    lat_mean_ns   REAL NOT NULL,
    PRIMARY KEY (prediction_id, step_index)
) STRICT, WITHOUT ROWID;
";

/// Files that runs made as targets and that may still be there. The mark stands in the file as well: only a file that has
/// the same one is taken over or removed, whatever the path leads to.
const VERSION_3: &str = "
CREATE TABLE made_file (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    target  TEXT NOT NULL,
    path    TEXT NOT NULL,
    bytes   INTEGER NOT NULL,
    mark    TEXT NOT NULL UNIQUE,
    is_kept INTEGER NOT NULL,
    PRIMARY KEY (run_id, target)
) STRICT, WITHOUT ROWID;
";

/// Runs whose figures were quoted from a file. Older labs tell them by the command alone, which Fathom itself wrote.
const VERSION_4: &str = "
ALTER TABLE run ADD COLUMN is_import INTEGER NOT NULL DEFAULT 0;
UPDATE run SET is_import = 1 WHERE command_line LIKE 'fathom import %';
";

/// Answers of runs in a sentence, so that a list of runs need not judge each again. A version of the program that judges
/// otherwise judges again.
const VERSION_5: &str = "
CREATE TABLE headline (
    run_id         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    fathom_version TEXT NOT NULL,
    sentence       TEXT NOT NULL
) STRICT;
";

/// Folders in which a run makes files and folders of its own, each with the mount point of its file system. What a killed run
/// leaves is looked for there; a folder whose file system is not mounted is not taken for an empty one. `run_id` is NULL
/// for work that no run stands for.
const VERSION_6: &str = "
CREATE TABLE work_folder (
    run_id      INTEGER REFERENCES run (id) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    mount_point TEXT NOT NULL
) STRICT;
CREATE INDEX work_folder_of_run ON work_folder (run_id);
";
