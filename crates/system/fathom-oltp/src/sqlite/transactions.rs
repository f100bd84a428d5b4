//! The five transactions as statements of SQLite (clauses 2.4.2 to 2.8.2). Begin and commit are the session's.

use fathom_orders::{By, DISTRICTS, Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel, last_name};
use rusqlite::{Connection, OptionalExtension as _, Params, Result, Row};

use crate::database::{OrderKey, Outcome};

/// Does what `input` says. [`Outcome::RolledBack`] is to be rolled back.
pub(super) fn body(db: &Connection, input: &Input, now_ms: i64) -> Result<Outcome> {
    match input {
        Input::NewOrder(order) => new_order(db, order, now_ms),
        Input::Payment(paid) => payment(db, paid, now_ms),
        Input::OrderStatus(asked) => order_status(db, asked),
        Input::Delivery(delivery) => deliver(db, delivery, now_ms),
        Input::StockLevel(level) => stock_level(db, level),
    }
}

fn one<T>(db: &Connection, sql: &str, with: impl Params, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<T> {
    db.prepare_cached(sql)?.query_row(with, read)
}

fn change(db: &Connection, sql: &str, with: impl Params) -> Result<()> {
    let changed = db.prepare_cached(sql)?.execute(with)?;
    if changed == 0 { Err(rusqlite::Error::QueryReturnedNoRows) } else { Ok(()) }
}

/// The column of STOCK that a district's orders take their information from.
fn stock_sql(district: u32) -> String {
    format!(
        "UPDATE stock SET s_quantity = s_quantity - ?3 + CASE WHEN s_quantity >= ?3 + 10 THEN 0 ELSE 91 END, \
         s_ytd = s_ytd + ?3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?4 \
         WHERE s_w_id = ?1 AND s_i_id = ?2 RETURNING s_dist_{district:02}, s_data, s_quantity"
    )
}

fn new_order(db: &Connection, order: &NewOrder, now_ms: i64) -> Result<Outcome> {
    let (w, d) = (order.warehouse, order.district);
    let w_tax: i64 = one(db, "SELECT w_tax FROM warehouse WHERE w_id = ?", [w], |row| row.get(0))?;
    let next = "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ? \
                RETURNING d_next_o_id - 1, d_tax";
    let (id, d_tax) = one(db, next, (w, d), |row| Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)?)))?;
    let customer = "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let discount: i64 = one(db, customer, (w, d, order.customer), |row| row.get(0))?;
    let lines = order.lines.len() as u32;
    let insert = "INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL, ?, ?)";
    change(db, insert, (w, d, id, order.customer, now_ms, lines, order.is_local()))?;
    change(db, "INSERT INTO new_order VALUES (?, ?, ?)", (w, d, id))?;
    let stock = stock_sql(d);
    let mut total = 0;
    for (line, number) in order.lines.iter().zip(1_u32..) {
        let item = "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?";
        let price: Option<i64> = one(db, item, [line.item], |row| row.get(0)).optional()?;
        let Some(price) = price else { return Ok(Outcome::RolledBack) };
        let is_remote = line.supply_warehouse != w;
        let with = (line.supply_warehouse, line.item, line.quantity, is_remote);
        let info: String = one(db, &stock, with, |row| row.get(0))?;
        let amount = price * i64::from(line.quantity);
        total += amount;
        let insert = "INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)";
        change(db, insert, (w, d, id, number, line.item, line.supply_warehouse, line.quantity, amount, info))?;
    }
    // What the terminal shows: the sum with discount and taxes, in hundredths of a percent each.
    std::hint::black_box(total * (10_000 - discount) / 10_000 * (10_000 + w_tax + d_tax) / 10_000);
    Ok(Outcome::Order(OrderKey { warehouse: w, district: d, order: id }))
}

/// Who is meant: of those with a name the one in the middle, by first name (2.5.2.2).
fn customer_id(db: &Connection, w: u32, d: u32, by: By) -> Result<u32> {
    let name = match by {
        By::Id(id) => return Ok(id),
        By::LastName(number) => last_name(number),
    };
    let sql = "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first";
    let mut query = db.prepare_cached(sql)?;
    let found: Vec<u32> = query.query_map((w, d, name), |row| row.get(0))?.collect::<Result<_>>()?;
    // The middle one counted from 1 is n / 2 rounded up.
    let middle = found.len().div_ceil(2).checked_sub(1).ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(found[middle])
}

fn payment(db: &Connection, paid: &Payment, now_ms: i64) -> Result<Outcome> {
    let (w, d, cents) = (paid.warehouse, paid.district, paid.amount_cents);
    let (cw, cd) = (paid.customer_warehouse, paid.customer_district);
    let warehouse = "UPDATE warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1 \
                     RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip";
    let w_name: String = one(db, warehouse, (w, cents), |row| row.get(0))?;
    let district = "UPDATE district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2 \
                    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip";
    let d_name: String = one(db, district, (w, d, cents), |row| row.get(0))?;
    let c = customer_id(db, cw, cd, paid.customer)?;
    // Of bad credit: what was paid stands before the data, which keep their 500 characters (2.5.2.2).
    let customer = "UPDATE customer SET c_balance = c_balance - ?4, c_ytd_payment = c_ytd_payment + ?4, \
                    c_payment_cnt = c_payment_cnt + 1, c_data = CASE c_credit WHEN 'BC' THEN \
                    substr(printf('%d %d %d %d %d %d|', ?3, ?2, ?1, ?6, ?5, ?4) || c_data, 1, 500) ELSE c_data END \
                    WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3 \
                    RETURNING c_first, c_middle, c_last, c_credit, c_credit_lim, c_discount, c_balance";
    one(db, customer, (cw, cd, c, cents, w, d), |row| row.get::<_, i64>(6))?;
    let data = format!("{w_name}    {d_name}");
    change(db, "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (c, cd, cw, d, w, now_ms, cents, data))?;
    Ok(Outcome::Committed)
}

fn order_status(db: &Connection, asked: &OrderStatus) -> Result<Outcome> {
    let (w, d) = (asked.warehouse, asked.district);
    let c = customer_id(db, w, d, asked.customer)?;
    let customer =
        "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    one(db, customer, (w, d, c), |row| row.get::<_, i64>(0))?;
    let order = "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
                 ORDER BY o_id DESC LIMIT 1";
    let id: u32 = one(db, order, (w, d, c), |row| row.get(0))?;
    let lines = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
    let mut lines = db.prepare_cached(lines)?;
    let amounts: Result<Vec<i64>> = lines.query_map((w, d, id), |row| row.get(3))?.collect();
    std::hint::black_box(amounts?);
    Ok(Outcome::Committed)
}

fn deliver(db: &Connection, delivery: &Delivery, now_ms: i64) -> Result<Outcome> {
    let w = delivery.warehouse;
    let mut skipped = 0;
    for d in 1..=DISTRICTS {
        let oldest = "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1";
        let Some(id) = one(db, oldest, (w, d), |row| row.get::<_, u32>(0)).optional()? else {
            skipped += 1;
            continue;
        };
        change(db, "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?", (w, d, id))?;
        let order =
            "UPDATE orders SET o_carrier_id = ?4 WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3 RETURNING o_c_id";
        let c: u32 = one(db, order, (w, d, id, delivery.carrier), |row| row.get(0))?;
        let lines = "UPDATE order_line SET ol_delivery_d = ?4 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3";
        change(db, lines, (w, d, id, now_ms))?;
        let sum = "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
        let sum: i64 = one(db, sum, (w, d, id), |row| row.get(0))?;
        let customer = "UPDATE customer SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1 \
                        WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3";
        change(db, customer, (w, d, c, sum))?;
    }
    Ok(Outcome::Delivered { skipped })
}

fn stock_level(db: &Connection, level: &StockLevel) -> Result<Outcome> {
    let (w, d) = (level.warehouse, level.district);
    let next = "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?";
    let next: u32 = one(db, next, (w, d), |row| row.get(0))?;
    let low = "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
               WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id >= ?3 - 20 AND ol_o_id < ?3 AND s_quantity < ?4";
    let low: i64 = one(db, low, (w, d, next, level.threshold), |row| row.get(0))?;
    std::hint::black_box(low);
    Ok(Outcome::Committed)
}
