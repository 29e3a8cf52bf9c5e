/** What the command and its worker threads send each other. */
import type { RunResult } from "./run-plan.ts";

export interface WorkerOptions {
  defect: string | undefined;
  shrinks: boolean;
}

export interface ToWorker {
  seed: number;
  /** Run it twice, and compare everything that happened. */
  isRepeated: boolean;
}

export interface JudgedSeed {
  result: RunResult;
  /** The shortest run that still breaks the same invariant, and how many runs were needed to find it. */
  shrunk: { result: RunResult; dropped: number; runs: number } | undefined;
}

export type FromWorker = { isReady: true; result?: undefined } | { isReady?: undefined; result: JudgedSeed };
