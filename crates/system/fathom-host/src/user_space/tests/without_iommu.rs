//! Machines without an IOMMU.

use fathom_nvme::driver::DriverError;

use super::*;

#[test]
fn without_an_iommu_a_kernel_that_cannot_go_without_refuses_whatever_is_accepted() {
    let tree = machine();
    fs::remove_file(tree.root().join(FUNCTION).join("iommu_group")).expect("removed");
    let serials = ["S1".to_owned()];
    let allow = AllowUnbind { serials: &serials, without_iommu: WithoutIommu::AcceptAnyWriteToMemory };
    let dir = tempfile::tempdir().expect("temp dir");
    let journal = Journal::open(&tree.root(), dir.path(), "fathom run");
    let error = UserSpaceDrive::take(&tree.root(), &journal, ADDRESS, &allow, None, 0).expect_err("not built");
    assert!(matches!(error, UserSpaceError::NoIommuNotBuilt { .. }), "{error}");
}

#[test]
fn without_an_iommu_a_drive_is_taken_by_the_explicit_word_alone_and_the_switch_goes_back() {
    let switch = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
    let place = Place::new();
    let root = place.root();
    fs::remove_file(root.join(FUNCTION).join("iommu_group")).expect("removed");
    place.tree.file(switch, "N\n").file(&format!("{MADE_UP}/name"), "vfio-noiommu\n");
    place.tree.folder(&format!("{MADE_UP}/devices/{ADDRESS}"));
    assert!(matches!(place.take(&place.journal(), 0), Err(UserSpaceError::NoIommu { .. })));
    let serials = ["S1".to_owned()];
    let allow = AllowUnbind { serials: &serials, without_iommu: WithoutIommu::AcceptAnyWriteToMemory };
    let journal = place.journal();
    let drive = UserSpaceDrive::take(&root, &journal, ADDRESS, &allow, None, 0).expect("is accepted");
    assert_eq!((drive.group().node.as_path(), drive.group().without_iommu), (Path::new("/dev/vfio/noiommu-9"), true));
    assert_eq!(fs::read_to_string(root.join(switch)).expect("reads"), "Y");
    assert_eq!(drive.done()[0].setting, Setting::VfioWithoutIommu);
    drive.keep();
    drop(journal);
    // As after kill -9.
    let restoration = restore_all(&root, place.dir.path(), Which::Abandoned).expect("reads");
    assert!(restoration.settings.iter().all(|r| matches!(r.outcome, Outcome::Restored)), "{restoration:?}");
    assert_eq!(fs::read_to_string(root.join(switch)).expect("reads"), "N");
    assert!(!root.join("dev/vfio/noiommu-9").exists());
    place.is_as_it_was();
}

/// What drives without an IOMMU are opened by: nothing before the user's word, and then the container first.
#[test]
fn a_drive_without_an_iommu_is_not_opened_before_the_users_word() {
    let tree = machine();
    let group =
        |node: &str, without_iommu| IommuGroup { number: 0, node: node.into(), without_iommu, others: Vec::new() };
    let made_up = group("/dev/vfio/noiommu-0", true);
    let refused = open_function(&tree.root(), "0000:00:00.0", &made_up, WithoutIommu::Refuse).expect_err("no word");
    assert!(matches!(&refused, DriverError::NoIommuNoWord { group } if *group == made_up.node), "{refused}");
    // With it, or with an IOMMU, it is opened: as far as this machine has VFIO.
    let accepted = WithoutIommu::AcceptAnyWriteToMemory;
    for (group, without) in [(made_up, accepted), (group("/dev/vfio/no-such-group", false), WithoutIommu::Refuse)] {
        let error = open_function(&tree.root(), "0000:00:00.0", &group, without).expect_err("no such group");
        assert!(matches!(error, DriverError::System { call: "open", .. }), "{error}");
    }
}
