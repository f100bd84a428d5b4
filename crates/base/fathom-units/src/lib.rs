//! Not furnished yet.
