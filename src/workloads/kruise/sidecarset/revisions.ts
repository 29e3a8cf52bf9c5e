/**
 * The revisions of a SidecarSet: what it injects, without how and where. They are kept in OpenKruise's own namespace,
 * and pods can be injected with an older one. Pure.
 */
import {
  SIDECAR_SET_HASH_ANNOTATION,
  SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION,
  sidecarSetHashes,
} from "../../../api/index.ts";
import type { SidecarSet } from "../../../api/index.ts";
import { isObject } from "../../../base/index.ts";
import type { Json, JsonObject } from "../../../base/index.ts";
import type { ReadonlyRevision } from "../../revisions/pod-template-data.ts";
import { inRevisionOrder } from "../../revisions/revisions.ts";
import type { RevisionFormat } from "../../revisions/revisions.ts";
import { CUSTOM_VERSION_LABEL, KRUISE_NAMESPACE, SET_NAME_LABEL } from "./names.ts";
import type { ReadonlySidecarSet } from "./names.ts";

/** What of the spec a revision keeps; null stands for what the set does not have. */
const KEPT = ["containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"] as const;

export const sidecarSetRevisions: RevisionFormat<SidecarSet> = {
  dataOf: ({ spec }) => ({
    spec: {
      $patch: "replace",
      ...Object.fromEntries(KEPT.map((field) => [field, fieldData(field, (spec as JsonObject)[field])])),
    },
  }),
  labelsOf: ({ metadata, spec }) => ({
    ...metadata.labels,
    ...(spec.customVersion && { [CUSTOM_VERSION_LABEL]: spec.customVersion }),
    [SET_NAME_LABEL]: metadata.name,
  }),
  annotationsOf: ({ metadata }) => metadata.annotations ?? {},
  namespaceOf: () => KRUISE_NAMESPACE,
};

/** Structs of Go that are written although nobody set them. */
const ALWAYS: JsonObject = { resources: {}, shareVolumePolicy: {}, upgradeStrategy: {} };

function fieldData(field: (typeof KEPT)[number], value: Json | undefined): Json {
  if (!Array.isArray(value) || value.length === 0) return null;
  return field === "containers" || field === "initContainers"
    ? value.map((container) => ({ ...ALWAYS, ...(container as JsonObject) }))
    : value;
}

/**
 * The revision that `injectionStrategy.revision` means: by its name, or the newest that was given this version by the
 * user.
 */
export function chosenRevision(
  set: ReadonlySidecarSet,
  revisions: readonly ReadonlyRevision[],
): ReadonlyRevision | undefined {
  const { revisionName, customVersion } = set.spec.injectionStrategy?.revision ?? {};
  if (revisionName !== undefined) return revisions.find(({ metadata }) => metadata.name === revisionName);
  const ofVersion = revisions.filter(
    ({ metadata: { labels } }) =>
      labels?.[SET_NAME_LABEL] === set.metadata.name && labels[CUSTOM_VERSION_LABEL] === customVersion,
  );
  return inRevisionOrder(ofVersion).at(-1);
}

/** The set as it was at a revision: what it injects is old, and so are its hashes. */
export function setAtRevision(set: ReadonlySidecarSet, revision: ReadonlyRevision): ReadonlySidecarSet {
  const data: unknown = revision.data;
  const kept = isObject(data) && isObject(data["spec"]) ? data["spec"] : {};
  const fields = KEPT.flatMap((field) =>
    kept[field] === null || kept[field] === undefined ? [] : [[field, kept[field]]],
  );
  // A revision replaces the whole spec, also what it does not keep.
  const spec = Object.fromEntries(fields) as ReadonlySidecarSet["spec"];
  const { annotations } = revision.metadata;
  const hashes = (): ReturnType<typeof sidecarSetHashes> => sidecarSetHashes(spec);
  return {
    ...set,
    metadata: {
      ...set.metadata,
      annotations: {
        ...set.metadata.annotations,
        [SIDECAR_SET_HASH_ANNOTATION]: annotations?.[SIDECAR_SET_HASH_ANNOTATION] || hashes().hash,
        [SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION]:
          annotations?.[SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION] || hashes().hashWithoutImage,
      },
    },
    spec,
    status: { matchedPods: 0, updatedPods: 0, readyPods: 0, ...set.status, latestRevision: revision.metadata.name },
  };
}

/** What upstream assumes when `revisionHistoryLimit` is not set. */
const DEFAULT_HISTORY_LIMIT = 10;

/**
 * Revisions beyond the limit, the oldest first, without those that pods have or that are to be injected. The newest
 * always stays.
 */
export function surplusRevisions(
  set: ReadonlySidecarSet,
  known: readonly ReadonlyRevision[],
  isUsed: (revision: ReadonlyRevision) => boolean,
): ReadonlyRevision[] {
  const surplus = known.length - Math.max(1, set.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT);
  if (surplus <= 0) return [];
  const injected = set.spec.injectionStrategy?.revision && chosenRevision(set, known);
  return inRevisionOrder(known)
    .slice(0, -1)
    .filter((revision) => revision !== injected && !isUsed(revision))
    .slice(0, surplus);
}
