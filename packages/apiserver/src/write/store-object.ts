/** What creates and updates share: conversion to the storage version, reservations, and one compare-and-set. */
import { isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { conflict } from "@flotilla/apimachinery";
import type { Cache, CachedEntry } from "../store/cache.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { Found } from "../clusters/objects.ts";
import type { RequestContext } from "../request/context.ts";
import type { DefinitionStatus } from "../crd/crd-status.ts";
import { isDefinition } from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { convertBetween } from "../codec/conversion.ts";
import type { Conversions } from "../conversion/conversions.ts";
import { objectIn, ordered, viewOfWritten } from "../codec/render.ts";
import { confirm } from "../request/decisions.ts";
import type { AccessRequest } from "../request/authorize.ts";
import type { WriteOptions } from "../request/options.ts";
import { textOf } from "../codec/text.ts";
import type { AdmitDependencies } from "./admit.ts";
import type { SeenAs } from "./configured-phases.ts";
import { metadataOf } from "../codec/metadata.ts";
import { reserve } from "./reserve.ts";
import type { WriteCause } from "../clusters/write-counter.ts";

export interface WriteDependencies extends AdmitDependencies {
  cache: Cache;
  clusters: ClusterRegistry;
  definitions: DefinitionStatus;
  conversions: Conversions;
}

/** A request that writes an object. */
export interface WriteRequest {
  readonly context: RequestContext;
  readonly options: WriteOptions;
  readonly verb: WriteCause["verb"];
  /** Set when the client writes the object in another form. */
  readonly seenAs?: SeenAs;
}

export interface Written {
  entry: CachedEntry;
  created: boolean;
}

/** A CRD is served immediately: a client may use it once its write is answered. */
export async function settleDefinitions(
  { definitions }: WriteDependencies,
  { cluster, served, subresource }: RequestContext,
  definition: JsonObject,
): Promise<void> {
  if (subresource !== undefined || !isDefinition(served.resource)) return;
  await definitions.settle(cluster, (definition as unknown as Definition).spec.group);
}

/** An admitted object, and where it is to be stored. */
interface Admitted {
  found: Found;
  object: JsonObject;
  /** It has passed all checks, now or before. */
  isSettled: boolean;
}

/**
 * Stores an admitted object in the storage version; undefined when another write came first, to the object or to
 * something that its admission relied on.
 */
export async function storeObject(
  deps: WriteDependencies,
  { context, options, verb }: WriteRequest,
  { found, object, isSettled }: Admitted,
): Promise<CachedEntry | undefined> {
  const { cluster, served, subresource } = context;
  const { storage, name } = served.resource;
  const stored = await toStorage(deps, context, object);
  const written = viewOfWritten(storage, stored, isSettled && served.isStorage);
  const oldObject = found.entry && objectIn(found.entry, served);
  const request = { context, options, operation: oldObject ? "UPDATE" : "CREATE", object, oldObject } as const;
  if (options.dryRun) {
    const previewed = deps.store.preview(cluster, served.resource, found, written);
    if (deps.store.keepsPreviews) await reserve(deps, request);
    return previewed;
  }
  const reserving = reserve(deps, request);
  const reservation = reserving && (await reserving);
  if (reservation === "stale") return undefined;
  const guarded = reservation?.guards?.length
    ? { ...found, guards: [...(found.guards ?? []), ...reservation.guards] }
    : found;
  let entry: CachedEntry | undefined;
  try {
    entry = await deps.store.put(cluster, guarded, written, { verb, name, subresource });
  } finally {
    if (!entry) await reservation?.release();
  }
  if (entry && isDefinition(served.resource)) deps.clusters.refresh(cluster);
  return entry;
}

/** The object in the storage version of its kind. Only conversion webhooks are awaited. */
export function toStorage(
  { conversions }: Pick<WriteDependencies, "conversions">,
  context: RequestContext,
  object: JsonObject,
): JsonObject | Promise<JsonObject> {
  const { served } = context;
  if (served.isStorage) return object;
  const { storage } = served.resource;
  return conversions.settle(context, () =>
    storage.compiled.admit(
      ordered({ ...convertBetween(context.conversions, object, served, storage), apiVersion: storage.apiVersion }),
    ),
  );
}

/** Creating an object through update or apply requires the verb create. */
export async function checkMayCreate(
  { authorizer }: WriteDependencies,
  { cluster, served, namespace, name, user }: RequestContext,
): Promise<void> {
  const request: AccessRequest = {
    user,
    verb: "create",
    cluster: cluster.name,
    resource: { ...served.resource.name, namespace, name },
  };
  confirm(request, await authorizer.decide(request));
}

/** An owner that is listed twice counts once. Upstream checks patches later, and the warning mentions that. */
export function withoutRepeatedOwners(object: JsonObject, { warn }: RequestContext, isPatched: boolean): JsonObject {
  const metadata = metadataOf(object);
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return object;
  const seen = new Set<string>();
  const kept: Json[] = [];
  const repeated: string[] = [];
  for (const owner of owners) {
    if (seen.size < seen.add(identityOf(owner)).size) kept.push(owner);
    else repeated.push(isObject(owner) ? textOf(owner.uid) : "");
  }
  if (repeated.length === 0) return object;
  const when = isPatched ? " after mutating admission happens" : "";
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in ` +
      "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) " +
      `observed: ${repeated.join(", ")}`,
  );
  return { ...object, metadata: { ...metadata, ownerReferences: kept } };
}

/** The same string for the same owner, whatever the order of its fields. */
const identityOf = (owner: Json): string =>
  JSON.stringify(isObject(owner) ? Object.entries(owner).sort(([a], [b]) => (a < b ? -1 : 1)) : owner);

/** The object with these managed fields; an empty list removes them. */
export function withManagers(object: JsonObject, managedFields: Json): JsonObject {
  const { managedFields: _, ...metadata } = metadataOf(object);
  return {
    ...object,
    metadata: {
      ...metadata,
      ...defined({
        managedFields: Array.isArray(managedFields) && managedFields.length > 0 ? managedFields : undefined,
      }),
    },
  };
}

export function uidConflict(
  { served: { resource }, namespace, name = "" }: RequestContext,
  sent: string,
  stored: unknown,
): Error {
  const path = [
    resource.kind.builtIn ? "" : `${resource.name.group}/`,
    resource.name.resource,
    resource.namespaced ? `/${namespace ?? ""}` : "",
  ].join("");
  return conflict(
    resource.name,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${path}/${name}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${String(stored)}`,
  );
}
