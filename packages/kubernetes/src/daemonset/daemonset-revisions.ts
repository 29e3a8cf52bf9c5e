/** The format of a DaemonSet's revisions. */
import { revisionData } from "../controllerrevision/revision-data.ts";
import { REVISION_LABEL } from "../controllerrevision/revisions.ts";
import type { RevisionFormat } from "../controllerrevision/revisions.ts";
import { templateHash } from "../deployment/replica-sets.ts";
import type { DaemonSet } from "./daemonset-kind.ts";

export const daemonSetRevisions: RevisionFormat<DaemonSet> = {
  dataOf: ({ spec }) => revisionData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations,
  hashOf: ({ spec }, _data, collisionCount) => templateHash(spec.template, collisionCount),
  hashLabel: REVISION_LABEL,
};
