/** What is wrong with a workload. */

export interface Unhealthy {
  /** CamelCase, for the condition. */
  reason: string;
  message: string;
}
