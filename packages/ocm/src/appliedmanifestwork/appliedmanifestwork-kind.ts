/**
 * AppliedManifestWork: on a member, records the objects that a ManifestWork of a hub applied. Deleting it deletes those
 * objects.
 */
import type { AppliedManifestWork as AppliedManifestWorkFacts } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { WORK_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { appliedManifestWorkDescriptions } from "./appliedmanifestwork-descriptions.ts";

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
  descriptions: appliedManifestWorkDescriptions,
});
