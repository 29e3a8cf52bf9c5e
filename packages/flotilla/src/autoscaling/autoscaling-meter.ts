/** What the autoscalers report to the metrics. */
export interface AutoscalingMeter {
  nowMs(): number;
  /** A metric of this type was read from a member, or could not be. */
  metricsPulled(metricType: string, tookMs: number, isFine: boolean): void;
  /** A rule that was due was carried out. */
  ruleCarriedOut(tookMs: number, isFine: boolean): void;
  /** The numbers that autoscalers changed back and forth, and that are not changed any more. */
  followDisputes(stopped: () => number): void;
}
