//! One connection: each transaction is one prepared call.

use fathom_orders::{By, Input, NewOrder, last_name};
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Statement};

use super::failed;
use crate::clock::ThreadClock;
use crate::database::{Doing, Done, OltpError, OrderKey, Outcome, Parts, Session};

/// What `fathom_new_order` raises for an unused item.
const UNUSED_ITEM: &str = "FO001";

/// A session of [`super::Postgres`].
pub(super) struct PostgresSession {
    client: Client,
    new_order: Statement,
    payment: Statement,
    order_status: Statement,
    delivery: Statement,
    stock_level: Statement,
    /// Of the thread that works; made by its first transaction.
    clock: Option<ThreadClock>,
}

impl PostgresSession {
    pub(super) fn new(mut client: Client) -> Result<Self, OltpError> {
        let mut prepare = |call: &str| client.prepare(call).map_err(failed(Doing::Open));
        Ok(PostgresSession {
            new_order: prepare("SELECT fathom_new_order($1, $2, $3, $4, $5, $6, $7)")?,
            payment: prepare("SELECT fathom_payment($1, $2, $3, $4, $5, $6, $7, $8)")?,
            order_status: prepare("SELECT fathom_order_status($1, $2, $3, $4)")?,
            delivery: prepare("SELECT fathom_delivery($1, $2, $3)")?,
            stock_level: prepare("SELECT fathom_stock_level($1, $2, $3)")?,
            client,
            clock: None,
        })
    }

    fn call(&mut self, input: &Input, now_ms: i64) -> Result<Outcome, postgres::Error> {
        match input {
            Input::NewOrder(order) => self.new_order(order, now_ms),
            Input::Payment(paid) => {
                let (id, name) = by(paid.customer);
                let with: [&(dyn ToSql + Sync); 8] = [
                    &int(paid.warehouse),
                    &int(paid.district),
                    &int(paid.customer_warehouse),
                    &int(paid.customer_district),
                    &id,
                    &name,
                    &paid.amount_cents,
                    &now_ms,
                ];
                self.client.query_one(&self.payment, &with).map(|_| Outcome::Committed)
            }
            Input::OrderStatus(asked) => {
                let (id, name) = by(asked.customer);
                let with: [&(dyn ToSql + Sync); 4] = [&int(asked.warehouse), &int(asked.district), &id, &name];
                self.client.query_one(&self.order_status, &with).map(|_| Outcome::Committed)
            }
            Input::Delivery(delivery) => {
                let with: [&(dyn ToSql + Sync); 3] = [&int(delivery.warehouse), &int(delivery.carrier), &now_ms];
                let row = self.client.query_one(&self.delivery, &with)?;
                Ok(Outcome::Delivered { skipped: row.get::<_, i32>(0).unsigned_abs() })
            }
            Input::StockLevel(level) => {
                let with: [&(dyn ToSql + Sync); 3] =
                    [&int(level.warehouse), &int(level.district), &int(level.threshold)];
                self.client.query_one(&self.stock_level, &with).map(|_| Outcome::Committed)
            }
        }
    }

    fn new_order(&mut self, order: &NewOrder, now_ms: i64) -> Result<Outcome, postgres::Error> {
        let of_lines = |read: fn(&fathom_orders::Line) -> u32| -> Vec<i32> {
            order.lines.iter().map(|line| int(read(line))).collect()
        };
        let with: [&(dyn ToSql + Sync); 7] = [
            &int(order.warehouse),
            &int(order.district),
            &int(order.customer),
            &of_lines(|line| line.item),
            &of_lines(|line| line.supply_warehouse),
            &of_lines(|line| line.quantity),
            &now_ms,
        ];
        match self.client.query_one(&self.new_order, &with) {
            Ok(row) => Ok(Outcome::Order(OrderKey {
                warehouse: order.warehouse,
                district: order.district,
                order: row.get::<_, i32>(0).unsigned_abs(),
            })),
            Err(error) if error.code().is_some_and(|code| code.code() == UNUSED_ITEM) => Ok(Outcome::RolledBack),
            Err(error) => Err(error),
        }
    }
}

impl Session for PostgresSession {
    fn transact(&mut self, input: &Input, now_ms: i64) -> Result<Done, OltpError> {
        self.clock.get_or_insert_with(ThreadClock::start).lap();
        let mut retries = 0;
        let outcome = loop {
            match self.call(input, now_ms) {
                Ok(outcome) => break outcome,
                Err(error) if is_for_its_own_reasons(&error) => retries += 1,
                Err(error) => return Err(failed(Doing::Transaction)(error)),
            }
        };
        // What the server does within the call, its own waits tell: see `Watch`.
        Ok(Done { outcome, retries, parts: Parts::default() })
    }
}

fn is_for_its_own_reasons(error: &postgres::Error) -> bool {
    error
        .code()
        .is_some_and(|code| *code == SqlState::T_R_DEADLOCK_DETECTED || *code == SqlState::T_R_SERIALIZATION_FAILURE)
}

/// Either is null.
fn by(customer: By) -> (Option<i32>, Option<String>) {
    match customer {
        By::Id(id) => (Some(int(id)), None),
        By::LastName(number) => (None, Some(last_name(number))),
    }
}

/// Numbers of the specification are far below 2^31.
fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
