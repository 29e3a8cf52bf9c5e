/**
 * The revisions of a SidecarSet: the injected content, without the strategy and selectors. They are stored in
 * OpenKruise's own namespace, and an older one can be injected. Pure.
 */
import { CUSTOM_VERSION_LABEL } from "../api/kruise-names.ts";
import {
  SIDECAR_SET_HASH_ANNOTATION,
  SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION,
  sidecarSetHashes,
} from "./sidecarset-hash.ts";
import type { SidecarSet } from "./sidecarset-kind.ts";
import { isObject, omitZero } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { inRevisionOrder } from "@flotilla/kubernetes";
import type { ReadonlyRevision, RevisionFormat } from "@flotilla/kubernetes";
import { KRUISE_NAMESPACE, SET_NAME_LABEL } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";

/** The fields of the spec in a revision; null represents an absent field. */
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
    ...omitZero({ [CUSTOM_VERSION_LABEL]: spec.customVersion }),
    [SET_NAME_LABEL]: metadata.name,
  }),
  annotationsOf: ({ metadata }) => metadata.annotations ?? {},
  namespaceOf: () => KRUISE_NAMESPACE,
};

/** Go structs that are serialized even if unset. */
const ALWAYS: JsonObject = { resources: {}, shareVolumePolicy: {}, upgradeStrategy: {} };

function fieldData(field: (typeof KEPT)[number], value: Json | undefined): Json {
  if (!Array.isArray(value) || value.length === 0) return null;
  return field === "containers" || field === "initContainers"
    ? value.map((container) => ({ ...ALWAYS, ...(container as JsonObject) }))
    : value;
}

/** The revision of `injectionStrategy.revision`: by name, or the newest with this user-defined version. */
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

/** The set at a revision: with the old content and hashes. */
export function setAtRevision(set: ReadonlySidecarSet, revision: ReadonlyRevision): ReadonlySidecarSet {
  const data: unknown = revision.data;
  const kept = isObject(data) && isObject(data["spec"]) ? data["spec"] : {};
  const fields = KEPT.flatMap((field) =>
    kept[field] === null || kept[field] === undefined ? [] : [[field, kept[field]]],
  );
  // A revision replaces the whole spec, including fields that it does not contain.
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

/** Upstream's default for `revisionHistoryLimit`. */
const DEFAULT_HISTORY_LIMIT = 10;

/**
 * Revisions beyond the limit, oldest first, except for those used by pods or selected for injection. The newest always
 * stays.
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
