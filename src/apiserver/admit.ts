/**
 * What happens to an object between the client and the store: admissions complete it, the schema prunes and defaults it, then
 * everything that is wrong with it is reported together.
 */
import type { AnyAdmission, Operation, Review } from "../api/index.ts";
import { randomUuid } from "../base/index.ts";
import type { Json, JsonObject, Random } from "../base/index.ts";
import { badRequest, invalid } from "../machinery/index.ts";
import type { FieldError } from "../machinery/index.ts";
import { createClusterReader } from "./cluster-reader.ts";
import type { RequestContext } from "./context.ts";
import { metadataOf, validateMetadata } from "./metadata.ts";
import type { ObjectStore } from "./objects.ts";
import type { WriteOptions } from "./options.ts";
import type { Plugin, PluginRequest } from "./plugin.ts";
import type { ServedVersion } from "./resources.ts";
import { ordered } from "./render.ts";
import { strategyOf } from "./strategies.ts";
import { textOf } from "./text.ts";

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
  plugins: readonly Plugin[];
  store: ObjectStore;
  random: Random;
}

export interface AdmitRequest {
  context: RequestContext;
  options: WriteOptions;
  operation: Exclude<Operation, "DELETE">;
  /** Owned by the caller, who hands it over. */
  object: JsonObject;
  /** What is stored now, in the same version. */
  oldObject?: JsonObject;
  /** The old object again, when it is known to have passed all of this: what the object shares with it is not looked at again. */
  settled?: JsonObject | undefined;
  /** Keys that the body held twice. */
  duplicates: readonly string[];
  /** What is wrong already. */
  errors: readonly FieldError[];
  /** The object with its field managers. What the server itself sets comes after it and is nobody's. */
  track(object: JsonObject): JsonObject;
}

/** The object as it is to be stored, in the version of the request. Throws 400 for strict validation and 422 with every field error. */
export function admitObject({ admissions, plugins, store, random }: AdmitDependencies, request: AdmitRequest): JsonObject {
  const { context, options, operation, oldObject, settled, duplicates } = request;
  const { served } = context;
  const { kind } = served.resource;
  const chain = admissions.of(kind.group, kind.kind).filter(({ on }) => on.includes(operation));
  let object = request.object;
  const review = (): Review<JsonObject> => ({
    operation,
    cluster: context.cluster.name,
    version: served.version,
    ...(context.subresource !== undefined && { subresource: context.subresource }),
    user: context.user,
    object,
    ...(oldObject && { oldObject }),
    ...(settled && { settled }),
    dryRun: options.dryRun,
    newUid: () => randomUuid(random),
    warn: context.warn,
  });

  for (const { mutate } of chain) {
    const mutated = mutate?.(review());
    // An admission may hand back parts of shared objects, and what follows changes the top level and metadata in place.
    if (mutated !== undefined && mutated !== object) object = ordered({ ...(mutated as JsonObject), metadata: { ...(mutated as JsonObject).metadata as JsonObject } });
  }
  const unknown: string[] = [];
  object = served.compiled.admit(object, options.fieldValidation === "Ignore" ? { settled } : { unknownFields: unknown, settled });
  reportFields(unknown, duplicates, context, options);
  const concerned = plugins.filter((plugin) => plugin.concerns(context, operation));
  const question = (): PluginRequest => ({ context, options, operation, object, ...(oldObject && { oldObject }), read: createClusterReader(store, context.cluster) });
  for (const { mutate } of concerned) {
    const mutated = mutate?.(question());
    if (mutated !== undefined && mutated !== object) object = ordered({ ...(mutated as JsonObject), metadata: { ...(mutated.metadata as JsonObject) } });
  }
  const strategy = strategyOf(served.resource);
  strategy?.complete?.(object);
  object = request.track(object);
  strategy?.prepare?.(object, oldObject, context);

  const errors = [...request.errors, ...validateMetadata(metadataOf(object), served.resource, settled && metadataOf(settled)), ...newErrors(served.compiled.validate(object, settled), oldObject, served)];
  if (strategy?.validate) errors.push(...strategy.validate(object, oldObject));
  if (errors.length === 0) for (const { validate } of chain) errors.push(...(validate?.(review()) ?? []));
  if (errors.length > 0) throw invalid(kind.group, kind.kind, textOf(metadataOf(object).name ?? ""), errors);
  for (const { validate } of concerned) validate?.(question());
  return object;
}

/** Asks the plugins for the last word before an object is stored or removed. What they took is given back by the returned function. */
export async function reserve({ plugins, store }: AdmitDependencies, request: Omit<PluginRequest, "read">): Promise<() => Promise<void>> {
  const taken: (() => Promise<void>)[] = [];
  const giveBack = async (): Promise<void> => {
    for (const release of taken.splice(0)) await release();
  };
  const { context, operation } = request;
  for (const plugin of plugins) {
    if (!plugin.reserve || !plugin.concerns(context, operation)) continue;
    try {
      const release = await plugin.reserve({ ...request, read: createClusterReader(store, context.cluster) });
      if (release) taken.push(release);
    } catch (error) {
      await giveBack();
      throw error;
    }
  }
  return giveBack;
}

/**
 * What is wrong now and was not wrong before. A definition that became stricter must not lock the objects that were written
 * under the old one: their finalizers could never be removed.
 */
function newErrors(errors: FieldError[], oldObject: JsonObject | undefined, { compiled }: ServedVersion): FieldError[] {
  if (errors.length === 0 || !oldObject) return errors;
  const textOfError = ({ field, message }: FieldError): string => `${field}: ${message}`;
  const known = new Set(compiled.validate(oldObject).map(textOfError));
  return errors.filter((error) => !known.has(textOfError(error)));
}

/** Unknown and duplicate fields: refused, warned of, or dropped in silence. */
export function reportFields(unknown: readonly string[], duplicates: readonly string[], { served, warn }: RequestContext, { fieldValidation }: WriteOptions): void {
  if (fieldValidation === "Ignore" || (unknown.length === 0 && duplicates.length === 0)) return;
  const problems = [...unknown.map((field) => `unknown field "${field}"`), ...duplicates.map((field) => `duplicate field "${field}"`)];
  if (fieldValidation === "Strict") {
    const { kind } = served.resource;
    const prefix = kind.builtIn ? `${kind.kind} in version ${JSON.stringify(served.version)} cannot be handled as a ${kind.kind}: ` : "";
    throw badRequest(`${prefix}strict decoding error: ${problems.join(", ")}`);
  }
  for (const problem of problems) warn(problem);
}

/** Asks the admissions about a deletion. */
export function admitDeletion({ admissions, plugins, store, random }: AdmitDependencies, context: RequestContext, object: JsonObject, dryRun: boolean): void {
  const { kind } = context.served.resource;
  const errors: FieldError[] = [];
  for (const { on, validate } of admissions.of(kind.group, kind.kind)) {
    if (!validate || !on.includes("DELETE")) continue;
    errors.push(
      ...validate({
        operation: "DELETE",
        cluster: context.cluster.name,
        version: context.served.version,
        user: context.user,
        object: object as Json,
        oldObject: object as Json,
        dryRun,
        newUid: () => randomUuid(random),
        warn: context.warn,
      }),
    );
  }
  if (errors.length > 0) throw invalid(kind.group, kind.kind, textOf(metadataOf(object).name ?? ""), errors);
  const options: WriteOptions = { dryRun, fieldManager: "", fieldValidation: "Ignore", force: false };
  for (const plugin of plugins) {
    if (plugin.validate && plugin.concerns(context, "DELETE")) plugin.validate({ context, options, operation: "DELETE", object, oldObject: object, read: createClusterReader(store, context.cluster) });
  }
}
