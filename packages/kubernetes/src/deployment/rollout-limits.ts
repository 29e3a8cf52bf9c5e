/** How many pods a rolling update may add or remove. */

export interface Limits {
  maxSurge: number;
  maxUnavailable: number;
}
