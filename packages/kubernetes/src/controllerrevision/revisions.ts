/**
 * The history of a workload: every template that it had, as ControllerRevisions with a hash in their names.
 *
 * A workload kind defines the content of its revisions (`RevisionFormat`), calls `planRevisions` in every reconcile to
 * find the revision of its template, and `planHistory` to find unused ones. Names and data are byte for byte
 * upstream's, so that a workload that moves between a simulated and a real cluster keeps its revisions. Pure;
 * `history.ts` reads and writes them.
 */
import { CONTROLLER_REVISION_HASH_LABEL } from "../well-known-names.ts";
import { controllerReference, fnv32, goJson, safeEncode } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { compareText, equalJson } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ReadonlyRevision } from "./pod-template-data.ts";

/** On pods: the name of their revision, or only its hash. */
export const REVISION_LABEL = "controller-revision-hash";
/** On pods and ReplicaSets: the hash alone. */
export const TEMPLATE_HASH_LABEL = "pod-template-hash";

/** Leaves room for a dash and the hash in a name of at most 253 characters, as in Kubernetes. */
const MAX_NAME_PREFIX = 223;

type StringMap = Readonly<Record<string, string>>;

/** The format of a kind's revisions. */
export interface RevisionFormat<T extends KubernetesObject> {
  /** The data of a revision; two revisions with the same data are the same. */
  dataOf(owner: DeepReadonly<T>): JsonObject;
  labelsOf(owner: DeepReadonly<T>): StringMap | undefined;
  annotationsOf?(owner: DeepReadonly<T>): StringMap | undefined;
  /** Unset: the owner's namespace. */
  namespaceOf?(owner: DeepReadonly<T>): string;
  /** Unset: `revisionHash`. DaemonSets have another hash of their template. */
  hashOf?(owner: DeepReadonly<T>, data: JsonObject, collisionCount: number): string;
  /** Unset: `controller.kubernetes.io/hash`. */
  hashLabel?: string;
  /** The fields that an old revision takes from a new one when its template is restored. Unset: only the number. */
  returned?(old: ReadonlyRevision, fresh: ReadonlyRevision): ReadonlyRevision;
}

/** FNV-1 over the data and the collision count, in the alphabet of names. */
export function revisionHash(data: JsonObject, collisionCount: number): string {
  return safeEncode(String(fnv32(goJson(data) + String(collisionCount))));
}

/** The part after the last dash of a revision's name. */
export function shortHash(revision: string): string {
  return revision.slice(revision.lastIndexOf("-") + 1);
}

/** The revision for the current state of the owner. */
export function makeRevision<T extends KubernetesObject>(
  format: RevisionFormat<T>,
  owner: DeepReadonly<T>,
  number: number,
  collisionCount: number,
): ReadonlyRevision {
  const data = format.dataOf(owner);
  const hash = format.hashOf ? format.hashOf(owner, data, collisionCount) : revisionHash(data, collisionCount);
  const namespace = format.namespaceOf?.(owner) ?? owner.metadata.namespace;
  const annotations = format.annotationsOf?.(owner);
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${owner.metadata.name.slice(0, MAX_NAME_PREFIX)}-${hash}`,
      namespace: namespace || undefined,
      labels: { ...format.labelsOf(owner), [format.hashLabel ?? CONTROLLER_REVISION_HASH_LABEL]: hash },
      annotations,
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision: number,
  };
}

/** Oldest first, in upstream's order. */
export function inRevisionOrder(revisions: readonly ReadonlyRevision[]): ReadonlyRevision[] {
  return revisions.toSorted(
    (a, b) =>
      a.revision - b.revision ||
      compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
      compareText(a.metadata.name, b.metadata.name),
  );
}

export interface RevisionPlan {
  /** The revision of the workload's current template. */
  update: ReadonlyRevision;
  /** The revision that its pods are leaving; the same as `update` without a rollout. */
  current: ReadonlyRevision;
  /** The write that is needed for `update` to exist with this number. */
  write?: "create" | "update";
  collisionCount: number;
}

/** `known` are the revisions of the owner; the other two come from its status. */
export function planRevisions<T extends KubernetesObject>(
  format: RevisionFormat<T>,
  owner: DeepReadonly<T>,
  {
    known,
    currentRevision,
    collisionCount: stored = 0,
  }: { known: readonly ReadonlyRevision[]; currentRevision?: string | undefined; collisionCount?: number | undefined },
): RevisionPlan {
  const ordered = inRevisionOrder(known);
  const newest = ordered.at(-1);
  const next = (newest?.revision ?? 0) + 1;
  const data = format.dataOf(owner);
  const currentOr = (update: ReadonlyRevision): ReadonlyRevision =>
    ordered.find(({ metadata }) => metadata.name === currentRevision) ?? update;

  const same = ordered.findLast((revision) => equalJson(revision.data, data));
  if (same && same === newest) return { update: same, current: currentOr(same), collisionCount: stored };
  if (same) {
    // A restored template keeps its name, so its pods count as updated at once.
    const returned = format.returned?.(same, makeRevision(format, owner, next, stored)) ?? same;
    return {
      update: { ...returned, revision: next },
      current: currentOr(same),
      write: "update",
      collisionCount: stored,
    };
  }

  // A collision with our own revision changes the hash here; a collision with another owner's is detected by the
  // create.
  let collisionCount = stored;
  let update = makeRevision(format, owner, next, collisionCount);
  while (ordered.some(({ metadata }) => metadata.name === update.metadata.name))
    update = makeRevision(format, owner, next, ++collisionCount);
  return { update, current: currentOr(update), write: "create", collisionCount };
}

/** Upstream's default for `revisionHistoryLimit`. */
const DEFAULT_HISTORY_LIMIT = 10;

/** Unused revisions beyond the limit, oldest first. */
export function planHistory(
  known: readonly ReadonlyRevision[],
  limit: number | undefined,
  isUsed: (revision: ReadonlyRevision) => boolean,
): ReadonlyRevision[] {
  const surplus = known.length - (limit ?? DEFAULT_HISTORY_LIMIT);
  if (surplus <= 0) return [];
  const unused = inRevisionOrder(known).filter((revision) => !isUsed(revision));
  return unused.slice(0, Math.max(0, unused.length - (limit ?? DEFAULT_HISTORY_LIMIT)));
}
