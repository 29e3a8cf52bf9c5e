/**
 * AppliedManifestWork: on a member, records the objects that a ManifestWork of a hub applied. Deleting it deletes those
 * objects.
 */
import type { AppliedManifestWork as AppliedManifestWorkFacts } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { WORK_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

export type AppliedManifestWork = AppliedManifestWorkFacts;

export const AppliedManifestWork: Kind<AppliedManifestWork> = ocmKind<AppliedManifestWork>({
  group: WORK_GROUP,
  storageVersion: "v1",
  kind: "AppliedManifestWork",
  plural: "appliedmanifestworks",
  scope: "Cluster",
  facts: "appliedmanifestworks.work.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
  describes: {
    "": "The objects that a ManifestWork of a hub applied to this cluster. Deleting it deletes those objects.",
    "spec.hubHash": "The hash that identifies the hub.",
    "spec.manifestWorkName": "The name of the ManifestWork on the hub.",
    "spec.agentID": "The ID of the agent that applied it.",
    "status.appliedResources": "The applied objects, with their uid.",
    "status.evictionStartTime": "The time since when the ManifestWork is missing on the hub.",
  },
});
