"""Random jobs of fio from a grammar of its keys: what is drawn, how it is written, how it is made smaller."""

import copy
import random
from dataclasses import dataclass, field

# A key and its value; None: the key stands alone.
Entry = tuple[str, str | None]


@dataclass
class Section:
    name: str
    entries: list[Entry] = field(default_factory=list)

    def values(self, key: str) -> list[str]:
        return [value or "1" for name, value in self.entries if name == key]


@dataclass
class Case:
    """Options of a command line, and job files. `command`: sections, the first of which may be `global`."""

    command: list[Section] = field(default_factory=list)
    files: list[list[Section]] = field(default_factory=list)
    has_log: bool = False

    def sections(self) -> list[Section]:
        return [*self.command, *(section for file in self.files for section in file)]

    def keys(self) -> set[str]:
        return {key for section in self.sections() for key, _ in section.entries}

    def words(self) -> list[str]:
        """The words of the command line, job files as `job0.fio`, `job1.fio`..."""
        words = []
        for at, section in enumerate(self.command):
            if at > 0 or section.name != "global":
                words.append(f"--name={section.name}")
            words += [f"--{key}" if value is None else f"--{key}={value}" for key, value in section.entries]
        return words + [f"job{at}.fio" for at in range(len(self.files))]

    def texts(self) -> dict[str, str]:
        return {f"job{at}.fio": text_of(file) for at, file in enumerate(self.files)}

    def __str__(self) -> str:
        return "\n".join([f"fio {' '.join(self.words())}"] + [f"--- {name}\n{text}" for name, text in self.texts().items()])


def text_of(sections: list[Section]) -> str:
    lines = []
    for section in sections:
        lines.append(f"[{section.name}]")
        lines += [key if value is None else f"{key}={value}" for key, value in section.entries]
    return "\n".join(lines) + "\n"


# Files that are there before each run: name and KiB.
GIVEN = {"given0": 320, "given1": 448, "given2": 384}

BLOCKS = ["4k", "1k", "2k", "512", "8k", "4096", "0x1000", "4kb", "3k"]
# Whole blocks of each size.
SIZES = ["48k", "24k", "96k", "72k", "120k", "49152", "96kb", "144k", "0xc000"]
# Sequential I/O alone may end with a part of a block.
ODD_SIZES = ["100k", "20k", "64k", "70000"]
WITHOUT_EFFECT = [
    ("nice", "0"), ("mem", "malloc"), ("lockfile", "none"), ("fadvise_hint", "1"), ("verify_state_save", "0"),
    ("create_only", "0"), ("file_append", "0"), ("unlink_each_loop", "0"), ("write_hint", "none"), ("description", "a text"),
    ("thread", None), ("randrepeat", "0"), ("refill_buffers", None), ("scramble_buffers", "0"), ("invalidate", "0"),
    ("gtod_reduce", "0"), ("disk_util", "0"), ("random_generator", "lfsr"), ("allrandrepeat", "1"), ("unique_filename", "0"),
    ("rwmixread", "50"), ("group_reporting", "0"), ("iodepth_batch", "1"), ("exitall_on_error", "0"), ("rate_min", "0"),
]  # fmt: skip


class Drawer:
    """Draws one case."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.names = 0
        self.may_have_blanks = True

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def case(self) -> Case:
        case = Case(has_log=self.chance(0.5))
        # A line of a log is parted by blanks.
        self.may_have_blanks = not case.has_log
        shape = self.rng.random()
        if shape < 0.3:
            case.command = self.job_file(2)
        elif shape < 0.85:
            case.files = [self.job_file(3)]
        elif shape < 0.93:
            case.files = [self.job_file(2), self.job_file(2)]
        else:
            case.command, case.files = [Section("global", self.some_of(self.defaults(), 2))], [self.job_file(2)]
        has_clones = any(section.values("numjobs") for section in case.sections())
        case.has_log &= not has_clones
        if case.has_log:
            self.add_logs(case)
        return case

    def some_of(self, entries: list[Entry], most: int) -> list[Entry]:
        return self.rng.sample(entries, min(len(entries), self.rng.randint(1, most)))

    def defaults(self) -> list[Entry]:
        pick = self.rng.choice
        return [
            ("bs", pick(BLOCKS)), ("size", pick(SIZES)), ("rw", pick(["read", "write", "randread", "randwrite"])),
            ("group_reporting", None), ("filename", "given2"), ("ioengine", "psync"),
            ("numjobs", "2"), ("name", "unheard"), ("buffered", "1"), ("rwmixread", "30"), ("iodepth", "2"),
        ]  # fmt: skip

    def job_file(self, most: int) -> list[Section]:
        sections = []
        if self.chance(0.6):
            sections.append(Section("global", self.some_of(self.defaults(), 3)))
        for _ in range(self.rng.randint(1, most)):
            sections.append(self.section(sections))
            if self.chance(0.1):
                sections.append(Section("global", self.some_of(self.defaults(), 2)))
        if sections[-1].name == "global":
            sections.pop()
        return sections

    def section(self, before: list[Section]) -> Section:
        rng, pick = self.rng, self.rng.choice
        self.names += 1
        section = Section(pick([f"job{self.names}", f"part-{self.names}"] + [f"j {self.names}"] * self.may_have_blanks))
        add = section.entries.append
        rw = pick(["read", "write", "randread", "randwrite", "rw", "randrw", "read", "write"])
        is_sequential, is_mixed = not rw.startswith("rand"), rw in ("rw", "randrw")
        if self.chance(0.15):
            rw += pick([":2", ":4"]) if not is_sequential else pick([":4k", ":1k", ":-4k", ":2"])
        add(("rw", rw))
        if self.chance(0.85):
            add(("bs", pick(BLOCKS)))
        elif is_sequential and self.chance(0.5):
            add(("bs", pick(["2k,1k", "4k,8k", ",2k", "1k,"])))
        named = self.chance(0.45)
        if named:
            add(("filename", pick(["given0", "given1", "new0", "given0:given1", "new0:new1"])))
            if self.chance(0.15):
                add(("filename", pick(["given2", "new2"])))
        add(("size", pick(["50%", "25%", "100%"] if named and self.chance(0.25) else SIZES + ODD_SIZES * (is_sequential and not is_mixed))))
        if self.chance(0.15):
            add(("offset", pick(["8k", "4k", "12k", "25%"])))
        if self.chance(0.2):
            add(("io_size", pick(["32k", "128k", "16k", "50%", "20k"])))
        if self.chance(0.2):
            add(("nrfiles", pick(["2", "3", "1"])))
            if self.chance(0.4):
                add(("file_service_type", pick(["roundrobin", "sequential", "roundrobin:2", "random"])))
        if self.chance(0.08):
            add(("filesize", pick(["48k", "24k"])))
        if self.chance(0.25):
            add(("numjobs", pick(["2", "3"])))
            if self.chance(0.3):
                add(("offset_increment", pick(["16k", "8k"])))
        if self.chance(0.15):
            add(("loops", pick(["2", "3"])))
        if self.chance(0.1):
            add(("number_ios", pick(["5", "12", "100"])))
        if self.chance(0.2):
            add((pick(["fsync", "fdatasync"]), pick(["1", "4", "3", "7"])))
        if self.chance(0.1):
            add((pick(["end_fsync", "fsync_on_close"]), "1"))
        if self.chance(0.1):
            add(pick([("rate_iops", "50000"), ("rate_iops", "60000,30000"), ("rate", "400m"), ("thinktime", "20")]))
        if self.chance(0.4):
            engine = pick(["psync", "libaio", "io_uring", "sync", "pvsync", "mmap"])
            add(("ioengine", engine))
            if engine in ("libaio", "io_uring") and self.chance(0.7):
                add(("iodepth", pick(["4", "8", "0x4"])))
            # Beside buffered writes to the same file the kernel may report EIO.
            if self.chance(0.3) and engine != "mmap" and not named:
                add(("direct", "1"))
        if is_mixed and self.chance(0.5):
            add(pick([("rwmixread", "0.0"), ("rwmixread", "100"), ("rwmixwrite", "25"), ("rwmixread", "80")]))
        if not is_sequential and self.chance(0.15):
            add(pick([("norandommap", None), ("random_distribution", "zipf:1.2"), ("randseed", "7")]))
        for key, share in (("group_reporting", 0.25), ("stonewall", 0.2), ("new_group", 0.1)):
            if self.chance(share):
                add((key, None))
        if self.chance(0.1):
            add(("name", pick(["called", "other"])))
        if self.chance(0.1):
            add(pick([("overwrite", "1"), ("fallocate", "none"), ("fallocate", "keep")]))
        if self.chance(0.05):
            add(("filename_format", pick(["$jobname-$jobnum-$filenum", "f.$jobnum.$filenum.$jobname"])))
        if self.chance(0.06):
            add(pick([("zero_buffers", None), ("buffer_pattern", "0x5a"), ("buffered", pick("01"))]))
        waited = [job.name for job in before if job.name != "global" and not job.values("name")]
        if waited and self.chance(0.06):
            add(("wait_for", pick(waited)))
        section.entries += self.some_of(WITHOUT_EFFECT, 2) if self.chance(0.3) else []
        rng.shuffle(section.entries)
        defaults = {key for other in before if other.name == "global" for key, _ in other.entries}
        self.leave_out_known(section, defaults)
        return section

    @staticmethod
    def leave_out_known(section: Section, defaults: set[str]) -> None:
        """Leaves out what docs/FIO.md names as different, so that it hides nothing else."""
        keys = {key for key, _ in section.entries}
        out = set()
        has_stride = any(":" in value for value in section.values("rw"))
        files = sum(len(value.split(":")) for value in section.values("filename")) + ("filename" in defaults and "filename" in keys)
        is_odd = any(value in ODD_SIZES for value in section.values("size"))
        is_plain = section.values("rw")[0] in ("read", "write", "rw") and files < 2 and not is_odd
        if keys & {"loops", "io_size", "nrfiles", "iodepth", "number_ios"} or not is_plain:
            # fio adds a sync where a pass ends before the size is reached.
            out |= {"fsync", "fdatasync"}
        if "io_size" in keys:
            out |= {"loops", "nrfiles"}
        if has_stride or is_odd:
            # Where a pass ends decides where the next begins.
            out.add("loops")
        if has_stride and files > 1:
            # It goes round each file where that ends.
            section.entries = [(key, value.split(":")[0] if key == "rw" else value) for key, value in section.entries]
        if has_stride and is_odd:
            section.entries = [(key, "96k" if key == "size" else value) for key, value in section.entries]
        if "filename" not in keys | defaults or "new0" in str(section.values("filename")):
            # A share of a file that is yet to be made.
            out |= {"offset"}
            section.entries = [(key, "96k" if key == "size" and "%" in value else value) for key, value in section.entries]
        if keys & {"io_size", "number_ios", "norandommap", "random_distribution"} or has_stride or is_odd:
            # A file without space grows in fio with its writes.
            out.add("fallocate")
        if files > 1 or "nrfiles" in keys:
            # Whole blocks of each size for 1, 2 or 3 files.
            section.entries = [(key, "288k" if key == "size" else value) for key, value in section.entries]
            out |= {"offset", "io_size"}
        section.entries = [(key, value) for key, value in section.entries if key not in out]

    @staticmethod
    def add_logs(case: Case) -> None:
        """Logs of I/Os: one file for each job. Clones would share it."""
        for at, section in enumerate(s for s in case.sections() if s.name != "global"):
            section.entries.append(("write_iolog", f"log{at}"))


def drawn(seed: int, number: int) -> Case:
    """Case `number` of a seed: the same on every machine."""
    return Drawer(random.Random(f"{seed}/{number}")).case()


def smaller(case: Case) -> list[Case]:
    """The case with one part left out, for each part: larger parts first."""
    out = []

    def without(change) -> None:
        other = copy.deepcopy(case)
        change(other)
        if any(section.name != "global" for section in other.sections()):
            out.append(other)

    for at in range(len(case.files)):
        without(lambda other, at=at: other.files.pop(at))
        for number in range(len(case.files[at])):
            without(lambda other, at=at, number=number: other.files[at].pop(number))
    for number in range(len(case.command)):
        without(lambda other, number=number: other.command.pop(number))
    for number, section in enumerate(case.sections()):
        for entry in range(len(section.entries)):
            without(lambda other, number=number, entry=entry: other.sections()[number].entries.pop(entry))
    return out
