/**
 * What a benchmark is: a name, and a run that gives figures, each with its unit and, where a peer is there, the peer's
 * value.
 */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  better: "more" | "less";
  /** The same, measured on the peer in the same run. */
  peer?: number;
  /** A published or earlier figure of the same thing, which was not measured in this run. */
  reference?: number;
}

export interface BenchmarkOptions {
  count: number;
  /** Folder of a running real Karmada; for members, of a cluster with OpenKruise. */
  peer?: string;
  /** Folder of the outside client (`bench/bench.mjs`) and of what starts a real Karmada (`real/karmada`). */
  shared?: string;
  /** A quick comparison: does not wait for a quiet machine, and leaves out what takes minutes. */
  short: boolean;
  /** Names of the set-ups to measure; unset measures all. */
  only?: readonly string[];
  progress(text: string): void;
}

export interface Benchmark {
  name: string;
  summary: string;
  /** How much there is of what it measures, unless told: in full, and in the short form. */
  counts?: { full: number; short: number };
  run(options: BenchmarkOptions): Promise<Figure[]>;
}
