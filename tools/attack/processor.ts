/**
 * How attackers share the processors with the hub. In reality they are on machines of their own; here they run beside it, so
 * they run on one processor, and get what the hub, the load and the probe leave of it.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, constants, setPriority } from "node:os";

/**
 * Of this process, in which the attackers and the hostile members are. Call it after the others were started and before the
 * quiet phase. Where `taskset` is missing, or with one processor, only the priority is lowered.
 */
export function yieldProcessor(): void {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const last = availableParallelism() - 1;
  if (process.platform === "linux" && last > 0)
    spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(last), String(process.pid)]);
}

/** How long the main thread of a process ran, and how long it could have run but another had the processor. */
export interface ProcessorTime {
  ranMs: number;
  waitedMs: number;
}

/** Undefined where it cannot be read: Linux only. */
export function processorTime(pid: number): ProcessorTime | undefined {
  if (process.platform !== "linux") return undefined;
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { ranMs: (ran ?? 0) / 1e6, waitedMs: (waited ?? 0) / 1e6 };
}

export const processorSince = (
  before: ProcessorTime | undefined,
  after: ProcessorTime | undefined,
): ProcessorTime | undefined =>
  before && after && { ranMs: after.ranMs - before.ranMs, waitedMs: after.waitedMs - before.waitedMs };
