/** A member as the scheduler keeps it, and the fields of its Cluster that scheduling reads. */
import type { ObjectMeta } from "@flotilla/apimachinery";
import type { ClusterSpec } from "@flotilla/apimachinery/facts/cluster-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Cluster } from "@flotilla/karmada";
import type { Capacity } from "../estimate/index.ts";

/** The fields of a Cluster that scheduling reads. */
export type ClusterView = DeepReadonly<{
  metadata: Pick<ObjectMeta, "name" | "labels" | "deletionTimestamp">;
  spec?: Pick<ClusterSpec, "provider" | "region" | "zones" | "taints" | "resourceModels">;
  status?: Pick<NonNullable<Cluster["status"]>, "apiEnablements" | "resourceSummary">;
}>;

export interface FleetCluster extends Pick<ClusterView, "metadata" | "spec"> {
  readonly name: string;
  /** It is being removed: nothing is placed there, and its workloads move. */
  readonly leaving: boolean;
  /** `apiVersion/kind` of every served kind. */
  readonly serves: ReadonlySet<string>;
  /** Undefined when the member has not reported its resources. */
  readonly capacity: Capacity | undefined;
}
