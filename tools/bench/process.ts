/** Starts `flotilla up` as a user would and measures the process. Linux only, because it reads /proc. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface RunningFleet {
  startMs: number;
  pid: number;
  /** The data directory. */
  data: string;
  kubeconfig(cluster: string): string;
  /** The used heap after a garbage collection. Only for a process started with `probe`. */
  heapMiB(): Promise<number>;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const PROBE = ["--expose-gc", "--import", join(import.meta.dirname, "heap-probe.ts")];

/** What `bin/flotilla` sets. */
const LAUNCHER = {
  NODE_COMPILE_CACHE: "node_modules/.cache/flotilla/compiled",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "16777216",
  MALLOC_MMAP_MAX_: "16384",
  MALLOC_ARENA_MAX: "2",
};

/** The program: the source, and the emitted build. */
export const SOURCE = "packages/server/src/main.ts";
export const EMITTED = "dist/server/main.js";

export interface StartOptions {
  entry?: string;
  probe?: boolean;
  /** An existing data directory that is kept after the stop; unset creates one for this run. */
  data?: string;
  port?: number;
  /** How long it may take until it is ready. */
  limitMs?: number;
}

export async function startFlotilla(flags: readonly string[], options: StartOptions = {}): Promise<RunningFleet> {
  const { entry = SOURCE, probe = false, port = 0, limitMs = START_LIMIT_MS } = options;
  const data = options.data ?? mkdtempSync(join(tmpdir(), "flotilla-bench-"));
  const started = performance.now();
  // The process itself and not a shell around it, because its memory and CPU are measured.
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      ...(probe ? PROBE : []),
      entry,
      "up",
      "--port",
      String(port),
      "--data",
      data,
      ...flags,
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...LAUNCHER, ...process.env },
    },
  );
  // A tool that fails leaves no fleet behind.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => {
      process.off("exit", kill);
      resolve();
    }),
  );
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  while (!/^ready/m.test(printed)) {
    if (child.exitCode !== null) throw new Error(`flotilla up exited with code ${child.exitCode}`);
    if (performance.now() - started > limitMs) throw new Error(`flotilla up was not ready within ${limitMs / 1000} s`);
    await delay(5);
  }
  return {
    startMs: performance.now() - started,
    pid: child.pid ?? 0,
    data,
    kubeconfig: (cluster) => join(data, `${cluster}.kubeconfig`),
    async heapMiB() {
      printed = "";
      child.kill("SIGUSR2");
      for (;;) {
        const bytes = /^heap (\d+)$/m.exec(printed)?.[1];
        if (bytes !== undefined) return Number(bytes) / 1024 / 1024;
        if (child.exitCode !== null) throw new Error("flotilla up exited while its heap was measured");
        await delay(20);
      }
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

export interface Cost {
  cpuSeconds: number;
  memoryMiB: number;
}

export function costOf(pids: readonly number[]): Cost {
  const costs = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, memoryMiB: Number(resident) / 1024 };
  });
  return {
    cpuSeconds: costs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    memoryMiB: costs.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0),
  };
}

/** A peer keeps one file with a pid per process. */
export function pidsOf(run: string): number[] {
  const folder = join(run, "pids");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".pid"))
    .map((name) => Number(readFileSync(join(folder, name), "utf8")));
}
