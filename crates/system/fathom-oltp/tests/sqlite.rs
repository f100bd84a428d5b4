//! Order entry on SQLite: what is loaded is consistent, and stays so under sessions at work.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_host::{HostSampler, Root};
use fathom_oltp::{
    Acknowledged, Database, Drive, LoadNote, OltpError, Outcome, Sqlite, broken_conditions, drive, load, sqlite_bytes,
};
use fathom_orders::{By, Delivery, Home, Input, Judgement, Kind, Line, NewOrder, Payment, Scale, Table, UNUSED_ITEM};
use rusqlite::Connection;

const NOTE: LoadNote = LoadNote { seed: 5, warehouses: 1, at_ms: 1_700_000_000_000 };
const SCALE: Scale = Scale { warehouses: NonZeroU32::MIN };
const CACHE_BYTES: u64 = 8 << 20;

fn loaded(folder: &Path) -> (Sqlite, PathBuf) {
    let path = folder.join("orders.db");
    let database = Sqlite::create(&path, CACHE_BYTES).expect("a database");
    let mut shown = Vec::new();
    let done = load(&database, &NOTE, SCALE, &AtomicBool::new(false), &mut |progress| shown.push(progress));
    let done = done.expect("a load").expect("whole");
    assert!(done.rows > 590_000 && done.rows < 610_000, "{done:?}");
    assert_eq!(shown.len(), Table::ALL.len() + 1);
    assert!(shown.last().is_some_and(|last| last.is_indexing && last.rows == done.rows));
    assert!(done.database_bytes < sqlite_bytes(1), "{done:?} is more than was said to be needed");
    assert!(done.database_bytes * 2 > sqlite_bytes(1), "{done:?}: far too much was asked for");
    (database, path)
}

fn number(path: &Path, query: &str) -> i64 {
    Connection::open(path).expect("a database").query_row(query, [], |row| row.get(0)).expect(query)
}

#[test]
fn sessions_leave_the_database_consistent_and_every_acknowledged_order_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, path) = loaded(folder.path());
    assert_eq!(broken_conditions(&database, true).expect("asked"), []);
    assert_eq!(Sqlite::open(&path, CACHE_BYTES).expect("ours").load_note().expect("a note"), NOTE);

    let list = folder.path().join("acknowledged");
    let acknowledged = Acknowledged::create(&list).expect("a file");
    let plan = Drive {
        sessions: 3,
        ramp: Duration::from_millis(300),
        runtime: Duration::from_millis(2_500),
        home: Home::Fixed,
        seed: 1,
        is_durable: true,
        rate_per_s: None,
        reader_pid: Some(std::process::id()),
        acknowledged: Some(&acknowledged),
    };
    let mut sampler = HostSampler::new(&Root::live(), Vec::new()).expect("a sampler");
    let mut last = 0;
    let mut shown = |progress: fathom_oltp::DriveProgress| last = progress.transactions;
    let record =
        drive(&database, &NOTE, SCALE, plan, &mut sampler, &AtomicBool::new(false), &mut shown).expect("a run");

    assert!(record.transactions() > 0 && last >= record.transactions(), "{last} of {}", record.transactions());
    assert_eq!(record.seconds.len(), 2, "half a second is no second");
    assert!(record.measured_ns >= 2_500_000_000 && !record.is_stopped);
    let orders = record.kind(Kind::NewOrder);
    assert_eq!(orders.latency.count(), orders.done);
    assert_eq!(orders.commit.count(), orders.done - orders.rolled_back, "what is rolled back commits nothing");
    assert!(record.kind(Kind::OrderStatus).commit.is_empty(), "a reader commits nothing");
    assert!(record.fetched_bytes.is_some(), "a database in this process");
    let time = record.time;
    let parts = time.on_cpu_ns + time.for_cpu_ns + time.for_turn_ns + time.for_log_ns + time.for_data_ns;
    assert!(parts <= time.all_ns + time.all_ns / 20, "{time:?}");
    assert!(parts * 10 >= time.all_ns * 8, "most of the time is told: {time:?}");
    assert!(record.audit.bounds(1).iter().all(|bound| bound.judgement != Judgement::Outside));

    assert_eq!(broken_conditions(&database, false).expect("asked"), []);
    let mut known = Acknowledged::read(&list).expect("a list");
    // Every order behind those of the load was acknowledged, and no other.
    let entered = number(&path, "SELECT count(*) FROM orders WHERE o_id > 3000");
    assert_eq!(known.len() as i64, entered);
    assert_eq!(database.missing(&known).expect("asked"), []);
    known[0].order = 999_999;
    assert_eq!(database.missing(&known).expect("asked"), [known[0]]);
}

#[test]
fn each_transaction_changes_what_the_specification_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, path) = loaded(folder.path());
    let mut session = database.session(true).expect("a session");
    let line = |item, quantity| Line { item, supply_warehouse: 1, quantity };
    let order = |lines| Input::NewOrder(NewOrder { warehouse: 1, district: 4, customer: 77, lines });
    let ask = |query: &str| number(&path, query);

    let stock = |item: u32| ask(&format!("SELECT s_quantity FROM stock WHERE s_i_id = {item}"));
    let before = [stock(11), stock(12)];
    let done = session.transact(&order(vec![line(11, 3), line(12, 10)]), 42).expect("an order");
    let Outcome::Order(key) = done.outcome else { panic!("{done:?}") };
    assert_eq!((key.warehouse, key.district, key.order), (1, 4, 3_001));
    let expected =
        |quantity: i64, taken: i64| if quantity >= taken + 10 { quantity - taken } else { quantity - taken + 91 };
    assert_eq!([stock(11), stock(12)], [expected(before[0], 3), expected(before[1], 10)]);
    assert_eq!(ask("SELECT d_next_o_id FROM district WHERE d_id = 4"), 3_002);
    let amount = "SELECT sum(ol_amount) - (SELECT 3 * i_price FROM item WHERE i_id = 11) \
                  - (SELECT 10 * i_price FROM item WHERE i_id = 12) FROM order_line WHERE ol_d_id = 4 AND ol_o_id = 3001";
    assert_eq!(ask(amount), 0);
    assert_eq!(
        ask("SELECT count(*) FROM order_line WHERE ol_dist_info = (SELECT s_dist_04 FROM stock WHERE s_i_id = 11)"),
        1
    );

    let failing = session.transact(&order(vec![line(11, 1), line(UNUSED_ITEM, 1)]), 43).expect("an answer");
    assert_eq!(failing.outcome, Outcome::RolledBack);
    assert_eq!(ask("SELECT d_next_o_id FROM district WHERE d_id = 4"), 3_002, "nothing of it is left");
    assert_eq!(stock(11), expected(before[0], 3));

    // By name: of those who bear it, the middle one by first name.
    let name = fathom_orders::last_name(7);
    let bearers = format!("SELECT c_id FROM customer WHERE c_d_id = 2 AND c_last = '{name}' ORDER BY c_first");
    let count = ask(&format!("SELECT count(*) FROM ({bearers})"));
    let middle = ask(&format!("{bearers} LIMIT 1 OFFSET {}", (count + 1) / 2 - 1));
    let paid = Payment {
        warehouse: 1,
        district: 3,
        customer_warehouse: 1,
        customer_district: 2,
        customer: By::LastName(7),
        amount_cents: 12_345,
    };
    session.transact(&Input::Payment(paid), 44).expect("a payment");
    assert_eq!(ask(&format!("SELECT c_balance FROM customer WHERE c_d_id = 2 AND c_id = {middle}")), -1_000 - 12_345);
    assert_eq!(ask("SELECT d_ytd FROM district WHERE d_id = 3"), 3_000_000 + 12_345);
    assert_eq!(ask("SELECT w_ytd FROM warehouse"), 30_000_000 + 12_345);
    assert_eq!(
        ask(&format!("SELECT h_amount FROM history WHERE h_date = 44 AND h_c_id = {middle} AND h_d_id = 3")),
        12_345
    );

    let delivered = session.transact(&Input::Delivery(Delivery { warehouse: 1, carrier: 6 }), 45).expect("a delivery");
    assert_eq!(delivered.outcome, Outcome::Delivered { skipped: 0 });
    assert_eq!(ask("SELECT count(*) FROM orders WHERE o_id = 2101 AND o_carrier_id = 6"), 10);
    assert_eq!(ask("SELECT min(no_o_id) FROM new_order"), 2_102);
    assert_eq!(
        ask("SELECT count(*) FROM order_line WHERE ol_o_id = 2101 AND (ol_delivery_d IS NULL OR ol_delivery_d <> 45)"),
        0
    );
    assert_eq!(broken_conditions(&database, false).expect("asked"), []);
}

#[test]
fn a_bad_credit_keeps_what_was_paid_before_its_data_and_no_more_than_500_characters() {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, path) = loaded(folder.path());
    let bad = number(&path, "SELECT min(c_id) FROM customer WHERE c_d_id = 1 AND c_credit = 'BC'") as u32;
    let paid = Payment {
        warehouse: 1,
        district: 9,
        customer_warehouse: 1,
        customer_district: 1,
        customer: By::Id(bad),
        amount_cents: 500,
    };
    let mut session = database.session(true).expect("a session");
    for _ in 0..30 {
        session.transact(&Input::Payment(paid), 1).expect("a payment");
    }
    let query = format!(
        "SELECT length(c_data) = 500 AND c_data LIKE '{bad} 1 1 9 1 500|{bad} 1 1 9 1 500|%' FROM customer \
         WHERE c_d_id = 1 AND c_id = {bad}"
    );
    assert_eq!(number(&path, &query), 1);
}

#[test]
fn what_is_no_whole_load_of_ours_is_not_opened_and_no_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("another.db");
    Connection::open(&path)
        .expect("a database")
        .execute_batch("CREATE TABLE stock (a); INSERT INTO stock VALUES (7)")
        .expect("a table");
    assert!(matches!(Sqlite::open(&path, CACHE_BYTES), Err(OltpError::NotOurs { .. })));
    assert!(matches!(Sqlite::create(&path, CACHE_BYTES), Err(OltpError::System { .. })));
    assert_eq!(number(&path, "SELECT a FROM stock"), 7);
    let half = folder.path().join("half.db");
    let database = Sqlite::create(&half, CACHE_BYTES).expect("a database");
    let stopped = load(&database, &NOTE, SCALE, &AtomicBool::new(true), &mut |_| {}).expect("no error");
    assert_eq!(stopped, None);
    assert!(
        matches!(Sqlite::open(&half, CACHE_BYTES), Err(OltpError::NotOurs { .. })),
        "a load that was stopped is none"
    );
}
