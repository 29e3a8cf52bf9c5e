/** The metadata that the server owns, and the rules for the rest. */
import { NAME_ALPHABET, equalJson, formatTime, isObject, randomSuffix, randomUuid } from "../base/index.ts";
import type { Clock, Json, JsonObject, Random } from "../base/index.ts";
import { annotationsProblem, dnsLabelProblem, dnsSubdomainProblem, dns1035LabelProblem, labelKeyProblem, labelValueProblem, pathSegmentProblem } from "../machinery/index.ts";
import type { FieldError } from "../machinery/index.ts";
import { forbiddenField, invalidValue, requiredValue } from "./context.ts";
import type { Resource } from "./resources.ts";
import { textOf } from "./text.ts";

export const GENERATED_SUFFIX_LENGTH = 5;
/** `generateName` is cut so that the name stays a DNS label with its suffix. */
const MAX_GENERATED_BASE = 63 - GENERATED_SUFFIX_LENGTH;

export function metadataOf(object: JsonObject): JsonObject {
  return isObject(object.metadata) ? object.metadata : {};
}

/** A name from `generateName`, when no name was given. */
export function generatedName(metadata: JsonObject, random: Random): string | undefined {
  const { name, generateName } = metadata;
  if (typeof generateName !== "string" || generateName === "" || (typeof name === "string" && name !== "")) return undefined;
  return generateName.slice(0, MAX_GENERATED_BASE) + randomSuffix(random, GENERATED_SUFFIX_LENGTH);
}

export interface Identity {
  namespace: string | undefined;
  name: string;
}

/** Metadata of a new object: what the client may not choose is set or removed. The order is the one that is stored. */
export function metadataForCreate(given: JsonObject, { namespace, name }: Identity, resource: Resource, deps: { clock: Clock; random: Random }): JsonObject {
  const { name: _n, namespace: _ns, uid: _u, resourceVersion: _r, generation, creationTimestamp: _c, deletionTimestamp: _d, deletionGracePeriodSeconds: _g, selfLink: _s, managedFields: _m, ...kept } = given;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    uid: randomUuid(deps.random),
    ...(resource.kind.hasGeneration ? { generation: 1 } : typeof generation === "number" && { generation }),
    creationTimestamp: formatTime(deps.clock.now()),
    ...kept,
  };
}

/** Metadata of an update: what the client may not change comes from the stored object. */
export function metadataForUpdate(given: JsonObject, stored: JsonObject): JsonObject {
  const { resourceVersion: _r, selfLink: _s, creationTimestamp: _c, uid: _u, generation: _g, managedFields: _m, name: _n, namespace: _ns, deletionTimestamp: _d, deletionGracePeriodSeconds: _p, ...kept } = given;
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = stored;
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
    ...kept,
  };
}

/** Names of these may be what a path segment may be; the others are DNS names. */
const PATH_NAMES = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

function nameProblem({ kind }: Resource, name: string): string | undefined {
  if (kind.group === "" && kind.kind === "Namespace") return dnsLabelProblem(name);
  if (kind.group === "" && kind.kind === "Service") return dns1035LabelProblem(name);
  if (kind.group === "rbac.authorization.k8s.io" && PATH_NAMES.has(kind.kind)) return pathSegmentProblem(name);
  return dnsSubdomainProblem(name);
}

/** `settled` is metadata that was found valid; what is the very same in both is not looked at again. */
export function validateMetadata(metadata: JsonObject, resource: Resource, settled?: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const isNews = (field: string): boolean => settled === undefined || metadata[field] !== settled[field];
  if (isNews("name") || isNews("generateName")) errors.push(...validateName(metadata, resource));
  if (isNews("labels")) errors.push(...validateLabels(metadata.labels));
  if (isNews("annotations")) errors.push(...validateAnnotations(metadata.annotations));
  if (isNews("ownerReferences")) errors.push(...validateOwners(metadata.ownerReferences));
  if (isNews("finalizers")) errors.push(...validateFinalizers(metadata.finalizers));
  return errors;
}

function validateName({ name, generateName }: JsonObject, resource: Resource): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof generateName === "string" && generateName !== "") {
    // A prefix may end in a dash, which the suffix completes.
    const problem = nameProblem(resource, `${generateName.slice(0, MAX_GENERATED_BASE)}${NAME_ALPHABET[0]}`);
    if (problem) errors.push(invalidValue("metadata.generateName", generateName, problem));
  }
  if (typeof name !== "string" || name === "") errors.push(requiredValue("metadata.name", "name or generateName is required"));
  else {
    const problem = nameProblem(resource, name);
    if (problem) errors.push(invalidValue("metadata.name", name, problem));
  }
  return errors;
}

function validateLabels(labels: Json | undefined): FieldError[] {
  if (!isObject(labels)) return [];
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const keyProblem = labelKeyProblem(key);
    if (keyProblem) errors.push(invalidValue("metadata.labels", key, keyProblem));
    const valueProblem = labelValueProblem(textOf(value));
    if (valueProblem) errors.push(invalidValue("metadata.labels", value, valueProblem));
  }
  return errors;
}

function validateAnnotations(annotations: Json | undefined): FieldError[] {
  if (!isObject(annotations)) return [];
  const problem = annotationsProblem(annotations as Record<string, string>);
  if (!problem) return [];
  return [{ type: problem.startsWith("Too long") ? "TooLong" : "Invalid", field: "metadata.annotations", message: problem }];
}

function validateOwners(owners: Json | undefined): FieldError[] {
  if (!Array.isArray(owners)) return [];
  const errors: FieldError[] = [];
  let controllers = 0;
  for (const [index, owner] of owners.entries()) {
    const field = `metadata.ownerReferences[${index}]`;
    const reference = isObject(owner) ? owner : {};
    for (const part of ["apiVersion", "kind", "name", "uid"]) {
      if (typeof reference[part] !== "string" || reference[part] === "") errors.push(invalidValue(`${field}.${part}`, reference[part] ?? "", part === "apiVersion" ? "version must not be empty" : "must not be empty"));
    }
    if (reference.controller === true) controllers++;
  }
  if (controllers > 1) errors.push(invalidValue("metadata.ownerReferences", owners, "Only one reference can have Controller set to true"));
  return errors;
}

function validateFinalizers(finalizers: Json | undefined): FieldError[] {
  if (!Array.isArray(finalizers)) return [];
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    const problem = labelKeyProblem(textOf(finalizer));
    if (problem) errors.push(invalidValue("metadata.finalizers", finalizer, problem));
  }
  return errors;
}

/** What an update must not do to metadata that it may otherwise change. `given` is what the client sent. */
export function validateMetadataUpdate(given: JsonObject, stored: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const immutable = (field: string): void => {
    const value = given[field];
    if (value !== undefined && value !== null && value !== "" && !equalJson(value, stored[field])) errors.push(invalidValue(`metadata.${field}`, value, "field is immutable"));
  };
  immutable("uid");
  immutable("deletionTimestamp");
  if (stored.deletionTimestamp !== undefined) {
    const before = new Set(finalizersOf(stored));
    const added = finalizersOf(given).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
      errors.push(forbiddenField("metadata.finalizers", `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`));
    }
  }
  return errors;
}

export function finalizersOf(metadata: JsonObject): string[] {
  return Array.isArray(metadata.finalizers) ? (metadata.finalizers as string[]) : [];
}
