/** Open Cluster Management's kinds: those that the hub serves, and those that agents need on a member. */
import { customResourceDefinitionOf } from "@flotilla/kubernetes";
import type { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import { AddOnPlacementScore } from "./add-on-placement-score.ts";
import { AppliedManifestWork } from "./applied-manifest-work.ts";
import { ClusterClaim } from "./cluster-claim.ts";
import { ManagedClusterSetBinding } from "./managed-cluster-set-binding.ts";
import { ManagedClusterSet } from "./managed-cluster-set.ts";
import { ManagedCluster } from "./managed-cluster.ts";
import { ManifestWorkReplicaSet } from "./manifest-work-replica-set.ts";
import { ManifestWork } from "./manifest-work.ts";
import { PlacementDecision } from "./placement-decision.ts";
import { OcmPlacement } from "./placement.ts";

export const ocmHubKinds: readonly Kind[] = [
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  PlacementDecision,
  AddOnPlacementScore,
  ManifestWork,
  ManifestWorkReplicaSet,
];

export const ocmMemberKinds: readonly Kind[] = [ClusterClaim, AppliedManifestWork];

/** The CRDs that an agent installs on a member that lacks them. The schemas are shared: read-only. */
export const ocmMemberDefinitions = (): CustomResourceDefinition[] =>
  ocmMemberKinds.map((kind) => customResourceDefinitionOf(kind));
