/**
 * One or more terminals: bash runs commands one after another, and state (variables, the current directory) carries
 * over. Long-running programs run in parallel until they are stopped; all remaining ones end with the shell.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sleep, systemClock } from "@flotilla/base";
import type { Workspace } from "./workspace.ts";

export interface Ran {
  /** Null if it was stopped by the time limit. */
  code: number | null;
  /** Both streams, as a terminal shows them. */
  output: string;
}

export interface Running {
  output(): string;
  isRunning(): boolean;
  /** Like Ctrl-C; resolves when everything it started has ended. */
  stop(): Promise<void>;
}

export interface Shell {
  run(command: string, limitMs: number): Promise<Ran>;
  start(command: string): Running;
  /** Ends everything that still runs. */
  close(): Promise<void>;
}

const OUTPUT_TAIL = 64 * 1024;
const LOOK_MS = 25;
/** A fleet stops within a second; a slower process is killed. */
const STOP_LIMIT_MS = 10_000;
/** Variables that are private to a shell. */
const NOT_HANDED_ON = new Set(["_", "SHLVL", "PWD", "OLDPWD"]);

export function createShell({ folder, scratch, environment }: Workspace): Shell {
  const running = new Set<Running>();
  const groups = new Set<number>();
  let variables = environment;
  let current = folder;
  let count = 0;
  // If the tests are interrupted, no processes may be left behind.
  const abandon = (): void => groups.forEach((group) => signal(group, "SIGKILL"));
  process.once("exit", abandon);

  const begin = (command: string): { child: ChildProcess; group: number; state: string; output(): string } => {
    const name = join(scratch, String(++count));
    const log = openSync(`${name}.log`, "a");
    // Variables are exported when set, so that the next command has them too.
    const script = `set -a -o pipefail\ntrap 'env -0 > "${name}.env"; pwd > "${name}.pwd"' EXIT\n${command}\n`;
    const child = spawn("bash", ["--noprofile", "--norc", "-c", script], {
      cwd: current,
      env: variables,
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    const group = child.pid;
    if (group === undefined) throw new Error("starting bash, which runs the commands of pages: it is not on the PATH");
    groups.add(group);
    return { child, group, state: name, output: () => readFileSync(`${name}.log`, "utf8").slice(-OUTPUT_TAIL) };
  };

  return {
    async run(command, limitMs) {
      const { child, group, state, output } = begin(command);
      const limit = setTimeout(() => signal(group, "SIGKILL"), limitMs);
      // Null if a signal ended it.
      const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
      clearTimeout(limit);
      if (code !== null && existsSync(`${state}.env`)) {
        variables = readVariables(readFileSync(`${state}.env`, "utf8"));
        current = readFileSync(`${state}.pwd`, "utf8").trimEnd();
      }
      if (!isAlive(group)) groups.delete(group); // Otherwise it left processes in the background.
      return { code, output: output() };
    },
    start(command) {
      const { group, output } = begin(command);
      const program: Running = {
        output,
        isRunning: () => isAlive(group),
        async stop() {
          signal(group, "SIGINT");
          const untilMs = Date.now() + STOP_LIMIT_MS;
          while (isAlive(group) && Date.now() < untilMs) await sleep(systemClock, LOOK_MS);
          // SIGKILL cannot be caught; only an uncollected process table entry can remain.
          signal(group, "SIGKILL");
          groups.delete(group);
          running.delete(program);
        },
      };
      running.add(program);
      return program;
    },
    async close() {
      await Promise.all([...running].map((program) => program.stop()));
      abandon();
      process.removeListener("exit", abandon);
    },
  };
}

function readVariables(text: string): Record<string, string> {
  const pairs = text
    .split("\0")
    .filter((entry) => entry.includes("="))
    .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const);
  return Object.fromEntries(pairs.filter(([name]) => !NOT_HANDED_ON.has(name)));
}

/** Signals the started process and all its descendants. */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false; // All of them have ended.
    throw error;
  }
}

function isAlive(group: number): boolean {
  return signal(group, 0);
}
