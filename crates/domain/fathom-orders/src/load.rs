//! The rows of a load as values in the order of the columns, for any database.

use crate::rows::{Address, Customer, Order, Seed, Stock};
use crate::scale::{DISTRICT_YTD_CENTS, DISTRICTS, ORDERS_PER_DISTRICT, PAID_CENTS, Table, WAREHOUSE_YTD_CENTS};

/// What a column of one row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number of either size.
    Number(i64),
    /// Text.
    Text(String),
    /// Nothing.
    Null,
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(i64::from(number))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Number(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// Values of one row.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$(Value::from($value)),*] };
}

/// What every customer may owe, cents (4.3.3.1).
const CREDIT_LIMIT_CENTS: i64 = 5_000_000;
/// Pieces of each line of the load (4.3.3.1).
const PIECES: u32 = 5;

impl Seed {
    /// The rows of `table` that belong to `warehouse`, in the order of its primary key; those of ITEM, which belongs to
    /// none, at warehouse 1. `now_ms`: the time of the load, milliseconds since 1970.
    pub fn load(self, table: Table, warehouse: u32, now_ms: i64) -> Box<dyn Iterator<Item = Vec<Value>>> {
        let w = warehouse;
        match table {
            Table::Item if w == 1 => Box::new(self.items().map(|i| row![i.id, i.image, i.name, i.price_cents, i.data])),
            Table::Item => Box::new(std::iter::empty()),
            Table::Warehouse => {
                let own = self.warehouse(w);
                let mut row = row![w, own.name];
                row.extend(address(own.address));
                row.extend(row![own.tax_bp, WAREHOUSE_YTD_CENTS]);
                Box::new(std::iter::once(row))
            }
            Table::District => Box::new((1..=DISTRICTS).map(move |d| {
                let own = self.district(w, d);
                let mut row = row![w, d, own.name];
                row.extend(address(own.address));
                row.extend(row![own.tax_bp, DISTRICT_YTD_CENTS, ORDERS_PER_DISTRICT + 1]);
                row
            })),
            Table::Stock => Box::new(self.stock(w).map(move |stock| of_stock(w, stock))),
            Table::Customer => by_district(move |d| {
                Box::new(self.customers(w, d).map(move |customer| of_customer(w, d, customer, now_ms)))
            }),
            Table::History => by_district(move |d| {
                Box::new(self.customers(w, d).map(move |c| row![c.id, d, w, d, w, now_ms, PAID_CENTS, c.history]))
            }),
            Table::Orders => by_district(move |d| {
                Box::new(
                    self.orders(w, d)
                        .map(move |o| row![w, d, o.id, o.customer, now_ms, o.carrier, o.lines.len() as u32, 1_u32]),
                )
            }),
            Table::OrderLine => {
                by_district(move |d| Box::new(self.orders(w, d).flat_map(move |order| of_lines(w, d, order, now_ms))))
            }
            Table::NewOrder => by_district(move |d| {
                Box::new(self.orders(w, d).filter(|o| o.carrier.is_none()).map(move |o| row![w, d, o.id]))
            }),
        }
    }
}

fn by_district(
    rows: impl Fn(u32) -> Box<dyn Iterator<Item = Vec<Value>>> + 'static,
) -> Box<dyn Iterator<Item = Vec<Value>>> {
    Box::new((1..=DISTRICTS).flat_map(rows))
}

fn address(address: Address) -> Vec<Value> {
    row![address.street_1, address.street_2, address.city, address.state, address.zip]
}

fn of_stock(w: u32, stock: Stock) -> Vec<Value> {
    let mut row = row![w, stock.item, stock.quantity];
    row.extend(stock.dist.into_iter().map(Value::Text));
    row.extend(row![0_u32, 0_u32, 0_u32, stock.data]);
    row
}

fn of_customer(w: u32, d: u32, c: Customer, now_ms: i64) -> Vec<Value> {
    let mut row = row![w, d, c.id, c.first, "OE", c.last];
    row.extend(address(c.address));
    let credit = if c.has_bad_credit { "BC" } else { "GC" };
    row.extend(row![c.phone, now_ms, credit, CREDIT_LIMIT_CENTS, c.discount_bp, -PAID_CENTS, PAID_CENTS]);
    row.extend(row![1_u32, 0_u32, c.data]);
    row
}

fn of_lines(w: u32, d: u32, order: Order, now_ms: i64) -> Vec<Vec<Value>> {
    let delivered = order.carrier.map(|_| now_ms);
    let lines = order.lines.into_iter().zip(1_u32..);
    let row = |(l, number): (crate::OrderLine, u32)| {
        row![w, d, order.id, number, l.item, w, delivered, PIECES, l.amount_cents, l.dist_info]
    };
    lines.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Scale;
    use crate::schema::Holds;
    use std::num::NonZeroU32;

    #[test]
    fn every_row_has_the_values_of_its_columns_and_there_are_as_many_as_the_scale_says() {
        let scale = Scale { warehouses: NonZeroU32::MIN };
        for table in Table::ALL {
            let columns = table.columns();
            let mut count = 0;
            for row in Seed(3).load(table, 1, 1_700_000_000_000) {
                count += 1;
                assert_eq!(row.len(), columns.len(), "{table:?}");
                for (value, column) in row.iter().zip(&columns) {
                    let fits = match value {
                        Value::Null => column.is_optional,
                        Value::Text(_) => column.holds == Holds::Text,
                        Value::Number(n) => {
                            column.holds == Holds::Long || column.holds == Holds::Number && i32::try_from(*n).is_ok()
                        }
                    };
                    assert!(fits, "{table:?}.{}: {value:?}", column.name);
                }
            }
            let expected = scale.rows(table);
            // Lines are 5 to 15 an order by chance.
            let margin = if table == Table::OrderLine { expected / 100 } else { 0 };
            assert!(expected.abs_diff(count) <= margin, "{table:?}: {count} of {expected}");
        }
    }

    #[test]
    fn rows_come_in_the_order_of_the_primary_key() {
        for table in Table::ALL {
            let columns = table.columns();
            let keys = table.primary_key();
            let places: Vec<usize> =
                keys.iter().map(|key| columns.iter().position(|c| c.name == *key).expect("a column")).collect();
            let mut last = Vec::new();
            for row in Seed(3).load(table, 2, 0).take(40_000) {
                let key: Vec<i64> = places
                    .iter()
                    .map(|&place| match row[place] {
                        Value::Number(n) => n,
                        _ => panic!("keys are numbers"),
                    })
                    .collect();
                assert!(keys.is_empty() || key > last, "{table:?}: {key:?} after {last:?}");
                last = key;
            }
        }
    }
}
