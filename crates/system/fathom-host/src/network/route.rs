//! Which device leads to an address, by the routes of the kernel's main table (`/proc/net/route`, `/proc/net/ipv6_route`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::root::Root;

/// A route whose destination is `bits` of `prefix`; both as numbers of 128 bits, those of IPv4 in the low 32.
struct Route<'a> {
    device: &'a str,
    prefix: u128,
    mask: u128,
    metric: u64,
}

/// Routes that are up, in the kernel's flags; those that refuse.
const UP: u64 = 0x1;
const REJECT: u64 = 0x200;

/// The device of the route with the longest prefix, of equal ones that of least cost.
pub(super) fn device_to(root: &Root, address: IpAddr) -> Option<String> {
    if address.is_loopback() {
        return Some("lo".to_owned());
    }
    let (text, number) = match address {
        IpAddr::V4(address) => (root.read("proc/net/route").ok()?, u128::from(u32::from(address))),
        IpAddr::V6(address) => (root.read("proc/net/ipv6_route").ok()?, u128::from(address)),
    };
    let parse = if address.is_ipv4() { ipv4 } else { ipv6 };
    let routes = text.lines().filter_map(parse).filter(|route| number & route.mask == route.prefix & route.mask);
    let best = routes.min_by_key(|route| (std::cmp::Reverse(route.mask.count_ones()), route.metric))?;
    Some(best.device.to_owned())
}

/// `eth0 000A000A 00000000 0001 0 0 0 00FFFFFF 0 0 0`: addresses are words in the order of this machine's bytes.
fn ipv4(line: &str) -> Option<Route<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let address = |at: usize| {
        let word = u32::from_str_radix(words.get(at)?, 16).ok()?;
        Some(u128::from(u32::from(Ipv4Addr::from(word.to_ne_bytes()))))
    };
    let flags = u64::from_str_radix(words.get(3)?, 16).ok()?;
    let route =
        Route { device: words.first()?, prefix: address(1)?, mask: address(7)?, metric: words.get(6)?.parse().ok()? };
    (flags & UP != 0 && flags & REJECT == 0).then_some(route)
}

/// `DESTINATION LENGTH SOURCE LENGTH NEXT METRIC REFERENCES USE FLAGS DEVICE`, all numbers in base 16.
fn ipv6(line: &str) -> Option<Route<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| u128::from_str_radix(words.get(at)?, 16).ok();
    let length = u32::try_from(number(1)?).ok().filter(|length| *length <= Ipv6Addr::BITS)?;
    let mask = u128::MAX.checked_shl(Ipv6Addr::BITS - length).unwrap_or(0);
    let flags = u64::try_from(number(8)?).ok()?;
    let route = Route {
        device: words.get(9)?,
        prefix: number(0)?,
        mask,
        metric: u64::try_from(number(5)?).unwrap_or(u64::MAX),
    };
    (flags & UP != 0 && flags & REJECT == 0).then_some(route)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::root::tree::Tree;

    const IPV4: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
        eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
        wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n\
        ib0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n\
        eth1\t0005000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";

    const IPV6: &str = "\
        fd000000000000000000000000000000 40 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000001 00000000 00000001     ib0\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        fe800000000000000000000000000001 00000400 00000001 00000000 00000003    eth0\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 ffffffff 00000001 00000000 00200200      lo\n";

    fn found(address: &str) -> Option<String> {
        let tree = Tree::new();
        tree.file("proc/net/route", IPV4).file("proc/net/ipv6_route", IPV6);
        device_to(&tree.root(), address.parse().expect("an address"))
    }

    #[test]
    fn the_longest_prefix_and_then_the_least_cost_decide() {
        let cases = [
            ("10.0.5.9", Some("eth1")),
            ("10.1.2.3", Some("ib0")),
            ("8.8.8.8", Some("eth0")),
            ("127.0.0.1", Some("lo")),
            ("fd00::7", Some("ib0")),
            ("2001:db8::1", Some("eth0")),
        ];
        for (address, device) in cases {
            assert_eq!(found(address).as_deref(), device, "{address}");
        }
    }

    #[test]
    fn without_a_route_no_device_is_named() {
        let tree = Tree::new();
        tree.file("proc/net/route", IPV4.lines().next().expect("a line"));
        assert_eq!(device_to(&tree.root(), "10.0.0.1".parse().expect("an address")), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[0-9A-Fa-feth\\t\\n ]{0,300}", address in any::<u32>()) {
            let tree = Tree::new();
            tree.file("proc/net/route", &text).file("proc/net/ipv6_route", &text);
            let _ = device_to(&tree.root(), IpAddr::V4(Ipv4Addr::from(address)));
            let _ = device_to(&tree.root(), IpAddr::V6(Ipv6Addr::from(u128::from(address) << 96)));
        }
    }
}
