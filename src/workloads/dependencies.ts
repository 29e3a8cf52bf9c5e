/** What every workload controller is given. */
import type { Pod } from "../api/index.ts";
import type { Clock, DeepReadonly, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { EventRecorders, Informers } from "../runtime/index.ts";
import type { FeatureGates } from "./kruise/feature-gates.ts";

/** What a metrics server would tell. */
export interface ResourceUsage {
  /** Thousandths of a core and bytes, in all and by container; undefined for a pod that does not run. */
  podUsage(cluster: string, pod: DeepReadonly<Pod>): PodUsage | undefined;
}

export interface PodUsage {
  cpu: number;
  memory: number;
  containers: readonly { name: string; cpu: number; memory: number }[];
}

export interface WorkloadDependencies {
  client: Client;
  /** Of the member clusters; the hub holds templates, which must not run there. */
  informers: Informers;
  clock: Clock;
  random: Random;
  /** Unset tells nobody. */
  events?: EventRecorders;
  /** Of OpenKruise; unset means its defaults. */
  gates?: FeatureGates;
  /** What pods use, for whoever scales by it; unset knows nothing. */
  usage?: ResourceUsage;
  /** How long a status is held back, so that pods that change together cost one write. */
  statusDelayMs?: number;
}

/** Long enough for the pods of a batch to become ready together, short enough that nobody waits for it. */
export const STATUS_DELAY_MS = 100;
