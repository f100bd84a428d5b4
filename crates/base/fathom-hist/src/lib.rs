//! Log-linear latency histogram. Placeholder of the API; see below.
/// Histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram;
impl Histogram {
    /** merge */
    pub fn merge(&mut self, _o: &Histogram) {}
}
