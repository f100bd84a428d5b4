//! Orders that were acknowledged, recorded outside of the database, so that after a crash one can tell whether it kept them.
//!
//! One line an order, `W D O`, handed to the kernel before the session goes on: it outlives this process, not a power cut of
//! the machine that holds the file.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fathom_host::{create_new_file, open_to_read};

use crate::database::OrderKey;

/// The file that sessions write to.
#[derive(Debug)]
pub struct Acknowledged(Mutex<File>);

impl Acknowledged {
    /// A new file.
    ///
    /// # Errors
    /// Where the name is taken or the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Acknowledged> {
        Ok(Acknowledged(Mutex::new(create_new_file(path)?)))
    }

    /// Notes an order.
    pub(crate) fn note(&self, key: OrderKey) -> io::Result<()> {
        let line = format!("{} {} {}\n", key.warehouse, key.district, key.order);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }

    /// The orders in a file. The last line counts only if it is whole.
    ///
    /// # Errors
    /// Where the file cannot be read or holds something else.
    pub fn read(path: &Path) -> io::Result<Vec<OrderKey>> {
        let mut reader = BufReader::new(open_to_read(path)?);
        let (mut out, mut line) = (Vec::new(), String::new());
        while reader.read_line(&mut line)? > 0 {
            if !line.ends_with('\n') {
                break;
            }
            let numbers: Vec<u32> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
            let [warehouse, district, order] = numbers[..] else { return Err(io::ErrorKind::InvalidData.into()) };
            out.push(OrderKey { warehouse, district, order });
            line.clear();
        }
        Ok(out)
    }
}
