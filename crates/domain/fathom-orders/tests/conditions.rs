//! The rows of a load meet the twelve conditions of consistency, and each condition finds what breaks it.
//! SQLite in memory answers the queries.

use fathom_orders::{CONDITIONS, DISTRICT_YTD_CENTS, Holds, PAID_CENTS, Seed, Table};
use rusqlite::{Connection, params};

/// Two districts are enough for each condition to be broken in one place and to hold in another.
const HERE: [u32; 2] = [4, 5];

/// Tables with one warehouse of two districts; items and stock, which no condition reads, are left empty.
fn loaded() -> Connection {
    let db = Connection::open_in_memory().expect("a database");
    for table in Table::ALL {
        let mut parts: Vec<String> = table.columns().iter().map(column).collect();
        if !table.primary_key().is_empty() {
            parts.push(format!("PRIMARY KEY ({})", table.primary_key().join(", ")));
        }
        db.execute_batch(&format!("CREATE TABLE {} ({})", table.name(), parts.join(", "))).expect("a table");
    }
    let insert = |table: Table, columns: &str| {
        let marks = vec!["?"; columns.split(',').count()].join(",");
        db.prepare(&format!("INSERT INTO {} ({columns}) VALUES ({marks})", table.name())).expect("columns")
    };
    let seed = Seed(9);
    db.execute_batch("BEGIN").expect("a transaction");
    insert(Table::Warehouse, "w_id, w_ytd").execute(params![1, DISTRICT_YTD_CENTS * 2]).expect("a row");
    for d in HERE {
        insert(Table::District, "d_w_id, d_id, d_ytd, d_next_o_id")
            .execute(params![1, d, DISTRICT_YTD_CENTS, 3_001])
            .expect("a row");
        let mut customers = insert(Table::Customer, "c_w_id, c_d_id, c_id, c_balance, c_ytd_payment");
        let mut history = insert(Table::History, "h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount");
        for customer in seed.customers(1, d) {
            customers.execute(params![1, d, customer.id, -PAID_CENTS, PAID_CENTS]).expect("a row");
            history.execute(params![1, d, 1, d, customer.id, PAID_CENTS]).expect("a row");
        }
        let mut orders = insert(Table::Orders, "o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt");
        let mut lines =
            insert(Table::OrderLine, "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_delivery_d, ol_amount");
        let mut open = insert(Table::NewOrder, "no_w_id, no_d_id, no_o_id");
        for order in seed.orders(1, d) {
            let count = order.lines.len() as i64;
            orders.execute(params![1, d, order.id, order.customer, order.carrier, count]).expect("a row");
            for (line, number) in order.lines.iter().zip(1..) {
                let delivered = order.carrier.map(|_| 1_i64);
                let row = params![1, d, order.id, number, line.item, delivered, line.amount_cents];
                lines.execute(row).expect("a row");
            }
            if order.carrier.is_none() {
                open.execute(params![1, d, order.id]).expect("a row");
            }
        }
    }
    db.execute_batch("COMMIT").expect("a load");
    db
}

/// A column that may be null, as the rows here have only what conditions read.
fn column(column: &fathom_orders::Column) -> String {
    let kind = if column.holds == Holds::Text { "TEXT" } else { "INTEGER" };
    format!("{} {kind}", column.name)
}

/// Numbers of the conditions that are broken, with the places that break them.
fn broken(db: &Connection) -> Vec<(u8, i64)> {
    let places = |query: &str| db.query_row(query, [], |row| row.get::<_, i64>(0)).expect(query);
    CONDITIONS.iter().map(|c| (c.number, places(c.query))).filter(|&(_, places)| places != 0).collect()
}

#[test]
fn a_load_meets_all_twelve_and_each_is_broken_by_what_it_is_about() {
    let db = loaded();
    assert_eq!(broken(&db), []);
    // What is done to the rows of the load, and which conditions that breaks, in how many places.
    let lines: i64 = db
        .query_row("SELECT count(*) FROM order_line WHERE ol_d_id = 4 AND ol_o_id = 2500", [], |row| row.get(0))
        .expect("lines of an open order");
    assert!((5..=15).contains(&lines));
    let cases: [(&str, &[(u8, i64)]); 12] = [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1", &[(1, 1), (8, 1)]),
        ("UPDATE district SET d_next_o_id = 3002 WHERE d_id = 4", &[(2, 1)]),
        ("DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 3000", &[(2, 1), (5, 1), (11, 1)]),
        ("DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 2500", &[(3, 1), (5, 1), (11, 1)]),
        ("DELETE FROM order_line WHERE ol_d_id = 4 AND ol_o_id = 7 AND ol_number = 1", &[(4, 1), (6, 1)]),
        ("UPDATE orders SET o_carrier_id = 3 WHERE o_d_id = 4 AND o_id = 2500", &[(5, 1), (7, lines)]),
        ("UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 4 AND ol_o_id = 7 AND ol_number = 1", &[(7, 1)]),
        ("DELETE FROM history WHERE h_d_id = 4 AND h_c_id = 8", &[(8, 1), (9, 1), (10, 1)]),
        ("UPDATE district SET d_ytd = d_ytd + CASE d_id WHEN 4 THEN 1 ELSE -1 END WHERE d_id IN (4, 5)", &[(9, 2)]),
        ("UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 4 AND c_id = 8", &[(10, 1), (12, 1)]),
        ("INSERT INTO new_order VALUES (1, 4, 2100)", &[(5, 1), (11, 1)]),
        ("UPDATE customer SET c_ytd_payment = 0 WHERE c_d_id = 4 AND c_id = 8", &[(12, 1)]),
    ];
    for (change, said) in cases {
        db.execute_batch("BEGIN").expect("a transaction");
        assert!(db.execute(change, []).expect(change) > 0, "{change}");
        let found = broken(&db);
        db.execute_batch("ROLLBACK").expect("a way back");
        assert_eq!(found, said, "{change}");
    }
    assert_eq!(broken(&db), []);
}

#[test]
fn conditions_are_numbered_as_the_clause_and_one_is_of_the_load_alone() {
    assert!(CONDITIONS.iter().map(|condition| condition.number).eq(1..=12));
    assert!(CONDITIONS.iter().filter(|c| c.is_of_load).map(|c| c.number).eq([11]));
}
