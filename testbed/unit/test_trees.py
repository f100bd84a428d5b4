"""Captures as text."""

import io
import tarfile
import unittest

from bed import trees


def archive(files: dict[str, bytes], links: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return out.getvalue()


class Trees(unittest.TestCase):
    def lines(self, files: dict[str, bytes], links: dict[str, str] | None = None) -> list[str]:
        text = trees.manifest(archive(files, links or {}), "A machine.")
        self.assertTrue(text.startswith("# A machine.\n"))
        return text.splitlines()[1:]

    def test_text_bytes_and_links_have_their_lines(self) -> None:
        files = {"a/one": b"x\n", "a/many": b"x\ny\n", "a/empty": b"", "a/page": b"\0\1\0\0\0\0\xff\0", "a/open": b"x"}
        expected = ["a/empty = bytes:0", "a/link -> ../b", "a/many <<", "x", "y", ">>", "a/one = x", "a/open = bytes:1 0:78"]
        self.assertEqual(self.lines(files, {"a/link": "../b"}), [*expected, "a/page = bytes:8 1:01 6:ff"])

    def test_numbered_files_are_gathered_when_they_say_the_same_or_their_number(self) -> None:
        files = {f"cpu{n}/id": b"%d\n" % n for n in range(9)} | {f"cpu{n}/node": b"0\n" for n in (0, 1, 2, 4)}
        self.assertEqual(self.lines(files), ["cpu4/node = 0", "cpu{0..2}/node = 0", "cpu{0..8}/id = {}"])

    def test_of_the_processors_only_the_first_is_kept(self) -> None:
        self.assertEqual(self.lines({"proc/cpuinfo": b"a : 0\nb\n\na : 1\n\n"}), ["proc/cpuinfo <<", "a : 0", "b", ">>"])


if __name__ == "__main__":
    unittest.main()
