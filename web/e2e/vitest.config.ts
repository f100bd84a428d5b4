import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { Flaky } from "./flaky.ts";

/** Files by their duration: the longest start first, so that both browsers end at about the same time. */
const ORDER = ["program.test.ts", "fixtures.test.ts", "reading.test.ts", "studies.test.ts"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = (file: TestSpecification): number => ORDER.indexOf(basename(file.moduleId));
    return [...files].sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  // Two browsers at once. A test takes a few seconds, so one minute means that it hangs. A retry is counted as flaky.
  test: { include: ["e2e/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 120_000, retry: 1, maxWorkers: 2, reporters: ["default", new Flaky()], sequence: { sequencer: LongestFirst } },
});
