//! Rates that are a share of what a closed loop gave before, and the loads that keep a latency goal, with the real program.

use std::fs;

use crate::cli::Place;
use serde_json::Value;

/// A closed ladder, and an open one at shares of what it gave.
const SHARES: &str = r#"[study]
name = "qos"
question = "How long are the tails?"

[defaults]
engine = "io_uring"
runtime = "200ms"
ramp_time = "50ms"

[[ladder]]
name = "depth"
iodepth = [1, 32]

[[ladder]]
name = "rate"
iodepth = 32
rate_iops = ["25%", "150%"]
rate_process = "poisson"
"#;

fn steps(document: &Value) -> Vec<Value> {
    document["steps"].as_array().expect("steps").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The most that a closed loop gave among these steps.
fn most(steps: &[Value]) -> f64 {
    steps.iter().filter(|s| s["rate_iops"].is_null()).map(|s| number(&s["iops"])).fold(0.0, f64::max)
}

/// Every rate is its share of the most that the closed loops of the run gave; the number of such steps.
fn shares_hold(document: &Value) -> usize {
    let steps = steps(document);
    let most = most(&steps);
    let open: Vec<&Value> = steps.iter().filter(|s| !s["role"]["rate_share"].is_null()).collect();
    for step in &open {
        let share = number(&step["role"]["rate_share"]["pct"]) / 100.0;
        let rate = number(&step["rate_iops"]);
        assert!((rate / (share * most) - 1.0).abs() < 1e-9, "{}: {rate} of {most}", step["label"]);
        let planned = document["run"]["plan"]["steps"].as_array().expect("the plan");
        let planned = planned.iter().find(|s| s["index"] == step["index"]).expect("is planned");
        assert_eq!(planned["load"]["rate"]["iops"], step["rate_iops"], "the document's plan says the rate, too");
    }
    open.len()
}

#[test]
fn on_a_simulated_machine_shares_become_rates_that_repeat_and_pair_up() {
    let place = Place::new();
    fs::write(place.file("shares.toml"), SHARES).expect("written");
    let planned = place.run("plan shares.toml --target sim:speed/nvme-1");
    planned.expect(0, &[]);
    assert!(planned.out.contains("4k random read T1 QD32 at 25 % of max poisson"), "{}", planned.out);

    let first = place.json("run shares.toml --target sim:speed/nvme-1 --set latency_goal=p99<=100s", 0);
    assert_eq!(shares_hold(&first), 2);
    // The search for the highest rate that keeps the goal follows the plan's four steps, and ends within 3 %.
    let rate_of = |step: &Value| step["rate_iops"].as_f64();
    let is_kept = |step: &&Value| step["open_loop"]["unsustainable"] == false;
    let searched = &steps(&first)[4..];
    let kept = steps(&first).iter().filter(is_kept).filter_map(rate_of).fold(0.0, f64::max);
    let missed = steps(&first).iter().filter(|s| !is_kept(s)).filter_map(rate_of).fold(f64::INFINITY, f64::min);
    assert!((1..=8).contains(&searched.len()) && missed <= 1.06 * kept, "{kept} and {missed}: {searched:?}");
    let overload = &steps(&first)[3];
    assert_eq!(overload["open_loop"]["unsustainable"], true, "half more than the most piles up");
    // Nothing takes 100 s, so that only the rate that was not held misses the goal.
    let verdict = &first["verdict"][0];
    assert_eq!(verdict["question"], "Which is the highest load with p99 <= 100 s?");
    let answer = verdict["answer"].as_str().expect("an answer");
    assert!(
        answer.contains("the highest offered rate that meets it is") && answer.contains("which was not held"),
        "{answer}"
    );
    assert!(answer.contains("the deepest closed loop that meets it is QD 32"), "{answer}");
    let study = first["verdict"][1]["answer"].as_str().expect("the study's own");
    assert!(study.contains("at QD 32") && study.contains("the highest rate held is"), "{study}");

    let again = place.json("run --like 1", 0);
    let rates = |document: &Value| steps(document).iter().map(|s| s["rate_iops"].clone()).collect::<Vec<_>>();
    assert_eq!(rates(&again), rates(&first), "the same machine gives the same most");
    let compared = place.json("compare 1 2", 0);
    assert_eq!(compared["unmatched"], serde_json::json!([]));

    // The open ladder alone measures the closed loop that it needs; rates in IOPS need none.
    let alone = place.json("run shares.toml --only rate --target sim:speed/nvme-1", 0);
    assert_eq!((steps(&alone).len(), shares_hold(&alone)), (3, 2));
    let words = "run shares.toml --only rate --target sim:speed/nvme-1 --set rate_iops=[1000,2000]";
    let given = place.json(words, 0);
    assert_eq!(rates(&given), [1_000.0, 2_000.0]);

    // What is known only when a step begins is not predicted; the closed loops are.
    let shares = place.json("run shares.toml --predict --target sim:speed/nvme-1", 0);
    let predicted: Vec<bool> = steps(&shares).iter().map(|s| !s["predicted"].is_null()).collect();
    assert_eq!(predicted, [true, true, false, false]);

    // Both sides of a comparison are asked for the rate of the reference.
    let sides = place.json("run shares.toml --versus engine=libaio --target sim:speed/nvme-1", 0);
    let quarter: Vec<Value> = steps(&sides).into_iter().filter(|s| s["role"]["rate_share"]["pct"] == 25).collect();
    assert!(quarter.len() == 12 && quarter.iter().all(|s| s["rate_iops"] == quarter[0]["rate_iops"]));
    let reference: Vec<Value> = steps(&sides).into_iter().filter(|s| s["engine"] == "io_uring").collect();
    assert!((number(&quarter[0]["rate_iops"]) / most(&reference) - 0.25).abs() < 1e-9);
}

#[test]
fn a_share_of_what_was_refused_is_refused_by_name() {
    let place = Place::new();
    let text = "[[ladder]]\ndevices = 4\nrate_iops = [\"50%\"]\n";
    fs::write(place.file("four.toml"), text).expect("written");
    let document = place.json("run four.toml --target sim:speed/nvme-1", 1);
    let reasons: Vec<String> = steps(&document).iter().map(|s| s["reason"].as_str().expect("why").to_owned()).collect();
    assert!(reasons[0].contains("wants 4 drives"), "{reasons:?}");
    assert!(
        reasons[1].contains("50 % of the highest IOPS of a closed loop of the same load, and none was measured"),
        "{reasons:?}"
    );
    assert!(steps(&document)[1]["help"].as_str().is_some_and(|h| h.contains("--set rate_iops")));
    place.run("io --target sim:speed/nvme-1 --rate 75%").expect(2, &["rate_iops=75%", "help: give the rate in IOPS"]);
}

#[test]
fn a_run_that_was_killed_takes_its_rates_from_the_steps_it_has() {
    let place = Place::new();
    fs::write(place.file("shares.toml"), SHARES.replace("25%", "10%").replace("150%", "20%")).expect("written");
    fs::write(place.file("data"), vec![1_u8; 32 << 20]).expect("written");
    let mut running = place.start("run shares.toml --target data");
    running.until("its closed loops", |talk| talk.contains("4k random read T1 QD32 "));
    running.signal("KILL");
    running.wait();
    let before = steps(&place.json("show 1", 0));
    assert!((2..4).contains(&before.len()), "{} steps", before.len());
    place.run("run --resume 1").expect(0, &[]);
    let document = place.json("show 1", 0);
    assert_eq!((steps(&document).len(), shares_hold(&document)), (4, 2));
    assert_eq!(most(&steps(&document)), most(&before), "the base was not measured again");
}

/// A machine whose drive is a queue before one server, or one before each of several, and whose host costs nothing.
fn queue(units: u32, service_us: u32, distribution: &str) -> String {
    format!(
        r#"[machine]
name = "queue"
title = "a drive that theory knows"
source = ["made for the test"]
default = "one"

[host]
cpu = "any"
sockets = 1
cores = 8

[engine.default]
user = "0.01us"
submit = "0.01us"

[[device]]
name = "server"
capacity = "100 GB"
command = "0.001us"
fixed = "0.001us"

[device.xpoint]
units = {units}
unit = "4 KiB"
read = "{service_us}us"
{distribution}
write = "{service_us}us"

[[drive]]
name = "one"
device = "server"
link = {{ gen = 4, lanes = 4 }}
"#
    )
}

const GOAL: &str = r#"[study]
name = "qos"
question = "Which rate keeps the goal?"

[defaults]
engine = "io_uring"
runtime = "30s"
ramp_time = "1s"
latency_goal = "p99<=2500us"

[[ladder]]
name = "depth"
iodepth = [1, 128]

[[ladder]]
name = "rate"
iodepth = 1024
rate_iops = ["25%", "50%", "75%", "90%"]
rate_process = "poisson"
"#;

/// Share of arrivals that wait longer than `t` services before a server with equal service times that is busy for `load` of
/// the time: A. K. Erlang and C. D. Crommelin, for M/D/1.
fn waits_longer(load: f64, t: f64) -> f64 {
    let term = |k: i32| {
        let gap = load * (f64::from(k) - t);
        (1..=k).fold(1.0, |power, factor| power * gap / f64::from(factor)) * (-gap).exp()
    };
    1.0 - (1.0 - load) * (0..=t as i32).map(term).sum::<f64>()
}

#[test]
fn the_rate_that_keeps_a_goal_is_the_one_of_queueing_theory() {
    let goal_s = 2.5e-3;
    // M/M/1: times in the queue and at the server together are exponential, with the rate that is left.
    let exponential = 1.0 / 200e-6 - 100_f64.ln() / goal_s;
    // Four servers of 0.8 ms, each with a quarter of the arrivals: M/D/1. By halves, the load at which one in a hundred waits too long.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let load = (low + high) / 2.0;
        let is_kept = waits_longer(load, (goal_s - 0.8e-3) / 0.8e-3) <= 0.01;
        (low, high) = if is_kept { (load, high) } else { (low, load) };
    }
    let equal = 4.0 * low / 0.8e-3;
    for (machine, truth) in
        [(queue(1, 200, "read_distribution = \"exponential\""), exponential), (queue(4, 800, ""), equal)]
    {
        let place = Place::new();
        fs::write(place.file("queue.toml"), machine).expect("written");
        fs::write(place.file("goal.toml"), GOAL).expect("written");
        let document = place.json("run goal.toml --target sim:queue.toml/one", 0);
        let brief = &document["verdict"][0]["brief"];
        let headline = brief["headline"].as_str().expect("a headline");
        let kept = number_at_start(headline);
        assert!((kept / truth - 1.0).abs() < 0.05, "{headline}; theory says {truth}");
    }
}

/// `3.07k IOPS ...`
fn number_at_start(text: &str) -> f64 {
    let word = text.split_whitespace().next().unwrap_or_default();
    let digits = word.trim_end_matches('k').parse::<f64>().unwrap_or_else(|_| panic!("{text}"));
    if word.ends_with('k') { 1_000.0 * digits } else { digits }
}
