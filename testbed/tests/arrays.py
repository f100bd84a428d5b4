"""Arrays over drives whose limit is known: what a level can give is then arithmetic."""

from bed import expect
from bed.guest import Guest
from bed.machines import SIX_SLOW
from bed.suite import on

# IOPS that QEMU lets each drive have, and how many there are.
EACH = 150
MEMBERS = 6
# Member I/Os for each small write: two copies; old data and parity read, both written; the same with two parities.
COST = {"raid0": 1, "raid10": 2, "raid5": 4, "raid6": 6}


@on(SIX_SLOW)
def a_level_over_members_of_known_iops_has_the_ceiling_that_arithmetic_gives(guest: Guest) -> None:
    devices = [guest.device(f"TBM{i}") for i in range(MEMBERS)]
    targets = " ".join(f"--target {device} --destroy TBM{i}" for i, device in enumerate(devices))
    # The first second has the throttles' stored-up burst in it.
    length = "--set runtime=4 --set ramp_time=1500ms --set bs=4k --set numjobs=1 --set iodepth=64"
    parts = "--only members --only small"
    document = guest.fathom_json(f"run raid {targets} {parts} {length} --quiet --json")
    steps = {step["index"]: step for step in document["steps"]}
    alone = [step for step in document["steps"] if len(step["targets"]) == MEMBERS and step["pattern"] == "random"]
    expect.equal(len(alone), 2, "steps of the members alone")
    for step in alone:
        expect.within(step["iops"], EACH * MEMBERS, 0.03, step["label"])
    seen = {}
    for array in document["arrays"]:
        step = steps[array["step"]]
        cost = 1 if step["read_pct"] == 100 else COST[array["level"]]
        expect.equal(round(array["member_reads"] + array["member_writes"], 2), cost, f"member I/Os of {step['label']}")
        expect.within(array["ceiling_iops"], EACH * MEMBERS / cost, 0.03, f"ceiling of {step['label']}")
        # What is left out of an array's own measure are places that are busier than others for a while.
        assert 0.85 < step["iops"] / array["ceiling_iops"] < 1.05, f"{step['label']}: {step['iops']} of {array['ceiling_iops']}"
        seen[array["level"], step["read_pct"]] = step["iops"]
    expect.equal(sorted(seen), sorted((level, share) for level in COST for share in (0, 100)), "what was measured")
    headline = document["verdict"][0]["brief"]["headline"]
    assert "members allow" in str(headline), headline
