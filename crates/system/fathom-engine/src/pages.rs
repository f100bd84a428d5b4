//! Size of a page: 4 KiB on x86-64, up to 64 KiB elsewhere.

pub(crate) use crate::system::pages::page_bytes;

/// The whole pages of `page` bytes that hold the bytes from `first` to `end`: their first byte and the byte after the last.
#[cfg_attr(windows, allow(dead_code, reason = "asked by engines of Linux alone"))]
pub(crate) fn pages_around(first: u64, end: u64, page: usize) -> (u64, u64) {
    let page = page as u64;
    (first / page * page, end.next_multiple_of(page))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_large_as_the_kernel_says() {
        let auxiliary = std::fs::read("/proc/self/auxv").expect("the auxiliary vector");
        let words: Vec<u64> =
            auxiliary.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect();
        let stated = words.chunks_exact(2).find(|pair| pair[0] == libc::AT_PAGESZ).expect("AT_PAGESZ")[1];
        assert_eq!(page_bytes() as u64, stated);
    }

    #[test]
    fn ranges_grow_to_whole_pages_of_any_size() {
        for page in [4096, 16_384, 65_536] {
            let (first, end) = pages_around(70_000, 140_001, page);
            assert!(first <= 70_000 && end >= 140_001);
            assert!(first.is_multiple_of(page as u64) && end.is_multiple_of(page as u64), "{page}");
            assert!(70_000 - first < page as u64 && end - 140_001 < page as u64, "{page}");
            assert_eq!(pages_around(first, end, page), (first, end), "whole pages stay as they are");
        }
    }
}
