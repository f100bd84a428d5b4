import { describe, expect, it } from "vitest";
import { adviceOf, intervalsOf, limitOf, nameOf, nextOf } from "../src/brief";
import { splitOptions, withUnits } from "../src/dom";
import { count3 } from "../src/format";
import { quick } from "./fixture";
import { surfaceRun } from "./studies";

const brief = (command: string): Parameters<typeof nextOf>[0] => ({ headline: "", rows: [], next: { command, why: "why" } });

describe("the command to go on with", () => {
  it("is left out where it would make the page that is being read", () => {
    expect(nextOf(brief("fathom report 7"))).toBeNull();
    expect(nextOf(brief("fathom compare 6 7 -o compare.html"))).toBeNull();
    expect(nextOf({ headline: "", rows: [], next: null })).toBeNull();
  });

  it("stands where it leads on", () => {
    for (const command of ["fathom run --like 7 --explain", "fathom run qos --target /dev/nvme0n1", "fathom inspect"]) expect(nextOf(brief(command))?.command).toBe(command);
  });
});

describe("the first look", () => {
  const doc = quick();
  const step = doc.steps.find((s) => s.index === doc.verdict[0]!.figures[0]!.step)!;
  const look = (headline: string, limit: Partial<typeof step.limit> = {}): typeof doc => ({
    ...doc, verdict: [{ ...doc.verdict[0]!, brief: { headline, rows: [], next: null } }], steps: doc.steps.map((s) => (s === step ? { ...s, limit: { ...s.limit, name: "device", sentence: "The device is the limit.", ...limit } } : s)),
  });

  it("has the limit with its evidence, where the headline does not name the limit", () => {
    expect(limitOf(look("413k reads/s"))).toBe(`${step.label}: The device is the limit.`);
    expect(limitOf(look("413k reads/s, limited by the device (89 %)"))).toBeNull();
  });

  it("has the part that limits higher rates, where the answer is an offered rate", () => {
    expect(limitOf(look("413k reads/s", { name: "rate", sentence: "The asked rate is the limit." }))).toMatch(/^Higher rates: /);
  });

  it("has the nearest pair of rates that failed, where no part is known to limit a pair that was kept", () => {
    const run = surfaceRun();
    const kept = run.surfaces[0]!.pairs.find((q) => q.outcome === "kept")!;
    const failed = { ...kept, step: 901, reads_per_s: 1.5 * kept.reads_per_s, writes_per_s: 1.5 * kept.writes_per_s + 1e3, outcome: "not_held" as const };
    const further = { ...failed, step: 902, reads_per_s: 3 * failed.reads_per_s };
    const steps = run.steps.map((s) => ({ ...s, limit: { ...s.limit, name: "rate" as const } }));
    const verdict = [{ ...run.verdict[0]!, figures: [{ ...run.verdict[0]!.figures[0]!, step: kept.step }] }];
    const said = limitOf({ steps, verdict, surfaces: [{ ...run.surfaces[0]!, pairs: [kept, further, failed] }] });
    expect(said).toMatch(/^Higher rates: .* reads\/s, .* writes\/s: rates not sustained$/);
    expect(said).toContain(`${count3(failed.reads_per_s)} reads/s`);
  });

  it("always says what to do next", () => {
    const without = (run: typeof doc): typeof doc => ({ ...run, verdict: run.verdict.map((v) => ({ ...v, would_help: [] })) });
    expect(adviceOf(doc)).toEqual({ sentence: doc.verdict[0]!.would_help[0], command: null });
    expect(adviceOf(without(look("", { would_help: ["a faster device"] })))).toEqual({ sentence: "a faster device", command: null });
    expect(adviceOf(without(look("", { name: "rate", would_help: ["a higher rate"] }))).sentence).not.toBe("a higher rate");
    expect(adviceOf(without(look(""))).command).toBe(`fathom run --like ${doc.run.id}`);
  });

  it("breaks no number from its unit", () => {
    expect(withUnits("17.6M IOPS ±0.2 %, 100 % of ideal in 5 s by 3 sides")).toBe("17.6M\u00a0IOPS ±0.2\u00a0%, 100\u00a0% of ideal in 5\u00a0s by 3 sides");
  });

  it("breaks no option of a command at its hyphens", () => {
    expect(splitOptions("fathom run qos --time-budget=1m -o /a-b/c x-y (--runtime 3m)")).toEqual(["fathom run qos ", "--time-budget=1m", " ", "-o", " /a-b/c x-y (", "--runtime", " 3m)"]);
  });
});

describe("intervals next to the trust", () => {
  it("are named: the headline's own, the widest with its step; the reasons of the trust have the median", () => {
    const doc = quick();
    const answer = doc.steps.find((s) => s.index === doc.verdict[0]!.figures[0]!.step)!;
    const [first, second] = doc.steps.filter((s) => s.state === "measured" && s !== answer);
    const around = (x: number, share: number): [number, number] => [x * (1 - share), x * (1 + share)];
    const steps = [answer, { ...first!, iops_ci95: around(first!.iops, 0.2) }, { ...second!, iops_ci95: around(second!.iops, 1.5) }];
    const verdict = [{ ...doc.verdict[0]!, figures: [{ ...doc.verdict[0]!.figures[0]!, ci95: around(doc.verdict[0]!.figures[0]!.value, 0.1) }] }];
    expect(intervalsOf({ steps, verdict, trust: doc.trust })).toBe(`headline ±10 %, widest ±>100 % (${second!.label})`);
    expect(intervalsOf({ steps, verdict, trust: { ...doc.trust!, level: "good" } })).toBe("");
    const change = [{ ...verdict[0]!, figures: [{ ...verdict[0]!.figures[0]!, unit: "change_pct" }] }] as typeof verdict;
    expect(intervalsOf({ steps, verdict: change, trust: doc.trust })).toBe("");
    expect(limitOf({ steps, verdict: change, surfaces: [] })).toBeNull();
  });
});

describe("streams", () => {
  const doc = quick();
  const [a, b] = doc.steps.filter((s) => s.state === "measured");
  const stream = (index: number, name: string): object => ({ role: { stream: { set: 0, index, of: 2, name } } });
  const steps = [{ ...a!, ...stream(0, "A"), limit: { ...a!.limit, name: "core" as const } }, { ...b!, ...stream(1, "B"), limit: { ...b!.limit, name: "device" as const } }];

  it("have limits in their rows, and no sentence with the limit of the first one alone", () => {
    const verdict = [{ ...doc.verdict[0]!, figures: [{ ...doc.verdict[0]!.figures[0]!, step: a!.index }] }];
    expect(limitOf({ steps, verdict, surfaces: [] })).toBeNull();
  });

  it("of a command line are the name of their run; a study or a job file has its own", () => {
    const named = (study: string): string => nameOf({ run: { ...doc.run, study }, steps });
    expect([named("two"), named("io")]).toEqual(["two", `${a!.label} and 1 more`]);
  });
});
