import type { Metric } from "@flotilla/base";
import { otherStates } from "./other-states.ts";
import type { StateKind } from "@flotilla/kubernetes";
import { workloadStates } from "./workload-states.ts";

/** The kinds that kruise-state-metrics covers. */
export const kruiseStates: readonly StateKind[] = [...workloadStates, ...otherStates];
export const kruiseStateMetrics: readonly Metric[] = kruiseStates.flatMap(({ families }) =>
  families.map(({ metric }) => metric),
);
