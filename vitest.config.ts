import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/** A file system in memory. Fleets flush every write to disk, which takes 5 ms on a disk; a killed process loses nothing here either. */
const MEMORY = "/dev/shm";
const NEEDED_BYTES = 4 * 2 ** 30;

function temporaryFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > NEEDED_BYTES ? MEMORY : tmpdir();
}

/** In this order, so that those with the longest files start first: a long file at the end leaves the other core idle. */
const SUITES = ["golden", "docs", "web", "e2e", "contract", "simulation", "unit"];
/** Files that take long for their size. Without results of an earlier run vitest starts with the largest files of a suite. */
const LONG = [
  "test/docs/guides.test.ts",
  "test/docs/pages.test.ts",
  "test/docs/lookup.test.ts",
  "test/e2e/existing-cluster.test.ts",
  "test/e2e/examples.test.ts",
  "test/e2e/fleet-cli.test.ts",
  "test/e2e/guide.test.ts",
  "test/e2e/demo.test.ts",
  "test/e2e/doctor.test.ts",
  "test/e2e/standby.test.ts",
  "test/contract/apiserver/kubectl.test.ts",
  "test/contract/engine.test.ts",
  "test/simulation/heap-growth.test.ts",
  "tools/fuzz/fuzz.test.ts",
];

const missing = LONG.filter((path) => !existsSync(new URL(path, import.meta.url)));
if (missing.length > 0) throw new Error(`vitest.config.ts names files that do not exist: ${missing.join(", ")}`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      2 * SUITES.indexOf(project.name) + (LONG.some((path) => moduleId.endsWith(path)) ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const shared = {
  // The longest test takes seconds; a machine that is busy with other work must not fail it.
  testTimeout: 60_000,
  /** The same for hooks: they start fleets and processes. By default a hook fails after 10 s, and its whole file with it. */
  hookTimeout: 60_000,
  /** What is polled for comes within milliseconds; the limit is for a machine with much else to do. */
  expect: { poll: { timeout: 20_000 } },
  setupFiles: ["test/setup.ts"],
  env: { TMPDIR: temporaryFolder() },
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
/** Tests of processes wait twice as long as they compute: six workers for two cores. */
const waiting = { ...shared, maxWorkers: 6, sequence: { groupOrder: 0 } };
/**
 * Pure computation, after the others: each worker optimizes the code for itself, so two take a seventh less CPU time than
 * five.
 */
const computing = { ...shared, maxWorkers: 2, sequence: { groupOrder: 1 } };
/** Starts the shipped command. */
const shipped = { ...waiting, globalSetup: ["test/shipped.ts"] };
const suite = (kind: object, name: string, ...include: string[]) => ({ test: { ...kind, name, include } });

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      suite({ ...computing, exclude: OTHERS }, "unit", "packages/*/src/**/*.test.ts", "tools/**/*.test.ts"),
      suite(computing, "simulation", "test/{simulation,seeds}/**/*.test.ts", "packages/*/src/**/*.simulation.test.ts"),
      suite(waiting, "golden", "test/golden/**/*.test.ts"),
      suite(shipped, "contract", "test/contract/**/*.test.ts", "packages/*/src/**/*.contract.test.ts"),
      suite(shipped, "e2e", "test/{e2e,hostile,monitoring}/**/*.test.ts", "packages/*/src/**/*.e2e.test.ts"),
      suite(shipped, "docs", "test/docs/**/*.test.ts"),
      suite(shipped, "web", "test/web/**/*.test.ts"),
    ],
  },
});
