//! Lists of records by column: the same field of every record beside each other, where it deflates to half of what it
//! takes record by record. `web/src/columns.ts` puts the records together again.

use serde_json::{Map, Value, json};

/// Lists of a document that are worth it: a record for every step.
const LISTS: [&str; 3] = ["/steps", "/run/plan/steps", "/run/fio_commands"];

/// Puts the lists of a document by column: `{"count": n, "column": COLUMN}`.
pub(super) fn by_column(document: &mut Value) {
    for list in LISTS {
        if let Some(Value::Array(records)) = document.pointer_mut(list) {
            let records: Vec<Option<Value>> = std::mem::take(records).into_iter().map(Some).collect();
            let count = records.len();
            if let Some(place) = document.pointer_mut(list) {
                *place = json!({ "count": count, "column": column(records) });
            }
        }
    }
}

/// What one field is in every record; `None`: the record does not have it. One of
/// - `[VALUE, ...]`, one for each record;
/// - `{"each": VALUE}`, the same for each;
/// - `{"of": {FIELD: COLUMN}}`, objects, their fields by column in turn;
///
/// the objects with `"is"` where some are not there: a letter for each record, `o` there, `n` null, `.` without the field.
fn column(values: Vec<Option<Value>>) -> Value {
    let is: String = values.iter().map(kind).collect();
    if is.contains('o') && !is.contains('v') {
        let objects: Vec<Map<String, Value>> = values
            .into_iter()
            .filter_map(|value| match value {
                Some(Value::Object(fields)) => Some(fields),
                _ => None,
            })
            .collect();
        return marked(&is, 'o', "of", fields(objects));
    }
    if is.contains('.') {
        return marked(&is, 'v', "all", values.into_iter().flatten().collect());
    }
    let values: Vec<Value> = values.into_iter().flatten().collect();
    match values.first() {
        Some(first) if values.len() > 1 && values.iter().all(|value| value == first) => json!({ "each": first }),
        _ => Value::Array(values),
    }
}

fn kind(value: &Option<Value>) -> char {
    match value {
        None => '.',
        Some(Value::Null) => 'n',
        Some(Value::Object(_)) => 'o',
        Some(_) => 'v',
    }
}

fn marked(is: &str, usual: char, name: &str, held: Value) -> Value {
    let mut out = Map::from_iter([(name.to_owned(), held)]);
    if is.chars().any(|kind| kind != usual) {
        out.insert("is".to_owned(), is.into());
    }
    Value::Object(out)
}

/// The fields of objects by column, in the order in which they are first met.
fn fields(mut objects: Vec<Map<String, Value>>) -> Value {
    let mut names: Vec<String> = Vec::new();
    for object in &objects {
        for name in object.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let of = names.into_iter().map(|name| {
        let values = objects.iter_mut().map(|object| object.get_mut(&name).map(Value::take)).collect();
        let held = column(values);
        (name, held)
    });
    Value::Object(of.collect())
}

/// What [`by_column`] has put by column, record by record again.
#[cfg(test)]
pub(super) fn by_record(document: &mut Value) {
    for list in LISTS {
        if let Some(place) = document.pointer_mut(list)
            && let (Some(count), Some(held)) = (place["count"].as_u64(), place.get("column"))
        {
            *place = records(held, usize::try_from(count).expect("a count")).into_iter().flatten().collect();
        }
    }
}

#[cfg(test)]
fn records(column: &Value, count: usize) -> Vec<Option<Value>> {
    if let Some(list) = column.as_array() {
        return list.iter().cloned().map(Some).collect();
    }
    if let Some(value) = column.get("each") {
        return vec![Some(value.clone()); count];
    }
    let is: Vec<char> = column.get("is").map_or(vec!['o'; count], |is| is.as_str().expect("letters").chars().collect());
    let held = is.iter().filter(|kind| matches!(kind, 'o')).count();
    let mut there = match (column.get("of"), column.get("all")) {
        (Some(Value::Object(of)), _) => {
            let mut objects = vec![Map::new(); held];
            for (name, column) in of {
                for (object, value) in objects.iter_mut().zip(records(column, held)) {
                    object.extend(value.map(|value| (name.clone(), value)));
                }
            }
            objects.into_iter().map(Value::Object).collect::<Vec<_>>().into_iter()
        }
        (_, Some(Value::Array(all))) => {
            let mut all = all.clone().into_iter();
            return is.iter().map(|kind| if *kind == '.' { None } else { all.next() }).collect();
        }
        _ => panic!("no column: {column}"),
    };
    is.iter()
        .map(|kind| match kind {
            '.' => None,
            'n' => Some(Value::Null),
            _ => there.next(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c.]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]|is|of|each|all", inner, 0..4)
                    .prop_map(|of| Value::Object(of.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_list_of_records_comes_back(steps in prop::collection::vec(anything(), 0..6)) {
            let document = json!({ "steps": steps, "run": { "plan": { "steps": [] }, "fio_commands": [1] } });
            let mut columns = document.clone();
            by_column(&mut columns);
            prop_assert!(columns["steps"].is_object());
            by_record(&mut columns);
            prop_assert_eq!(columns, document);
        }
    }

    #[test]
    fn a_field_that_is_the_same_everywhere_stands_once() {
        let mut document = json!({ "steps": [{ "op": "read", "lat": { "p50": 1 } }, { "op": "read", "lat": null }, { "op": "read" }] });
        by_column(&mut document);
        let of = json!({ "op": { "each": "read" }, "lat": { "of": { "p50": [1] }, "is": "on." } });
        assert_eq!(document["steps"], json!({ "count": 3, "column": { "of": of } }));
    }
}
