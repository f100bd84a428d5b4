//! The twelve conditions of consistency (clause 3.3.2) as queries: joins, groups and coalesce, nothing that one database
//! alone has.

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its number in clause 3.3.2, 1 to 12.
    pub number: u8,
    /// It holds after the load alone: deliveries end it.
    pub is_of_load: bool,
    /// A query of one number: how many places (warehouses, districts, orders, customers) break it.
    pub query: &'static str,
}

/// All twelve, in order.
pub const CONDITIONS: [Condition; 12] = [
    // W_YTD = sum(D_YTD)
    always(1, "SELECT count(*) FROM warehouse WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)"),
    // D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID); the second where the district has open orders
    always(
        2,
        "SELECT count(*) FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS o_max FROM orders GROUP BY o_w_id, o_d_id) o \
         ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS no_max FROM new_order GROUP BY no_w_id, no_d_id) n \
         ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE coalesce(o_max, 0) <> d_next_o_id - 1 OR coalesce(no_max, d_next_o_id - 1) <> d_next_o_id - 1",
    ),
    // max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER
    always(
        3,
        "SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
         HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) broken",
    ),
    // sum(O_OL_CNT) = rows of ORDER-LINE
    always(
        4,
        "SELECT count(*) FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) o \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE said <> coalesce(found, 0)",
    ),
    // O_CARRIER_ID is null if and only if NEW-ORDER has the order
    always(
        5,
        "SELECT (SELECT count(*) FROM orders LEFT JOIN new_order \
         ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)) \
         + (SELECT count(*) FROM new_order LEFT JOIN orders \
         ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_id IS NULL)",
    ),
    // O_OL_CNT = rows of ORDER-LINE of the order
    always(
        6,
        "SELECT (SELECT count(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS found \
         FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(found, 0)) \
         + (SELECT count(*) FROM order_line LEFT JOIN orders \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL)",
    ),
    // OL_DELIVERY_D is null if and only if O_CARRIER_ID is
    always(
        7,
        "SELECT count(*) FROM order_line JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
         OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    ),
    // W_YTD = sum(H_AMOUNT)
    always(
        8,
        "SELECT count(*) FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h \
         ON h_w_id = w_id WHERE w_ytd <> coalesce(paid, 0)",
    ),
    // D_YTD = sum(H_AMOUNT)
    always(
        9,
        "SELECT count(*) FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history \
         GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> coalesce(paid, 0)",
    ),
    // C_BALANCE = sum(OL_AMOUNT) of what is delivered - sum(H_AMOUNT)
    always(
        10,
        "SELECT count(*) FROM customer \
         LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
         GROUP BY o_w_id, o_d_id, o_c_id) l ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history \
         GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
         WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)",
    ),
    // rows of ORDER - rows of NEW-ORDER = 2100
    Condition {
        number: 11,
        is_of_load: true,
        query: "SELECT count(*) FROM (SELECT o_w_id, o_d_id, count(*) AS entered FROM orders GROUP BY o_w_id, o_d_id) o \
                LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS still_open FROM new_order GROUP BY no_w_id, no_d_id) n \
                ON no_w_id = o_w_id AND no_d_id = o_d_id WHERE entered - coalesce(still_open, 0) <> 2100",
    },
    // C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) of what is delivered
    always(
        12,
        "SELECT count(*) FROM customer \
         LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
         GROUP BY o_w_id, o_d_id, o_c_id) l ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0)",
    ),
];

const fn always(number: u8, query: &'static str) -> Condition {
    Condition { number, is_of_load: false, query }
}
