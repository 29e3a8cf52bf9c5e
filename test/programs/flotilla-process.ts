/** The shipped command as a child process: started as a user starts it, and killed like a crashing machine. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHIPPED_MAIN } from "../shipped.ts";

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `flotilla ARGS` to completion. */
export async function flotilla(...args: string[]): Promise<Finished> {
  return ended(start(args));
}

/** The same with more environment variables. */
export async function flotillaWith(environment: Record<string, string>, ...args: string[]): Promise<Finished> {
  return ended(start(args, [], environment));
}

export interface Up {
  data: string;
  url: string;
  /** The link of the web UI that signs in once; empty when none is served. */
  ui: string;
  kubeconfig(cluster: string): string;
  /** Ends it and waits; with SIGKILL it cannot clean up. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<Finished>;
}

/** `flotilla up` on a data directory; resolves when it is ready. */
export function up(data: string, ...args: string[]): Promise<Up> {
  return serve(data, ["up", "--port", "0", "--data", data, ...args]);
}

/** `flotilla apiserver` on a data directory; resolves when it is ready. */
export function apiserver(data: string, ...args: string[]): Promise<Up> {
  return serve(data, ["apiserver", "--port", "0", "--data", data, ...args]);
}

/** A command that prints a line with `ready` and runs until it is stopped. `before` runs it in another environment. */
export async function serve(data: string, args: readonly string[], before: readonly string[] = []): Promise<Up> {
  const running = start(args, before);
  const finished = ended(running);
  const ready = await new Promise<string>((resolve, reject) => {
    running.child.stdout?.on("data", () => {
      const line = /^ready .*$/m.exec(running.stdout());
      if (line) resolve(line[0]);
    });
    void finished.then(({ code, stderr }) =>
      reject(new Error(`flotilla ${args[0] ?? ""} exited with code ${code}: ${stderr}`)),
    );
  });
  return {
    data,
    url: /https:\S+/.exec(ready)?.[0] ?? "",
    ui: /^ui (http:\S+)$/m.exec(running.stdout())?.[1] ?? "",
    kubeconfig: (cluster) => join(data, `${cluster}.kubeconfig`),
    stop(signal) {
      running.child.kill(signal);
      return finished;
    },
  };
}

/** `flotilla agent ARGS`, which runs until it is stopped. */
export function agent(...args: string[]): { stop(): Promise<Finished> } {
  const running = start(["agent", ...args]);
  const finished = ended(running);
  return {
    stop() {
      running.child.kill("SIGTERM");
      return finished;
    },
  };
}

export interface Running {
  stdout(): string;
  stderr(): string;
  stop(signal?: "SIGINT" | "SIGTERM"): Promise<Finished>;
}

/** A long-running `flotilla ARGS`, and its output so far. */
export function running(...args: string[]): Running {
  return runningIn([], ...args);
}

/** The same behind a command that runs it in another environment. */
export function runningIn(before: readonly string[], ...args: string[]): Running {
  const started = start(args, before);
  const finished = ended(started);
  return {
    stdout: started.stdout,
    stderr: started.stderr,
    stop(signal = "SIGTERM") {
      started.child.kill(signal);
      return finished;
    },
  };
}

/** A directory for one test; removed afterwards. */
export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "flotilla-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function start(
  args: readonly string[],
  before: readonly string[] = [],
  environment: Record<string, string> = {},
): { child: ChildProcess; stdout(): string; stderr(): string } {
  const [program = "", ...rest] = [
    ...before,
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    SHIPPED_MAIN,
    ...args,
  ];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return { child, stdout: () => stdout, stderr: () => stderr };
}

function ended({ child, stdout, stderr }: ReturnType<typeof start>): Promise<Finished> {
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout: stdout(), stderr: stderr() })));
}
