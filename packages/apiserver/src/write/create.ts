/**
 * Creates. An object passes through: identity, system metadata, admission, field managers, conversion to the storage
 * version, one compare-and-set that is guarded by the object's namespace, CRD and cluster.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { alreadyExists, conflict, forbidden, generatedNameTaken, pathNotFound } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import type { Guard } from "../store/engine.ts";
import { after, isPromise } from "../admission/run-steps.ts";
import { MAX_ATTEMPTS } from "../clusters/attempts.ts";
import { isOfLayer } from "../clusters/layer.ts";
import { keyOf, memoized } from "../resources/resources.ts";
import { plainError } from "../request/context.ts";
import { textOf } from "../codec/text.ts";
import type { RequestContext } from "../request/context.ts";
import { CRD_GROUP, CRD_PLURAL } from "../resources/definition.ts";
import { objectIn, ordered } from "../codec/render.ts";
import { writeOptions } from "../request/options.ts";
import { admitObject } from "./admit.ts";
import type { DecodedObject } from "../codec/decode.ts";
import { checkIdentity } from "./identity.ts";
import { trackFields } from "./managed-fields.ts";
import { generatedName, metadataForCreate } from "./metadata.ts";
import { metadataOf } from "../codec/metadata.ts";
import { checkUnwrittenParts } from "./unwritten-parts.ts";
import { withoutInitialStatus } from "./written-parts.ts";
import { settleDefinitions, storeObject, withManagers, withoutRepeatedOwners } from "./store-object.ts";
import type { WriteDependencies, WriteRequest, Written } from "./store-object.ts";

const MAX_GENERATED_NAMES = 8;
/** Only few objects are remembered as siblings, but they must not be huge. */
const MAX_SIBLING_BYTES = 64 * 1024;

export interface CreateRequest extends WriteRequest {
  readonly body: DecodedObject;
  readonly name: string;
  readonly hasGeneratedName?: boolean;
  /** Managed fields computed by apply; unset records an ordinary create. */
  readonly appliedFields?: Json;
}

export async function createObject(
  deps: WriteDependencies,
  context: RequestContext,
  body: DecodedObject,
): Promise<Written> {
  const options = writeOptions(context, "CreateOptions");
  const metadata = metadataOf(body.object);
  checkIdentity(context, body.object, undefined);
  for (let attempt = 1; ; attempt++) {
    const generated = generatedName(metadata, deps.random);
    const name = generated ?? (typeof metadata.name === "string" ? metadata.name : "");
    const entry = await insertObject(deps, {
      context,
      options,
      verb: "create",
      body,
      name,
      hasGeneratedName: generated !== undefined,
    });
    if (entry) return { entry, created: true };
    if (generated === undefined || attempt === MAX_GENERATED_NAMES)
      throw (metadata.generateName ? generatedNameTaken : alreadyExists)(context.served.resource.name, name);
  }
}

/**
 * Creates an object; undefined when the name exists. The object is admitted again when what its admission relied on has
 * changed: its namespace or its CRD, or an address that it was given.
 */
export async function insertObject(deps: WriteDependencies, request: CreateRequest): Promise<CachedEntry | undefined> {
  const { options, name } = request;
  let { context } = request;
  for (let attempt = 1; ; attempt++) {
    const { cluster, served, namespace } = context;
    const { resource } = served;
    const guards: Guard[] = [];
    const admitted = admitNew(deps, { ...request, context }, guards);
    const object = isPromise(admitted) ? await admitted : admitted;
    // A mutating policy or webhook may have changed the name.
    const stored = textOf(metadataOf(object).name ?? name);
    const found = deps.store.find(cluster, resource, keyOf(resource, cluster.name, namespace, stored));
    if (request.verb === "create" && !options.dryRun) checkNoVersion(request.body.object);
    if (found.entry) return undefined;
    const entry = await storeObject(
      deps,
      { ...request, context },
      { found: { ...found, guards }, object, isSettled: true },
    );
    if (entry) {
      if (options.dryRun) return entry;
      if (entry.value.byteLength <= MAX_SIBLING_BYTES) deps.siblings.remember(context, object);
      await settleDefinitions(deps, context, object);
      return entry;
    }
    if (attempt === MAX_ATTEMPTS) throw conflict(resource.name, name, UNSETTLED_MESSAGE);
    context = renewedContext(deps, context);
  }
}

/** The store of kube-apiserver checks this, so only an object that is otherwise valid is rejected for it. */
function checkNoVersion(object: JsonObject): void {
  const { resourceVersion } = metadataOf(object);
  if (typeof resourceVersion === "string" && /^[1-9]\d*$/.test(resourceVersion))
    throw plainError("resourceVersion should not be set on objects to be created");
}

const UNSETTLED_MESSAGE =
  "the namespace of the object, its definition or the numbers that were allocated to it keep changing; please try again";

/** The context of the next attempt: the CRD may have been replaced by one with another schema. */
function renewedContext({ clusters }: WriteDependencies, context: RequestContext): RequestContext {
  const { cluster, served, byController } = context;
  const { kind, name } = served.resource;
  if (kind.builtIn) return context;
  clusters.refresh(cluster);
  const renewed = byController
    ? cluster.table.findStored(name.group, served.version, name.resource)
    : cluster.table.find(name.group, served.version, name.resource);
  if (!renewed) throw pathNotFound();
  return renewed === served ? context : { ...context, served: renewed };
}

/** The object to store. `guards` receives the objects that its admission relied on. */
function admitNew(
  deps: WriteDependencies,
  { context, options, verb, body, name, hasGeneratedName, appliedFields }: CreateRequest,
  guards: Guard[],
): JsonObject | Promise<JsonObject> {
  const { served, namespace } = context;
  const { resource } = served;
  const unknown = checkUnwrittenParts(deps, context, body.object, undefined, appliedFields !== undefined);
  const given = metadataOf(body.object);
  let object = ordered({
    ...body.object,
    apiVersion: served.apiVersion,
    kind: resource.kind.kind,
    metadata: metadataForCreate(
      given,
      { namespace: resource.namespaced ? namespace : undefined, name },
      resource,
      deps,
    ),
  });
  object = withoutInitialStatus(served, object);
  const track = (admitted: JsonObject): JsonObject | Promise<JsonObject> =>
    appliedFields === undefined
      ? deps.conversions.settle(context, () =>
          trackFields(context, deps.clock, options.fieldManager, undefined, admitted, given.managedFields),
        )
      : withManagers(admitted, appliedFields);
  object = withoutRepeatedOwners(
    context.byController ? withServedOwners(object, context) : object,
    context,
    verb === "patch",
  );
  // Read before admission, which uses its schema.
  const definition = readDefinition(deps, context, name);
  const admitted = admitObject(deps, {
    context,
    options,
    operation: "CREATE",
    object,
    hasGeneratedName,
    findings: unknown.length === 0 ? body : { ...body, unknown },
    errors: [],
    guards,
    track,
  });
  return after(admitted, (result) => {
    if (definition.problem) throw definition.problem;
    if (definition.guard) guards.push(definition.guard);
    return result;
  });
}

/**
 * Our controllers read objects in the version in which they are stored, which a cluster need not serve. Other programs,
 * such as a garbage collector, look owners up in the version of the reference.
 */
function withServedOwners(object: JsonObject, { cluster: { table } }: RequestContext): JsonObject {
  const metadata = metadataOf(object);
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners)) return object;
  const unserved = memoized(table, "unserved kinds", () => {
    const kinds = new Map<string, string>();
    for (const { kind, storage, versions } of table.resources) {
      const [preferred] = versions;
      if (preferred && !versions.includes(storage))
        kinds.set(`${storage.apiVersion} ${kind.kind}`, preferred.apiVersion);
    }
    return kinds;
  });
  if (unserved.size === 0) return object;
  const served = owners.map((owner) => {
    const apiVersion = isObject(owner) ? unserved.get(`${textOf(owner.apiVersion)} ${textOf(owner.kind)}`) : undefined;
    return apiVersion === undefined ? owner : { ...(owner as JsonObject), apiVersion };
  });
  return { ...object, metadata: { ...metadata, ownerReferences: served } };
}

/**
 * The CRD of a new object: the guard that keeps it as it was read until the object is stored, or the error when it is
 * being deleted or has been deleted.
 */
function readDefinition(
  { store }: WriteDependencies,
  { cluster, served: { resource } }: RequestContext,
  name: string,
): { guard?: Guard; problem?: Error } {
  const definitions = resource.kind.builtIn ? undefined : cluster.table.resource(CRD_GROUP, CRD_PLURAL);
  if (!definitions) return {};
  const definitionName = `${resource.name.resource}.${resource.name.group}`;
  const found = store.find(cluster, definitions, keyOf(definitions, cluster.name, undefined, definitionName));
  const { key, entry, expect } = found;
  // The CRD was deleted while the request waited its turn.
  if (!entry) return { problem: pathNotFound() };
  if (isOfLayer(entry, cluster) || metadataOf(objectIn(entry, definitions.storage)).deletionTimestamp === undefined)
    return { guard: { key, expect } };
  return {
    problem: forbidden(resource.name, name, "create not allowed while custom resource definition is terminating"),
  };
}
