/** What a step of the tour leaves for later steps. */
import type { PodView, Shares } from "./fleet-view.ts";

/** What later steps need from earlier ones. */
export interface Memory {
  /** The result of the last plan. */
  planned: Shares;
  /** How the replicas were divided while all members were healthy. */
  shares: Shares;
  /** The pods before the update. */
  pods: readonly PodView[];
}
