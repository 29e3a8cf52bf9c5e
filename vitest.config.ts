import { defineConfig } from "vitest/config";

const shared = { testTimeout: 20_000, setupFiles: ["test/setup.ts"] };

export default defineConfig({
  test: {
    // Two cores: one process per core keeps the suite fast without starving the worker threads that the store starts.
    maxWorkers: 2,
    projects: [
      // Unit tests keep no state in modules, so files share them: loading a thousand modules for each file took longer
      // than the tests.
      {
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          isolate: false,
        },
      },
      { test: { ...shared, name: "system", include: ["test/**/*.test.ts"] } },
    ],
  },
});
