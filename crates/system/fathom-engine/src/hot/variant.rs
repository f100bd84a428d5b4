//! What a loop is compiled for: what it does not do must not cost it anything.

/// A kind of load, known when the loop is compiled.
pub(crate) trait Variant {
    /// I/Os are made by arrivals.
    const OPEN: bool;
    /// Every I/O has stamps of its own. So have those of a load with syncs, beside whose time a stamp is nothing: the plain
    /// loop stays free of them.
    const PARANOID: bool;
    /// The thread may drive several targets.
    const MANY: bool;
}

macro_rules! variants {
    ($($(#[$doc:meta])* $name:ident: $open:literal, $paranoid:literal, $many:literal;)*) => {
        $($(#[$doc])*
        pub(crate) struct $name;

        impl Variant for $name {
            const OPEN: bool = $open;
            const PARANOID: bool = $paranoid;
            const MANY: bool = $many;
        })*
    };
}

variants! {
    /// The fastest: a closed loop on one target.
    Plain: false, false, false;
    /// A closed loop.
    Closed: false, false, true;
    /// A closed loop that stamps each I/O.
    ClosedStamped: false, true, true;
    /// An open loop.
    Open: true, false, true;
    /// An open loop that stamps each I/O.
    OpenStamped: true, true, true;
}
