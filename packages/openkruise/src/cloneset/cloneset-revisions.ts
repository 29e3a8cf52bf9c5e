/** The revisions of a CloneSet: its pod template, and a hash of the volume claim templates. */
import type { CloneSet } from "./cloneset-kind.ts";
import { planHistory, podTemplateData, REVISION_LABEL, shortHash } from "@flotilla/kubernetes";
import type { PersistentVolumeClaim, ReadonlyRevision, RevisionFormat } from "@flotilla/kubernetes";
import { compareText, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { goStructJson, sortedKeys } from "@flotilla/apimachinery";
import { goBytesHash } from "../in-place/container-hashes.ts";
import { CLAIM_TEMPLATES_HASH_ANNOTATION } from "./cloneset-names.ts";
import type { Scene } from "./scene.ts";

export const cloneSetRevisions: RevisionFormat<CloneSet> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata, spec }) => ({
    ...metadata.annotations,
    [CLAIM_TEMPLATES_HASH_ANNOTATION]: claimTemplatesHash(spec.volumeClaimTemplates ?? []),
  }),
  returned(old, fresh) {
    const hash = fresh.metadata.annotations?.[CLAIM_TEMPLATES_HASH_ANNOTATION] ?? "";
    return {
      ...old,
      metadata: {
        ...old.metadata,
        annotations: { ...old.metadata.annotations, [CLAIM_TEMPLATES_HASH_ANNOTATION]: hash },
      },
    };
  },
};

/** Revisions beyond the history limit that no active pod has. */
export function unusedRevisions({ cloneSet, active, known, revisions }: Scene): ReadonlyRevision[] {
  const used = new Set(
    [
      revisions.current.metadata.name,
      revisions.update.metadata.name,
      ...active.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? ""),
    ].map(shortHash),
  );
  return planHistory(known, cloneSet.spec.revisionHistoryLimit, ({ metadata }) => used.has(shortHash(metadata.name)));
}

/** The empty string if there are none. */
function claimTemplatesHash(templates: readonly DeepReadonly<PersistentVolumeClaim>[]): string {
  if (templates.length === 0) return "";
  const claims = templates
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .map(({ metadata, spec }) => ({
      metadata: { name: metadata.name, creationTimestamp: null },
      spec: goClaimSpec((spec ?? {}) as unknown as JsonObject),
      status: {},
    }));
  return String(goBytesHash(goStructJson(claims)));
}

/** The fields of a claim's spec in Go's order; the hash is over the text. */
const CLAIM_FIELDS = [
  "accessModes",
  "selector",
  "resources",
  "volumeName",
  "storageClassName",
  "volumeMode",
  "dataSource",
  "dataSourceRef",
  "volumeAttributesClassName",
];
const SOURCE_FIELDS = ["apiGroup", "kind", "name", "namespace"];

function goClaimSpec(spec: JsonObject): Json {
  const withResources: JsonObject = { resources: {}, ...spec };
  return inFieldOrder(CLAIM_FIELDS, withResources, (field, value) => {
    if (field === "selector") return inFieldOrder(["matchLabels", "matchExpressions"], value, sortedPart);
    if (field === "resources") return inFieldOrder(["limits", "requests"], value, sortedPart);
    return field === "dataSource" || field === "dataSourceRef"
      ? inFieldOrder(SOURCE_FIELDS, isObject(value) ? { apiGroup: null, ...value } : value, sortedPart)
      : value;
  });
}

/** Nested values are maps, or structs whose fields are in alphabetical order anyway. */
const sortedPart = (_field: string, value: Json): Json => sortedKeys(value);

function inFieldOrder(fields: readonly string[], value: Json, part: (field: string, value: Json) => Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    fields.flatMap((field) => (value[field] === undefined ? [] : [[field, part(field, value[field])]])),
  );
}
