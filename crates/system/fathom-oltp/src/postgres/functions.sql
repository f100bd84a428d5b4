-- The five transactions, each one call (clauses 2.4.2 to 2.8.2). What the inputs are, the client draws.

CREATE FUNCTION fathom_customer(w int, d int, by_id int, by_name text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    found int[];
BEGIN
    IF by_id IS NOT NULL THEN
        RETURN by_id;
    END IF;
    -- Of those with the name the one in the middle, by first name; counted from 1 it is n / 2 rounded up (2.5.2.2).
    SELECT array_agg(c_id ORDER BY c_first) INTO STRICT found
        FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = by_name;
    RETURN found[(cardinality(found) + 1) / 2];
END $$;

CREATE FUNCTION fathom_new_order(w int, d int, c int, items int[], supplies int[], pieces int[], now_ms bigint)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    id int;
    d_rate int;
    w_rate int;
    discount int;
    price bigint;
    info text;
    line int;
    total bigint := 0;
    all_local int := 1;
BEGIN
    SELECT w_tax INTO STRICT w_rate FROM warehouse WHERE w_id = w;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
        RETURNING d_next_o_id - 1, d_tax INTO STRICT id, d_rate;
    SELECT c_discount INTO STRICT discount FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    FOR line IN 1 .. cardinality(items) LOOP
        IF supplies[line] <> w THEN
            all_local := 0;
        END IF;
    END LOOP;
    INSERT INTO orders VALUES (w, d, id, c, now_ms, NULL, cardinality(items), all_local);
    INSERT INTO new_order VALUES (w, d, id);
    FOR line IN 1 .. cardinality(items) LOOP
        SELECT i_price INTO price FROM item WHERE i_id = items[line];
        IF NOT FOUND THEN
            -- An unused item: the whole order is rolled back (2.4.1.5).
            RAISE EXCEPTION USING ERRCODE = 'FO001', MESSAGE = 'unused item';
        END IF;
        UPDATE stock SET s_quantity = s_quantity - pieces[line]
                + CASE WHEN s_quantity >= pieces[line] + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + pieces[line], s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN supplies[line] = w THEN 0 ELSE 1 END
            WHERE s_w_id = supplies[line] AND s_i_id = items[line]
            RETURNING CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO STRICT info;
        INSERT INTO order_line VALUES
            (w, d, id, line, items[line], supplies[line], NULL, pieces[line], price * pieces[line], info);
        total := total + price * pieces[line];
    END LOOP;
    total := total * (10000 - discount) / 10000 * (10000 + w_rate + d_rate) / 10000;
    RETURN id;
END $$;

CREATE FUNCTION fathom_payment(
    w int, d int, c_w int, c_d int, by_id int, by_name text, cents bigint, now_ms bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c int;
    w_text text;
    d_text text;
    balance bigint;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + cents WHERE w_id = w RETURNING w_name INTO STRICT w_text;
    UPDATE district SET d_ytd = d_ytd + cents WHERE d_w_id = w AND d_id = d RETURNING d_name INTO STRICT d_text;
    c := fathom_customer(c_w, c_d, by_id, by_name);
    -- Of bad credit: what was paid stands before the data, which keep their 500 characters (2.5.2.2).
    UPDATE customer SET c_balance = c_balance - cents, c_ytd_payment = c_ytd_payment + cents,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE c_credit WHEN 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, d, w, cents) || '|' || c_data, 500) ELSE c_data END
        WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c RETURNING c_balance INTO STRICT balance;
    INSERT INTO history VALUES (c, c_d, c_w, d, w, now_ms, cents, w_text || '    ' || d_text);
    RETURN balance;
END $$;

CREATE FUNCTION fathom_order_status(w int, d int, by_id int, by_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c int;
    id int;
    balance bigint;
    amount bigint;
BEGIN
    c := fathom_customer(w, d, by_id, by_name);
    SELECT c_balance INTO STRICT balance FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    SELECT o_id INTO STRICT id FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
    SELECT sum(ol_amount) INTO STRICT amount FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = id;
    RETURN amount;
END $$;

CREATE FUNCTION fathom_delivery(w int, carrier int, now_ms bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    d int;
    c int;
    id int;
    amount bigint;
    skipped int := 0;
BEGIN
    FOR d IN 1 .. 10 LOOP
        LOOP
            SELECT min(no_o_id) INTO id FROM new_order WHERE no_w_id = w AND no_d_id = d;
            EXIT WHEN id IS NULL;
            DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = id;
            -- Another delivery may have taken it while this one waited: then the next.
            EXIT WHEN FOUND;
        END LOOP;
        IF id IS NULL THEN
            skipped := skipped + 1;
            CONTINUE;
        END IF;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = id
            RETURNING o_c_id INTO STRICT c;
        WITH delivered AS (
            UPDATE order_line SET ol_delivery_d = now_ms WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = id
            RETURNING ol_amount
        ) SELECT sum(ol_amount) INTO STRICT amount FROM delivered;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    END LOOP;
    RETURN skipped;
END $$;

CREATE FUNCTION fathom_stock_level(w int, d int, threshold int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    next int;
    low bigint;
BEGIN
    SELECT d_next_o_id INTO STRICT next FROM district WHERE d_w_id = w AND d_id = d;
    SELECT count(DISTINCT s_i_id) INTO STRICT low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next - 20 AND ol_o_id < next AND s_quantity < threshold;
    RETURN low;
END $$;
