import { defineConfig } from "vitest/config";

const shared = { testTimeout: 20_000, setupFiles: ["test/setup.ts"] };
/** A suite in `test`; the files of a suite keep state in modules, so each runs in a context of its own. */
const suite = (name: string, ...folders: string[]) => ({
  test: { ...shared, name, include: folders.map((folder) => `test/${folder}/**/*.test.ts`) },
});

export default defineConfig({
  test: {
    // Two cores: one process per core keeps the suite fast without starving the worker threads that the store starts.
    maxWorkers: 2,
    projects: [
      // Tests next to the code keep no state in modules, so files share modules: loading a thousand modules for each file
      // took longer than the tests.
      {
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          isolate: false,
        },
      },
      suite("contract", "contract"),
      suite("simulation", "simulation", "seeds"),
      suite("golden", "golden"),
      suite("e2e", "e2e", "hostile", "monitoring"),
      suite("docs", "docs"),
    ],
  },
});
