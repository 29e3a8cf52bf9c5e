import { defineConfig } from "vitest/config";

const shared = {
  // The longest test takes seconds; a machine that is busy with other work must not fail it.
  testTimeout: 60_000,
  setupFiles: ["test/setup.ts"],
  // Modules hold caches and tables, no state that a test could see, so the files of a suite share them in a worker:
  // loading a thousand modules for each file, and running them before they are optimized, took half of the CPU time.
  isolate: false,
  // Node loads the sources itself, as it does for `flotilla`: they need no transformation, nothing here mocks a module, and
  // tests take a seventh less CPU time than behind Vite's module runner.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Fleets on a fake clock allocate much that is soon free: a larger young generation takes 5 % less CPU time.
  execArgv: ["--max-semi-space-size=64"],
};
/** Tests beside the file that start a fleet, a server or a process; the name says their suite. */
const OTHERS = ["packages/**/*.{contract,simulation,e2e}.test.ts"];
const suite = (name: string, ...include: string[]) => ({ test: { ...shared, name, include } });
/** Its tests start the shipped command. */
const shippedSuite = (name: string, ...include: string[]) => ({
  test: { ...shared, name, include, globalSetup: ["test/shipped.ts"] },
});

export default defineConfig({
  test: {
    // Five for two cores: the tests of processes (e2e, docs) and the recordings wait as long as they compute.
    maxWorkers: 5,
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          exclude: OTHERS,
        },
      },
      shippedSuite("contract", "test/contract/**/*.test.ts", "packages/*/src/**/*.contract.test.ts"),
      suite("simulation", "test/{simulation,seeds}/**/*.test.ts", "packages/*/src/**/*.simulation.test.ts"),
      suite("golden", "test/golden/**/*.test.ts"),
      shippedSuite("e2e", "test/{e2e,hostile,monitoring}/**/*.test.ts", "packages/*/src/**/*.e2e.test.ts"),
      shippedSuite("docs", "test/docs/**/*.test.ts"),
    ],
  },
});
