//! How many rows each table has (clause 4.3.3.1).

use std::num::NonZeroU32;

/// Rows of ITEM, whatever the number of warehouses.
pub const ITEMS: u32 = 100_000;
/// An item that is in no table: an order for it is rolled back (clause 2.4.1.5).
pub const UNUSED_ITEM: u32 = ITEMS + 1;
/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;
/// Customers of a district.
pub const CUSTOMERS_PER_DISTRICT: u32 = 3_000;
/// Orders of a district after the load: one for each customer.
pub const ORDERS_PER_DISTRICT: u32 = 3_000;
/// The first order of a district that is not delivered after the load; it and those behind it are in NEW-ORDER.
pub const FIRST_UNDELIVERED: u32 = 2_101;
/// What each customer has paid before the load: H_AMOUNT and C_YTD_PAYMENT, and C_BALANCE with the other sign; cents.
pub const PAID_CENTS: i64 = 1_000;
/// D_YTD after the load, cents: what its customers have paid.
pub const DISTRICT_YTD_CENTS: i64 = 3_000_000;
/// W_YTD after the load, cents: what its districts have.
pub const WAREHOUSE_YTD_CENTS: i64 = 30_000_000;
/// Order lines of an order, on average: 5 to 15, each as probable.
const LINES_PER_ORDER: u64 = 10;

/// The nine tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// ITEM
    Item,
    /// WAREHOUSE
    Warehouse,
    /// DISTRICT
    District,
    /// STOCK
    Stock,
    /// CUSTOMER
    Customer,
    /// HISTORY
    History,
    /// ORDERS
    Orders,
    /// ORDER_LINE
    OrderLine,
    /// NEW_ORDER
    NewOrder,
}

impl Table {
    /// All, in the order of loading.
    pub const ALL: [Table; 9] = [
        Table::Item,
        Table::Warehouse,
        Table::District,
        Table::Stock,
        Table::Customer,
        Table::History,
        Table::Orders,
        Table::OrderLine,
        Table::NewOrder,
    ];

    /// Its name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Table::Item => "item",
            Table::Warehouse => "warehouse",
            Table::District => "district",
            Table::Stock => "stock",
            Table::Customer => "customer",
            Table::History => "history",
            Table::Orders => "orders",
            Table::OrderLine => "order_line",
            Table::NewOrder => "new_order",
        }
    }
}

/// The size of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Warehouses, at least one.
    pub warehouses: NonZeroU32,
}

impl Scale {
    /// Rows of `table` after the load; of ORDER_LINE the expected number, as each order has 5 to 15.
    #[must_use]
    pub fn rows(self, table: Table) -> u64 {
        let warehouses = u64::from(self.warehouses.get());
        let districts = warehouses * u64::from(DISTRICTS);
        let orders = districts * u64::from(ORDERS_PER_DISTRICT);
        match table {
            Table::Item => u64::from(ITEMS),
            Table::Warehouse => warehouses,
            Table::District => districts,
            Table::Stock => warehouses * u64::from(ITEMS),
            Table::Customer | Table::History => districts * u64::from(CUSTOMERS_PER_DISTRICT),
            Table::Orders => orders,
            Table::OrderLine => orders * LINES_PER_ORDER,
            Table::NewOrder => districts * u64::from(ORDERS_PER_DISTRICT - FIRST_UNDELIVERED + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_paid_before_the_load_adds_up() {
        assert_eq!(PAID_CENTS * i64::from(CUSTOMERS_PER_DISTRICT), DISTRICT_YTD_CENTS);
        assert_eq!(DISTRICT_YTD_CENTS * i64::from(DISTRICTS), WAREHOUSE_YTD_CENTS);
    }

    #[test]
    fn two_warehouses_have_the_rows_of_clause_4_3_3_1() {
        let scale = Scale { warehouses: NonZeroU32::new(2).expect("not 0") };
        let rows = Table::ALL.map(|table| scale.rows(table));
        assert_eq!(rows, [100_000, 2, 20, 200_000, 60_000, 60_000, 60_000, 600_000, 18_000]);
    }
}
