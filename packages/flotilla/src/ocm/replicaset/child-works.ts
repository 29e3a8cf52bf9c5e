/** The works of a replica set: their names and labels, and whether a work matches the template. */
import { createHash } from "node:crypto";
import {
  ManifestWork,
  MANIFEST_WORK_FINALIZER,
  MAX_MANIFEST_WORK_NAME,
  PLACEMENT_NAME_LABEL,
  REPLICA_SET_LABEL,
} from "@flotilla/ocm";
import type { ManifestWorkReplicaSet } from "@flotilla/ocm";
import { equalJson, type DeepReadonly } from "@flotilla/base";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;

const MAX_LABEL = 63;
const SUFFIX_LENGTH = 5;

/**
 * `namespace.name`, the label value that OCM uses; replaced by a hash if it does not fit into a label, which OCM
 * rejects.
 */
export function ownerValue({ metadata: { namespace = "", name } }: ReplicaSet): string {
  const value = `${namespace}.${name}`;
  return value.length <= MAX_LABEL
    ? value
    : `${value.slice(0, MAX_LABEL - 17).replace(/[^A-Za-z0-9]+$/, "")}-${hashOf(value).slice(0, 16)}`;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The Placement that a work was created for, or was handed over to. */
export const placementOf = ({ metadata }: Work): string => metadata.labels?.[PLACEMENT_NAME_LABEL] ?? "";

/** Whether another owner has a work of this name in a cluster's namespace. */
export type IsTaken = (cluster: string, name: string) => boolean;

/**
 * A work has the name of its set, as in OCM up to 1.2. If the name is taken, a suffix follows, as in later versions;
 * the suffix is deterministic, so that a work is never created twice.
 */
function nameFor({ metadata: { namespace = "", name } }: ReplicaSet, cluster: string, isTaken: IsTaken): string {
  return isTaken(cluster, name)
    ? `${name.slice(0, MAX_MANIFEST_WORK_NAME - SUFFIX_LENGTH)}${hashOf(`${namespace}/${name}`).slice(0, SUFFIX_LENGTH)}`
    : name;
}

export function workFor(
  set: ReplicaSet,
  placement: string,
  cluster: string,
  before: Work | undefined,
  isTaken: IsTaken = () => false,
): ManifestWork {
  return {
    apiVersion: `${ManifestWork.group}/${ManifestWork.storageVersion}`,
    kind: ManifestWork.kind,
    metadata: {
      name: before?.metadata.name ?? nameFor(set, cluster, isTaken),
      namespace: cluster,
      labels: { ...set.metadata.labels, [REPLICA_SET_LABEL]: ownerValue(set), [PLACEMENT_NAME_LABEL]: placement },
      finalizers: [MANIFEST_WORK_FINALIZER],
    },
    spec: set.spec.manifestWorkTemplate as ManifestWork["spec"],
  };
}

/** The same work, labelled for another Placement of its set. */
export function handedOver(work: Work, placement: string): ManifestWork {
  return {
    ...(work as ManifestWork),
    metadata: {
      ...(work as ManifestWork).metadata,
      labels: { ...work.metadata.labels, [PLACEMENT_NAME_LABEL]: placement },
    },
  };
}

/**
 * Whether a work has the desired template and labels. Its Placement label is not compared; labels of other writers are
 * left alone.
 */
export function isCurrent(work: Work, wanted: Work): boolean {
  const { labels = {} } = work.metadata;
  return (
    equalJson(work.spec, wanted.spec) &&
    Object.entries(wanted.metadata.labels ?? {}).every(
      ([key, value]) => key === PLACEMENT_NAME_LABEL || labels[key] === value,
    )
  );
}
