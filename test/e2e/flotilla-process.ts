/** The shipped command as a child process: started as a user starts it, and killed like a crashing machine. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../src/cmd/main.ts", import.meta.url));

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `flotilla ARGS` to completion. */
export async function flotilla(...args: string[]): Promise<Finished> {
  return ended(start(args));
}

export interface Up {
  data: string;
  url: string;
  kubeconfig(cluster: string): string;
  /** Ends it and waits; with SIGKILL it cannot clean up. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<Finished>;
}

/** `flotilla up` on a data directory; resolves when it is ready. */
export async function up(data: string, ...args: string[]): Promise<Up> {
  const running = start(["up", "--port", "0", "--data", data, ...args]);
  const finished = ended(running);
  const ready = await new Promise<string>((resolve, reject) => {
    running.child.stdout?.on("data", () => {
      const line = /^ready .*$/m.exec(running.stdout());
      if (line) resolve(line[0]);
    });
    void finished.then(({ code, stderr }) => reject(new Error(`flotilla up exited with code ${code}: ${stderr}`)));
  });
  return {
    data,
    url: /https:\S+/.exec(ready)?.[0] ?? "",
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

/** A long-running `flotilla ARGS`, and its output so far. */
export function running(...args: string[]): {
  stdout(): string;
  stderr(): string;
  stop(signal?: "SIGINT" | "SIGTERM"): Promise<Finished>;
} {
  const started = start(args);
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

function start(args: readonly string[]): { child: ChildProcess; stdout(): string; stderr(): string } {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return { child, stdout: () => stdout, stderr: () => stderr };
}

function ended({ child, stdout, stderr }: ReturnType<typeof start>): Promise<Finished> {
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout: stdout(), stderr: stderr() })));
}
