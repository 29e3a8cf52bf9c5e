/**
 * Revisions of a CloneSet: every pod template it ever had, as ControllerRevisions whose name carries a hash of the template.
 *
 * Name and data are byte for byte what OpenKruise makes, so that a CloneSet moved between a simulated and a real cluster
 * keeps its revisions. Pure; `controller.ts` writes what `planRevisions` and `planHistory` return.
 */
import type { CloneSet, ControllerRevision } from "../../../api/index.ts";
import { controllerReference } from "../../../api/index.ts";
import { NAME_ALPHABET, equalJson, invariant, isObject } from "../../../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../../../base/index.ts";
import { CLAIM_TEMPLATES_HASH_ANNOTATION, REVISION_HASH_LABEL } from "./names.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";

export type PodTemplate = DeepReadonly<CloneSet["spec"]["template"]>;
export type ReadonlyRevision = DeepReadonly<ControllerRevision>;

/** Leaves room for a dash and the hash in a name of at most 253 characters, as OpenKruise reckons it. */
const MAX_NAME_PREFIX = 223;

/** The template as OpenKruise stores it: some fields are always there because Go writes their zero value. */
export function revisionData(template: PodTemplate): JsonObject {
  const withResources = (containers: readonly unknown[]): Json => containers.map((container) => ({ resources: {}, ...(container as JsonObject) }));
  const { spec = {}, metadata = {}, ...rest } = template as unknown as { spec?: JsonObject; metadata?: JsonObject };
  const { containers, initContainers, ...podSpec } = spec;
  return {
    spec: {
      template: {
        ...(rest as JsonObject),
        $patch: "replace",
        metadata: { ...metadata, creationTimestamp: null },
        spec: {
          ...podSpec,
          containers: Array.isArray(containers) ? withResources(containers) : null,
          ...(Array.isArray(initContainers) && { initContainers: withResources(initContainers) }),
        },
      },
    },
  };
}

/** The pod template that a revision holds. */
export function templateOf(revision: ReadonlyRevision): PodTemplate {
  const data: unknown = revision.data;
  const spec = isObject(data) ? data["spec"] : undefined;
  const template = isObject(spec) ? spec["template"] : undefined;
  invariant(isObject(template), `ControllerRevision ${revision.metadata.name} holds a pod template`);
  const { $patch: _patch, ...rest } = template;
  const metadata = isObject(rest["metadata"]) ? { ...rest["metadata"] } : {};
  delete metadata["creationTimestamp"];
  return { ...rest, metadata };
}

/** JSON as Go writes it: keys sorted, and `<`, `>`, `&` and two line separators escaped. */
export function goJson(value: Json): string {
  const sorted = (item: Json): Json => {
    if (Array.isArray(item)) return item.map(sorted);
    if (!isObject(item)) return item;
    return Object.fromEntries(
      Object.keys(item)
        .toSorted((a, b) => (a < b ? -1 : 1))
        .map((key) => [key, sorted(item[key] ?? null)]),
    );
  };
  return JSON.stringify(sorted(value)).replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function revisionHash(data: JsonObject, collisionCount: number): string {
  const bytes = new TextEncoder().encode(goJson(data) + String(collisionCount));
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash, 0x01000193) ^ byte;
  return Array.from(String(hash >>> 0), (char) => NAME_ALPHABET[char.charCodeAt(0) % NAME_ALPHABET.length]).join("");
}

/** A revision as it would be created for this template. */
export function makeRevision(cloneSet: ReadonlyCloneSet, number: number, collisionCount: number): ReadonlyRevision {
  const { metadata, spec } = cloneSet;
  const data = revisionData(spec.template);
  const hash = revisionHash(data, collisionCount);
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${metadata.name.slice(0, MAX_NAME_PREFIX)}-${hash}`,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels: { ...spec.template.metadata?.labels, [REVISION_HASH_LABEL]: hash },
      annotations: { ...metadata.annotations, [CLAIM_TEMPLATES_HASH_ANNOTATION]: "" },
      ownerReferences: [controllerReference(cloneSet)],
    },
    data,
    revision: number,
  };
}

export interface RevisionPlan {
  /** The revision of the template that the CloneSet has now. */
  update: ReadonlyRevision;
  /** The one that most pods are leaving; the same as `update` when nothing is being rolled out. */
  current: ReadonlyRevision;
  /** What to write so that `update` exists with this number. */
  write?: "create" | "update";
  collisionCount: number;
}

export function planRevisions(cloneSet: ReadonlyCloneSet, revisions: readonly ReadonlyRevision[]): RevisionPlan {
  const ordered = revisions.toSorted((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1));
  const newest = ordered.at(-1);
  const next = (newest?.revision ?? 0) + 1;
  const data = revisionData(cloneSet.spec.template);
  const currentOr = (update: ReadonlyRevision): ReadonlyRevision => ordered.find(({ metadata }) => metadata.name === cloneSet.status?.currentRevision) ?? update;
  const stored = cloneSet.status?.collisionCount ?? 0;

  const same = ordered.findLast((revision) => equalJson(revision.data, data));
  if (same && same === newest) return { update: same, current: currentOr(same), collisionCount: stored };
  // A template that comes back keeps its name, so its pods count as updated at once.
  if (same) return { update: { ...same, revision: next }, current: currentOr(same), write: "update", collisionCount: stored };

  // A name that another template of ours has is hashed again; a name that somebody else has is found out by the create.
  let collisionCount = stored;
  let update = makeRevision(cloneSet, next, collisionCount);
  while (ordered.some(({ metadata }) => metadata.name === update.metadata.name)) update = makeRevision(cloneSet, next, ++collisionCount);
  return { update, current: currentOr(update), write: "create", collisionCount };
}

/** What upstream assumes when `revisionHistoryLimit` is not set. */
const DEFAULT_HISTORY_LIMIT = 10;

/** Revisions that nothing uses any more, the oldest first, beyond the limit. */
export function planHistory(cloneSet: ReadonlyCloneSet, revisions: readonly ReadonlyRevision[], isUsed: (name: string) => boolean): ReadonlyRevision[] {
  const unused = revisions.filter(({ metadata }) => !isUsed(metadata.name)).toSorted((a, b) => a.revision - b.revision);
  return unused.slice(0, Math.max(0, unused.length - (cloneSet.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT)));
}
