/**
 * `npm run conformance`: upstream's end-to-end tests against a member of a throw-away fleet, or against any cluster that a
 * kubeconfig names. docs/conformance.md has the method and the last result.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/base/index.ts";
import { startFlotilla } from "../bench/process.ts";
import { listTests, readCatalogue, selectTests } from "./catalogue.ts";
import type { Test } from "./catalogue.ts";
import { bareNodes } from "./nodes.ts";
import { renderLine, renderSummary, renderTable } from "./report.ts";
import { runSuite } from "./suite.ts";

const USAGE = `Usage: npm run conformance -- [flags]

  --focus REGEX      run the tests of the whole suite whose names match; default: the list in tools/conformance/tests.json
  --all              also run the listed tests that need what Flotilla does not have yet
  --nodes N          simulated nodes of the member; 0 (default) gives two nodes that exist and run nothing
  --kubeconfig FILE  test this cluster instead of starting one
  --jobs N           tests at a time (default 2)
  --limit SECONDS    for one test (default 150; one waits 90 s by itself)
  --logs DIR         where each test's output goes (default: a new folder under the temporary folder)
  --table FILE       write the result as the Markdown table of docs/conformance.md

e2e.test and kubectl of Kubernetes 1.36 are taken from $REAL_BIN (default ~/.cache/flotilla/real).
Exit code 0: every test passed or was skipped by the suite; 1: one failed; 2: wrong usage, or the programs are absent.
`;

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
  const bin = process.env["REAL_BIN"] ?? join(homedir(), ".cache/flotilla/real");
  const programs = { binary: join(bin, "e2e.test"), kubectl: join(bin, "kubectl") };
  const absent = Object.values(programs).find((file) => !existsSync(file));
  if (absent !== undefined) {
    process.stderr.write(`conformance: ${absent} is not there; set REAL_BIN to a folder with e2e.test and kubectl of Kubernetes 1.36\n`);
    return 2;
  }
  const tests = selectTests(readCatalogue(), listTests(programs.binary), options.focus).filter(({ needs }) => options.all || options.focus !== undefined || needs === undefined);
  return await run(tests, programs, options);
}

async function run(tests: Test[], programs: { binary: string; kubectl: string }, options: Options): Promise<number> {
  const fleet = options.kubeconfig === undefined ? await startFlotilla(["--members", "1", "--nodes", String(options.nodes)]) : undefined;
  const kubeconfig = fleet?.kubeconfig("member1") ?? options.kubeconfig ?? "";
  try {
    if (fleet && options.nodes === 0) makeNodes(programs.kubectl, kubeconfig);
    const logs = options.logs ?? mkdtempSync(join(tmpdir(), "flotilla-conformance-"));
    process.stdout.write(`${tests.length} tests, output in ${logs}\n`);
    const results = await runSuite(tests, {
      ...programs,
      kubeconfig,
      jobs: options.jobs,
      limitMs: options.limitMs,
      logs,
      onResult: (result, done) => void process.stdout.write(`${renderLine(result, done, tests.length)}\n`),
    });
    process.stdout.write(`\n${renderSummary(results)}\n`);
    if (options.table !== undefined) writeFileSync(options.table, renderTable(results));
    return results.every(({ result }) => result === "passed" || result === "skipped") ? 0 : 1;
  } finally {
    await fleet?.stop();
  }
}

/** A new node is not to be used until something vouches for it; here that is us. */
function makeNodes(kubectl: string, kubeconfig: string): void {
  const { names, list } = bareNodes(2);
  const run = (args: string[], input = ""): void => void execFileSync(kubectl, ["--kubeconfig", kubeconfig, ...args], { input, stdio: ["pipe", "ignore", "inherit"] });
  run(["create", "-f", "-"], JSON.stringify(list));
  run(["taint", "nodes", ...names, "node.kubernetes.io/not-ready-"]);
}

interface Options {
  help: boolean;
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
      kubeconfig: { type: "string" },
      logs: { type: "string" },
      table: { type: "string" },
      nodes: { type: "string", default: "0" },
      jobs: { type: "string", default: "2" },
      limit: { type: "string", default: "150" },
    },
  });
  return {
    help: values.help,
    all: values.all,
    nodes: count("nodes", values.nodes, 0),
    jobs: count("jobs", values.jobs, 1),
    limitMs: count("limit", values.limit, 1) * 1000,
    ...(values.focus !== undefined && { focus: new RegExp(values.focus) }),
    ...(values.kubeconfig !== undefined && { kubeconfig: resolve(values.kubeconfig) }),
    ...(values.logs !== undefined && { logs: resolve(values.logs) }),
    ...(values.table !== undefined && { table: values.table }),
  };
}

function count(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new TypeError(`--${flag} takes a whole number from ${least} on, not '${text}'`);
  return value;
}
