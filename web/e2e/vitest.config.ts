import { defineConfig } from "vitest/config";

export default defineConfig({
  // Deadlines for a busy machine; a browser that stumbles once may try again.
  test: { include: ["e2e/**/*.test.ts"], testTimeout: 240_000, hookTimeout: 600_000, fileParallelism: false, retry: 1 },
});
