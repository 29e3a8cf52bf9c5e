/**
 * The objects of aggregated servers that garbage collection is about: those with owners, and those whose deletion waits for their
 * dependents. Of the others nothing is kept.
 */
import { isObject } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import { ownersOf } from "../background/ownership.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";
import { ask } from "./remote-calls.ts";
import type { ForeignKind, ForeignObject } from "./foreign-object.ts";
import { waitsFor } from "./plan-foreign.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

const NONE: readonly ForeignObject[] = [];
/** Objects of a page: servers that ignore the request for metadata send them whole. */
const PAGE = 100;
const PAGE_BYTES = 16 * 1024 * 1024;
/** Pages of one kind in one pass: a million objects. A server may send pages without end. */
const MAX_PAGES = 10_000;
/** Objects of a cluster that are kept for one pass, besides those whose deletion waits for their dependents: about 50 MB. */
const MAX_KEPT = 50_000;
const LIST_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** As in kube-controller-manager: only such kinds take part. `patch` is needed to remove owners and finalizers. */
const VERBS = ["list", "watch", "delete", "patch"];

/** The kinds of a cluster that take part. */
export interface CollectedKinds {
  readonly kinds: readonly ForeignKind[];
  /** Why other kinds may take part as well. */
  readonly unknown: readonly string[];
}

export interface ForeignObjects {
  readonly objects: readonly ForeignObject[];
  find(uid: string): ForeignObject | undefined;
  dependentsOf(uid: string): readonly ForeignObject[];
  /** Why there may be other objects; empty when all were listed. */
  readonly problems: readonly string[];
  /** Too many to keep them all: those of few owners can still be read. */
  readonly isTruncated: boolean;
}

/** Each kind in the version of the highest priority that has it. Pure. */
export function collectedKinds(remotes: readonly RemoteService[]): CollectedKinds {
  const used = remotes.filter(({ isUsed }) => isUsed);
  const kinds = new Map<string, ForeignKind>();
  for (const remote of used.toSorted((a, b) => b.spec.versionPriority - a.spec.versionPriority))
    for (const { resource, responseKind, scope, verbs } of remote.discovered?.resources ?? []) {
      const kind = isObject(responseKind) ? responseKind.kind : undefined;
      if (typeof resource !== "string" || typeof kind !== "string" || !Array.isArray(verbs)) continue;
      const id = `${remote.group}/${resource}`;
      if (!kinds.has(id) && VERBS.every((verb) => verbs.includes(verb)))
        kinds.set(id, { remote, resource, kind, isNamespaced: scope === "Namespaced" });
    }
  const unknown = used
    .filter(({ discovered }) => discovered === undefined)
    .map(({ name }) => `the server of the APIService ${name} has not said yet which kinds it has`);
  return { kinds: [...kinds.values()], unknown };
}

/** With `uids`, only the dependents of these owners, however many objects there are. */
export async function readForeignObjects(
  { kinds, unknown }: CollectedKinds,
  context: { clock: Clock; signal: AbortSignal },
  uids?: ReadonlySet<string>,
): Promise<ForeignObjects> {
  const objects: ForeignObject[] = [];
  const problems = [...unknown];
  let kept = 0;
  const keep = (object: ForeignObject): void => {
    if (uids && !object.owners.some(({ uid }) => uids.has(uid))) return;
    if (waitsFor(object) === undefined && ++kept > MAX_KEPT) return;
    objects.push(object);
  };
  for (const kind of kinds)
    if (!isAvailable(kind.remote) || !(await listKind(kind, context, keep)))
      problems.push(`the server of the APIService ${kind.remote.name} did not list all ${kind.resource}`);
  if (kept > MAX_KEPT) problems.push(`more than ${MAX_KEPT} objects of aggregated servers have owners`);
  const byUid = new Map(objects.map((object) => [object.uid, object]));
  const byOwner = new Map<string, ForeignObject[]>();
  for (const object of objects)
    for (const uid of new Set(object.owners.map((owner) => owner.uid))) {
      const dependents = byOwner.get(uid);
      if (dependents) dependents.push(object);
      else byOwner.set(uid, [object]);
    }
  return {
    objects,
    problems,
    isTruncated: kept > MAX_KEPT,
    find: (uid) => byUid.get(uid),
    dependentsOf: (uid) => byOwner.get(uid) ?? NONE,
  };
}

/** Page by page. Resolves with whether all objects could be listed. */
async function listKind(
  kind: ForeignKind,
  context: { clock: Clock; signal: AbortSignal },
  keep: (object: ForeignObject) => void,
): Promise<boolean> {
  let next = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (next !== "") query.set("continue", next);
    let list: Json | undefined;
    try {
      const path = `${pathOf(kind)}?${query.toString()}`;
      ({ json: list } = await ask(kind.remote, path, context, { accept: LIST_METADATA, maxBytes: PAGE_BYTES }));
    } catch {
      // The condition of the APIService reports a server that does not answer.
      return false;
    }
    if (!isObject(list) || !Array.isArray(list.items)) return false;
    for (const item of list.items) {
      const object = isObject(item) ? concerned(kind, item) : undefined;
      if (object) keep(object);
    }
    next = isObject(list.metadata) ? textOf(list.metadata.continue) : "";
    if (next === "") return true;
  }
  return false;
}

function concerned(kind: ForeignKind, item: JsonObject): ForeignObject | undefined {
  const metadata = metadataOf(item);
  const owners = ownersOf(item);
  const finalizers = finalizersOf(metadata);
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const [name, uid, resourceVersion] = [metadata.name, metadata.uid, metadata.resourceVersion].map(textOf);
  if (!name || !uid || !resourceVersion) return undefined;
  if (owners.length === 0 && waitsFor({ isDeleting, finalizers }) === undefined) return undefined;
  const namespace = kind.isNamespaced ? textOf(metadata.namespace) : undefined;
  return { of: kind, namespace, name, uid, resourceVersion, owners, finalizers, isDeleting };
}

/** The path of an object, or of all objects of a kind. */
export function pathOf({ remote, resource }: ForeignKind, object?: Pick<ForeignObject, "namespace" | "name">): string {
  const place = object?.namespace === undefined ? [] : ["namespaces", object.namespace];
  const parts = ["apis", remote.group, remote.version, ...place, resource, ...(object ? [object.name] : [])];
  return `/${parts.map(encodeURIComponent).join("/")}`;
}
