//! What an error says.

use crate::message::Message;

/// Something that can be said to people, with what to do about it: every error that reaches them.
pub trait Say {
    /// What is wrong and why, in one message.
    fn message(&self) -> Message;

    /// What to do about it; `None` where the message says all.
    fn help(&self) -> Option<Message> {
        None
    }
}

/// Makes a type that implements [`Say`] an error whose `Display` is the id of its message with the arguments: for logs and
/// for programmers. People get the words from the front.
#[macro_export]
macro_rules! say_error {
    ($($type:ty),+ $(,)?) => {
        $(impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&$crate::Say::message(self), f)
            }
        }

        impl ::std::error::Error for $type {})+
    };
}
