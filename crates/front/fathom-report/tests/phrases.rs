//! No sentence of the report may be missing in another language: every text that the crates below put into a document is
//! looked for in the phrasebook, by the words between its holes, and whole documents are translated.

use std::fs;
use std::path::{Path, PathBuf};

use fathom_report::language::{Language, Phrasebook};

/// Files and folders whose texts reach the report.
const WRITERS: [&str; 15] = [
    "crates/lab/fathom-lab/src/verdict",
    "crates/domain/fathom-model/src/attribution",
    "crates/system/fathom-host/src/inspect/advice",
    "crates/lab/fathom-lab/src/sentences.rs",
    "crates/lab/fathom-lab/src/checks.rs",
    "crates/lab/fathom-lab/src/proof.rs",
    "crates/lab/fathom-lab/src/health.rs",
    "crates/lab/fathom-lab/src/steadiness.rs",
    "crates/lab/fathom-lab/src/compare/words.rs",
    "crates/lab/fathom-lab/src/compare/cell.rs",
    "crates/lab/fathom-lab/src/compare/arms.rs",
    "crates/lab/fathom-lab/src/compare/environment.rs",
    "crates/domain/fathom-model/src/ceilings.rs",
    "crates/domain/fathom-plan/src/label.rs",
    "studies",
];

/// Texts that look like sentences and are none: words that are compared with.
const NO_SENTENCES: [&str; 2] = ["write back", "not asked"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// English sides of the shipped phrasebook, each hole a single mark.
fn keys() -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/language/zh.toml")).expect("shipped");
    let table: toml::Table = text.parse().expect("a table");
    let mut out = Vec::new();
    for section in table.values().filter_map(toml::Value::as_table) {
        out.extend(section.keys().map(|key| between_holes(key).join("\u{0}")));
    }
    out
}

/// The words between the holes of a format string.
fn between_holes(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push(before.to_owned());
        rest = after.split_once('}').map_or("", |(_, tail)| tail);
    }
    out.push(rest.to_owned());
    out
}

/// String literals of a source file, without its tests, comments and messages of panics.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let told = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//")
            && ![".expect(", "panic!", "assert", "#[", "unreachable"].iter().any(|word| line.contains(word))
    };
    let code: String = code.lines().filter(told).collect::<Vec<_>>().join("\n");
    let mut out = Vec::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            // A character literal may hold a quote.
            '\'' => {
                let mut ahead = chars.clone();
                if (ahead.next(), ahead.next()) == (Some('"'), Some('\'')) {
                    chars = ahead;
                }
            }
            '"' => out.push(literal(&mut chars)),
            _ => {}
        }
    }
    out
}

/// The rest of a string literal, its escapes undone.
fn literal(chars: &mut std::str::Chars<'_>) -> String {
    let mut out = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('\n') => {
                    let skipped = chars.as_str().trim_start();
                    *chars = skipped.chars();
                }
                Some('u') => {
                    let (code, rest) = chars.as_str()[1..].split_once('}').expect("an escape ends");
                    out.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
                    *chars = rest.chars();
                }
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    out
}

/// Pieces of a text that a reader would see as words: at least two of them.
fn phrases(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for piece in between_holes(text) {
        for sentence in piece.replace(". ", ".\n").lines() {
            let words = sentence.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| w.len() > 1).count();
            let sentence = sentence.trim();
            if words >= 2 && sentence.contains(' ') && !NO_SENTENCES.contains(&sentence) {
                out.push(sentence.to_owned());
            }
        }
    }
    out
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut out: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    out.retain(|p| p.file_name().is_some_and(|n| !n.to_string_lossy().contains("test")));
    out.sort();
    out.iter().filter(|p| p.is_file()).cloned().collect()
}

/// Questions of a study file.
fn questions(text: &str) -> Vec<String> {
    text.lines().filter_map(|l| l.strip_prefix("question = ")).map(|q| q.trim_matches('"').to_owned()).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[test]
fn every_text_of_the_crates_below_is_in_the_phrasebook() {
    let keys = keys();
    let mut missing = Vec::new();
    let mut seen = 0;
    for writer in WRITERS {
        for file in files(&root().join(writer)) {
            let source = fs::read_to_string(&file).expect("readable");
            let texts = if writer == "studies" { questions(&source) } else { literals(&source) };
            for phrase in texts.iter().flat_map(|t| phrases(t)) {
                seen += 1;
                let upper = capital(&phrase);
                if !keys.iter().any(|k| k.contains(&phrase) || k.contains(&upper)) {
                    missing.push(format!("{}: {phrase}", file.file_name().unwrap_or_default().to_string_lossy()));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} texts were found: the test looks at the wrong files");
    assert!(
        missing.is_empty(),
        "not in crates/front/fathom-report/src/language/zh.toml, where each takes a line `\"English {{hole}}\" = \"中文 {{hole}}\"`:\n  {}",
        missing.join("\n  ")
    );
}

#[test]
fn sentences_as_they_stand_in_documents_come_out_in_chinese_with_their_figures() {
    let book: &Phrasebook = Language::Chinese.phrasebook().expect("Chinese has a phrasebook");
    for (english, chinese) in [
        ("4k random read T1 QD32 pinned", "4k 随机读 T1 QD32 绑物理核"),
        (
            "This storage gives 95.7k IOPS ±7.0 % of 4k random reads at T1 QD128. The limit is likely one core.",
            "该存储在 T1 QD128 时，4k 随机读达到 95.7k IOPS ±7.0 %。瓶颈很可能是单个核心。",
        ),
        (
            "4k random reads: 95.7k IOPS at T1 QD128, mean latency 1.22 ms, p99 2.25 ms; one core is the limit: 97 % busy, 3.39 us of CPU per I/O.",
            "4k 随机读：T1 QD128 时 95.7k IOPS，平均延时 1.22 ms，p99 2.25 ms；瓶颈是单个核心：繁忙 97 %，每 I/O 耗 CPU 3.39 us。",
        ),
        (
            "For 4k random reads, the highest offered rate that meets it is 373k IOPS with p99 155 us (95 % interval 153 us to 159 us), the first that misses it 448k IOPS, which was not held. For 4k random reads, no closed loop was measured long enough to tell.",
            "4k 随机读：满足目标的最高给定速率为 373k IOPS（p99 155 us（95 % 区间 153 us 至 159 us）），首个不满足的为 448k IOPS（未能维持）。4k 随机读：闭环都太短，无法判断。",
        ),
        (
            "left gives the most at 2 of 24 loads (1 of them not steady), by up to +23.2 % (95 % interval +12.8 to +34.6 %) for 4k random writes at T16 QD16; right gives the most at 1 of 24 loads, by up to +4.0 % (95 % interval +3.0 to +5.0 %) for 8k sequential reads at T1 QD1; 21 cannot be told apart. Lowest mean latency: left at 2. 43 of 48 judged steps were steady.",
            "left 在 24 个负载中的 2 个上最高（其中 1 个未达稳态），4k 随机写（T16 QD16）时最多高出 +23.2 %（95 % 区间 +12.8 至 +34.6 %）；right 在 24 个负载中的 1 个上最高，8k 顺序读（T1 QD1）时最多高出 +4.0 %（95 % 区间 +3.0 至 +5.0 %）；21 个无法区分。平均延时最低：left（2 个负载）。48 个可判断的步骤中 43 个处于稳态。",
        ),
        (
            "4k random writes: T1 QD1 not told apart, T16 QD16 left +23.2 % (not steady).",
            "4k 随机写：T1 QD1 无法区分，T16 QD16 left +23.2 %（未达稳态）。",
        ),
        ("4k random read T1 QD128 at 75 % of max poisson", "4k 随机读 T1 QD128 最高 IOPS 的 75 % poisson"),
        (
            "The host was noisy: 0.2 % of the CPU time was stolen by the hypervisor and 2.03 cores were busy before the run.",
            "主机有干扰：0.2 % 的 CPU 时间被虚拟机监控程序占用，运行前已有 2.03 个核繁忙。",
        ),
        (
            "With 32 I/Os in flight io_uring gives 250k IOPS, +4.2 % (no interval) over libaio; the cheapest two are not told apart: io_uring with 4.00 us (95 % interval 3.95 us to 4.05 us) of CPU per I/O and libaio with 4.02 us (95 % interval 3.97 us to 4.07 us).",
            "在途 32 个 I/O 时，io_uring 为 250k IOPS，比 libaio 高 +4.2 %（无区间）；开销最低的两者无法区分：io_uring 每 I/O 耗 CPU 4.00 us（95 % 区间 3.95 us 至 4.05 us），libaio 为 4.02 us（95 % 区间 3.97 us 至 4.07 us）。",
        ),
        (
            "4k random reads: p99 200 us (95 % interval 195 us to 205 us) at QD 1, below twice that up to QD 16 (120k IOPS); it grows to 800 us (95 % interval 780 us to 820 us) at QD 64, and 1.60 ms (95 % interval 1.56 ms to 1.64 ms) at QD 128. 4k random reads: the highest rate held is 80.0k IOPS, with a response p99 of 1.20 ms (95 % interval 1.17 ms to 1.23 ms); at 100k requests pile up, so that no latency belongs to it.",
            "4k 随机读：QD 1 时 p99 200 us（95 % 区间 195 us 至 205 us），到 QD 16（120k IOPS）为止低于其两倍；在 QD 64 时增至 800 us（95 % 区间 780 us 至 820 us），QD 128 时为 1.60 ms（95 % 区间 1.56 ms 至 1.64 ms）。4k 随机读：能维持的最高速率为 80.0k IOPS，响应 p99 为 1.20 ms（95 % 区间 1.17 ms 至 1.23 ms）；100k 时请求堆积，因此没有对应的延时。",
        ),
        (
            "8.00k IOPS ±1.0 % for 4k random reads at T1 QD1, mean latency 124 us. 1.20 GB/s (1.12 GiB/s) ±2.0 % for 128k sequential writes at T16 QD16, mean latency 5.00 ms. 11 of 48 judged steps were steady.",
            "4k 随机读（T1 QD1）8.00k IOPS ±1.0 %，平均延时 124 us。128k 顺序写（T16 QD16）1.20 GB/s (1.12 GiB/s) ±2.0 %，平均延时 5.00 ms。48 个可判断的步骤中 11 个处于稳态。",
        ),
        (
            "With drives, whether 4k random reads grow in a straight line to 2 cannot be told: 178k IOPS ±5.0 %, 89 % (95 % interval 84 to 94 %) of 2 times the first.",
            "随驱动器数增加，无法判断4k 随机读直到 2 是否成直线增长：178k IOPS ±5.0 %，为第一个点 2 倍的 89 %（95 % 区间 84 至 94 %）。",
        ),
        (
            "more threads on cores of their own: up to 369k IOPS (5.1 x), where all_cores is next",
            "在各自的核上增加线程：最多到 369k IOPS（5.1 倍），其后的瓶颈是全部核心",
        ),
        (
            "mode iopoll on /dev/nvme1n1: nvme1n1 has no poll queues; /dev/nvme0n1 of the run is /dev/nvme1n1 now (serial …1234)",
            "/dev/nvme1n1 上的 iopoll 模式：nvme1n1 没有轮询队列；本次运行的 /dev/nvme0n1 现在是 /dev/nvme1n1（序列号 …1234）",
        ),
    ] {
        assert_eq!(book.translate(english).as_deref(), Some(chinese), "{english}");
    }
}
