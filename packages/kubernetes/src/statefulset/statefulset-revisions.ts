/** The format of a StatefulSet's revisions. */
import { revisionData } from "../controllerrevision/revision-data.ts";
import type { RevisionFormat } from "../controllerrevision/revisions.ts";
import type { StatefulSet } from "./statefulset-kind.ts";

export const statefulSetRevisions: RevisionFormat<StatefulSet> = {
  dataOf: ({ spec }) => revisionData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations ?? {},
};
