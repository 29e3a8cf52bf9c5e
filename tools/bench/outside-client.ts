/**
 * Runs the external client (`bench/bench.mjs` in the shared directory) against a hub and its members. It uses the plain
 * Kubernetes API and does not know the server, so the same commands measure Flotilla, Karmada and Open Cluster
 * Management. Also declares the parts of its output that are used.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface ClientTarget {
  hub: string;
  /** Kubeconfigs by member name. */
  members: Readonly<Record<string, string>>;
  /** Directory with a file `NAME.pid` for each measured process. */
  pids: string;
  /**
   * The metrics endpoint of a process that counts its requests, as `NAME=URL`; without it, quiet means low CPU usage.
   */
  metrics?: string;
}

interface Times {
  n: number;
  p50: number;
  p99: number;
  last: number;
}

export interface Account {
  /** User and system time by process. */
  cpuSeconds: Record<string, number>;
  rssMiB: Record<string, number>;
  /** Of everything else on the machine during the measurement. */
  foreignCpu: number;
}

interface Answers {
  throughput: {
    milliseconds: { scheduled: Times } & Record<string, Times>;
    wrongReplicas: number;
    toConverged: Account;
    toSettled: Account;
  };
  status: { objects: number; aggregated: Times; toConverged: Account; toSettled: Account };
  move: { objects: number; arrived: Times; left: Times; toConverged: Account; toSettled: Account };
  latency: { milliseconds: Record<"created" | "scheduled" | "allMembers", { n: number; p50: number; p99: number }> };
  works: {
    milliseconds: Record<"onMember" | "applied" | "available", Times>;
    feedback: Times;
    toAvailable: Account;
    toFeedback: Account;
  };
  worklatency: { milliseconds: Record<"created" | "onMember" | "available", { n: number; p50: number; p99: number }> };
  placements: {
    clusters: number;
    chosen: number;
    milliseconds: Record<"created" | "decided" | "status", { n: number; p50: number; p99: number }>;
  } & Account;
  canary: { acceptedMs: number; onAllMembersMs: number };
  sample: Account;
  settle: Account;
}

export interface OutsideClient {
  run<C extends keyof Answers>(
    command: C,
    target: ClientTarget,
    flags: Readonly<Record<string, string | number>>,
  ): Promise<Answers[C]>;
}

/** `shared` is the value of `--shared` or $FLOTILLA_SHARED. */
export function createOutsideClient(
  shared: string | undefined,
  { waitForQuiet }: { waitForQuiet: boolean },
): OutsideClient {
  if (shared === undefined)
    throw new Error(
      "the external client is missing: set --shared DIR or $FLOTILLA_SHARED to the directory that has bench/bench.mjs",
    );
  const script = join(shared, "bench", "bench.mjs");
  if (!existsSync(script))
    throw new Error(
      `${script} does not exist: set --shared or $FLOTILLA_SHARED to the directory that has bench/bench.mjs`,
    );
  return {
    async run<C extends keyof Answers>(
      command: C,
      { hub, members, pids, metrics }: ClientTarget,
      flags: Readonly<Record<string, string | number>>,
    ): Promise<Answers[C]> {
      const child = spawn(
        process.execPath,
        [
          script,
          command,
          "--hub",
          hub,
          "--pids",
          pids,
          "--kind",
          "cloneset",
          ...Object.entries(members).flatMap(([name, kubeconfig]) => ["--member", `${name}=${kubeconfig}`]),
          ...(metrics === undefined ? [] : ["--metrics", metrics]),
          ...(waitForQuiet ? [] : ["--no-idle"]),
          ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
        ],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const exited = new Promise<number | null>((resolve, reject) => child.once("exit", resolve).once("error", reject));
      const [printed, code] = await Promise.all([text(child.stdout), exited]);
      if (code !== 0) throw new Error(`the external client's ${command} exited with code ${code}`);
      return JSON.parse(printed) as Answers[C];
    },
  };
}
