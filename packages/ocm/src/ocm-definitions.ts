/** Open Cluster Management's kinds: those that the hub serves, and those that agents need on a member. */
import type { AnyKindStep, Kind } from "@flotilla/apimachinery";
import { customResourceDefinitionOf, rulesOf, servedKinds } from "@flotilla/kubernetes";
import type { CustomResourceDefinition, KindDefinition } from "@flotilla/kubernetes";
import { addOnPlacementScore } from "./addonplacementscore/addonplacementscore.ts";
import { appliedManifestWork } from "./appliedmanifestwork/appliedmanifestwork.ts";
import { clusterClaim } from "./clusterclaim/clusterclaim.ts";
import { managedCluster } from "./managedcluster/managedcluster.ts";
import { managedClusterSet } from "./managedclusterset/managedclusterset.ts";
import { managedClusterSetBinding } from "./managedclustersetbinding/managedclustersetbinding.ts";
import { manifestWork } from "./manifestwork/manifestwork.ts";
import { manifestWorkReplicaSet } from "./manifestworkreplicaset/manifestworkreplicaset.ts";
import { placement } from "./placement/placement.ts";
import { placementDecision } from "./placementdecision/placementdecision.ts";

type Definitions = readonly KindDefinition[];

const onHub: Definitions = [
  managedCluster,
  managedClusterSet,
  managedClusterSetBinding,
  placement,
  placementDecision,
  addOnPlacementScore,
  manifestWork,
  manifestWorkReplicaSet,
];
const onMembers: Definitions = [clusterClaim, appliedManifestWork];

export const ocmDefinitions: Definitions = [...onHub, ...onMembers];

export const ocmHubKinds: readonly Kind[] = servedKinds(onHub);
export const ocmMemberKinds: readonly Kind[] = servedKinds(onMembers);
export const ocmAdmissions: readonly AnyKindStep[] = rulesOf(ocmDefinitions, undefined);

/** The CRDs that an agent installs on a member that lacks them. The schemas are shared: read-only. */
export const ocmMemberDefinitions = (): CustomResourceDefinition[] =>
  ocmMemberKinds.map((kind) => customResourceDefinitionOf(kind));
