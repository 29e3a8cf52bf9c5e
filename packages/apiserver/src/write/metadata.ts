/** The metadata that the server owns, and the validation of the rest. */
import { addressNameProblems } from "@flotilla/kubernetes";
import {
  annotationKeyProblems,
  annotationsAreTooLong,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelKeyProblems,
  labelValueProblems,
  MAX_ANNOTATIONS_BYTES,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { FieldError, KindTraits } from "@flotilla/apimachinery";
import { equalJson, formatTime, isObject, randomSuffix, randomUuid, defined } from "@flotilla/base";
import type { Clock, Json, JsonObject, Random } from "@flotilla/base";
import type { Resource } from "../resources/resources.ts";
import { finalizersOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";

const GENERATED_SUFFIX_LENGTH = 5;
/** `generateName` is truncated so that the name with its suffix stays a DNS label. */
const MAX_GENERATED_BASE = 63 - GENERATED_SUFFIX_LENGTH;

/** A name from `generateName`, when no name was given. */
export function generatedName(metadata: JsonObject, random: Random): string | undefined {
  const { name, generateName } = metadata;
  if (typeof generateName !== "string" || generateName === "" || (typeof name === "string" && name !== ""))
    return undefined;
  return generateName.slice(0, MAX_GENERATED_BASE) + randomSuffix(random, GENERATED_SUFFIX_LENGTH);
}

export interface Identity {
  namespace: string | undefined;
  name: string;
}

/** The metadata of a new object: fields that the client may not set are set or removed. The order is the stored one. */
export function metadataForCreate(
  given: JsonObject,
  { namespace, name }: Identity,
  resource: Resource,
  deps: { clock: Clock; random: Random },
): JsonObject {
  const {
    name: _n,
    namespace: _ns,
    uid: _u,
    resourceVersion: _r,
    generation,
    creationTimestamp: _c,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _g,
    selfLink: _s,
    managedFields: _m,
    ...kept
  } = given;
  const startsAtOne = resource.kind.hasGeneration && !resource.kind.traits?.lateGeneration;
  const sentGeneration = typeof generation === "number" ? generation : undefined;
  return {
    name,
    ...defined({ namespace }),
    uid: randomUuid(deps.random),
    ...defined({ generation: startsAtOne ? 1 : sentGeneration }),
    creationTimestamp: formatTime(deps.clock.now()),
    ...kept,
  };
}

/** The metadata of an update: fields that the client may not change come from the stored object. */
export function metadataForUpdate(given: JsonObject, stored: JsonObject): JsonObject {
  const {
    resourceVersion: _r,
    selfLink: _s,
    creationTimestamp: _c,
    uid: _u,
    generation: _g,
    managedFields: _m,
    name: _n,
    namespace: _ns,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _p,
    ...kept
  } = given;
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = stored;
  return {
    ...defined({ name, namespace, uid, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }),
    ...kept,
  };
}

const NAME_RULES: Readonly<Record<NonNullable<KindTraits["names"]>, (name: string) => readonly string[]>> = {
  address: addressNameProblems,
  label: dnsLabelProblems,
  "label-1035": dns1035LabelProblems,
  path: pathSegmentProblems,
  subdomain: dnsSubdomainProblems,
};

/** The name is part of a key in the store. Most kinds allow only 253 characters, roles any number. */
const MAX_NAME_LENGTH = 1_024;

/**
 * For labels, annotations, finalizers, owners and field managers each. Objects with more than a hundred are rare;
 * each of these entries is checked, indexed or compared in every write.
 */
const MAX_ENTRIES = 1_000;

/** `settled` is metadata that was found valid; parts that are identical in both are not checked again. */
export function validateMetadata(metadata: JsonObject, { kind }: Resource, settled?: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (settled === undefined || metadata.name !== settled.name || metadata.generateName !== settled.generateName)
    checkName(metadata, NAME_RULES[kind.traits?.names ?? "subdomain"], errors);
  const { generation, labels, annotations, ownerReferences, finalizers } = metadata;
  if (typeof generation === "number" && generation < 0)
    errors.push(field.invalid("metadata.generation", generation, "must be greater than or equal to 0"));
  if (labels !== settled?.labels && isFew("labels", labels, errors)) checkLabels(labels, errors);
  if (annotations !== settled?.annotations && isFew("annotations", annotations, errors))
    checkAnnotations(annotations, errors);
  if (ownerReferences !== settled?.ownerReferences && isFew("ownerReferences", ownerReferences, errors))
    checkOwners(ownerReferences, errors);
  if (finalizers !== settled?.finalizers && isFew("finalizers", finalizers, errors))
    checkFinalizers(finalizers, kind.builtIn && !kind.traits?.plainFinalizers, errors);
  return errors;
}

/** Adds one error for too many entries, whose own errors are then not collected. */
function isFew(name: string, entries: Json | undefined, errors: FieldError[]): boolean {
  const count = Array.isArray(entries) ? entries.length : isObject(entries) ? Object.keys(entries).length : 0;
  if (count > MAX_ENTRIES) errors.push(field.tooMany(`metadata.${name}`, count, MAX_ENTRIES));
  return count <= MAX_ENTRIES;
}

function checkName(
  { name, generateName }: JsonObject,
  problemsOf: (name: string) => readonly string[],
  errors: FieldError[],
): void {
  if (typeof generateName === "string" && generateName !== "") {
    for (const problem of problemsOf(prefixAsName(generateName)))
      errors.push(field.invalid("metadata.generateName", generateName, problem));
  }
  if (typeof name !== "string" || name === "")
    errors.push(field.required("metadata.name", "name or generateName is required"));
  else {
    const problems = problemsOf(name);
    for (const problem of problems) errors.push(field.invalid("metadata.name", name, problem));
    if (problems.length > 0) return;
    if (name.length > MAX_NAME_LENGTH) errors.push(field.tooLong("metadata.name", MAX_NAME_LENGTH));
    else if (name.includes("\0")) errors.push(field.invalid("metadata.name", name, "may not contain NUL"));
  }
}

/**
 * A prefix may end in a dash, which the suffix completes. Kubernetes then validates it without its last two characters.
 */
const prefixAsName = (prefix: string): string =>
  prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;

function checkLabels(labels: Json | undefined, errors: FieldError[]): void {
  if (!isObject(labels)) return;
  for (const key of Object.keys(labels)) {
    const value = labels[key];
    for (const problem of labelKeyProblems(key)) errors.push(field.invalid("metadata.labels", key, problem));
    for (const problem of labelValueProblems(textOf(value)))
      errors.push(field.invalid("metadata.labels", value, problem));
  }
}

function checkAnnotations(annotations: Json | undefined, errors: FieldError[]): void {
  if (!isObject(annotations)) return;
  for (const key of Object.keys(annotations))
    for (const problem of annotationKeyProblems(key)) errors.push(field.invalid("metadata.annotations", key, problem));
  if (annotationsAreTooLong(annotations as Record<string, string>)) {
    errors.push(field.tooLong("metadata.annotations", MAX_ANNOTATIONS_BYTES));
  }
}

const OWNERS = "metadata.ownerReferences";
/** Each of these errors contains all owners; with thousands of owners the response would not fit into memory. */
const MAX_SHOWN_CONTROLLERS = 10;

function checkOwners(owners: Json | undefined, errors: FieldError[]): void {
  if (!Array.isArray(owners)) return;
  let controller: string | undefined;
  let others = 0;
  for (const owner of owners) {
    const reference = isObject(owner) ? owner : {};
    const apiVersion = textOf(reference.apiVersion ?? "");
    const kind = textOf(reference.kind ?? "");
    const name = textOf(reference.name ?? "");
    const uid = textOf(reference.uid ?? "");
    const [, version = apiVersion, more] = apiVersion.split("/");
    if (version === "" || more !== undefined)
      errors.push(field.invalid(`${OWNERS}.apiVersion`, apiVersion, "version must not be empty"));
    if (kind === "") errors.push(field.invalid(`${OWNERS}.kind`, kind, "must not be empty"));
    if (name === "") errors.push(field.invalid(`${OWNERS}.name`, name, "must not be empty"));
    if (uid === "") errors.push(field.invalid(`${OWNERS}.uid`, uid, "must not be empty"));
    if (apiVersion === "v1" && kind === "Event")
      errors.push(field.invalid(OWNERS, shownOwner(reference), "/v1, Kind=Event is disallowed from being an owner"));
    if (reference.controller !== true) continue;
    if (controller === undefined) controller = `${kind}/${name}`;
    else if (++others <= MAX_SHOWN_CONTROLLERS)
      errors.push(
        field.invalid(
          OWNERS,
          owners.map(shownOwner),
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${kind}/${name}`,
        ),
      );
  }
}

/** In the field order of the Go struct. */
function shownOwner(owner: Json): JsonObject {
  const {
    apiVersion = "",
    kind = "",
    name = "",
    uid = "",
    controller,
    blockOwnerDeletion,
  } = isObject(owner) ? owner : {};
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...defined({ controller, blockOwnerDeletion }),
  };
}

const KNOWN_FINALIZERS = new Set<Json>(["kubernetes", "orphan", "foregroundDeletion"]);
/** Finalizer errors that kinds report themselves; the server reports the rest. */
const OWN_FINALIZER = "metadata.finalizers[";

function checkFinalizers(finalizers: Json | undefined, qualified: boolean, errors: FieldError[]): void {
  if (!Array.isArray(finalizers)) return;
  for (const finalizer of finalizers)
    for (const problem of labelKeyProblems(textOf(finalizer)))
      errors.push(field.invalid("metadata.finalizers", finalizer, problem));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(
      field.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set"),
    );
  }
  if (!qualified) return;
  for (const [index, finalizer] of finalizers.entries()) {
    if (!textOf(finalizer).includes("/") && !KNOWN_FINALIZERS.has(finalizer)) {
      errors.push(
        field.invalid(
          `${OWN_FINALIZER}${index}]`,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
  }
}

const AS_MOST: { readonly update?: true; readonly create?: true } = { update: true };
const ONLY_WHEN_CREATED = new Set([
  "metadata.name",
  "metadata.generateName",
  "metadata.generation",
  "metadata.finalizers",
]);

/**
 * The metadata errors of an update as kube-apiserver lists them. It validates the metadata of every kind once as for a
 * new object and once for immutable fields, and most kinds validate it again; clients see each error as often as it was
 * found.
 */
export function repeatMetadataErrors(
  found: readonly FieldError[],
  update: readonly FieldError[],
  { kind }: Resource,
  subresource: string | undefined,
): FieldError[] {
  if (found.length === 0 && update.length === 0) return [];
  const own = found.filter(({ field }) => field.startsWith(OWN_FINALIZER));
  const common = found.filter((error) => !own.includes(error));
  const lasting = common.filter(({ field }) => !ONLY_WHEN_CREATED.has(field));
  const { metadataChecks = AS_MOST, statusMetadataChecks = AS_MOST } = kind.traits ?? {};
  const again = subresource === "status" ? statusMetadataChecks : metadataChecks;
  return [
    ...common,
    ...update,
    ...lasting,
    ...(again.update ? [...update, ...lasting, ...own] : []),
    ...(again.create ? [...common, ...own] : []),
  ];
}

/** Changes of metadata that an update must not make. `given` is the metadata that the client sent. */
export function validateMetadataUpdate(given: JsonObject, stored: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (stored.deletionTimestamp !== undefined) {
    const before = new Set(finalizersOf(stored));
    const added = finalizersOf(given).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const list = [...new Set(added)]
        .sort()
        .map((finalizer) => JSON.stringify(finalizer))
        .join(", ");
      errors.push(
        field.forbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      );
    }
  }
  const immutable = (path: string): void => {
    const value = given[path];
    if (value !== undefined && value !== null && value !== "" && !equalJson(value, stored[path]))
      errors.push(field.invalid(`metadata.${path}`, value, "field is immutable"));
  };
  immutable("uid");
  // Once set, the stored value is kept whatever an update specifies.
  if (stored.deletionTimestamp === undefined) immutable("deletionTimestamp");
  immutable("deletionGracePeriodSeconds");
  return errors;
}
