/** What every workload controller is given. */
import type { Clock, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { EventRecorders, Informers } from "../runtime/index.ts";

export interface WorkloadDependencies {
  client: Client;
  /** Of the member clusters; the hub holds templates, which must not run there. */
  informers: Informers;
  clock: Clock;
  random: Random;
  /** Unset tells nobody. */
  events?: EventRecorders;
  /** How long a status is held back, so that pods that change together cost one write. */
  statusDelayMs?: number;
}

/** Long enough for the pods of a batch to become ready together, short enough that nobody waits for it. */
export const STATUS_DELAY_MS = 100;
