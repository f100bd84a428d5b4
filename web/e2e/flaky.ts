/** Names each test that passed only on its retry. More than three fail the run. */

import type { Reporter, TestCase } from "vitest/node";

const FLAKY_MAX = 3;

export class Flaky implements Reporter {
  private readonly names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    this.names.push(test.fullName);
    console.log(`flaky: ${test.fullName}`);
  }

  onTestRunEnd(): void {
    console.log(`${this.names.length} flaky tests (at most ${FLAKY_MAX})`);
    if (this.names.length > FLAKY_MAX) process.exitCode = 1;
  }
}
