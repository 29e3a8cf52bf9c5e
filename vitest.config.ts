import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts"],
    // Two cores: one process per core keeps the suite fast without starving the worker threads that the store starts.
    maxWorkers: 2,
    testTimeout: 20_000,
    setupFiles: ["test/setup.ts"],
  },
});
