//! The inputs of transactions (clauses 2.4.1 to 2.8.1), drawn from a stream of their own per worker.

use crate::deck::{Deck, Kind};
use crate::draw::chance;
use crate::nurand::{Constants, between, nurand};
use crate::scale::{CUSTOMERS_PER_DISTRICT, DISTRICTS, ITEMS, Scale, UNUSED_ITEM};
use fathom_random::Rng;

/// How a customer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By C_ID.
    Id(u32),
    /// By the last name of this number: the one in the middle, by first name, of those who bear it.
    LastName(u32),
}

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// OL_I_ID, or [`UNUSED_ITEM`].
    pub item: u32,
    /// OL_SUPPLY_W_ID.
    pub supply_warehouse: u32,
    /// OL_QUANTITY, 1 to 10.
    pub quantity: u32,
}

/// Inputs of New-Order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// W_ID
    pub warehouse: u32,
    /// D_ID
    pub district: u32,
    /// C_ID
    pub customer: u32,
    /// 5 to 15 lines sorted by item, so that two orders lock stock in the same order; an unused item is the last.
    pub lines: Vec<Line>,
}

impl NewOrder {
    /// Whether it names an item that does not exist, so that it has to be rolled back.
    #[must_use]
    pub fn is_to_fail(&self) -> bool {
        self.lines.iter().any(|line| line.item == UNUSED_ITEM)
    }

    /// Whether all lines come from the own warehouse (O_ALL_LOCAL).
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.lines.iter().all(|line| line.supply_warehouse == self.warehouse)
    }
}

/// Inputs of Payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// W_ID, where it is paid.
    pub warehouse: u32,
    /// D_ID, where it is paid.
    pub district: u32,
    /// C_W_ID, where the customer belongs.
    pub customer_warehouse: u32,
    /// C_D_ID, where the customer belongs.
    pub customer_district: u32,
    /// Who pays.
    pub customer: By,
    /// H_AMOUNT, cents.
    pub amount_cents: i64,
}

/// Inputs of Order-Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    /// W_ID
    pub warehouse: u32,
    /// D_ID
    pub district: u32,
    /// Who asks.
    pub customer: By,
}

/// Inputs of Delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// W_ID
    pub warehouse: u32,
    /// O_CARRIER_ID, 1 to 10.
    pub carrier: u32,
}

/// Inputs of Stock-Level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevel {
    /// W_ID
    pub warehouse: u32,
    /// D_ID
    pub district: u32,
    /// 10 to 20 pieces; items with fewer are counted.
    pub threshold: u32,
}

/// One transaction to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// New-Order
    NewOrder(NewOrder),
    /// Payment
    Payment(Payment),
    /// Order-Status
    OrderStatus(OrderStatus),
    /// Delivery
    Delivery(Delivery),
    /// Stock-Level
    StockLevel(StockLevel),
}

impl Input {
    /// Which of the five it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Input::NewOrder(_) => Kind::NewOrder,
            Input::Payment(_) => Kind::Payment,
            Input::OrderStatus(_) => Kind::OrderStatus,
            Input::Delivery(_) => Kind::Delivery,
            Input::StockLevel(_) => Kind::StockLevel,
        }
    }
}

/// Where a worker's transactions happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In one warehouse, as a terminal of the specification: workers share them out in turn.
    Fixed,
    /// In any warehouse, each as probable: reaches all data with few workers.
    Uniform,
}

/// The endless stream of a worker's transactions. The same seed, worker and scale give the same, whatever the database.
#[derive(Clone, Debug)]
pub struct Inputs {
    rng: Rng,
    deck: Deck,
    constants: Constants,
    warehouses: u32,
    home: Home,
    own_warehouse: u32,
    own_district: u32,
}

impl Inputs {
    /// The stream of `worker`, counted from 0, under `seed`; `constants` are those of the run.
    #[must_use]
    pub fn new(seed: u64, worker: u32, scale: Scale, constants: Constants, home: Home) -> Self {
        let warehouses = scale.warehouses.get();
        Inputs {
            rng: Rng::new(seed, u64::from(worker)),
            deck: Deck::new(),
            constants,
            warehouses,
            home,
            own_warehouse: worker % warehouses + 1,
            // A terminal has a district too (2.8.1.1): the workers of a warehouse share them out in turn.
            own_district: worker / warehouses % DISTRICTS + 1,
        }
    }

    /// The next transaction.
    pub fn draw(&mut self) -> Input {
        let kind = self.deck.draw(&mut self.rng);
        let warehouse = match self.home {
            Home::Fixed => self.own_warehouse,
            Home::Uniform => between(&mut self.rng, 1, self.warehouses),
        };
        match kind {
            Kind::NewOrder => Input::NewOrder(self.new_order(warehouse)),
            Kind::Payment => Input::Payment(self.payment(warehouse)),
            Kind::OrderStatus => {
                let district = self.any_district();
                Input::OrderStatus(OrderStatus { warehouse, district, customer: self.by_name_or_id() })
            }
            Kind::Delivery => Input::Delivery(Delivery { warehouse, carrier: between(&mut self.rng, 1, 10) }),
            Kind::StockLevel => Input::StockLevel(StockLevel {
                warehouse,
                district: self.own_district,
                threshold: between(&mut self.rng, 10, 20),
            }),
        }
    }

    fn new_order(&mut self, warehouse: u32) -> NewOrder {
        let district = self.any_district();
        let customer = self.customer_id();
        let count = between(&mut self.rng, 5, 15);
        let is_to_fail = chance(&mut self.rng, 1);
        let mut lines: Vec<Line> = (0..count).map(|_| self.line(warehouse)).collect();
        if is_to_fail && let Some(last) = lines.last_mut() {
            last.item = UNUSED_ITEM;
        }
        lines.sort_by_key(|line| (line.item, line.supply_warehouse));
        NewOrder { warehouse, district, customer, lines }
    }

    fn line(&mut self, warehouse: u32) -> Line {
        let item = nurand(&mut self.rng, 8191, self.constants.item, 1, ITEMS);
        let is_remote = chance(&mut self.rng, 1);
        let supply_warehouse = if is_remote { self.another(warehouse) } else { warehouse };
        Line { item, supply_warehouse, quantity: between(&mut self.rng, 1, 10) }
    }

    fn payment(&mut self, warehouse: u32) -> Payment {
        let district = self.any_district();
        // With a single warehouse there is no other that the customer could belong to (2.5.1.2).
        let is_remote = chance(&mut self.rng, 15) && self.warehouses > 1;
        let (customer_warehouse, customer_district) =
            if is_remote { (self.another(warehouse), self.any_district()) } else { (warehouse, district) };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.by_name_or_id(),
            amount_cents: i64::from(between(&mut self.rng, 100, 500_000)),
        }
    }

    fn by_name_or_id(&mut self) -> By {
        if chance(&mut self.rng, 60) {
            By::LastName(nurand(&mut self.rng, 255, self.constants.last_name, 0, 999))
        } else {
            By::Id(self.customer_id())
        }
    }

    fn customer_id(&mut self) -> u32 {
        nurand(&mut self.rng, 1023, self.constants.customer, 1, CUSTOMERS_PER_DISTRICT)
    }

    fn any_district(&mut self) -> u32 {
        between(&mut self.rng, 1, DISTRICTS)
    }

    /// Another warehouse, each as probable; the same where there is one alone.
    fn another(&mut self, warehouse: u32) -> u32 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let drawn = between(&mut self.rng, 1, self.warehouses - 1);
        if drawn >= warehouse { drawn + 1 } else { drawn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    fn inputs(worker: u32, warehouses: u32, home: Home) -> Inputs {
        let scale = Scale { warehouses: NonZeroU32::new(warehouses).expect("not 0") };
        Inputs::new(7, worker, scale, Constants { last_name: 223, customer: 259, item: 7911 }, home)
    }

    #[test]
    fn a_seed_and_worker_give_the_same_transactions_again_and_another_worker_others() {
        let some = |worker| -> Vec<Input> {
            let mut inputs = inputs(worker, 4, Home::Fixed);
            (0..100).map(|_| inputs.draw()).collect()
        };
        assert_eq!(some(0), some(0));
        assert_ne!(some(0), some(4));
    }

    #[test]
    fn an_order_that_fails_names_the_unused_item_in_its_last_line_alone() {
        let mut inputs = inputs(0, 4, Home::Fixed);
        let mut failing = 0;
        for _ in 0..20_000 {
            let Input::NewOrder(order) = inputs.draw() else { continue };
            assert!(order.lines.is_sorted_by_key(|line| line.item));
            let unused = order.lines.iter().filter(|line| line.item == UNUSED_ITEM).count();
            assert_eq!(unused, usize::from(order.is_to_fail()));
            failing += unused;
        }
        assert!(failing > 0);
    }

    #[test]
    fn with_one_warehouse_nothing_is_remote() {
        let mut inputs = inputs(3, 1, Home::Fixed);
        for _ in 0..20_000 {
            match inputs.draw() {
                Input::NewOrder(order) => assert!(order.is_local()),
                Input::Payment(paid) => {
                    assert_eq!((paid.customer_warehouse, paid.customer_district), (1, paid.district));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_home_is_kept_or_every_warehouse_is_reached() {
        let warehouses = |home| -> std::collections::BTreeSet<u32> {
            let mut inputs = inputs(6, 4, home);
            let mut one = || match inputs.draw() {
                Input::NewOrder(order) => order.warehouse,
                Input::Payment(paid) => paid.warehouse,
                Input::OrderStatus(asked) => asked.warehouse,
                Input::Delivery(delivery) => delivery.warehouse,
                Input::StockLevel(level) => level.warehouse,
            };
            (0..1_000).map(|_| one()).collect()
        };
        assert_eq!(Vec::from_iter(warehouses(Home::Fixed)), [3]);
        assert_eq!(Vec::from_iter(warehouses(Home::Uniform)), [1, 2, 3, 4]);
    }
}
