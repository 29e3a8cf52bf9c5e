/**
 * Executes a page as its reader would: starts the fleet, writes the files, runs the commands, and compares their output
 * with the page. The first difference fails it, with the line of the page.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, sleep, systemClock } from "@flotilla/base";
import { parseYamlDocuments } from "@flotilla/apimachinery";
import { createFleets, isUp } from "./fleets.ts";
import { matchOutput } from "./match-output.ts";
import { parsePage } from "./parse-page.ts";
import type { Page, Step } from "./parse-page.ts";
import { createShell } from "./shell.ts";
import type { Ran, Running, Shell } from "./shell.ts";
import type { ShellCommand } from "./split-commands.ts";
import { createWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

export interface PageOptions {
  /** Programs on the reader's PATH besides the machine's own. */
  programs: Readonly<Record<string, string>>;
  /** The time limit of one command. */
  commandLimitMs?: number;
  /** How long the last command of a block is repeated until it prints the expected output. */
  matchLimitMs?: number;
}

export interface PageResult {
  /** Skipped blocks, with the page's reason. */
  skipped: readonly { line: number; reason: string }[];
}

/** Longer than any command waits by itself, so that one that waits in vain still states the reason. */
const COMMAND_LIMIT_MS = 90_000;
const MATCH_LIMIT_MS = 60_000;
/** Commands that wait for a state: the output of the next command is compared once, as its reader sees it. */
const WAIT =
  /^\s*(?:(?:[\w./-]*\/)?flotilla|kubectl)\b.*\s(?:wait\s|rollout\s+status\s|(?:apply|delete)\s.*--wait\b(?!=false))/;
/** The first repetition comes soon; each later one waits twice as long, because every repetition starts a process. */
const LOOK_AGAIN_MS = { first: 250, most: 1000 };

/** Throws with the location in the page, the command, the expected and the actual output. */
export async function runPage(name: string, markdown: string, options: PageOptions): Promise<PageResult> {
  const page = readMarkdown(name, markdown);
  const skipped = page.steps.filter((step) => step.type === "skipped");
  if (skipped.length === page.steps.length) return { skipped };

  const reader = createReader(options);
  try {
    if (page.fleet && !hasOwnFleet(page) && page.steps.some(needsFleet)) await reader.startFleet(page.fleet);
    await reader.follow(name, page);
    return { skipped };
  } finally {
    await reader.leave();
  }
}

/** Throws if the page itself is invalid. */
export function readMarkdown(name: string, markdown: string): Page {
  const page = parsePage(markdown);
  const [mistake] = page.mistakes;
  if (mistake) throw new Error(`${name}:${mistake.line}: ${mistake.message}`);
  return page;
}

/** A page that starts with `flotilla up` uses its own fleet. */
export function hasOwnFleet({ steps }: Page): boolean {
  const [first] = steps.flatMap((step) => (step.type === "commands" ? step.commands : []));
  return first !== undefined && isUp(first.text);
}

/** A reader with a terminal, who may follow several pages one after the other on one fleet. */
export interface PageReader {
  /** The reader's home, where the fleet's data directory is. */
  home: string;
  startFleet(flags: readonly string[]): Promise<void>;
  follow(name: string, page: Page): Promise<void>;
  /** Stops all started processes, and removes the reader's directories. */
  leave(): Promise<void>;
}

export function createReader({
  programs,
  commandLimitMs = COMMAND_LIMIT_MS,
  matchLimitMs = MATCH_LIMIT_MS,
}: PageOptions): PageReader {
  const workspace = createWorkspace(programs);
  const shell = createShell(workspace);
  const fleets = createFleets(shell);
  return {
    home: workspace.environment["HOME"] ?? "",
    startFleet: async (flags) => void (await fleets.up(["flotilla", "up", ...flags].join(" "))),
    async follow(name, { steps }) {
      for (const step of steps) await take({ name, workspace, shell, fleets, commandLimitMs, matchLimitMs }, step);
    },
    async leave() {
      await shell.close();
      workspace.remove();
    },
  };
}

interface Reader {
  name: string;
  workspace: Workspace;
  shell: Shell;
  fleets: ReturnType<typeof createFleets>;
  commandLimitMs: number;
  matchLimitMs: number;
}

function needsFleet(step: Step): boolean {
  return step.type === "commands" || (step.type === "illustration" && /^apiVersion:/m.test(step.text));
}

async function take(reader: Reader, step: Step): Promise<void> {
  if (step.type === "skipped") return;
  if (step.type === "file") return writeReadersFile(reader.workspace.folder, step.name, step.text);
  if (step.type === "illustration") return show(reader, step);
  for (const [index, command] of step.commands.entries()) {
    const place = `${reader.name}:${step.line + command.line}`;
    const expected = command === step.commands.at(-1) ? step.expected : undefined;
    const finding =
      isUp(command.text) && command.exitCode === 0
        ? await startFleet(reader, command, expected)
        : command.staysUp
          ? await startProgram(reader, command, expected)
          : await runCommand(reader, command, { expected, isFinal: isAfterWait(step.commands, index) });
    if (finding === undefined) continue;
    const ended = reader.fleets.lastOutput().map((text) => `\n  a fleet has ended; it printed:\n${indent(text)}`);
    throw new Error(`${place}: ${command.text}\n${finding}${ended.join("")}`);
  }
}

function writeReadersFile(folder: string, name: string, text: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The problem, or undefined if everything is as the page describes. */
type Finding = string | undefined;

/** A command that waits, or the one after it. */
function isAfterWait(commands: readonly ShellCommand[], index: number): boolean {
  return commands.slice(Math.max(0, index - 1), index + 1).some(({ text }) => WAIT.test(text));
}

async function runCommand(
  { shell, commandLimitMs, matchLimitMs }: Reader,
  { text, exitCode }: ShellCommand,
  { expected, isFinal }: { expected: readonly string[] | undefined; isFinal: boolean },
): Promise<Finding> {
  const untilMs = Date.now() + matchLimitMs;
  let first: string | undefined;
  for (let waitMs = LOOK_AGAIN_MS.first; ; waitMs = Math.min(2 * waitMs, LOOK_AGAIN_MS.most)) {
    const ran = await shell.run(text, commandLimitMs);
    const finding = judge(ran, exitCode, expected, commandLimitMs);
    first ??= ran.output;
    if (finding === undefined || expected === undefined || isFinal) return finding;
    // A command that changes something prints another text when it is repeated.
    if (Date.now() > untilMs)
      return first === ran.output ? finding : `${finding}\n  the first time it printed:\n${indent(first)}`;
    await sleep(systemClock, waitMs);
  }
}

function judge(
  { code, output }: Ran,
  exitCode: number,
  expected: readonly string[] | undefined,
  limitMs: number,
): Finding {
  if (code === null) return explain(`did not terminate within ${limitMs / 1000} s`, expected, output);
  if (code !== exitCode) return explain(`ended with exit code ${code}, not ${exitCode}`, expected, output);
  const match = matchOutput(expected ?? [], output);
  return match.ok ? undefined : explain(`did not print this line: ${match.missing}`, expected, output);
}

async function startFleet(
  { fleets, matchLimitMs }: Reader,
  { text }: ShellCommand,
  expected: readonly string[] | undefined,
): Promise<Finding> {
  try {
    return await follow(await fleets.up(text), expected, matchLimitMs);
  } catch (error) {
    return `  ${messageOf(error)}`;
  }
}

async function startProgram(
  { shell, matchLimitMs }: Reader,
  { text }: ShellCommand,
  expected: readonly string[] | undefined,
): Promise<Finding> {
  return follow(shell.start(text), expected, matchLimitMs);
}

async function follow(program: Running, expected: readonly string[] | undefined, limitMs: number): Promise<Finding> {
  const untilMs = Date.now() + limitMs;
  for (;;) {
    const match = matchOutput(expected ?? [], program.output());
    if (match.ok) return undefined;
    if (Date.now() > untilMs || !program.isRunning())
      return explain(`did not print this line: ${match.missing}`, expected, program.output());
    await sleep(systemClock, LOOK_AGAIN_MS.first);
  }
}

/** A shown manifest must be valid on the hub. If its namespace does not exist, it is tried in `default`. */
async function show(
  { name, shell, workspace, fleets, commandLimitMs }: Reader,
  { line, text }: { line: number; text: string },
): Promise<void> {
  const documents = readDocuments(`${name}:${line}`, text);
  if (!fleets.isUp() || documents.length === 0 || !documents.every(isManifest)) return;
  const file = join(workspace.scratch, "illustration.json");
  const attempt = async (items: readonly unknown[]): Promise<Ran> => {
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    return shell.run(`kubectl apply --dry-run=server -f "${file}"`, commandLimitMs);
  };
  const first = await attempt(documents);
  const { code, output } = /namespaces "[^"]+" not found/.test(first.output)
    ? await attempt(documents.map(inDefault))
    : first;
  if (code !== 0) throw new Error(`${name}:${line}: the hub does not take this manifest\n${indent(output)}`);
}

function readDocuments(place: string, text: string): unknown[] {
  try {
    return parseYamlDocuments(text);
  } catch (error) {
    throw new Error(`${place}: this is not YAML: ${messageOf(error)}`, { cause: error });
  }
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata?: { namespace?: string };
}

function isManifest(document: unknown): document is Manifest {
  return (
    typeof document === "object" &&
    document !== null &&
    "apiVersion" in document &&
    "kind" in document &&
    "metadata" in document
  );
}

function inDefault(manifest: Manifest): Manifest {
  return manifest.metadata?.namespace === undefined
    ? manifest
    : { ...manifest, metadata: { ...manifest.metadata, namespace: "default" } };
}

function explain(what: string, expected: readonly string[] | undefined, output: string): string {
  return [
    `  ${what}`,
    ...(expected ? ["  expected:", indent(expected.join("\n"))] : []),
    "  printed:",
    indent(output),
  ].join("\n");
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
