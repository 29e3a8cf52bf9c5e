/**
 * Compares Flotilla with recorded results of the real programs: reads the recordings of a directory, runs each case
 * through the runner of its format and counts. `run.ts` is the command around it, `test/golden` the test.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { messageOf, type JsonObject } from "@flotilla/base";
import { loadRunner } from "./runners/index.ts";

/** One line of a recording. Its other fields depend on the format. */
export interface GoldenCase {
  name: string;
  input?: JsonObject;
  want?: JsonObject;
  wantAnyOf?: JsonObject[];
  /** The original behaviour looks like a bug or a pitfall. */
  quirk?: string;
}

export interface CaseRunner {
  /** Describes the difference from the recording; undefined if there is none. */
  check(line: GoldenCase): string | undefined | Promise<string | undefined>;
  /** How many cases may run in parallel; one by default. */
  readonly concurrency?: number;
  /** Why a whole group of cases differs intentionally, if that is known without checking each. */
  reasonFor?(line: GoldenCase): string | undefined;
  /** Cases that must run alone; they run last. */
  isSerial?(line: GoldenCase): boolean;
  close?(): Promise<void>;
}

interface Failure {
  name: string;
  difference: string;
}

export interface FileResult {
  file: string;
  passed: number;
  /** Cases that differ intentionally. */
  known: (Failure & { reason: string })[];
  failed: Failure[];
  /** Cases that are listed as different but pass: the list needs an update. */
  stale: string[];
}

export interface GoldenResult {
  files: FileResult[];
  /** Recordings of a format without a runner. */
  withoutRunner: string[];
}

/** Why a case differs intentionally, by file and case name. */
export type Differences = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The cases by file, and under `messages` the classes of message parts that are not compared. */
export function readDifferences(path: string): { cases: Differences; messages: Readonly<Record<string, string>> } {
  if (!existsSync(path)) return { cases: {}, messages: {} };
  const { messages = {}, ...cases } = JSON.parse(readFileSync(path, "utf8")) as Differences;
  return { cases, messages };
}

const RECORDING = /^(.+)\.jsonl(\.gz)?$/;

/** Names of the recordings in a directory, without suffix, sorted. */
export function listRecordings(directory: string): string[] {
  const names = readdirSync(directory).map((file) => RECORDING.exec(file)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

export function readRecording(directory: string, file: string): GoldenCase[] {
  const plain = join(directory, `${file}.jsonl`);
  const text = existsSync(plain)
    ? readFileSync(plain, "utf8")
    : gunzipSync(readFileSync(`${plain}.gz`)).toString("utf8");
  return text
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${file}, line ${index + 1}`)]));
}

function parseLine(line: string, place: string): GoldenCase {
  try {
    return JSON.parse(line) as GoldenCase;
  } catch (error) {
    throw new Error(`${place} is not JSON`, { cause: error });
  }
}

export async function runGolden(options: {
  directory: string;
  differences: Differences;
  only?: readonly string[];
  /** How many API servers on one etcd replay the recordings of the API server, in turn; unset is one without etcd. */
  servers?: number;
}): Promise<GoldenResult> {
  const { directory, differences, only = [], servers } = options;
  const result: GoldenResult = { files: [], withoutRunner: [] };
  for (const file of listRecordings(directory)) {
    if (only.length > 0 && !only.includes(file)) continue;
    const runner = await loadRunner(file, servers);
    if (!runner) {
      result.withoutRunner.push(file);
      continue;
    }
    try {
      result.files.push(await runFile(file, readRecording(directory, file), runner, differences[file] ?? {}));
    } finally {
      await runner.close?.();
    }
  }
  return result;
}

async function runFile(
  file: string,
  cases: readonly GoldenCase[],
  runner: CaseRunner,
  known: Readonly<Record<string, string>>,
): Promise<FileResult> {
  const result: FileResult = { file, passed: 0, known: [], failed: [], stale: [] };
  const outcomes = await checkCases(runner, cases);
  for (const [index, line] of cases.entries()) {
    const difference = outcomes[index];
    const reason = Object.hasOwn(known, line.name) ? known[line.name] : runner.reasonFor?.(line);
    if (difference === undefined) {
      result.passed++;
      // A whole group may contain cases that agree; only a case listed by name was checked individually.
      if (Object.hasOwn(known, line.name)) result.stale.push(line.name);
    } else if (reason !== undefined) {
      result.known.push({ name: line.name, difference, reason });
    } else {
      result.failed.push({ name: line.name, difference });
    }
  }
  return result;
}

/** In the order of the cases, whatever the order of execution. */
async function checkCases(runner: CaseRunner, cases: readonly GoldenCase[]): Promise<(string | undefined)[]> {
  const outcomes: (string | undefined)[] = [];
  const { true: serial = [], false: parallel = [] } = Object.groupBy(cases.keys(), (index) =>
    String(runner.isSerial?.(cases[index] as GoldenCase) ?? false),
  );
  const pending = parallel.values();
  const work = async (indices: Iterable<number>): Promise<void> => {
    for (const index of indices) outcomes[index] = await checkCase(runner, cases[index] as GoldenCase);
  };
  await Promise.all(Array.from({ length: runner.concurrency ?? 1 }, () => work(pending)));
  await work(serial);
  return outcomes;
}

/** A runner that throws cannot handle the case: that is a failure of the case, not of the run. */
async function checkCase(runner: CaseRunner, line: GoldenCase): Promise<string | undefined> {
  try {
    return await runner.check(line);
  } catch (error) {
    return `the runner threw: ${messageOf(error)}`;
  }
}
