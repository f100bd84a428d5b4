//! Which transaction is next: a shuffled deck (clause 5.2.4.2).

use crate::draw::shuffle;
use fathom_random::Rng;

/// The five transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Enters an order of 5 to 15 lines; the one that NOPM counts.
    NewOrder,
    /// Takes a payment of a customer.
    Payment,
    /// Reads the last order of a customer.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts items of recent orders that run low.
    StockLevel,
}

impl Kind {
    /// All, by their number in the mix.
    pub const ALL: [Kind; 5] = [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// Its name in results and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new-order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order-status",
            Kind::Delivery => "delivery",
            Kind::StockLevel => "stock-level",
        }
    }

    /// Cards of it in the deck of 23: 43.5 % each of the first two, 4.35 % of the others, above the least of 5.2.3.
    #[must_use]
    pub fn cards(self) -> usize {
        match self {
            Kind::NewOrder | Kind::Payment => 10,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 1,
        }
    }
}

/// A deck of 23 cards, shuffled anew when it is used up: after each deck the mix is exact.
#[derive(Clone, Debug)]
pub struct Deck {
    cards: Vec<Kind>,
    next: usize,
}

impl Deck {
    pub(crate) fn new() -> Self {
        let cards: Vec<Kind> = Kind::ALL.into_iter().flat_map(|kind| std::iter::repeat_n(kind, kind.cards())).collect();
        let next = cards.len();
        Deck { cards, next }
    }

    pub(crate) fn draw(&mut self, rng: &mut Rng) -> Kind {
        if self.next == self.cards.len() {
            shuffle(rng, &mut self.cards);
            self.next = 0;
        }
        self.next += 1;
        self.cards[self.next - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deck_has_the_whole_mix_in_another_order() {
        let mut rng = Rng::new(2, 0);
        let mut deck = Deck::new();
        let mut one = || (0..23).map(|_| deck.draw(&mut rng)).collect::<Vec<_>>();
        let decks = [one(), one(), one()];
        for deck in &decks {
            let counts = Kind::ALL.map(|kind| deck.iter().filter(|&&k| k == kind).count());
            assert_eq!(counts, [10, 10, 1, 1, 1]);
        }
        assert!(decks[0] != decks[1] && decks[1] != decks[2]);
    }
}
