/** Receives the measurements of Placements, in Open Cluster Management's terms. Nothing depends on it. */
export interface PlacementMeter {
  /** Milliseconds of a monotonic clock. */
  nowMs(): number;
  /** A Placement was decided. */
  scheduled(tookMs: number): void;
  /** The decisions were written, if they changed. */
  bound(tookMs: number): void;
  plugin(type: "filter" | "prioritizer", name: string, tookMs: number): void;
  /** The expressions of its predicates were evaluated for all clusters. */
  expressions(tookMs: number): void;
}
