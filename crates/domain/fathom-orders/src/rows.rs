//! The rows that a database holds at first (clause 4.3.3.1), in streams of their own per warehouse and district, so that
//! they can be made in any order and by several threads.

use crate::draw::{chance, data, digits, last_name, permutation, text};
use crate::nurand::{Constants, between, nurand};
use crate::scale::{CUSTOMERS_PER_DISTRICT, FIRST_UNDELIVERED, ITEMS, ORDERS_PER_DISTRICT};
use fathom_random::Rng;

/// What all rows follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

/// A row of ITEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// I_ID
    pub id: u32,
    /// I_IM_ID
    pub image: u32,
    /// I_NAME
    pub name: String,
    /// I_PRICE, cents
    pub price_cents: i64,
    /// I_DATA
    pub data: String,
}

/// Where something lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// STREET_1
    pub street_1: String,
    /// STREET_2
    pub street_2: String,
    /// CITY
    pub city: String,
    /// STATE
    pub state: String,
    /// ZIP
    pub zip: String,
}

/// A row of WAREHOUSE; W_YTD is [`crate::WAREHOUSE_YTD_CENTS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warehouse {
    /// W_NAME
    pub name: String,
    /// W_STREET_1 and so on
    pub address: Address,
    /// W_TAX, hundredths of a percent
    pub tax_bp: i64,
}

/// A row of DISTRICT; D_YTD is [`crate::DISTRICT_YTD_CENTS`] and D_NEXT_O_ID 3001.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct District {
    /// D_NAME
    pub name: String,
    /// D_STREET_1 and so on
    pub address: Address,
    /// D_TAX, hundredths of a percent
    pub tax_bp: i64,
}

/// A row of STOCK; S_YTD, S_ORDER_CNT and S_REMOTE_CNT are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    /// S_I_ID
    pub item: u32,
    /// S_QUANTITY
    pub quantity: u32,
    /// S_DIST_01 to S_DIST_10
    pub dist: [String; 10],
    /// S_DATA
    pub data: String,
}

/// A row of CUSTOMER with that of HISTORY. H_AMOUNT and C_YTD_PAYMENT are [`crate::PAID_CENTS`],
/// C_BALANCE the same below 0, C_PAYMENT_CNT is 1, C_DELIVERY_CNT 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    /// C_ID
    pub id: u32,
    /// C_FIRST
    pub first: String,
    /// C_LAST
    pub last: String,
    /// C_STREET_1 and so on
    pub address: Address,
    /// C_PHONE
    pub phone: String,
    /// C_CREDIT is BC, not GC: one of ten
    pub has_bad_credit: bool,
    /// C_DISCOUNT, hundredths of a percent
    pub discount_bp: i64,
    /// C_DATA
    pub data: String,
    /// H_DATA
    pub history: String,
}

/// A row of ORDERS with its lines; it has one in NEW-ORDER where there is no carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// O_ID
    pub id: u32,
    /// O_C_ID
    pub customer: u32,
    /// O_CARRIER_ID, if it is delivered
    pub carrier: Option<u32>,
    /// Its lines from number 1
    pub lines: Vec<OrderLine>,
}

/// A row of ORDER-LINE; OL_QUANTITY is 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderLine {
    /// OL_I_ID
    pub item: u32,
    /// OL_AMOUNT, cents: 0 where the order is delivered
    pub amount_cents: i64,
    /// OL_DIST_INFO
    pub dist_info: String,
}

impl Seed {
    /// The constants of NURand that the load uses.
    #[must_use]
    pub fn constants(self) -> Constants {
        Constants::of_load(&mut self.stream(0, 0, 0))
    }

    /// The rows of ITEM.
    pub fn items(self) -> impl Iterator<Item = Item> {
        let mut rng = self.stream(1, 0, 0);
        (1..=ITEMS).map(move |id| Item {
            id,
            image: between(&mut rng, 1, 10_000),
            name: text(&mut rng, 14, 24),
            price_cents: i64::from(between(&mut rng, 100, 10_000)),
            data: data(&mut rng),
        })
    }

    /// The row of a warehouse.
    #[must_use]
    pub fn warehouse(self, warehouse: u32) -> Warehouse {
        let rng = &mut self.stream(2, warehouse, 0);
        Warehouse { name: text(rng, 6, 10), address: address(rng), tax_bp: i64::from(between(rng, 0, 2_000)) }
    }

    /// The row of a district.
    #[must_use]
    pub fn district(self, warehouse: u32, district: u32) -> District {
        let rng = &mut self.stream(3, warehouse, district);
        District { name: text(rng, 6, 10), address: address(rng), tax_bp: i64::from(between(rng, 0, 2_000)) }
    }

    /// The rows of STOCK of a warehouse.
    pub fn stock(self, warehouse: u32) -> impl Iterator<Item = Stock> {
        let mut rng = self.stream(4, warehouse, 0);
        (1..=ITEMS).map(move |item| Stock {
            item,
            quantity: between(&mut rng, 10, 100),
            dist: std::array::from_fn(|_| text(&mut rng, 24, 24)),
            data: data(&mut rng),
        })
    }

    /// The customers of a district.
    pub fn customers(self, warehouse: u32, district: u32) -> impl Iterator<Item = Customer> {
        let constant = self.constants().last_name;
        let mut rng = self.stream(5, warehouse, district);
        (1..=CUSTOMERS_PER_DISTRICT).map(move |id| {
            let rng = &mut rng;
            // The first thousand bear each name once, so that whoever asks for a name finds somebody.
            let name = if id <= 1_000 { id - 1 } else { nurand(rng, 255, constant, 0, 999) };
            Customer {
                id,
                first: text(rng, 8, 16),
                last: last_name(name),
                address: address(rng),
                phone: digits(rng, 16),
                has_bad_credit: chance(rng, 10),
                discount_bp: i64::from(between(rng, 0, 5_000)),
                data: text(rng, 300, 500),
                history: text(rng, 12, 24),
            }
        })
    }

    /// The orders of a district: each customer has one.
    pub fn orders(self, warehouse: u32, district: u32) -> impl Iterator<Item = Order> {
        let mut rng = self.stream(6, warehouse, district);
        let customers = permutation(&mut rng, ORDERS_PER_DISTRICT);
        (1..=ORDERS_PER_DISTRICT).zip(customers).map(move |(id, customer)| {
            let rng = &mut rng;
            let is_delivered = id < FIRST_UNDELIVERED;
            let carrier = is_delivered.then(|| between(rng, 1, 10));
            let lines = (0..between(rng, 5, 15)).map(|_| OrderLine {
                item: between(rng, 1, ITEMS),
                amount_cents: if is_delivered { 0 } else { i64::from(between(rng, 1, 999_999)) },
                dist_info: text(rng, 24, 24),
            });
            let lines = lines.collect();
            Order { id, customer, carrier, lines }
        })
    }

    /// The stream of one kind of rows in one place.
    fn stream(self, kind: u64, warehouse: u32, district: u32) -> Rng {
        Rng::new(self.0, kind << 56 | u64::from(warehouse) << 8 | u64::from(district))
    }
}

fn address(rng: &mut Rng) -> Address {
    let letter = |rng: &mut Rng| char::from(b'A' + rng.below(26) as u8);
    Address {
        street_1: text(rng, 10, 20),
        street_2: text(rng, 10, 20),
        city: text(rng, 10, 20),
        state: [letter(rng), letter(rng)].iter().collect(),
        zip: digits(rng, 4) + "11111",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_orders_of_a_district_are_one_for_each_customer_and_the_last_900_are_open() {
        let orders: Vec<Order> = Seed(4).orders(1, 2).collect();
        let customers: BTreeSet<u32> = orders.iter().map(|order| order.customer).collect();
        assert_eq!((orders.len(), customers.len()), (3_000, 3_000));
        for order in &orders {
            let is_open = order.id >= 2_101;
            assert_eq!(order.carrier.is_none(), is_open);
            assert!((5..=15).contains(&order.lines.len()));
            assert!(order.lines.iter().all(|line| (line.amount_cents > 0) == is_open));
        }
        assert_eq!(orders.iter().filter(|order| order.carrier.is_none()).count(), 900);
    }

    #[test]
    fn every_last_name_is_borne_in_every_district_and_a_tenth_has_bad_credit() {
        let customers: Vec<Customer> = Seed(4).customers(1, 2).collect();
        let names: BTreeSet<&str> = customers.iter().map(|customer| customer.last.as_str()).collect();
        assert_eq!((customers.len(), names.len()), (3_000, 1_000));
        let bad = customers.iter().filter(|customer| customer.has_bad_credit).count();
        assert!((240..360).contains(&bad), "{bad}");
        assert!(customers.iter().all(|c| (300..=500).contains(&c.data.len()) && c.address.zip.ends_with("11111")));
    }

    #[test]
    fn a_place_has_the_same_rows_again_and_another_place_others() {
        let first = |warehouse| Seed(4).stock(warehouse).take(50).collect::<Vec<_>>();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        assert_ne!(Seed(4).district(1, 1), Seed(4).district(1, 2));
        assert_ne!(Seed(4).warehouse(1), Seed(5).warehouse(1));
        assert_eq!(Seed(4).items().count(), 100_000);
    }
}
