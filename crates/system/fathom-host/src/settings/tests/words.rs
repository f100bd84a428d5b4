//! From words to single settings.

use super::*;

#[test]
fn words_become_single_checked_changes() {
    let place = Place::new();
    let ask = |text: &str| {
        let changes = changes_for(&place.root(), text, &["sdb".to_owned()]).map_err(|e| {
            format!("{}; {}", english(&e.message()), e.help().as_ref().map(english).unwrap_or_default())
        })?;
        Ok::<_, String>(changes.iter().map(|c| format!("{} = {}", c.setting, c.value)).collect::<Vec<_>>())
    };
    assert_eq!(ask("scheduler=mq-deadline").expect("known"), ["sdb/scheduler = mq-deadline"]);
    assert_eq!(ask("governor = performance").expect("known"), ["cpu0/governor = performance"]);
    assert_eq!(ask("smt=off").expect("known"), ["smt = off"]);
    assert_eq!(ask("idle_max_us=20").expect("known"), ["cpu0/idle0/disable = 0", "cpu0/idle1/disable = 1"]);
    for (text, part) in [
        ("schedular=none", "there is no setting `schedular`; did you mean `scheduler`?"),
        ("scheduler", "`scheduler` is not of the form setting=value; write for example scheduler=none"),
        ("scheduler=fast", "scheduler of sdb cannot be \"fast\": it takes none, mq-deadline; choose one"),
        ("nr_requests=0", "nr_requests of sdb cannot be \"0\": it takes a whole number from 1"),
        ("nr_requests=many", "whole number"),
        ("nomerges=1", "nomerges of sdb cannot be set on this machine: there is no"),
        ("governor=turbo", "governor of CPU 0 cannot be \"turbo\": it takes performance, powersave"),
        ("smt=forceoff", "SMT cannot be \"forceoff\": it takes on, off"),
        ("idle_max_us=soon", "idle_max_us cannot be \"soon\": it takes microseconds"),
        ("write_cache=off", "it takes write back, write through"),
    ] {
        let said = ask(text).expect_err("refused");
        assert!(said.contains(part), "{text}: {said:?} lacks {part:?}");
    }
    let none = changes_for(&place.root(), "scheduler=none", &[]).expect_err("no device");
    assert!(matches!(none, SettingError::NoDevice { word: "scheduler" }), "{none}");
}

#[test]
fn interrupts_of_a_drive_are_its_io_vectors_and_their_lists_are_compared_as_sets() {
    let tree = Tree::new();
    tree.disk("nvme0n1", "259:0", 8, "pci0/nvme/nvme0")
        .link("sys/devices/pci0/nvme/nvme0/block/nvme0n1/device", "../../../nvme0")
        .file(
            "proc/interrupts",
            "CPU0\n 40: 1 MSIX nvme0q0\n 41: 1 MSIX nvme0q1\n 42: 1 MSIX nvme0q2\n 43: 1 x nvme1q1\n",
        );
    for irq in 40..44 {
        tree.file(&format!("proc/irq/{irq}/smp_affinity_list"), "0-3\n");
    }
    let changes = changes_for(&tree.root(), "irq_affinity=1,0", &["nvme0n1".to_owned()]).expect("known");
    let irqs: Vec<&Setting> = changes.iter().map(|c| &c.setting).collect();
    assert_eq!(irqs, [&Setting::IrqAffinity { irq: 41 }, &Setting::IrqAffinity { irq: 42 }]);
    assert!(changes.iter().all(|c| c.value == "1,0"), "{changes:?}");
    let setting = Setting::IrqAffinity { irq: 30 };
    assert!(setting.same("0-1,3", "3,1,0") && !setting.same("0-1", "0-2"));
}

#[test]
fn settings_of_an_array_are_checked_and_a_speed_may_be_left_to_the_host() {
    let tree = Tree::new();
    let home = "sys/devices/virtual/block/md0";
    tree.disk("md0", "9:0", 2048, "virtual")
        .file(&format!("{home}/md/stripe_cache_size"), "256\n")
        .file(&format!("{home}/md/group_thread_cnt"), "0\n")
        .file(&format!("{home}/md/sync_speed_max"), "200000 (system)\n");
    let ask = |text: &str| {
        let changes = changes_for(&tree.root(), text, &["md0".to_owned()]).map_err(|e| english(&e.message()))?;
        Ok::<_, String>(changes.iter().map(|c| format!("{} = {}", c.setting, c.value)).collect::<Vec<_>>())
    };
    assert_eq!(ask("stripe_cache_size=8192").expect("known"), ["md0/stripe_cache_size = 8192"]);
    assert_eq!(ask("group_thread_cnt=4").expect("known"), ["md0/group_thread_cnt = 4"]);
    assert_eq!(ask("sync_speed_max=system").expect("known"), ["md0/sync_speed_max = system"]);
    for (text, part) in [
        ("stripe_cache_size=16", "whole number from 17"),
        ("stripe_cache_size=system", "whole number"),
        ("sync_speed_max=fast", "whole number from 1"),
        ("sync_speed_min=1", "there is no"),
    ] {
        let said = ask(text).expect_err("refused");
        assert!(said.contains(part), "{text}: {said:?} lacks {part:?}");
    }
    let speed = Setting::Array { device: "md0".into(), attribute: ArrayAttribute::SyncSpeedMax };
    assert_eq!(speed.read(&tree.root()).expect("there"), "system");
    tree.file(&format!("{home}/md/sync_speed_max"), "5000 (local)\n");
    assert_eq!(speed.read(&tree.root()).expect("there"), "5000");
}
