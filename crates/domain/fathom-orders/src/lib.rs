//! Order entry, derived from TPC-C (revision 5.11): the workload without a database.
//!
//! What the tables hold at first, which transactions come in which order and with which inputs, and whether what came meets
//! the bounds of clause 9.2. All of it follows from a seed, so that every database gets the same work and the server is not
//! charged for random numbers. Clauses named in the docs are those of the specification.
//!
//! As results do not comply with the specification (no terminals, no pricing, mostly no think time), they are not comparable
//! to published TPC-C results.
//!
//! The twelve conditions of consistency (clause 3.3.2) are queries that every database answers.
//!
//! Amounts of money are whole cents, rates (tax, discount) whole hundredths of a percent: sums are exact.

mod audit;
mod consistency;
mod deck;
mod draw;
mod input;
mod load;
mod nurand;
mod rows;
mod scale;
mod schema;

pub use audit::{Audit, Bound, Judgement, Rule};
pub use consistency::{CONDITIONS, Condition};
pub use deck::{Deck, Kind};
pub use draw::last_name;
pub use input::{By, Delivery, Home, Input, Inputs, Line, NewOrder, OrderStatus, Payment, StockLevel};
pub use load::Value;
pub use nurand::{Constants, nurand};
pub use rows::{Address, Customer, District, Item, Order, OrderLine, Seed, Stock, Warehouse};
pub use scale::{
    CUSTOMERS_PER_DISTRICT, DISTRICT_YTD_CENTS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, ORDERS_PER_DISTRICT, PAID_CENTS,
    Scale, Table, UNUSED_ITEM, WAREHOUSE_YTD_CENTS,
};
pub use schema::{Column, Holds};
