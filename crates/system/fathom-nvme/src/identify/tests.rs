use super::*;

/// An Identify Controller page written after the specification's table; every field has a value of its own.
pub(crate) fn controller_page() -> [u8; 4096] {
    let mut page = [0; 4096];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0x4d, 0x14]); // vendor 144Dh
    put(4, b"S64GNE0R123         ");
    put(24, b"EXAMPLE SSD 3.2TB                       ");
    put(64, b"1.0\x1b[2J"); // a hostile firmware text
    put(77, &[5]); // 2^5 pages
    put(80, &[0, 4, 1, 0]); // 1.4.0
    put(256, &[0b0000_1010, 0]); // format, namespace management
    put(263, &[1]); // two power states
    put(265, &[1]); // APST
    put(266, &[0x57, 0x01, 0x61, 0x01]); // 343 K = 70 C, 353 K = 80 C
    put(280, &[0, 0, 0, 0, 1]); // 4 GiB
    put(322, &[1]); // HCTM
    put(328, &[0b011]); // crypto and block erase
    put(516, &[32]);
    put(520, &[0b0000_1100]); // dataset management, write zeroes
    put(524, &[0b110]); // erase all, crypto erase
    put(525, &[1]);
    put(768, b"nqn.2014-08.org.example:S64GNE0R123");
    // State 0: 25 W in hundredths; state 1: 5 mW in ten-thousandths, not operational, 10 ms in, 20 ms out.
    put(2048, &[0xc4, 0x09]);
    put(2080, &[50, 0, 0, 0b11]);
    put(2084, &[0x10, 0x27, 0, 0, 0x20, 0x4e, 0, 0]);
    page
}

/// An Identify Namespace page: 512 and 4096 bytes, the second in force with 8 bytes of metadata.
pub(crate) fn namespace_page() -> [u8; 4096] {
    let mut page = [0; 4096];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0, 0, 1]); // 65536 blocks
    put(8, &[0, 0xff]);
    put(16, &[0, 0x10]);
    put(24, &[1 << 4]); // the granularity is meant
    put(25, &[1]); // two formats
    put(26, &[1 | 1 << 4]); // the second, metadata behind the data
    put(29, &[1]);
    put(46, &[0, 1]); // boundary 256
    put(64, &[3, 0]); // granularity 4, counted from 0
    put(104, b"S64GNE0R123");
    put(128, &[0, 0, 9, 2]); // 512 bytes, "good"
    put(132, &[8, 0, 12, 0]); // 4096 + 8 bytes, "best"
    page
}

#[test]
fn every_field_of_the_controller_is_read_at_its_place() {
    let controller = Controller::decode(&controller_page()).expect("whole page");
    assert_eq!((controller.vendor_id, controller.version), (0x144d, (1, 4, 0)));
    assert_eq!((&*controller.serial, &*controller.model), ("S64GNE0R123", "EXAMPLE SSD 3.2TB"));
    assert_eq!(controller.firmware, "1.0?[2J", "no byte that a terminal would act on");
    assert_eq!((controller.max_transfer_pages, controller.capacity_bytes), (Some(32), Some(4 << 30)));
    assert!(controller.can_format && controller.can_manage_namespaces && controller.has_thermal_management);
    assert_eq!((controller.warning_celsius, controller.critical_celsius), (Some(70), Some(80)));
    assert_eq!(controller.sanitize, SanitizeSupport { crypto_erase: true, block_erase: true, overwrite: false });
    assert_eq!((controller.has_compare, controller.has_trim, controller.has_write_zeroes), (false, true, true));
    assert!(!controller.format_all_namespaces && controller.erase_all_namespaces && controller.can_crypto_erase);
    assert!(controller.has_write_cache && controller.has_autonomous_transitions);
    assert_eq!(controller.namespaces_max, 32);
    let [first, second] = controller.power_states[..] else { panic!("{:?}", controller.power_states) };
    assert_eq!((first.max_watts, first.operational), (Some(25.0), true));
    assert_eq!((second.max_watts, second.operational), (Some(0.005), false));
    assert_eq!((second.entry_us, second.exit_us), (10_000, 20_000));
}

#[test]
fn every_field_of_the_namespace_is_read_at_its_place() {
    let namespace = Namespace::decode(&namespace_page()).expect("whole page");
    assert_eq!((namespace.size_blocks, namespace.capacity_blocks, namespace.used_blocks), (65536, 0xff00, 0x1000));
    assert_eq!((namespace.formats.len(), namespace.format), (2, 1));
    assert_eq!((namespace.block_bytes(), namespace.metadata_bytes()), (Some(4096), 8));
    assert_eq!(namespace.formats[0].data_bytes, Some(512));
    assert_eq!(namespace.formats[0].relative_performance, 2);
    assert!(namespace.metadata_inline);
    assert_eq!((namespace.protection_type, namespace.optimal_boundary_blocks), (1, Some(256)));
    assert_eq!(namespace.write_granularity_blocks, Some(4));
}

#[test]
fn the_format_index_has_six_bits_only_with_more_than_16_formats() {
    let mut page = namespace_page();
    page[26] = 1 | 0b01 << 5;
    assert_eq!(Namespace::decode(&page).expect("whole page").format, 1);
    page[25] = 31;
    assert_eq!(Namespace::decode(&page).expect("whole page").format, 17);
}

#[test]
fn a_namespace_in_a_format_it_does_not_list_has_no_block_size() {
    let mut page = namespace_page();
    page[26] = 9;
    assert_eq!(Namespace::decode(&page).expect("whole page").block_bytes(), None);
    page[26] = 1;
    page[134] = 0; // a format that is not offered
    assert_eq!(Namespace::decode(&page).expect("whole page").block_bytes(), None);
}

#[test]
fn limits_beyond_any_memory_do_not_overflow() {
    let mut page = controller_page();
    page[77] = 255;
    page[263] = 255;
    let controller = Controller::decode(&page).expect("whole page");
    assert_eq!((controller.max_transfer_pages, controller.power_states.len()), (Some(u64::MAX), 32));
    page[77] = 0;
    assert_eq!(Controller::decode(&page).expect("whole page").max_transfer_pages, None);
}
