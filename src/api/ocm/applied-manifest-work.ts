/** AppliedManifestWork: on a member, what a ManifestWork of a hub brought there. Its deletion takes that away. */
import type { AppliedManifestWork as AppliedManifestWorkFacts } from "../facts/work-ocm-v1.ts";
import type { Kind } from "../kind.ts";
import { WORK_GROUP } from "./names.ts";
import { ocmKind } from "./ocm-kind.ts";

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
    "": "What a ManifestWork of a hub brought to this cluster. Deleting it takes that away.",
    "spec.hubHash": "Which hub it was.",
    "spec.manifestWorkName": "Which ManifestWork of the hub it was.",
    "spec.agentID": "Which agent brought it.",
    "status.appliedResources": "The objects, by uid.",
    "status.evictionStartTime": "Since when the ManifestWork is missed on the hub.",
  },
});
