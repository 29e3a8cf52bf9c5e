/**
 * Programs of a real cluster as child processes: started from $REAL_BIN, killed like crashing machines, and all stopped
 * with the test.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sleep, systemClock } from "@flotilla/base";
import { realBinaries } from "./kube.ts";

const START_LIMIT_MS = 90_000;
const LOOK_MS = 50;
const LOG_TAIL = 2000;

/**
 * The directory that contains all these programs; undefined if $REAL_BIN is unset or lacks one, with the reason
 * printed. Other directories are not searched: setting the variable opts in to these tests.
 */
export function findPrograms(what: string, ...names: string[]): string | undefined {
  const folder = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
  const missing = folder === undefined ? [] : names.filter((name) => !existsSync(join(folder, name)));
  if (folder !== undefined && missing.length === 0) return folder;
  process.stdout.write(
    `skipped: ${what}: $REAL_BIN ${folder === undefined ? "is not set, or has no etcd and kube-apiserver" : `has no ${missing.join(", ")}`}\n`,
  );
  return undefined;
}

export interface Programs {
  /** Starts a program and waits until it is ready; the same name again restarts the same program. */
  run(
    name: string,
    args: readonly string[],
    isReady: () => Promise<boolean>,
    environment?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Like a power loss: the program cannot clean up. */
  kill(name: string): Promise<void>;
  /** Stops everything that still runs, last started first. */
  stop(): Promise<void>;
}

interface Running {
  child: ChildProcess;
  exited: Promise<void>;
}

/** Logs are written to `logs`, one file per program. */
export function createPrograms(binaries: string, logs: string): Programs {
  const running = new Map<string, Running>();
  // If the tests are interrupted, no processes may be left behind.
  const abandon = (): void => running.forEach(({ child }) => child.kill("SIGKILL"));
  process.once("exit", abandon);

  async function end(name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const present = running.get(name);
    if (!present) return;
    running.delete(name);
    present.child.kill(signal);
    await present.exited;
  }

  return {
    async run(name, args, isReady, environment = {}) {
      const file = join(logs, `${name}.log`);
      const log = openSync(file, "a");
      const child = spawn(join(binaries, name), args, {
        stdio: ["ignore", log, log],
        env: { PATH: process.env["PATH"], HOME: logs, ...environment },
      });
      running.set(name, { child, exited: new Promise((resolve) => child.once("exit", () => resolve())) });
      const untilMs = Date.now() + START_LIMIT_MS;
      while (!(await isReady())) {
        if (child.exitCode !== null || Date.now() > untilMs)
          throw new Error(`${name} is not ready: ${readFileSync(file, "utf8").slice(-LOG_TAIL)}`);
        await sleep(systemClock, LOOK_MS);
      }
    },
    kill: (name) => end(name, "SIGKILL"),
    async stop() {
      for (const name of [...running.keys()].toReversed()) await end(name, "SIGTERM");
      process.removeListener("exit", abandon);
    },
  };
}
