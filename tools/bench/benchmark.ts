/**
 * A benchmark: a name, and a run that returns figures, each with its unit and, if there is a peer, the peer's value.
 */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  better: "more" | "less";
  /** The same, measured on the peer in the same run. */
  peer?: number;
  /** A published or earlier value, not measured in this run. */
  reference?: number;
}

export interface BenchmarkOptions {
  count: number;
  /** Directory of a running real Karmada; for members, of a cluster with OpenKruise. */
  peer?: string;
  /**
   * Directory of the external client (`bench/bench.mjs`) and of the scripts that start a real Karmada (`real/karmada`).
   */
  shared?: string;
  /** A quick comparison: does not wait for an idle machine, and skips measurements that take minutes. */
  short: boolean;
  /** Names of the setups to measure; unset measures all. */
  only?: readonly string[];
  progress(text: string): void;
}

export interface Benchmark {
  name: string;
  summary: string;
  /** The default number of measured objects: in full, and in the short form. */
  counts?: { full: number; short: number };
  run(options: BenchmarkOptions): Promise<Figure[]>;
}
