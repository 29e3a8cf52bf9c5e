/** What a benchmark is: a name, and a run that gives figures, each with its unit and, where a peer is there, the peer's value. */
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
  progress(text: string): void;
}

export interface Benchmark {
  name: string;
  summary: string;
  run(options: BenchmarkOptions): Promise<Figure[]>;
}
