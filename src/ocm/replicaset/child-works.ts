/** The works of a replica set: how they are named and marked, and whether one is what the template asks for. */
import { createHash } from "node:crypto";
import { ManifestWork, MANIFEST_WORK_FINALIZER, PLACEMENT_NAME_LABEL, REPLICA_SET_LABEL } from "../../api/index.ts";
import type { ManifestWorkReplicaSet } from "../../api/index.ts";
import { equalJson, type DeepReadonly } from "../../base/index.ts";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;

const MAX_LABEL = 63;
const SUFFIX_LENGTH = 5;

/** `namespace.name`, as OCM marks works with; a hash stands for one that a label cannot hold, which OCM refuses. */
export function ownerValue({ metadata: { namespace = "", name } }: ReplicaSet): string {
  const value = `${namespace}.${name}`;
  return value.length <= MAX_LABEL ? value : `${value.slice(0, MAX_LABEL - 17).replace(/[^A-Za-z0-9]+$/, "")}-${hashOf(value).slice(0, 16)}`;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** OCM adds random letters to the name of the set; these are the same every time, so that a work is never made twice. */
export function workFor(set: ReplicaSet, placement: string, cluster: string, before: Work | undefined): ManifestWork {
  const { namespace = "", name } = set.metadata;
  return {
    apiVersion: `${ManifestWork.group}/${ManifestWork.storageVersion}`,
    kind: ManifestWork.kind,
    metadata: {
      name: before?.metadata.name ?? `${name}${hashOf(`${namespace}/${name}`).slice(0, SUFFIX_LENGTH)}`,
      namespace: cluster,
      labels: { ...set.metadata.labels, [REPLICA_SET_LABEL]: ownerValue(set), [PLACEMENT_NAME_LABEL]: placement },
      finalizers: [MANIFEST_WORK_FINALIZER],
    },
    spec: set.spec.manifestWorkTemplate as ManifestWork["spec"],
  };
}

/** Whether a work has the template and the labels that it should have. Labels of others are left alone. */
export function isCurrent(work: Work, wanted: Work): boolean {
  const { labels = {} } = work.metadata;
  return equalJson(work.spec, wanted.spec) && Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => labels[key] === value);
}
