/** A process that faults happen to: it can be killed, stopped for a while and started again with its data. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createWriteStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export interface Machine {
  readonly name: string;
  readonly role: "etcd" | "apiserver" | "controllers" | "member";
  readonly pid: number | undefined;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** As a power loss. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Its clock differs from the machine's by this; also after a restart, until it is set again. Not all have one. */
  setClock?(offsetMs: number): Promise<void>;
}

export interface MachineOptions {
  name: string;
  role: Machine["role"];
  command: string;
  args: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Everything that it prints is appended here. */
  logFile: string;
  isReady(printed: string): Promise<boolean> | boolean;
  setClock?(pid: number | undefined, offsetMs: number): Promise<void>;
  /** It ended by itself. */
  onEnd(name: string, how: string): void;
}

const START_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 20_000;
const LOOK_MS = 50;
const KEPT = 4_000;

/** Whatever ends this process, no other one stays. */
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export function createMachine(options: MachineOptions): Machine {
  const { name, role, command, args, environment = {}, logFile, isReady, setClock, onEnd } = options;
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let isWanted = false;

  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    isWanted = false;
    child?.kill("SIGCONT");
    child?.kill(signal);
    if (signal === "SIGTERM") await Promise.race([exited, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
    child?.kill("SIGKILL");
    await exited;
  };

  return {
    name,
    role,
    get pid() {
      return child?.exitCode === null ? child.pid : undefined;
    },
    async start() {
      if (isWanted && child?.exitCode === null && child.signalCode === null) return;
      const log = createWriteStream(logFile, { flags: "a" });
      const started = spawn(command, args, {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, ...environment },
      });
      child = started;
      isWanted = true;
      alive.add(started);
      let printed = "";
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          printed = (printed + chunk).slice(-KEPT);
          log.write(chunk);
        });
      exited = new Promise((resolve) =>
        started.once("close", (code, signal) => {
          alive.delete(started);
          log.end();
          if (isWanted && child === started) {
            isWanted = false;
            onEnd(name, `ended with ${signal ?? `code ${code}`}: ${printed.slice(-1000)}`);
          }
          resolve();
        }),
      );
      const untilMs = performance.now() + START_LIMIT_MS;
      while (!(await isReady(printed))) {
        // Killed by a fault, or ended, which is reported.
        if (!isWanted || child !== started) return;
        if (performance.now() > untilMs) {
          onEnd(name, `was not ready within ${START_LIMIT_MS / 1000} s: ${printed.slice(-1000)}`);
          return;
        }
        await delay(LOOK_MS);
      }
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    setClock: setClock && ((offsetMs) => setClock(child?.exitCode === null ? child.pid : undefined, offsetMs)),
  };
}
