//! Whether the transactions that were drawn meet the bounds of clauses 5.2.3 and 9.2.2.5.

use crate::deck::Kind;
use crate::input::{By, Input};

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Share of Payment among all.
    Payments,
    /// Share of Order-Status among all.
    OrderStatuses,
    /// Share of Delivery among all.
    Deliveries,
    /// Share of Stock-Level among all.
    StockLevels,
    /// Share of new orders that are rolled back.
    Rollbacks,
    /// Lines of an order, on average, as a share of 15.
    LinesPerOrder,
    /// Share of lines that another warehouse supplies.
    RemoteLines,
    /// Share of payments by a customer of another warehouse.
    RemotePayments,
    /// Share of payments whose customer is found by last name.
    PaymentsByName,
    /// Share of Order-Status whose customer is found by last name.
    OrderStatusesByName,
}

/// How a share stands to its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Within the bounds.
    Within,
    /// Outside, and no farther from the right share than chance takes so few: within four standard deviations.
    Chance,
    /// Outside, and not by chance: the generator is wrong.
    Outside,
}

/// A bounded share with what was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Which.
    pub rule: Rule,
    /// The least, a share.
    pub least: f64,
    /// The most, a share.
    pub most: f64,
    /// What the generator aims at.
    pub nominal: f64,
    /// What was found, a share.
    pub found: f64,
    /// Of how many.
    pub of: u64,
    /// What that means.
    pub judgement: Judgement,
}

/// Counts of what was drawn; those of workers are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    kinds: [u64; 5],
    rollbacks: u64,
    lines: u64,
    lines_of_order: [u64; 16],
    remote_lines: u64,
    remote_payments: u64,
    payments_by_name: u64,
    order_statuses_by_name: u64,
}

/// Shares of the deck of 23 cards.
const TEN_CARDS: f64 = 10.0 / 23.0;
const ONE_CARD: f64 = 1.0 / 23.0;

impl Audit {
    /// Counts a transaction.
    pub fn add(&mut self, input: &Input) {
        self.kinds[input.kind() as usize] += 1;
        match input {
            Input::NewOrder(order) => {
                self.rollbacks += u64::from(order.is_to_fail());
                self.lines += order.lines.len() as u64;
                self.lines_of_order[order.lines.len().min(15)] += 1;
                let remote = order.lines.iter().filter(|line| line.supply_warehouse != order.warehouse).count();
                self.remote_lines += remote as u64;
            }
            Input::Payment(paid) => {
                self.remote_payments += u64::from(paid.customer_warehouse != paid.warehouse);
                self.payments_by_name += u64::from(matches!(paid.customer, By::LastName(_)));
            }
            Input::OrderStatus(asked) => {
                self.order_statuses_by_name += u64::from(matches!(asked.customer, By::LastName(_)));
            }
            Input::Delivery(_) | Input::StockLevel(_) => {}
        }
    }

    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: &Audit) {
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.kinds, &other.kinds);
        add(&mut self.lines_of_order, &other.lines_of_order);
        self.rollbacks += other.rollbacks;
        self.lines += other.lines;
        self.remote_lines += other.remote_lines;
        self.remote_payments += other.remote_payments;
        self.payments_by_name += other.payments_by_name;
        self.order_statuses_by_name += other.order_statuses_by_name;
    }

    /// Transactions of `kind`.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Orders that have `lines` lines: 5 to 15 are equally probable.
    #[must_use]
    pub fn orders_with(&self, lines: usize) -> u64 {
        self.lines_of_order.get(lines).copied().unwrap_or(0)
    }

    /// All bounds with what was found. Those of remote work are left out where one warehouse makes it impossible, and each
    /// that nothing was counted for.
    #[must_use]
    pub fn bounds(&self, warehouses: u32) -> Vec<Bound> {
        let all: u64 = self.kinds.iter().sum();
        let orders = self.count(Kind::NewOrder);
        let payments = self.count(Kind::Payment);
        let statuses = self.count(Kind::OrderStatus);
        // (rule, least, most, nominal, found, of)
        let mut rows = vec![
            (Rule::Payments, 0.43, 1.0, TEN_CARDS, payments, all),
            (Rule::OrderStatuses, 0.04, 1.0, ONE_CARD, statuses, all),
            (Rule::Deliveries, 0.04, 1.0, ONE_CARD, self.count(Kind::Delivery), all),
            (Rule::StockLevels, 0.04, 1.0, ONE_CARD, self.count(Kind::StockLevel), all),
            (Rule::Rollbacks, 0.009, 0.011, 0.01, self.rollbacks, orders),
            // 9.5 to 10.5 of 15 lines.
            (Rule::LinesPerOrder, 9.5 / 15.0, 10.5 / 15.0, 10.0 / 15.0, self.lines, orders * 15),
            (Rule::PaymentsByName, 0.57, 0.63, 0.60, self.payments_by_name, payments),
            (Rule::OrderStatusesByName, 0.57, 0.63, 0.60, self.order_statuses_by_name, statuses),
        ];
        if warehouses > 1 {
            rows.push((Rule::RemoteLines, 0.0095, 0.0105, 0.01, self.remote_lines, self.lines));
            rows.push((Rule::RemotePayments, 0.14, 0.16, 0.15, self.remote_payments, payments));
        }
        rows.retain(|&(.., of)| of > 0);
        rows.into_iter()
            .map(|(rule, least, most, nominal, found, of)| {
                // Lines of one order belong together: chance has as many draws as there are orders. A share that is there or
                // not spreads wider than 5 to 15 of 15 do, so this allows rather too much.
                let independent = if rule == Rule::LinesPerOrder { orders } else { of };
                let found = found as f64 / of as f64;
                let spread = (nominal * (1.0 - nominal) / independent as f64).sqrt();
                let judgement = if (least..=most).contains(&found) {
                    Judgement::Within
                } else if (found - nominal).abs() <= 4.0 * spread {
                    Judgement::Chance
                } else {
                    Judgement::Outside
                };
                Bound { rule, least, most, nominal, found, of, judgement }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Home, Inputs};
    use crate::nurand::Constants;
    use crate::scale::Scale;
    use std::num::NonZeroU32;

    fn audit_of(transactions: u32, seed: u64, change: impl Fn(&mut Input)) -> Audit {
        let scale = Scale { warehouses: NonZeroU32::new(8).expect("not 0") };
        let constants = Constants { last_name: 223, customer: 259, item: 7911 };
        let mut whole = Audit::default();
        for worker in 0..4 {
            let mut inputs = Inputs::new(seed, worker, scale, constants, Home::Fixed);
            let mut own = Audit::default();
            for _ in 0..transactions / 4 {
                let mut input = inputs.draw();
                change(&mut input);
                own.add(&input);
            }
            whole.merge(&own);
        }
        whole
    }

    #[test]
    fn all_bounds_of_clause_9_2_hold_over_100_000_transactions() {
        for seed in 1..=3 {
            let audit = audit_of(100_000, seed, |_| {});
            let bounds = audit.bounds(8);
            assert_eq!(bounds.len(), 10);
            for bound in bounds {
                assert_eq!(bound.judgement, Judgement::Within, "seed {seed}: {bound:?}");
            }
            let orders = audit.count(Kind::NewOrder);
            for lines in 5..=15 {
                let share = audit.orders_with(lines) as f64 / orders as f64;
                assert!((share - 1.0 / 11.0).abs() < 0.01, "{lines} lines: {share}");
            }
        }
    }

    #[test]
    fn a_generator_without_remote_lines_or_rollbacks_is_found_out() {
        let audit = audit_of(100_000, 1, |input| {
            if let Input::NewOrder(order) = input {
                for line in &mut order.lines {
                    line.supply_warehouse = order.warehouse;
                    line.item = line.item.min(crate::scale::ITEMS);
                }
            }
        });
        let bounds = audit.bounds(8);
        let wrong: Vec<Rule> = bounds.iter().filter(|b| b.judgement == Judgement::Outside).map(|b| b.rule).collect();
        assert_eq!(wrong, [Rule::Rollbacks, Rule::RemoteLines]);
    }

    #[test]
    fn few_transactions_are_outside_by_chance_and_none_say_nothing() {
        // 230 transactions have 100 new orders: 0, 2 or more roll back as a rule, and none of it is an error.
        for seed in 0..20 {
            let bounds = audit_of(232, seed, |_| {}).bounds(8);
            assert!(bounds.iter().all(|b| b.judgement != Judgement::Outside), "seed {seed}: {bounds:?}");
        }
        assert!(Audit::default().bounds(8).is_empty());
        let alone = audit_of(1_000, 1, |_| {}).bounds(1);
        assert!(alone.iter().all(|b| !matches!(b.rule, Rule::RemoteLines | Rule::RemotePayments)));
    }
}
