/** What Placements tell whoever measures them, in the terms of Open Cluster Management. Nothing depends on it. */
export interface PlacementMeter {
  /** Milliseconds since some moment, on a clock that only goes forward. */
  nowMs(): number;
  /** A Placement was decided. */
  scheduled(tookMs: number): void;
  /** The decisions were written, if they are others than before. */
  bound(tookMs: number): void;
  plugin(type: "filter" | "prioritizer", name: string, tookMs: number): void;
  /** The expressions of its predicates were asked about all clusters. */
  expressions(tookMs: number): void;
}
