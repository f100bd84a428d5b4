import { describe, expect, it } from "vitest";
import { nextOf } from "../src/brief";

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
