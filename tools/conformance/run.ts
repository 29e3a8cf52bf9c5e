/**
 * `npm run conformance`: upstream's end-to-end tests against a member of a temporary fleet, or against any cluster with
 * a kubeconfig. docs/conformance.md describes the method and has the last result.
 */
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { costOf, startFlotilla } from "../bench/process.ts";
import type { Test } from "./catalogue.ts";
import { runClients } from "./clients.ts";
import { kruiseSuite } from "./kruise.ts";
import { kubernetesSuite } from "./kubernetes.ts";
import type { UpstreamSuite } from "./kubernetes.ts";
import { bareNodes, makeNodes } from "./nodes.ts";
import { renderLine, renderSummary, renderTable } from "./report.ts";
import { stockKruiseSuite } from "./stock-kruise.ts";
import { runSuite } from "./suite.ts";
import type { TestResult } from "./suite.ts";

const USAGE = `Usage: npm run conformance -- [flags]

  --suite NAME       kubernetes (default) or kruise: e2e.test, or OpenKruise's kruise-e2e.test; kruise-stock: the same with a
                     stock kruise-manager instead of Flotilla's OpenKruise; clients: kubectl, helm and client libraries of
                     tools/conformance/clients
  --focus REGEX      run the tests of the whole suite whose names match; default: the list of the suite in tools/conformance
  --all              also run the listed tests that need features Flotilla does not have yet
  --part I/N         run only the I-th of N parts of the tests
  --nodes N          simulated nodes of the member (default 0, for kruise and kruise-stock 3); 0 creates two nodes that run nothing
  --start-ms MS      how long simulated pods take to start, to restart and to stop
  --kubeconfig FILE  test this cluster instead of starting one
  --jobs N           tests at a time (default 2)
  --limit SECONDS    time limit of one test (default 150, for the others 400: some wait for minutes by themselves)
  --logs DIR         directory for each test's output (default: a new temporary directory)
  --table FILE       write the result as the Markdown table of docs/conformance.md

The suites and kubectl of Kubernetes 1.36 are taken from $REAL_BIN (default ~/.cache/flotilla/real).
Exit code 0: every test passed or was skipped by the suite; 1: one failed; 2: wrong usage, or the programs are absent.
`;

const SUITES: Readonly<Record<string, UpstreamSuite>> = {
  kubernetes: kubernetesSuite,
  kruise: kruiseSuite,
  "kruise-stock": stockKruiseSuite,
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`conformance: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (options.areClients) {
    const { code, table } = await runClients(options.kubeconfig, options.focus);
    if (options.table !== undefined) writeFileSync(options.table, table);
    return code;
  }
  const bin = process.env["REAL_BIN"] ?? join(homedir(), ".cache/flotilla/real");
  const absent = options.suite.programs.map((name) => join(bin, name)).find((file) => !existsSync(file));
  if (absent !== undefined) {
    process.stderr.write(
      `conformance: ${absent} does not exist; set REAL_BIN to a directory with ${options.suite.programs.join(" and ")}\n`,
    );
    return 2;
  }
  const tests = options.suite
    .select(bin, options.focus)
    .filter(({ needs }) => options.all || options.focus !== undefined || needs === undefined)
    .filter((_, index) => index % options.part.of === options.part.at - 1);
  return await run(tests, bin, options);
}

async function run(tests: Test[], bin: string, options: Options): Promise<number> {
  const logs = options.logs ?? mkdtempSync(join(tmpdir(), "flotilla-conformance-"));
  mkdirSync(logs, { recursive: true });
  process.stdout.write(`${tests.length} tests, output in ${logs}\n`);
  const results: TestResult[] = [];
  // Tests that need slower pods get a separate fleet, because all pods of a fleet start at the same pace.
  for (const [startMs, group] of Map.groupBy(tests, ({ startMs }) => options.startMs ?? startMs)) {
    results.push(...(await runOnFleet(group, bin, logs, startMs, results.length, tests.length, options)));
  }
  process.stdout.write(`\n${renderSummary(results)}\n`);
  if (options.table !== undefined) writeFileSync(options.table, renderTable(results));
  return results.every(({ result }) => result === "passed" || result === "skipped") ? 0 : 1;
}

async function runOnFleet(
  tests: Test[],
  bin: string,
  logs: string,
  startMs: number | undefined,
  before: number,
  total: number,
  options: Options,
): Promise<TestResult[]> {
  const pace = startMs === undefined ? [] : ["--start-ms", String(startMs)];
  const fleet =
    options.kubeconfig === undefined
      ? await startFlotilla(["--members", "1", "--nodes", String(options.nodes), ...options.suite.upFlags, ...pace])
      : undefined;
  const kubeconfig = fleet?.kubeconfig("member1") ?? options.kubeconfig ?? "";
  const ends: (() => Promise<void>)[] = [];
  try {
    if (fleet && options.nodes === 0) makeNodes(join(bin, "kubectl"), kubeconfig, bareNodes(["bare-0", "bare-1"]));
    const end = fleet && (await options.suite.prepare?.({ bin, kubeconfig, logs }));
    if (end) ends.push(end);
    return await runSuite(tests, {
      binary: join(bin, options.suite.binary),
      kubeconfig,
      flagsOf: (test) => options.suite.flagsOf(test, { bin, kubeconfig, limitMs: options.limitMs }),
      jobs: options.jobs,
      limitMs: options.limitMs,
      logs,
      onResult: (result, done) => void process.stdout.write(`${renderLine(result, before + done, total)}\n`),
    });
  } finally {
    for (const end of ends) await end();
    if (fleet) {
      const { cpuSeconds, memoryMiB } = costOf([fleet.pid]);
      process.stdout.write(`flotilla up: ${cpuSeconds.toFixed(0)} s of CPU time, ${memoryMiB.toFixed(0)} MiB\n`);
      await fleet.stop();
    }
  }
}

interface Options {
  help: boolean;
  /** The suite of clients, which has no upstream programs. */
  areClients: boolean;
  part: { at: number; of: number };
  suite: UpstreamSuite;
  startMs?: number;
  all: boolean;
  focus?: RegExp;
  kubeconfig?: string;
  logs?: string;
  table?: string;
  nodes: number;
  jobs: number;
  limitMs: number;
}

function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: "boolean", short: "h", default: false },
      all: { type: "boolean", default: false },
      focus: { type: "string" },
      part: { type: "string", default: "1/1" },
      kubeconfig: { type: "string" },
      logs: { type: "string" },
      table: { type: "string" },
      suite: { type: "string", default: "kubernetes" },
      nodes: { type: "string" },
      "start-ms": { type: "string" },
      jobs: { type: "string", default: "2" },
      limit: { type: "string" },
    },
  });
  const areClients = values.suite === "clients";
  const suite = areClients ? kubernetesSuite : SUITES[values.suite];
  if (!suite)
    throw new TypeError(`--suite must be ${[...Object.keys(SUITES), "clients"].join(" or ")}, not '${values.suite}'`);
  const startMs = values["start-ms"];
  return {
    help: values.help,
    areClients,
    part: partOf(values.part),
    all: values.all,
    suite,
    startMs: startMs !== undefined ? count("start-ms", startMs, 0) : undefined,
    nodes: count("nodes", values.nodes ?? String(suite.nodes), 0),
    jobs: count("jobs", values.jobs, 1),
    limitMs: count("limit", values.limit ?? String(suite.limitSeconds), 1) * 1000,
    focus: values.focus !== undefined ? new RegExp(values.focus) : undefined,
    kubeconfig: values.kubeconfig !== undefined ? resolve(values.kubeconfig) : undefined,
    logs: values.logs !== undefined ? resolve(values.logs) : undefined,
    table: values.table,
  };
}

function partOf(text: string): { at: number; of: number } {
  const [at = 0, of = 0] = text.split("/").map(Number);
  if (!/^\d+\/\d+$/.test(text) || at < 1 || at > of) throw new TypeError(`--part must be like 1/3, not '${text}'`);
  return { at, of };
}

function count(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new TypeError(`--${flag} must be an integer of at least ${least}, not '${text}'`);
  return value;
}
