//! `fathom oltp` from the command line: a whole run, one that is killed, one that is interrupted, and bad input.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::Place;
use serde_json::Value;

/// The folder that a run made in the place.
fn folders(place: &Place) -> Vec<PathBuf> {
    folders_in(&place.work())
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.display().to_string().contains("fathom-oltp-")).collect()
}

fn orders(list: &std::path::Path) -> usize {
    fs::read_to_string(list).map_or(0, |text| text.lines().count())
}

#[test]
fn a_run_yields_rates_checks_and_evidence_and_leaves_nothing() {
    let place = Place::new();
    let run = place.json("oltp --target . --warehouses 1 --ramp 300ms --runtime 4s -o page.html", 0);
    let page = fs::read_to_string(place.file("page.html")).expect("a page");
    // A row of the heat map for each CPU, a cell for each second; and the whole result for whoever reads on.
    let cpus = run["cpus"]["cpus"].as_array().expect("CPUs").len();
    assert_eq!(page.matches("fill-opacity").count(), cpus * 4);
    // The answer, the picture that shows the limit, the limit with its evidence, the trust and the advice come first.
    let places = [
        "new orders per minute",
        "Time of the sessions",
        "<dt>Limit</dt>",
        ">Trust</dt>",
        "<dt>Next</dt>",
        "Transactions per second",
    ];
    let found: Vec<_> = places.iter().map(|words| page.find(words)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?}");
    let (_, json) = page.split_once("id=\"fathom-oltp\">").expect("the result");
    let inside: Value = serde_json::from_str(json.split_once("</script>").expect("its end").0).expect("JSON");
    assert_eq!(inside, run);
    assert_eq!(run["database"]["engine"], "sqlite");
    assert_eq!(run["database"]["settings"][0], serde_json::json!(["synchronous", "full"]));
    assert!(run["notice"].as_str().expect("a notice").contains("not comparable to published TPC-C results"));
    assert!(!run.to_string().contains("tpmC"));
    let mean = |name: &str| run[name]["mean"].as_f64().expect("a rate");
    assert!(mean("nopm") > 0.0 && (mean("tpm") / 60.0 / run["tps"].as_f64().expect("a rate") - 1.0).abs() < 1e-9);
    assert!(run["nopm"]["ci95"].is_null(), "four points give no interval: {}", run["nopm"]);
    assert!(run["nopm"]["best_minute"].is_null(), "no two minutes");
    // New orders are 10 of 23 transactions, and 1 in 100 of them is rolled back.
    let share = mean("nopm") / mean("tpm");
    assert!((0.40..0.45).contains(&share), "{share}");
    let seconds = run["seconds"].as_array().expect("seconds");
    assert_eq!(seconds.len(), 4);
    let done: u64 = run["transactions"].as_array().expect("kinds").iter().filter_map(|k| k["done"].as_u64()).sum();
    let in_seconds: u64 = seconds.iter().filter_map(|second| second[1].as_u64()).sum();
    assert!(in_seconds <= done && in_seconds * 10 > done * 9, "{in_seconds} of {done}");
    assert_eq!(run["consistency"]["broken_after_load"], serde_json::json!([]));
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(run["audit"].as_array().expect("bounds").iter().all(|bound| bound["judgement"] != "outside"));
    let names: Vec<&str> =
        run["verdict"]["evidence"].as_array().expect("evidence").iter().filter_map(|e| e["name"].as_str()).collect();
    assert!(names.contains(&"serving_time") && names.contains(&"gain_of_relaxed_commits"), "{names:?}");
    assert_eq!(run["cpus"]["heat_pct"].as_array().expect("seconds").len(), 4);
    let calibration = &run["calibration"];
    assert_eq!(calibration["block_bytes"], 4096);
    let points = calibration["points"].as_array().expect("depths");
    let rates: Vec<f64> = points.iter().filter_map(|point| point["iops"].as_f64()).collect();
    assert!(rates.len() == 4 && rates.iter().all(|rate| *rate > 0.0), "{calibration}");
    let most = rates.into_iter().fold(0.0, f64::max);
    let could = run["verdict"]["reads_a_transaction_could_make"].as_f64().expect("a number");
    assert!((could * run["tps"].as_f64().expect("a rate") / most - 1.0).abs() < 1e-9);
    assert!(names.contains(&"share_of_calibrated_reads"), "{names:?}");
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
}

#[test]
fn what_was_acknowledged_before_a_kill_is_in_the_database_after_it() {
    let place = Place::new();
    let list = place.file("acknowledged");
    let words = "oltp --target . --warehouses 1 --sessions 3 --ramp 0s --runtime 10m --no-calibration --acknowledged acknowledged";
    let mut running = place.start(words);
    running.until("500 orders", |_| orders(&list) >= 500);
    let [folder] = &folders(&place)[..] else { panic!("one folder") };
    let used = place.run(&format!("oltp --check {}", folder.display()));
    used.expect(3, &["is in use by a run"]);
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    let known = orders(&list);

    let check = format!("oltp --check {} --acknowledged acknowledged", folder.display());
    let checked = place.run(&check);
    checked.expect(0, &[]);
    assert!(checked.out.starts_with("Consistent:"), "{}", checked.out);
    assert!(checked.out.contains(&format!("Of {known} acknowledged orders 0 are missing")), "{}", checked.out);
    // An order that nobody entered is missed.
    let text = fs::read_to_string(&list).expect("a list");
    fs::write(&list, format!("{text}1 1 999999\n")).expect("a line more");
    let missed = place.run(&check);
    assert_eq!(missed.code, Some(1), "{}", missed.out);
    assert!(missed.out.contains(&format!("Of {} acknowledged orders 1 are missing", known + 1)), "{}", missed.out);
    // And a database that lost a line of an order is found out.
    let database = rusqlite::Connection::open(folder.join("orders.db")).expect("a database");
    database.execute("DELETE FROM order_line WHERE ol_d_id = 3 AND ol_o_id = 5 AND ol_number = 1", []).expect("a loss");
    drop(database);
    let broken = place.run(&check);
    assert_eq!(broken.code, Some(1));
    assert!(broken.out.contains("Condition 4 does not hold in 1 places."), "{}", broken.out);
    // A new run tells of it and leaves it alone.
    let next = place.run("oltp --target . --warehouses 1 --ramp 0s --runtime 1s --no-probes --no-calibration");
    next.expect(0, &["left by an earlier run"]);
    assert_eq!(folders(&place), std::slice::from_ref(folder));
}

#[test]
fn an_interrupted_run_says_what_it_measured_and_removes_its_database() {
    let place = Place::new();
    let mut running = place.start("oltp --target . --warehouses 1 --ramp 0s --runtime 10m --no-calibration --json");
    running.until("progress", |talk| talk.contains("measuring:"));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let run: Value = ended.json();
    assert_eq!(run["drive"]["is_stopped"], true);
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(run["verdict"]["limit"].is_null() || run["verdict"]["limit"].is_string());
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
}

#[test]
fn bad_input_is_refused_before_anything_is_made() {
    let place = Place::new();
    fs::write(place.file("taken"), "mine").expect("a file");
    let before = place.listing();
    for (words, code, said) in [
        ("oltp", 2, "--target"),
        ("oltp --target . --warehouses 0", 2, "warehouses"),
        ("oltp --target . --sessions 0", 2, "no number of sessions"),
        ("oltp --target . --sessions many", 2, "no number of sessions"),
        ("oltp --target . --runtime 10ms", 2, "less than a second"),
        ("oltp --target . --runtime soon", 2, "--runtime"),
        ("oltp --target . --sessions auto --search 10ms", 2, "--search"),
        ("oltp --target . --warehouses 100000", 3, "free, and the database needs up to"),
        ("oltp --target nowhere", 1, "nowhere"),
        ("oltp --target . --acknowledged taken", 1, "taken"),
        ("oltp --target . --output taken", 3, "taken"),
        ("oltp --check .", 3, "holds no database that Fathom loaded whole"),
        ("oltp --check nowhere", 1, "nowhere"),
    ] {
        let ended = place.run(words);
        assert_eq!(ended.code, Some(code), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
    assert_eq!(place.listing(), before);
}

/// A server that the test starts and stops by itself, as an operator has one.
struct Server {
    child: std::process::Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let folder = open_folder();
        let script = "set -e; bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1); d=$1; mkdir $d/data; \
            run() { if [ $(id -u) = 0 ]; then chmod 755 $d; chown -R nobody $d/data; setpriv --reuid nobody \
            --clear-groups \"$@\"; else \"$@\"; fi; }; cd /; \
            run $bin/initdb -N -U fathom --auth=trust --encoding=UTF8 --locale=C -D $d/data >&2; \
            if [ $(id -u) = 0 ]; then exec setpriv --reuid nobody --clear-groups $bin/postgres -D $d/data \
            -c listen_addresses= -c unix_socket_directories=$d/data; \
            else exec $bin/postgres -D $d/data -c listen_addresses= -c unix_socket_directories=$d/data; fi";
        let mut command = std::process::Command::new("bash");
        command.args(["-c", script, "server"]).arg(folder.path());
        let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn();
        let socket = folder.path().join("data").display().to_string().replace('/', "%2F");
        let url = format!("postgresql://fathom:secret@{socket}/postgres");
        Server { child: child.expect("bash"), url, _folder: folder }
    }

    fn psql(&self, sql: &str) -> Option<String> {
        let asked = std::process::Command::new("psql").args([&self.url, "-Atc", sql]).output().expect("psql");
        asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim().to_owned())
    }

    fn wait(self) -> Server {
        for _ in 0..600 {
            if self.psql("SELECT 1").is_some() {
                return self;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the server does not answer");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = format!("kill -INT {}", self.child.id());
        let _stopped = std::process::Command::new("sh").args(["-c", &stop]).status();
        let _gone = self.child.wait();
    }
}

/// Processes of a server in the folder.
fn servers_in(folder: &std::path::Path) -> usize {
    let found = std::process::Command::new("pgrep").args(["-f", &format!("postgres -D {}", folder.display())]).output();
    String::from_utf8_lossy(&found.expect("pgrep").stdout).lines().count()
}

#[test]
fn a_managed_server_is_made_for_the_run_and_gone_after_it() {
    let (place, folder) = (Place::new(), open_folder());
    let target = folder.path().display();
    let words = format!(
        "oltp --target {target} --managed-postgres --warehouses 1 --ramp 300ms --runtime 3s --sessions 4 --no-calibration --no-probes"
    );
    let run = place.json(&words, 0);
    assert_eq!(run["database"]["engine"], "postgresql");
    assert_eq!(run["database"]["settings"][0], serde_json::json!(["synchronous_commit", "on"]));
    assert_eq!(run["consistency"]["broken_after_load"], serde_json::json!([]));
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(run["audit"].as_array().expect("bounds").iter().all(|bound| bound["judgement"] != "outside"));
    let orders = &run["transactions"][0];
    assert!(orders["done"].as_u64().expect("orders") > 100, "{orders}");
    let server = &run["server"];
    assert!(server["log_bytes_per_transaction"].as_f64().is_some_and(|bytes| bytes > 500.0), "{server}");
    assert!(server["cache_hit"].as_f64().is_some_and(|share| share > 0.5), "{server}");
    let time = &run["session_time"];
    let told: f64 = ["on_cpu", "for_turn", "for_log", "for_data"].iter().filter_map(|name| time[name].as_f64()).sum();
    assert!(told > 0.3 && told <= 1.0, "what the server's sessions were seen to do: {time}");
    let cores = |name: &str| run["cpus"][name].as_f64().expect("cores");
    assert!(
        cores("server_cores") > cores("client_cores"),
        "the server works, not the client: {}",
        run["cpus"]["client_cores"]
    );
    assert_eq!(folders_in(folder.path()), Vec::<PathBuf>::new());
    assert_eq!(servers_in(folder.path()), 0);
}

#[test]
fn sessions_are_searched_for_and_an_open_loop_counts_from_when_each_was_due() {
    let place = Place::new();
    let words = "oltp --target . --warehouses 1 --ramp 300ms --runtime 4s --sessions auto --search 1s --open-loop --no-probes --no-calibration";
    let run = place.json(words, 0);
    let search: Vec<(u64, f64)> = run["search"]
        .as_array()
        .expect("a search")
        .iter()
        .map(|tried| (tried["sessions"].as_u64().expect("sessions"), tried["tps"].as_f64().expect("a rate")))
        .collect();
    assert!(
        search.len() >= 3 && search.iter().map(|tried| tried.0).eq((0..search.len()).map(|n| 1 << n)),
        "{search:?}"
    );
    let best = search.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("one").0;
    assert_eq!(run["drive"]["sessions"], best);
    let open = run["open_loop"].as_array().expect("runs");
    let shares: Vec<f64> = open.iter().filter_map(|run| run["share"].as_f64()).collect();
    assert_eq!(shares, [0.5, 0.8, 0.95]);
    for one in open {
        let number = |name: &str| one[name].as_f64().expect("a rate");
        assert!((number("asked_tps") / run["tps"].as_f64().expect("a rate") / number("share") - 1.0).abs() < 1e-9);
        // It gives no more than was asked for, except by chance and what the second before left over; whether it gives all
        // of it is this machine's affair.
        let (asked, done) = (number("asked_tps"), number("tps"));
        assert!(done <= asked * 1.6 + 20.0, "{one}");
        assert!(one["is_sustained"] == true || done < asked, "{one}");
        assert!(one["new_order"]["mean_ns"].as_f64().is_none_or(|ns| ns > 0.0), "{one}");
    }
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
}

/// A folder that other users get to, as root's server runs as one of them: of the places for tests the first that has no
/// private folder above it.
fn open_folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0);
    let places = [Path::new(env!("CARGO_TARGET_TMPDIR")), Path::new("/var/tmp"), Path::new("/tmp")];
    let found = places.into_iter().find(|place| place.ancestors().all(is_open)).expect("a place that all users get to");
    let folder = tempfile::TempDir::new_in(found).expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    folder
}

#[test]
fn a_server_that_was_killed_with_its_client_has_every_acknowledged_order_after_recovery() {
    let (place, target) = (Place::new(), open_folder());
    let list = place.file("acknowledged");
    let folder = target.path().display();
    let words = format!(
        "oltp --target {folder} --managed-postgres --warehouses 1 --sessions 3 --ramp 0s --runtime 10m --no-calibration \
         --acknowledged acknowledged"
    );
    let mut running = place.start(&words);
    running.until("500 orders", |_| orders(&list) >= 500);
    let [folder] = &folders_in(target.path())[..] else { panic!("one folder") };
    // The client is stopped before: it would see the loss of its server and remove the folder.
    running.signal("STOP");
    let pid = fs::read_to_string(folder.join("data/postmaster.pid")).expect("a server");
    let kill = format!("pkill -KILL -P {0}; kill -KILL {0}", pid.lines().next().expect("its number"));
    std::process::Command::new("sh").args(["-c", &kill]).status().expect("sh");
    running.signal("KILL");
    assert_eq!(running.wait().code, None, "killed");
    let known = orders(&list);
    let checked = place.run(&format!("oltp --check {} --acknowledged acknowledged", folder.display()));
    checked.expect(0, &["it recovers first"]);
    assert!(checked.out.starts_with("Consistent:"), "{}", checked.out);
    assert!(checked.out.contains(&format!("Of {known} acknowledged orders 0 are missing")), "{}", checked.out);
    assert_eq!(servers_in(target.path()), 0);
}

#[test]
fn a_server_that_is_lost_ends_the_run_with_an_error_and_one_given_keeps_what_it_had() {
    let place = Place::new();
    let server = Server::start().wait();
    server.psql("CREATE TABLE mine AS SELECT 7 AS a").expect("a table");
    let run = place.json(
        &format!("oltp --postgres {} --warehouses 1 --ramp 0s --runtime 1s --no-probes --no-calibration", server.url),
        0,
    );
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(!run.to_string().contains("secret"));
    let left = "SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.psql(left).as_deref(), Some("mine"));
    assert_eq!(server.psql("SELECT count(*) FROM pg_proc WHERE proname LIKE 'fathom%'").as_deref(), Some("0"));

    // A table of somebody else has one of our names: nothing is made, nothing is touched.
    server.psql("CREATE TABLE stock AS SELECT 8 AS a").expect("a table");
    let refused = place.run(&format!("oltp --postgres {} --warehouses 1 --runtime 1s", server.url));
    refused.expect(3, &["has a table stock already", "help:"]);
    assert!(!refused.err.contains("secret"), "{}", refused.err);
    // A password may stand behind the question mark too.
    let hidden = server.url.replace("fathom:secret@", "").replace("/postgres", "/postgres?user=fathom&password=secret");
    let refused = place.run(&format!("oltp --postgres {hidden} --warehouses 1 --runtime 1s"));
    refused.expect(3, &["has a table stock already"]);
    assert!(!refused.err.contains("secret"), "nor in the other form: {}", refused.err);
    assert_eq!(server.psql("SELECT a FROM stock").as_deref(), Some("8"));
    server.psql("DROP TABLE stock").expect("dropped");
    // Nor is what another run left, whatever its tables say of themselves.
    server.psql("CREATE TABLE fathom_load AS SELECT 1 AS a; CREATE TABLE item AS SELECT 9 AS a").expect("tables");
    place
        .run(&format!("oltp --postgres {} --warehouses 1 --runtime 1s", server.url))
        .expect(3, &["has a table item already"]);
    assert_eq!(server.psql("SELECT a FROM item").as_deref(), Some("9"));
    server.psql("DROP TABLE item; DROP TABLE fathom_load").expect("dropped");

    let words = format!("oltp --postgres {} --warehouses 1 --ramp 0s --runtime 10m --no-calibration", server.url);
    let mut running = place.start(&words);
    running.until("progress", |talk| talk.contains("measuring:"));
    drop(server);
    let ended = running.wait();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    // Whoever asks first after its end: a session, or who watches them.
    let said = ["a transaction failed:", "the database cannot be asked:"];
    assert!(said.iter().any(|said| ended.err.contains(said)), "{}", ended.err);

    for (words, said) in [
        ("oltp --postgres postgresql://nobody@127.0.0.1:1/x --runtime 1s", "the database cannot be opened"),
        ("oltp --postgres nonsense --runtime 1s", "the database cannot be opened"),
    ] {
        let ended = place.run(words);
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(ended.err.contains(said), "{}", ended.err);
    }
}

/// What a run of a set-up whose limit is known names, and all its evidence.
fn named(run: &Value) -> (Option<&str>, &Value) {
    (run["verdict"]["limit"].as_str(), &run["verdict"])
}

#[test]
#[ignore = "test-all: two databases with all probes, 43 s; simulated servers cover the same limits"]
fn in_memory_nothing_but_cpus_and_locks_is_ever_named() {
    let memory = std::path::Path::new("/dev/shm");
    // Containers often have little of it.
    if fathom_host::free_bytes(memory).unwrap_or(0) < 3 << 30 {
        return crate::cli::skipped("less than 3 GiB in /dev/shm");
    }
    let folder = tempfile::TempDir::new_in(memory).expect("a folder in memory");
    let place = Place::new();
    let target = folder.path().display();
    let run = place.json(&format!("oltp --target {target} --warehouses 1 --ramp 500ms --runtime 4s"), 0);
    assert!(matches!(named(&run), (None | Some("cpu"), _)), "{}", named(&run).1);
    assert!(run["device"].is_null());
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let words =
        format!("oltp --target {target} --managed-postgres --warehouses 1 --sessions 16 --ramp 500ms --runtime 4s");
    let run = place.json(&words, 0);
    assert!(matches!(named(&run), (None | Some("locks"), _)), "{}", named(&run).1);
}

/// Control groups (version 1) that cap the disk below `folder`; what is started by the prefix is in them.
struct Capped {
    groups: Vec<PathBuf>,
}

impl Capped {
    /// `None` where this machine has none to give.
    fn new(folder: &std::path::Path, caps: &[(&str, &str, String)]) -> Option<Capped> {
        use std::os::unix::fs::MetadataExt as _;
        let device = fs::metadata(folder).expect("a folder").dev();
        let number = format!("{}:{}", device >> 8 & 0xfff, device & 0xff);
        let mut capped = Capped { groups: Vec::new() };
        for (controller, file, value) in caps {
            let group = PathBuf::from(format!("/sys/fs/cgroup/{controller}/fathom-oltp-{}", std::process::id()));
            fs::create_dir(&group).ok()?;
            capped.groups.push(group.clone());
            fs::write(group.join(file), value.replace("DISK", &number)).ok()?;
        }
        Some(capped)
    }

    fn run(&self, place: &Place, words: &str) -> Value {
        let enter: String =
            self.groups.iter().map(|group| format!("echo $$ > {}/cgroup.procs; ", group.display())).collect();
        let script = format!("{enter} exec {} {words} --json", env!("CARGO_BIN_EXE_fathom"));
        let ended =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(place.work()).output().expect("sh");
        let said = String::from_utf8_lossy(&ended.stderr);
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {said}"))
    }
}

impl Drop for Capped {
    fn drop(&mut self) {
        for group in &self.groups {
            let _left = fs::remove_dir(group);
        }
    }
}

#[test]
#[ignore = "test-all: minutes on a disk that is slowed down"]
fn the_limit_that_was_built_is_named() {
    let (place, folder) = (Place::new(), open_folder());
    let target = folder.path().display();
    let log = [("blkio", "blkio.throttle.write_iops_device", "DISK 200".to_owned())];
    let Some(capped) = Capped::new(folder.path(), &log) else {
        return crate::cli::skipped("no control groups of version 1 for block I/O");
    };
    for engine in ["", "--managed-postgres --sessions 2"] {
        let run =
            capped.run(&place, &format!("oltp --target {target} --warehouses 1 --ramp 2s --runtime 10s {engine}"));
        assert_eq!(named(&run).0, Some("log_flush"), "{engine}: {}", named(&run).1);
    }
    drop(capped);
    let data = [
        ("memory", "memory.limit_in_bytes", "120M".to_owned()),
        ("blkio", "blkio.throttle.read_iops_device", "DISK 1500".to_owned()),
    ];
    let Some(capped) = Capped::new(folder.path(), &data) else {
        return crate::cli::skipped("no control groups of version 1 for memory");
    };
    for engine in ["", "--managed-postgres --sessions 2"] {
        let words =
            format!("oltp --target {target} --warehouses 5 --cache 8m --uniform --ramp 5s --runtime 15s {engine}");
        let run = capped.run(&place, &words);
        assert_eq!(named(&run).0, Some("storage"), "{engine}: {}", named(&run).1);
        assert_eq!(run["verdict"]["is_cached"], false);
    }
}
