/** AppliedManifestWork: on a member, what a ManifestWork of a hub brought there. Its deletion takes that away. */
import { customKind } from "../define.ts";
import type { AppliedManifestWork as AppliedManifestWorkFacts } from "../facts/work-ocm-v1.ts";
import type { Kind } from "../kind.ts";
import { WORK_GROUP } from "./names.ts";

export type AppliedManifestWork = AppliedManifestWorkFacts;

export const AppliedManifestWork: Kind<AppliedManifestWork> = customKind<AppliedManifestWork>({
  group: WORK_GROUP,
  storageVersion: "v1",
  kind: "AppliedManifestWork",
  plural: "appliedmanifestworks",
  scope: "Cluster",
  facts: "appliedmanifestworks.work.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
});
