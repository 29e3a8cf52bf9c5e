/** What one member reports of a workload. */
import type { Json } from "@flotilla/base";

/** One member's report about its copy; an element of a binding's `aggregatedStatus`. */
export interface StatusItem {
  clusterName: string;
  status?: Json;
  applied?: boolean;
  appliedMessage?: string;
  health?: "Healthy" | "Unhealthy" | "Unknown";
}
