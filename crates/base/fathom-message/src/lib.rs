//! What is said to people: an id with its arguments. The words of each language belong to the front
//! (`fathom-language`), so that nothing below it holds, compares or parses a sentence.
//!
//! ```
//! use fathom_message::{Message, Quantity, msg};
//!
//! let message = msg!("guard-mounted", path = "/dev/sdb1", mount = "/data");
//! assert_eq!(message.id(), "guard-mounted");
//! assert_eq!(message.to_string(), "guard-mounted(path=/dev/sdb1, mount=/data)");
//! let rate = msg!("limit-device", iops = Quantity::iops(84_700.0).with_ci95(Some([80_500.0, 88_900.0])));
//! assert_ne!(message, rate);
//! ```

mod arg;
mod message;
mod place;
mod say;
mod unit;

pub use arg::{Arg, Join};
pub use message::{Message, VERBATIM};
pub use place::Place;
pub use say::Say;
pub use unit::{Quantity, Unit};
