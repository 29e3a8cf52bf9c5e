/**
 * `npm run golden -- [DIR] [--only FILE]… [--verbose]`: compares Flotilla with recorded results and reports
 * differences.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { readDifferences, runGolden, type FileResult, type GoldenResult } from "./golden.ts";

const USAGE = `Usage: npm run golden -- [DIR] [--only FILE]... [--servers N] [--verbose]

  DIR        directory with recordings (.jsonl or .jsonl.gz); default: test/golden
  --only     run only this recording, by its name: --only names
  --servers  replay the recordings of the API server on so many API servers on one etcd, in turn; needs etcd in $REAL_BIN
  --verbose  show every failed case and known difference with the actual and the expected result

Exit code 0: all passed; 1: something failed or nothing ran; 2: wrong usage.
`;
const OWN_RECORDINGS = join(import.meta.dirname, "../../test/golden");
/** Failures shown for one file without --verbose. */
const SHOWN_FAILURES = 10;
const SHOWN_CHARACTERS = 400;

interface Options {
  directory: string;
  only: string[];
  verbose: boolean;
  servers: number;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`golden: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (!options) {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    return await run(options);
  } catch (error) {
    process.stderr.write(`golden: running the recordings in ${options.directory}: ${messageOf(error)}\n`);
    return 1;
  }
}

async function run({ directory, only, verbose, servers }: Options): Promise<number> {
  const result = await runGolden({
    directory,
    only,
    servers,
    differences: readDifferences(join(OWN_RECORDINGS, "differences.json")).cases,
  });
  process.stdout.write(renderResult(result, verbose));
  const ran = result.files.some(({ passed, known, failed }) => passed + known.length + failed.length > 0);
  return ran && result.files.every(({ failed }) => failed.length === 0) ? 0 : 1;
}

/** Undefined if help was requested. Throws for invalid arguments. */
function parseOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true },
      verbose: { type: "boolean", default: false },
      servers: { type: "string", default: "1" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  if (positionals.length > 1) throw new TypeError(`expected at most one directory, got ${positionals.length}`);
  const directory = positionals[0] ?? OWN_RECORDINGS;
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new TypeError(`${directory} is not a directory`);
  return {
    directory,
    only: (values.only ?? []).map((name) => name.replace(/\.jsonl(\.gz)?$/, "")),
    verbose: values.verbose,
    servers: countOf(values.servers),
  };
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 9) throw new TypeError(`--servers is 1 to 9, not ${text}`);
  return count;
}

function renderResult({ files, withoutRunner }: GoldenResult, verbose: boolean): string {
  const width = Math.max(0, ...files.map(({ file }) => file.length), ...withoutRunner.map((file) => file.length));
  const lines = files.flatMap((result) => renderFile(result, width, verbose));
  for (const file of withoutRunner) lines.push(`${file.padEnd(width)}  not run: no runner yet`);
  if (files.length === 0) lines.push("nothing ran: the directory has no recording with a registered runner");
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failed = files.reduce((sum, file) => sum + file.failed.length, 0);
  return [...lines, `${passed} passed, ${failed} failed`, ""].join("\n");
}

function renderFile(result: FileResult, width: number, verbose: boolean): string[] {
  const { file, passed, known, failed, stale } = result;
  const lines = [
    `${file.padEnd(width)}  ${passed} passed / ${known.length} known differences / ${failed.length} failed`,
  ];
  const shown = verbose ? failed : failed.slice(0, SHOWN_FAILURES);
  for (const { name, difference } of shown)
    lines.push(`  failed ${name}: ${verbose ? difference : shorten(difference)}`);
  if (shown.length < failed.length) lines.push(`  and ${failed.length - shown.length} more; --verbose shows them all`);
  if (verbose)
    for (const { name, reason, difference } of known)
      lines.push(`  known difference ${name}: ${reason}`, `    ${difference}`);
  for (const name of stale) lines.push(`  ${name} is listed as a known difference but passes; remove it from the list`);
  return lines;
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
