/** The resident memory of a process, read every 100 ms. Linux only; elsewhere nothing is measured. */
import { readFileSync } from "node:fs";
import { messageOf } from "@flotilla/base";

export interface MemoryMeter {
  /** The present size in MiB; undefined where it cannot be read. */
  now(): number | undefined;
  /** Forgets the peak. */
  reset(): void;
  peak(): number | undefined;
  stop(): void;
}

const INTERVAL_MS = 100;

export function measureMemory(pid: () => number): MemoryMeter {
  let peak: number | undefined;
  const now = (): number | undefined => {
    const mib = residentMiB(pid());
    if (mib !== undefined) peak = Math.max(peak ?? 0, mib);
    return mib;
  };
  const timer = setInterval(now, INTERVAL_MS);
  return {
    now,
    reset: () => void (peak = undefined),
    peak: () => (now(), peak),
    stop: () => clearInterval(timer),
  };
}

function residentMiB(pid: number): number | undefined {
  try {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch (error) {
    // The process has ended, or this is not Linux.
    if (/ENOENT|ESRCH/.test(messageOf(error))) return undefined;
    throw error;
  }
}
