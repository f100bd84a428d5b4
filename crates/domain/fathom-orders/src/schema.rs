//! The nine tables as columns, the same for every database (clause 1.3).
//!
//! Money is whole cents, a rate whole hundredths of a percent, a time milliseconds since 1970; the names are those of the
//! specification.

use crate::scale::Table;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A number that fits 32 bits.
    Number,
    /// A number that needs 64 bits: cents, milliseconds.
    Long,
    /// Text.
    Text,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// Whether it may be null: the carrier and the day of delivery of what is not delivered.
    pub is_optional: bool,
}

/// `name:kind` as below.
fn column(text: &'static str) -> Column {
    let (name, kind) = text.split_once(':').unwrap_or((text, "n"));
    let holds = match kind.trim_end_matches('?') {
        "t" => Holds::Text,
        "l" => Holds::Long,
        _ => Holds::Number,
    };
    Column { name, holds, is_optional: kind.ends_with('?') }
}

impl Table {
    /// Its columns in order.
    #[must_use]
    pub fn columns(self) -> Vec<Column> {
        // Kinds: none a number, l long, t text, ? may be null.
        let text = match self {
            Table::Item => "i_id i_im_id i_name:t i_price:l i_data:t",
            Table::Warehouse => "w_id w_name:t w_street_1:t w_street_2:t w_city:t w_state:t w_zip:t w_tax w_ytd:l",
            Table::District => {
                "d_w_id d_id d_name:t d_street_1:t d_street_2:t d_city:t d_state:t d_zip:t d_tax d_ytd:l d_next_o_id"
            }
            Table::Stock => {
                "s_w_id s_i_id s_quantity s_dist_01:t s_dist_02:t s_dist_03:t s_dist_04:t s_dist_05:t s_dist_06:t \
                 s_dist_07:t s_dist_08:t s_dist_09:t s_dist_10:t s_ytd s_order_cnt s_remote_cnt s_data:t"
            }
            Table::Customer => {
                "c_w_id c_d_id c_id c_first:t c_middle:t c_last:t c_street_1:t c_street_2:t c_city:t c_state:t c_zip:t \
                 c_phone:t c_since:l c_credit:t c_credit_lim:l c_discount c_balance:l c_ytd_payment:l c_payment_cnt \
                 c_delivery_cnt c_data:t"
            }
            Table::History => "h_c_id h_c_d_id h_c_w_id h_d_id h_w_id h_date:l h_amount:l h_data:t",
            Table::Orders => "o_w_id o_d_id o_id o_c_id o_entry_d:l o_carrier_id:n? o_ol_cnt o_all_local",
            Table::OrderLine => {
                "ol_w_id ol_d_id ol_o_id ol_number ol_i_id ol_supply_w_id ol_delivery_d:l? ol_quantity ol_amount:l \
                 ol_dist_info:t"
            }
            Table::NewOrder => "no_w_id no_d_id no_o_id",
        };
        text.split_whitespace().map(column).collect()
    }

    /// The columns of its primary key; HISTORY has none.
    #[must_use]
    pub fn primary_key(self) -> &'static [&'static str] {
        match self {
            Table::Item => &["i_id"],
            Table::Warehouse => &["w_id"],
            Table::District => &["d_w_id", "d_id"],
            Table::Stock => &["s_w_id", "s_i_id"],
            Table::Customer => &["c_w_id", "c_d_id", "c_id"],
            Table::History => &[],
            Table::Orders => &["o_w_id", "o_d_id", "o_id"],
            Table::OrderLine => &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
            Table::NewOrder => &["no_w_id", "no_d_id", "no_o_id"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_columns_of_clause_1_3_and_keys_among_them() {
        let counts = Table::ALL.map(|table| table.columns().len());
        assert_eq!(counts, [5, 9, 11, 17, 21, 8, 8, 10, 3]);
        for table in Table::ALL {
            let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            assert!(table.primary_key().iter().all(|key| names.contains(key)), "{table:?}");
        }
        let optional = |table: Table| table.columns().into_iter().filter(|c| c.is_optional).map(|c| c.name).collect();
        let optional: Vec<&str> = Table::ALL.into_iter().flat_map(|table| -> Vec<&str> { optional(table) }).collect();
        assert_eq!(optional, ["o_carrier_id", "ol_delivery_d"]);
    }
}
