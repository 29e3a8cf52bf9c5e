/**
 * Processes an object between the client and the store: admissions complete it, the schema prunes and defaults it, and
 * then all its errors are reported together.
 */
import type { AnyAdmission, Operation, Review, SpecPart } from "../../api/index.ts";
import { isObject, randomUuid } from "../../base/index.ts";
import type { Clock, JsonObject, Random } from "../../base/index.ts";
import {
  coerceMetadata,
  DecodeError,
  deniedByWebhook,
  fieldErrorText,
  invalid,
  metadataProblem,
} from "../../machinery/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { Cache, Guard } from "../../store/index.ts";
import type { Authorizer } from "../request/authorize.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import { createClusterWriter } from "../clusters/cluster-writer.ts";
import type { RequestContext } from "../context.ts";
import { reportFields } from "./field-validation.ts";
import type { Findings } from "./field-validation.ts";
import { metadataOf, repeatMetadataErrors, validateMetadata } from "./metadata.ts";
import { sharedWith } from "./siblings.ts";
import type { Siblings } from "./siblings.ts";
import { checkNamespace } from "../background/namespaces.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { WriteOptions } from "../request/options.ts";
import type { PluginRequest, Plugins } from "../plugin.ts";
import { ordered } from "../read/render.ts";
import { partOf } from "../clusters/resources.ts";
import { customErrors, warnAboutCustomObject } from "../crd/objects.ts";
import { textOf } from "../request/text.ts";

export interface Admissions {
  of(group: string, kind: string): readonly AnyAdmission[];
}

export function createAdmissions(admissions: readonly AnyAdmission[]): Admissions {
  const byKind = new Map<string, AnyAdmission[]>();
  for (const admission of admissions) {
    const key = `${admission.for.group}/${admission.for.kind}`;
    byKind.set(key, [...(byKind.get(key) ?? []), admission]);
  }
  return { of: (group, kind) => byKind.get(`${group}/${kind}`) ?? [] };
}

export interface AdmitDependencies {
  admissions: Admissions;
  plugins: Plugins;
  store: ObjectStore;
  random: Random;
  clock: Clock;
  authorizer: Authorizer;
  siblings: Siblings;
}

export interface AdmitRequest {
  context: RequestContext;
  options: WriteOptions;
  operation: Exclude<Operation, "DELETE">;
  /** Passed by the caller, which no longer owns it. */
  object: JsonObject;
  /** The stored object, in the same version. */
  oldObject?: JsonObject;
  /**
   * The old object, when it is known to have passed all of this: the parts that the object shares with it are not
   * checked again.
   */
  settled?: JsonObject | undefined;
  /** Findings from decoding the body. */
  findings: Findings;
  /** Errors found so far. */
  errors: readonly FieldError[];
  /** Receives the objects that admission relied on, and that must be unchanged when the object is stored. */
  guards: Guard[];
  /** Adds field managers to the object. Fields that the server sets afterwards have no manager. */
  track(object: JsonObject): JsonObject;
}

/**
 * Returns the object to store, in the version of the request. Throws 400 for strict validation and 422 with all field
 * errors.
 */
export function admitObject(deps: AdmitDependencies, request: AdmitRequest): JsonObject {
  const { admissions, plugins, store } = deps;
  const { context, options, operation, oldObject, settled, findings } = request;
  const { served } = context;
  const { kind } = served.resource;
  const chain = admissions.of(kind.group, kind.kind).filter(({ on }) => on.includes(operation));
  const read = createClusterReader(store, context.cluster);
  let object = request.object;
  let sibling: JsonObject | undefined;
  let reviewed: Review<JsonObject> | undefined;
  const review = (): Review<JsonObject> =>
    reviewed?.object === object
      ? reviewed
      : (reviewed = reviewOf(deps, { context, options, operation, object, oldObject, read }, settled, sibling));

  object = canonicalForm(deps, context, object, context.warn, oldObject);
  for (const { mutate } of chain) {
    const mutated = mutate?.(review());
    // An admission may return parts of shared objects, and the following code modifies the top level and metadata in
    // place.
    if (mutated !== undefined && mutated !== object)
      object = ordered({
        ...(mutated as JsonObject),
        metadata: { ...((mutated as JsonObject).metadata as JsonObject) },
      });
  }
  const unknown: string[] = [];
  if (!kind.builtIn) object = withReadableMetadata(object, unknown, settled);
  object = served.compiled.admit(
    object,
    options.fieldValidation === "Ignore"
      ? { strictMetadata: true, settled }
      : { unknownFields: unknown, strictMetadata: true, settled },
  );
  reportFields(unknown, findings, context, options);
  object = request.track(object);
  if (kind.builtIn) object = withoutEmptyLists(object);
  if (operation === "CREATE" && served.resource.namespaced && context.namespace !== undefined) {
    const name = textOf(metadataOf(object).name ?? "");
    const guard = checkNamespace(store, context.cluster, served.resource, context.namespace, name);
    if (guard) request.guards.push(guard);
  }
  const concerned = plugins.of(kind.group).filter((plugin) => plugin.concerns(context, operation));
  const question = (): PluginRequest => ({ context, options, operation, object, oldObject, read });
  for (const { mutate } of concerned) {
    const mutated = mutate?.(question());
    if (mutated !== undefined && mutated !== object)
      object = ordered({ ...(mutated as JsonObject), metadata: { ...(mutated.metadata as JsonObject) } });
  }
  const part = partOf(served, context.subresource);
  if (part && oldObject) object = withPart(part, object, oldObject);
  for (const { prepare } of chain) {
    const prepared = prepare?.(review());
    if (prepared !== undefined && prepared !== object)
      object = ordered({
        ...(prepared as JsonObject),
        metadata: { ...((prepared as JsonObject).metadata as JsonObject) },
      });
  }
  if (operation === "CREATE") sibling = deps.siblings.of(context, object);
  if (sibling) object = sharedWith(sibling, object);

  const known = settled ?? sibling;
  const found = validateMetadata(metadataOf(object), served.resource, known && metadataOf(known));
  const errors =
    operation === "UPDATE"
      ? repeatMetadataErrors(found, request.errors, served.resource)
      : [...request.errors, ...found];
  // The rules of built-in kinds are code: they report required and unknown fields in their own order and words. Added
  // one by one: an object can have more errors than a call can take arguments.
  if (!kind.builtIn) for (const error of customErrors(context, object, oldObject, settled, errors)) errors.push(error);
  // For an object without a name, a kind's validation does not depend on how the name is missing.
  if (errors.length > 0 && metadataOf(object).name === undefined)
    object = { ...object, metadata: { ...metadataOf(object), name: "" } };
  // The rules of a custom kind may rely on its schema, as webhooks do: an object that violates the schema never reaches
  // them.
  if (kind.builtIn || errors.length === 0)
    for (const { validate, webhook } of chain)
      if (!webhook) for (const error of validate?.(review()) ?? []) errors.push(error);
  if (errors.length > 0)
    throw invalid((kind.storedAs ?? kind).group, kind.kind, textOf(metadataOf(object).name ?? ""), errors);
  runWebhookRules(chain, review);
  // Controllers of this server ignore warnings.
  if (!context.byController) {
    if (!kind.builtIn) warnAboutCustomObject(context, object, oldObject);
    for (const { warnings } of chain) for (const text of warnings?.(review()) ?? []) context.warn(text);
  }
  for (const { validate } of concerned) validate?.(question());
  return object;
}

/** The sent object in the canonical form of its kind, for kinds that also have another form; most do not. */
export function canonicalForm(
  { admissions }: Pick<AdmitDependencies, "admissions">,
  { served: { resource } }: RequestContext,
  sent: JsonObject,
  warn: (message: string) => void,
  stored?: JsonObject,
): JsonObject {
  let object = sent;
  for (const { canonical } of admissions.of(resource.kind.group, resource.kind.kind)) {
    const next = canonical?.(object, { warn, stored });
    // The following code modifies the top level and metadata in place.
    if (next !== undefined && next !== object)
      object = ordered({ ...(next as JsonObject), metadata: { ...metadataOf(next as JsonObject) } });
  }
  return object;
}

/** Rules that are webhooks upstream run only on objects that the server itself accepts. */
function runWebhookRules(chain: readonly AnyAdmission[], review: () => Review<JsonObject>): void {
  for (const { validate, webhook } of chain) {
    if (!webhook || !validate) continue;
    const asked = review();
    const found = validate(asked);
    if (found.length > 0)
      throw deniedByWebhook(webhook.name, webhook.code(asked.operation), fieldErrorText(found), webhook.reason);
  }
}

/** The review that an admission receives. */
function reviewOf(
  { random, clock, authorizer }: AdmitDependencies,
  { context, options, operation, object, oldObject, read }: PluginRequest,
  settled?: JsonObject,
  sibling?: JsonObject,
): Review<JsonObject> {
  return {
    operation,
    cluster: context.cluster.name,
    version: context.served.version,
    subresource: context.subresource,
    user: context.user,
    byController: context.byController ? (true as const) : undefined,
    object,
    oldObject,
    settled,
    sibling,
    dryRun: options.dryRun,
    newUid: () => randomUuid(random),
    nowMs: () => clock.now(),
    allows: ({ verb, ...resource }) =>
      authorizer.decide({ user: context.user, cluster: context.cluster.name, verb, resource }).allowed,
    warn: context.warn,
    read,
  };
}

/**
 * The stored object, with the sent part and the managed fields of the sent object. Writes of a status may change
 * metadata, as elsewhere.
 */
function withPart(part: SpecPart, sent: JsonObject, stored: JsonObject): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = metadataOf(stored);
  const { managedFields } = metadataOf(sent);
  const field = part.of ?? "spec";
  const whole = (object: JsonObject): JsonObject => (isObject(object[field]) ? object[field] : {});
  const kept =
    field === "status" ? metadataOf(sent) : { ...metadata, ...(managedFields !== undefined && { managedFields }) };
  return { ...stored, metadata: kept, [field]: part.take(whole(sent), whole(stored)) as JsonObject };
}

/**
 * Kubernetes stores built-in kinds in a form that does not distinguish an empty list from an absent one, but the writer
 * of an empty list still owns the field. Optional empty fields have already been dropped, and required ones are at most
 * as deep as the spec.
 */
function withoutEmptyLists(object: JsonObject): JsonObject {
  const result = dropEmptyLists(object);
  const { spec } = result;
  if (!isObject(spec)) return result;
  const kept = dropEmptyLists(spec);
  return kept === spec ? result : { ...result, spec: kept };
}

function dropEmptyLists(part: JsonObject): JsonObject {
  let result = part;
  for (const key in part) {
    const value = part[key];
    if (!Array.isArray(value) || value.length > 0) continue;
    if (result === part) result = { ...part };
    Reflect.deleteProperty(result, key);
  }
  return result;
}

/** The metadata of built-in kinds is part of their canonical form; that of custom objects is decoded here. */
function withReadableMetadata(object: JsonObject, unknown: string[], settled: JsonObject | undefined): JsonObject {
  const metadata = metadataOf(object);
  const known = settled && metadataOf(settled);
  const problem = metadataProblem(metadata, known);
  if (problem !== undefined) throw new DecodeError(problem);
  const readable = coerceMetadata(metadata, "metadata", unknown, false, known);
  return readable === metadata ? object : { ...object, metadata: readable };
}

/**
 * Calls plugins and admissions as the last step before an object is stored or removed. The returned function releases
 * their reservations.
 */
export async function reserve(
  deps: AdmitDependencies & { cache: Cache },
  asked: Omit<PluginRequest, "read">,
): Promise<() => Promise<void>> {
  const { admissions, plugins, store, cache } = deps;
  const { context, operation } = asked;
  const { kind } = context.served.resource;
  const concerned = plugins.of(kind.group).filter((plugin) => plugin.reserve && plugin.concerns(context, operation));
  const chain = admissions
    .of(kind.group, kind.kind)
    .filter(({ on, reserve: takes }) => takes && on.includes(operation));
  if (concerned.length + chain.length === 0) return nothingTaken;

  const taken: (() => Promise<void>)[] = [];
  const giveBack = async (): Promise<void> => {
    // One failure must not keep the reservations of others.
    const given = await Promise.allSettled(taken.splice(0).map((release) => release()));
    for (const outcome of given) if (outcome.status === "rejected") throw outcome.reason;
  };
  const request: PluginRequest = { ...asked, read: createClusterReader(store, context.cluster) };
  const write = createClusterWriter(store, cache, context.cluster);
  try {
    for (const admission of chain)
      taken.push((await admission.reserve?.(reviewOf(deps, request), write)) ?? nothingTaken);
    for (const plugin of concerned) taken.push((await plugin.reserve?.(request, write)) ?? nothingTaken);
  } catch (error) {
    await giveBack();
    throw error;
  }
  return giveBack;
}

const nothingTaken = async (): Promise<void> => {};

/** Runs the admissions for a deletion. */
export function admitDeletion(
  deps: AdmitDependencies,
  context: RequestContext,
  object: JsonObject,
  dryRun: boolean,
): void {
  const { admissions, plugins, store } = deps;
  const { kind } = context.served.resource;
  const request: PluginRequest = {
    ...deletionOf(context, object, dryRun),
    read: createClusterReader(store, context.cluster),
  };
  const errors: FieldError[] = [];
  const chain = admissions.of(kind.group, kind.kind).filter(({ on }) => on.includes("DELETE"));
  for (const { validate, webhook } of chain)
    if (validate && !webhook) errors.push(...validate(reviewOf(deps, request)));
  if (errors.length > 0)
    throw invalid((kind.storedAs ?? kind).group, kind.kind, textOf(metadataOf(object).name ?? ""), errors);
  runWebhookRules(chain, () => reviewOf(deps, request));
  for (const plugin of plugins.of(kind.group)) {
    if (plugin.validate && plugin.concerns(context, "DELETE")) plugin.validate(request);
  }
}

/** The plugin request for a deletion. */
export function deletionOf(context: RequestContext, object: JsonObject, dryRun: boolean): Omit<PluginRequest, "read"> {
  return {
    context,
    options: { dryRun, fieldManager: "", fieldValidation: "Ignore", force: false },
    operation: "DELETE",
    object,
    oldObject: object,
  };
}
