/**
 * The objects of aggregated servers that garbage collection is about: those with owners, and those whose deletion waits for their
 * dependents. Of the others nothing is kept.
 */
import type { OwnerReference } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import { ownersOf } from "../background/ownership.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";
import { ask } from "./remote-calls.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteService } from "./remote-service.ts";

const NONE: readonly ForeignObject[] = [];
/** Objects of a page: servers that ignore the request for metadata send them whole. */
const PAGE = 100;
const PAGE_BYTES = 16 * 1024 * 1024;
/** Pages of one kind in one pass. */
const MAX_PAGES = 200;
const LIST_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** As in kube-controller-manager: only such kinds take part. `patch` is needed to remove owners and finalizers. */
const VERBS = ["list", "watch", "delete", "patch"];

export interface ForeignKind {
  readonly remote: RemoteService;
  readonly resource: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export interface ForeignObject {
  readonly of: ForeignKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

export interface ForeignObjects {
  readonly objects: readonly ForeignObject[];
  find(uid: string): ForeignObject | undefined;
  dependentsOf(uid: string): readonly ForeignObject[];
  /** False when a server did not list all its objects. */
  readonly isComplete: boolean;
}

/** The kinds that take part, each in the version that its group prefers. Pure. */
export function collectedKinds(remotes: readonly RemoteService[]): ForeignKind[] {
  const preferred = new Map<string, RemoteService>();
  for (const remote of remotes) {
    const before = preferred.get(remote.group);
    if (remote.discovered && (!before || remote.spec.versionPriority > before.spec.versionPriority))
      preferred.set(remote.group, remote);
  }
  return [...preferred.values()].flatMap((remote) =>
    (remote.discovered?.resources ?? []).flatMap(({ resource, responseKind, scope, verbs }) => {
      const kind = isObject(responseKind) ? responseKind.kind : undefined;
      if (typeof resource !== "string" || typeof kind !== "string" || !Array.isArray(verbs)) return [];
      return VERBS.every((verb) => verbs.includes(verb))
        ? [{ remote, resource, kind, isNamespaced: scope === "Namespaced" }]
        : [];
    }),
  );
}

export async function readForeignObjects(
  kinds: readonly ForeignKind[],
  context: { clock: Clock; signal: AbortSignal },
): Promise<ForeignObjects> {
  const objects: ForeignObject[] = [];
  let isComplete = true;
  for (const kind of kinds) {
    const found = isAvailable(kind.remote) ? await listKind(kind, context) : undefined;
    if (found) objects.push(...found);
    else isComplete = false;
  }
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
    isComplete,
    find: (uid) => byUid.get(uid),
    dependentsOf: (uid) => byOwner.get(uid) ?? NONE,
  };
}

/** Undefined when not all objects could be listed. */
async function listKind(
  kind: ForeignKind,
  context: { clock: Clock; signal: AbortSignal },
): Promise<ForeignObject[] | undefined> {
  const found: ForeignObject[] = [];
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
      return undefined;
    }
    if (!isObject(list) || !Array.isArray(list.items)) return undefined;
    for (const item of list.items) if (isObject(item)) found.push(...concerned(kind, item));
    next = isObject(list.metadata) ? textOf(list.metadata.continue) : "";
    if (next === "") return found;
  }
  return undefined;
}

function concerned(kind: ForeignKind, item: JsonObject): ForeignObject[] {
  const metadata = metadataOf(item);
  const owners = ownersOf(item);
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const [name, uid, resourceVersion] = [metadata.name, metadata.uid, metadata.resourceVersion].map(textOf);
  if (!name || !uid || !resourceVersion || (owners.length === 0 && !isDeleting)) return [];
  const namespace = kind.isNamespaced ? textOf(metadata.namespace) : undefined;
  return [{ of: kind, namespace, name, uid, resourceVersion, owners, finalizers: finalizersOf(metadata), isDeleting }];
}

/** The path of an object, or of all objects of a kind. */
export function pathOf({ remote, resource }: ForeignKind, object?: Pick<ForeignObject, "namespace" | "name">): string {
  const place = object?.namespace === undefined ? [] : ["namespaces", object.namespace];
  const parts = ["apis", remote.group, remote.version, ...place, resource, ...(object ? [object.name] : [])];
  return `/${parts.map(encodeURIComponent).join("/")}`;
}
