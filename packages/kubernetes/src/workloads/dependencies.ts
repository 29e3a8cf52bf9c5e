/** Dependencies of every workload controller. */
import type { Pod } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Clock, DeepReadonly, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { EventRecorders, Informers } from "@flotilla/controller-runtime";

/** The data of a metrics server. */
export interface ResourceUsage {
  /** Thousandths of a core and bytes, in total and per container; undefined for a pod that is not running. */
  podUsage(cluster: string, pod: DeepReadonly<Pod>): PodUsage | undefined;
}

export interface PodUsage {
  cpu: number;
  memory: number;
  containers: readonly { name: string; cpu: number; memory: number }[];
}

export interface WorkloadDependencies {
  client: Client;
  /** The informers of the member clusters; the hub holds templates, which must not run there. */
  informers: Informers;
  clock: Clock;
  random: Random;
  /** Unset emits no events. */
  events?: EventRecorders;
  /** Pod usage for autoscalers; unset means unknown. */
  usage?: ResourceUsage;
  /** How long a status update is delayed, so that pods that change together cost one write. */
  statusDelayMs?: number;
}

/** Long enough for the pods of a batch to become ready together, and too short to be noticed. */
export const STATUS_DELAY_MS = 100;
