/** Runs tests of one of upstream's compiled suites, each in a separate process for isolation. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "./catalogue.ts";
import { readOutcome } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";

export interface SuiteOptions {
  /** The compiled suite. */
  binary: string;
  /** In the environment of every test; a suite may need it as a flag as well. */
  kubeconfig: string;
  /** The flags for this test, besides output flags. */
  flagsOf(test: Test): readonly string[];
  /** How many run in parallel; serial tests run alone after the others. */
  jobs: number;
  limitMs: number;
  /** An existing directory for the full output of each test. */
  logs: string;
  onResult(result: TestResult, done: number): void;
}

export interface TestResult extends Outcome {
  test: Test;
  seconds: number;
}

/** How long a test may clean up after its limit before it is killed. */
const GRACE_MS = 10_000;

export async function runSuite(tests: readonly Test[], options: SuiteOptions): Promise<TestResult[]> {
  const results: TestResult[] = [];
  const runAll = async (queue: Test[], jobs: number): Promise<void> => {
    const worker = async (): Promise<void> => {
      for (let test = queue.shift(); test; test = queue.shift()) {
        const result = await runTest(test, options);
        results.push(result);
        options.onResult(result, results.length);
      }
    };
    await Promise.all(Array.from({ length: jobs }, worker));
  };
  await runAll(
    tests.filter(({ serial }) => !serial),
    options.jobs,
  );
  await runAll(
    tests.filter(({ serial }) => serial),
    1,
  );
  return results.toSorted((a, b) => a.test.name.localeCompare(b.test.name));
}

async function runTest(test: Test, options: SuiteOptions): Promise<TestResult> {
  const started = performance.now();
  const { output, timedOut } = await runProcess(options, [
    ...options.flagsOf(test),
    "--ginkgo.no-color",
    "--ginkgo.silence-skips",
  ]);
  writeFileSync(
    join(options.logs, `${`${test.suite} ${test.name}`.replaceAll(/[^\w-]+/g, "-").slice(0, 150)}.log`),
    output.replaceAll(/^S+$/gm, ""),
  );
  return { test, ...readOutcome(output, timedOut), seconds: (performance.now() - started) / 1000 };
}

function runProcess(
  { binary, kubeconfig, limitMs }: SuiteOptions,
  flags: readonly string[],
): Promise<{ output: string; timedOut: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, flags, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, KUBECONFIG: kubeconfig },
    });
    let output = "";
    let timedOut = false;
    const stop = setTimeout(() => {
      timedOut = true;
      child.kill("SIGINT");
    }, limitMs);
    const kill = setTimeout(() => child.kill("SIGKILL"), limitMs + GRACE_MS);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(stop);
      clearTimeout(kill);
      resolve({ output, timedOut });
    });
  });
}

/** A regular expression that matches only this text. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
