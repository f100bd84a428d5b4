//! Signs of somebody's data on a block device: magics of file systems, volume managers, RAID and partition tables.
//!
//! Offsets and magics are those that libblkid(3) and each format's own documentation give. Reads only.

use std::io::{self, Read, Seek, SeekFrom};

use fathom_message::{Message, msg};

/// Something that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Word for `--destroy SERIAL:WORD`: `ext`, `xfs`, `md`...
    pub word: &'static str,
    what: Message,
}

impl Signature {
    /// For people: `an ext2/3/4 file system`.
    #[must_use]
    pub fn message(&self) -> Message {
        self.what.clone()
    }
}

/// A magic at a fixed place from the start.
struct Magic {
    at: usize,
    bytes: &'static [u8],
    signature: Signature,
}

const fn magic(at: usize, bytes: &'static [u8], word: &'static str, what: Message) -> Magic {
    Magic { at, bytes, signature: Signature { word, what } }
}

/// Bytes read from the start: covers the last ZFS uberblock of the first label.
const HEAD_BYTES: usize = 256 * 1024;
/// Bytes read from the end: covers the last two labels of ZFS, md 0.90 and the backup GPT.
const TAIL_BYTES: usize = 768 * 1024;

const MD_MAGIC: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
const MD: Signature = Signature { word: "md", what: msg!("signature-md") };
const GPT: Signature = Signature { word: "gpt", what: msg!("signature-gpt") };
const MBR: Signature = Signature { word: "mbr", what: msg!("signature-mbr") };
const ZFS: Signature = Signature { word: "zfs", what: msg!("signature-zfs") };
const IMSM: Signature = Signature { word: "imsm", what: msg!("signature-imsm") };
const DDF: Signature = Signature { word: "ddf", what: msg!("signature-ddf") };

const MAGICS: &[Magic] = &[
    magic(1080, &[0x53, 0xEF], "ext", msg!("signature-ext")),
    magic(0, b"XFSB", "xfs", msg!("signature-xfs")),
    magic(65_600, b"_BHRfS_M", "btrfs", msg!("signature-btrfs")),
    magic(1024, &[0x10, 0x20, 0xF5, 0xF2], "f2fs", msg!("signature-f2fs")),
    magic(1024, &[0xE2, 0xE1, 0xF5, 0xE0], "erofs", msg!("signature-erofs")),
    magic(0, b"hsqs", "squashfs", msg!("signature-squashfs")),
    magic(3, b"NTFS    ", "ntfs", msg!("signature-ntfs")),
    magic(3, b"EXFAT   ", "exfat", msg!("signature-exfat")),
    magic(54, b"FAT1", "fat", msg!("signature-fat")),
    magic(82, b"FAT32", "fat", msg!("signature-fat")),
    magic(32_769, b"CD001", "iso9660", msg!("signature-iso9660")),
    magic(32_768, b"JFS1", "jfs", msg!("signature-jfs")),
    magic(65_588, b"ReIsEr", "reiserfs", msg!("signature-reiserfs")),
    magic(65_536, &[0x01, 0x16, 0x19, 0x70], "gfs2", msg!("signature-gfs2")),
    magic(4096, b"OCFSV2", "ocfs2", msg!("signature-ocfs2")),
    magic(1024, b"OCFSV2", "ocfs2", msg!("signature-ocfs2")),
    magic(2048, b"OCFSV2", "ocfs2", msg!("signature-ocfs2")),
    magic(8192, b"OCFSV2", "ocfs2", msg!("signature-ocfs2")),
    magic(1030, &[0x34, 0x34], "nilfs2", msg!("signature-nilfs2")),
    magic(1040, &[0x7F, 0x13], "minix", msg!("signature-minix")),
    magic(1040, &[0x8F, 0x13], "minix", msg!("signature-minix")),
    magic(1040, &[0x68, 0x24], "minix", msg!("signature-minix")),
    magic(1040, &[0x78, 0x24], "minix", msg!("signature-minix")),
    magic(1048, &[0x5A, 0x4D], "minix", msg!("signature-minix")),
    magic(0, &[0x45, 0x3D, 0xCD, 0x28], "cramfs", msg!("signature-cramfs")),
    magic(512, &[0x45, 0x3D, 0xCD, 0x28], "cramfs", msg!("signature-cramfs")),
    magic(32, b"ORCLDISK", "asm", msg!("signature-asm")),
    magic(32, b"NXSB", "apfs", msg!("signature-apfs")),
    magic(3, b"-FVE-FS-", "bitlocker", msg!("signature-bitlocker")),
    magic(0, b"bluestore block device", "bluestore", msg!("signature-bluestore")),
    magic(0, b"dmvdo001", "vdo", msg!("signature-vdo")),
    magic(516, b"!Stra0tis", "stratis", msg!("signature-stratis")),
    magic(4612, b"!Stra0tis", "stratis", msg!("signature-stratis")),
    magic(4086, b"S1SUSPEND", "swsuspend", msg!("signature-swsuspend")),
    magic(4086, b"ULSUSPEND", "swsuspend", msg!("signature-swsuspend")),
    // At the end of the first page, whose size is the writing machine's.
    magic(4086, b"SWAPSPACE2", "swap", msg!("signature-swap")),
    magic(8182, b"SWAPSPACE2", "swap", msg!("signature-swap")),
    magic(16_374, b"SWAPSPACE2", "swap", msg!("signature-swap")),
    magic(65_526, b"SWAPSPACE2", "swap", msg!("signature-swap")),
    // The LVM2 label may be in any of the first four sectors; its type stands 24 bytes into it.
    magic(24, b"LVM2 001", "lvm2", msg!("signature-lvm2")),
    magic(536, b"LVM2 001", "lvm2", msg!("signature-lvm2")),
    magic(1048, b"LVM2 001", "lvm2", msg!("signature-lvm2")),
    magic(1560, b"LVM2 001", "lvm2", msg!("signature-lvm2")),
    magic(0, b"LUKS\xBA\xBE", "luks", msg!("signature-luks")),
    magic(0, &MD_MAGIC, "md", msg!("signature-md")),
    magic(4096, &MD_MAGIC, "md", msg!("signature-md")),
    magic(4120, &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA], "bcache", msg!("signature-bcache")),
    magic(4120, &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9], "bcachefs", msg!("signature-bcachefs")),
    magic(508, &[0xDA, 0xBE], "sun", msg!("signature-sun")),
    magic(0, &[0x0B, 0xE5, 0xA9, 0x41], "sgi", msg!("signature-sgi")),
    magic(512, b"PM\0\0", "mac", msg!("signature-mac")),
    // GPT stands in logical block 1, of 512 or 4096 bytes.
    magic(512, b"EFI PART", "gpt", msg!("signature-gpt")),
    magic(4096, b"EFI PART", "gpt", msg!("signature-gpt")),
];

/// Everything recognised on a device or image, each sort once, in order of the tables here.
///
/// # Errors
/// As reading and seeking.
pub fn signatures_of(device: &mut (impl Read + Seek)) -> io::Result<Vec<Signature>> {
    let size_bytes = device.seek(SeekFrom::End(0))?;
    let head = read_at(device, 0, HEAD_BYTES.min(size_bytes as usize))?;
    let tail_start = size_bytes.saturating_sub(TAIL_BYTES as u64);
    let tail = read_at(device, tail_start, (size_bytes - tail_start) as usize)?;
    let at_tail = |at: u64, bytes: &[u8]| {
        at.checked_sub(tail_start).is_some_and(|from| tail.get(from as usize..).is_some_and(|t| t.starts_with(bytes)))
    };

    let at_head = |m: &&Magic| head.get(m.at..).is_some_and(|h| h.starts_with(m.bytes));
    let mut found: Vec<Signature> = MAGICS.iter().filter(at_head).map(|m| m.signature.clone()).collect();
    if has_partition_entry(&head) && !found.iter().any(|s| ["fat", "ntfs", "exfat", "gpt"].contains(&s.word)) {
        found.push(MBR);
    }
    // Two labels at the start, two at the end (of the whole 256 KiB), each with its ring of uberblocks.
    let label_at_tail = |from_end: u64| {
        let at = (size_bytes & !0x3_FFFF).checked_sub(from_end)?;
        tail.get(usize::try_from(at.checked_sub(tail_start)?).ok()?..)
    };
    let labels = [Some(&head[..]), label_at_tail(512 * 1024), label_at_tail(256 * 1024)];
    if labels.into_iter().flatten().any(has_uberblock) {
        found.push(ZFS);
    }
    // md 1.0: 8 to 12 KiB before the end, at a multiple of 4 KiB; md 0.90: the last whole 64 KiB but one.
    let sectors = size_bytes / 512;
    let md_1_0 = (sectors.saturating_sub(16) & !7) * 512;
    let md_0_90 = (size_bytes & !0xFFFF).saturating_sub(0x1_0000);
    if at_tail(md_1_0, &MD_MAGIC) || at_tail(md_0_90, &MD_MAGIC) {
        found.push(MD);
    }
    if [512, 4096].iter().any(|block| at_tail(size_bytes.saturating_sub(*block), b"EFI PART")) {
        found.push(GPT);
    }
    if at_tail(size_bytes.saturating_sub(1024), b"Intel Raid ISM Cfg Sig. ") {
        found.push(IMSM);
    }
    if at_tail(size_bytes.saturating_sub(512), &0xDE11_DE11_u32.to_be_bytes()) {
        found.push(DDF);
    }
    let mut seen = Vec::new();
    found.retain(|s| {
        !seen.contains(&s.word) && {
            seen.push(s.word);
            true
        }
    });
    Ok(found)
}

fn read_at(device: &mut (impl Read + Seek), at: u64, length: usize) -> io::Result<Vec<u8>> {
    device.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; length];
    device.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A boot sector with at least one of its four entries in use. File systems carry the same two-byte mark, so the mark
/// alone says nothing; an entry needs a type and a valid boot flag.
fn has_partition_entry(head: &[u8]) -> bool {
    head.get(510..512) == Some(&[0x55, 0xAA])
        && (0..4).any(|i| {
            let entry = &head[446 + 16 * i..462 + 16 * i];
            entry[4] != 0 && matches!(entry[0], 0 | 0x80)
        })
}

/// An uberblock of a ZFS label: 1 KiB slots in its second 128 KiB, magic 0x00bab10c in either byte order.
fn has_uberblock(label: &[u8]) -> bool {
    let magic = 0x00ba_b10c_u64;
    let ring = label.get(128 * 1024..).unwrap_or(&[]);
    ring.chunks_exact(1024).take(128).any(|slot| slot[..8] == magic.to_le_bytes() || slot[..8] == magic.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    const SIZE: usize = 1 << 20;

    fn words_of(marks: &[(usize, &[u8])]) -> Vec<&'static str> {
        let mut image = vec![0u8; SIZE];
        for (at, bytes) in marks {
            image[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        signatures_of(&mut Cursor::new(image)).expect("reads").iter().map(|s| s.word).collect()
    }

    #[test]
    fn every_magic_of_the_table_is_found_at_its_place() {
        for m in MAGICS {
            assert_eq!(words_of(&[(m.at, m.bytes)]), [m.signature.word], "{}", m.signature.word);
            assert!(words_of(&[(m.at + 1, m.bytes)]).is_empty(), "{} one byte further", m.signature.word);
        }
    }

    #[test]
    fn an_empty_device_has_no_signature() {
        assert!(words_of(&[]).is_empty());
        assert!(signatures_of(&mut Cursor::new(Vec::<u8>::new())).expect("reads").is_empty());
        assert!(signatures_of(&mut Cursor::new(vec![0u8; 512])).expect("reads").is_empty());
    }

    #[test]
    fn signatures_at_the_end_are_found() {
        assert_eq!(words_of(&[(SIZE - 8192, &MD_MAGIC)]), ["md"]);
        assert_eq!(words_of(&[(SIZE - 65_536, &MD_MAGIC)]), ["md"]);
        assert_eq!(words_of(&[(SIZE - 512, b"EFI PART")]), ["gpt"]);
        assert_eq!(words_of(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. ")]), ["imsm"]);
        assert_eq!(words_of(&[(SIZE - 512, &[0xDE, 0x11, 0xDE, 0x11])]), ["ddf"]);
    }

    #[test]
    fn a_boot_mark_without_an_entry_is_no_partition_table() {
        assert!(words_of(&[(510, &[0x55, 0xAA])]).is_empty());
        assert_eq!(words_of(&[(510, &[0x55, 0xAA]), (446, &[0x80, 0, 0, 0, 0x83])]), ["mbr"]);
    }

    #[test]
    fn a_protective_boot_sector_beside_a_gpt_is_one_finding() {
        let marks: &[(usize, &[u8])] =
            &[(510, &[0x55, 0xAA]), (446, &[0, 0, 0, 0, 0xEE]), (512, b"EFI PART"), (SIZE - 512, b"EFI PART")];
        assert_eq!(words_of(marks), ["gpt"]);
    }

    #[test]
    fn an_uberblock_in_either_byte_order_is_zfs() {
        let magic = 0x00ba_b10c_u64;
        assert_eq!(words_of(&[(128 * 1024 + 5 * 1024, &magic.to_le_bytes())]), ["zfs"]);
        assert_eq!(words_of(&[(255 * 1024, &magic.to_be_bytes())]), ["zfs"]);
        for label in [SIZE - 512 * 1024, SIZE - 256 * 1024] {
            assert_eq!(words_of(&[(label + 128 * 1024, &magic.to_le_bytes())]), ["zfs"]);
        }
    }

    proptest! {
        #[test]
        fn any_content_of_any_size_is_read_without_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..4096), size in 0usize..200_000,
        ) {
            let mut image = vec![0u8; size.max(bytes.len())];
            image[..bytes.len()].copy_from_slice(&bytes);
            prop_assert!(signatures_of(&mut Cursor::new(image)).is_ok());
        }
    }
}
