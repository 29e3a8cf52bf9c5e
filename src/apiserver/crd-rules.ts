/**
 * The rules for writing a CustomResourceDefinition: defaults, the status that says whether it is served, and what makes it
 * invalid. Whether its schemas are structural is checked by the kind's own admission, in `api`.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import { dns1035LabelProblem, dnsSubdomainProblem, hasValidationRules } from "../machinery/index.ts";
import type { FieldError, Schema } from "../machinery/index.ts";
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from "./context.ts";
import type { RequestContext } from "./context.ts";
import { ACCEPTED, ESTABLISHED, conditionOf } from "./crd.ts";
import type { Definition, DefinitionCondition, DefinitionNames, DefinitionVersion } from "./crd.ts";
import { metadataOf } from "./metadata.ts";
import type { ResourceTable } from "./resources.ts";
import { schemaErrors } from "./crd-schemas.ts";
import { textOf } from "./text.ts";

/** Fills in the names and the conversion that a definition leaves out. */
export function completeDefinition(object: JsonObject): void {
  const definition = object as unknown as Definition;
  const { spec } = definition;
  if (typeof spec !== "object" || spec === null) return;
  const names = { ...spec.names };
  if (names.kind) {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  definition.spec = { ...spec, names, conversion: spec.conversion?.strategy ? spec.conversion : { strategy: "None" } };
}

/** Sets the status: a definition whose names are free is established in the write that makes it, and served from then on. */
export function prepareDefinition(object: JsonObject, old: JsonObject | undefined, context: RequestContext): void {
  const definition = object as unknown as Definition;
  // Who writes the status subresource says what the status is.
  if (context.subresource !== undefined || !Array.isArray(definition.spec?.versions)) return;
  const { creationTimestamp, deletionTimestamp } = metadataOf(object);
  const before = old as unknown as DeepReadonly<Definition> | undefined;
  definition.status = statusOf(definition, before, context.cluster.table, textOf(creationTimestamp));
  if (deletionTimestamp === undefined) for (const text of warningsOf(definition)) context.warn(text);
}

function statusOf(definition: Definition, before: DeepReadonly<Definition> | undefined, table: ResourceTable, now: string): NonNullable<Definition["status"]> {
  const storage = definition.spec.versions.filter((version) => version.storage).map(({ name }) => name);
  const storedVersions = [...(before?.status?.storedVersions ?? [])];
  for (const name of storage) if (!storedVersions.includes(name)) storedVersions.push(name);
  const { acceptedNames, problem } = acceptNames(definition, before?.status?.acceptedNames, table);
  const known = (before?.status?.conditions ?? []) as DefinitionCondition[];
  const conditions = known.map((condition) => ({ ...condition }));
  const set = (condition: DefinitionCondition): void => {
    const current = conditions.find(({ type }) => type === condition.type);
    if (!current) conditions.push({ ...condition, lastTransitionTime: now });
    else if (current.status !== condition.status) Object.assign(current, condition, { lastTransitionTime: now });
  };
  set(problem ?? ACCEPTED);
  // What was established once stays so: its objects are there.
  if (!problem) set(ESTABLISHED);
  else if (before === undefined || conditionOf(before, "Established")?.status !== "True") set({ type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" });
  return { conditions, acceptedNames, storedVersions };
}

/** The names that no other resource of the group has. Each is accepted or not on its own; the last conflict is the one reported. */
function acceptNames({ spec: { group, names } }: Definition, before: DeepReadonly<DefinitionNames> | undefined, table: ResourceTable): { acceptedNames: DefinitionNames; problem?: DefinitionCondition } {
  const others = table.resources.filter(({ kind }) => kind.group === group && kind.plural !== names.plural);
  const words = new Set(others.flatMap(({ kind, singular }) => [kind.plural, singular, ...(kind.shortNames ?? [])]));
  const kinds = new Set(others.flatMap(({ kind, listKind }) => [kind.kind, listKind]));
  const accepted: DefinitionNames = { plural: before?.plural ?? "", kind: before?.kind ?? "" };
  let problem: DefinitionCondition | undefined;
  const accept = (isTaken: boolean, reason: string, what: string, take: () => void): void => {
    if (!isTaken) return take();
    problem = { type: "NamesAccepted", status: "False", reason, message: `${JSON.stringify(what)} is already in use` };
  };
  const { plural, singular = "", shortNames = [], kind, listKind = "" } = names;
  accept(words.has(plural), "PluralConflict", plural, () => (accepted.plural = plural));
  accept(words.has(singular), "SingularConflict", singular, () => (accepted.singular = singular));
  accept(shortNames.some((name) => words.has(name)), "ShortNamesConflict", shortNames.find((name) => words.has(name)) ?? "", () => {
    if (shortNames.length > 0) accepted.shortNames = shortNames;
  });
  accept(kinds.has(kind), "KindConflict", kind, () => (accepted.kind = kind ?? ""));
  accept(kinds.has(listKind), "ListKindConflict", listKind, () => (accepted.listKind = listKind));
  if (names.categories?.length) accepted.categories = names.categories;
  return problem ? { acceptedNames: accepted, problem } : { acceptedNames: accepted };
}

/** Formats that values are checked against, or that say how a number is held. Others are kept and mean nothing. */
const KNOWN_FORMATS = new Set(
  "int32 int64 float double byte binary date date-time password bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor duration k8s-short-name k8s-long-name int-or-string".split(" "),
);

/** What is accepted and not carried out is said, never silent. */
function* warningsOf({ spec }: Definition): Generator<string> {
  for (const { name, schema } of spec.versions) {
    if (schema?.openAPIV3Schema && hasValidationRules(schema.openAPIV3Schema)) {
      yield `Flotilla does not evaluate x-kubernetes-validations yet: the CEL rules of version ${name} are stored but not enforced`;
    }
    for (const format of formatsOf(schema?.openAPIV3Schema)) if (!KNOWN_FORMATS.has(format)) yield `unrecognized format ${JSON.stringify(format)}`;
  }
}

/** A definition that is being deleted says so, and its objects are refused from then on. */
export function markTerminating(object: JsonObject, now: string): void {
  const definition = object as unknown as Definition;
  if (conditionOf(definition, "Terminating")) return;
  const condition: DefinitionCondition = { type: "Terminating", status: "True", lastTransitionTime: now, reason: "InstanceDeletionInProgress", message: "CustomResource deletion is in progress" };
  definition.status = { ...definition.status, conditions: [...(definition.status?.conditions ?? []), condition] };
}

function formatsOf(schema: Schema | undefined, found = new Set<string>(), depth = 0): Set<string> {
  if (!schema || depth > MAX_SCHEMA_DEPTH) return found;
  if (schema.format) found.add(schema.format);
  const { properties, items, additionalProperties } = schema;
  for (const property of Object.values(properties ?? {})) formatsOf(property, found, depth + 1);
  formatsOf(items, found, depth + 1);
  if (typeof additionalProperties === "object") formatsOf(additionalProperties, found, depth + 1);
  return found;
}

const MAX_SCHEMA_DEPTH = 100;

/** What the objects of an established definition depend on can no longer change. */
function immutableErrors(definition: Definition, before: DeepReadonly<Definition> | undefined): FieldError[] {
  if (!before || conditionOf(before, "Established")?.status !== "True") return [];
  const errors: FieldError[] = [];
  const { spec } = definition;
  if (spec.scope !== before.spec.scope) errors.push(invalidValue("spec.scope", spec.scope, "field is immutable"));
  if (spec.names?.kind !== before.spec.names.kind) errors.push(invalidValue("spec.names.kind", spec.names?.kind, "field is immutable"));
  return errors;
}

export function validateDefinition(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const { metadata, spec } = object as unknown as Definition;
  const errors: FieldError[] = [];
  if (typeof spec !== "object" || spec === null) return [requiredValue("spec")];
  const { group, scope, names, versions, conversion } = spec;
  if (metadata.name !== `${names?.plural ?? ""}.${group}`) errors.push(invalidValue("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group'));
  if (!group) errors.push(requiredValue("spec.group"));
  else if (dnsSubdomainProblem(group)) errors.push(invalidValue("spec.group", group, dnsSubdomainProblem(group) ?? ""));
  else if (!group.includes(".")) errors.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  if (isProtected(group ?? "") && !metadata.annotations?.[APPROVAL]) {
    errors.push(requiredValue(`metadata.annotations[${APPROVAL}]`, `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`));
  }
  if (scope !== "Cluster" && scope !== "Namespaced") errors.push(unsupportedValue("spec.scope", scope ?? "", ["Cluster", "Namespaced"]));
  errors.push(...nameErrors(names ?? { plural: "", kind: "" }), ...versionErrors(versions ?? []));
  if (spec.preserveUnknownFields) errors.push(invalidValue("spec.preserveUnknownFields", true, "must be false in order to use apiextensions.k8s.io/v1"));
  errors.push(...conversionErrors(conversion, versions ?? []), ...immutableErrors(object as unknown as Definition, old as unknown as DeepReadonly<Definition> | undefined));
  return errors;
}

const APPROVAL = "api-approved.kubernetes.io";

/** Groups that belong to the Kubernetes project. */
function isProtected(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

function nameErrors(names: DefinitionNames): FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: string | undefined): void => {
    if (!value) errors.push(requiredValue(field));
    else {
      const problem = dns1035LabelProblem(value);
      if (problem) errors.push(invalidValue(field, value, problem));
    }
  };
  label("spec.names.plural", names.plural);
  label("spec.names.singular", names.singular);
  const lowered = (field: string, value: string | undefined): void => {
    const problem = value ? dns1035LabelProblem(value.toLowerCase()) : undefined;
    if (!value) errors.push(requiredValue(field));
    else if (problem) errors.push(invalidValue(field, value, `may have mixed case, but should otherwise match: ${problem}`));
  };
  lowered("spec.names.kind", names.kind);
  lowered("spec.names.listKind", names.listKind);
  for (const [index, name] of (names.shortNames ?? []).entries()) label(`spec.names.shortNames[${index}]`, name);
  for (const [index, name] of (names.categories ?? []).entries()) label(`spec.names.categories[${index}]`, name);
  if (names.kind && names.kind === names.listKind) errors.push(invalidValue("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  return errors;
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];

function versionErrors(versions: readonly DefinitionVersion[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  if (versions.filter(({ storage }) => storage).length !== 1) errors.push(invalidValue("spec.versions", versions.map(({ name }) => name), "must have exactly one version marked as storage version"));
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    const problem = dns1035LabelProblem(version.name ?? "");
    if (problem) errors.push(invalidValue(`${field}.name`, version.name, problem));
    if (seen.has(version.name)) errors.push(invalidValue(`${field}.name`, version.name, "must not contain duplicate version names"));
    seen.add(version.name);
    if (version.deprecationWarning !== undefined && !version.deprecated) errors.push(invalidValue(`${field}.deprecationWarning`, version.deprecationWarning, "can only be set for deprecated versions"));
    const schema = version.schema?.openAPIV3Schema;
    const schemaField = `${field}.schema.openAPIV3Schema`;
    if (!schema || Object.keys(schema).length === 0) errors.push(requiredValue(schemaField));
    else errors.push(...schemaErrors(schema, versions.length === 1 ? "spec.validation.openAPIV3Schema" : schemaField));
    errors.push(...columnErrors(version, versions.length === 1 ? "spec" : field), ...scaleErrors(version, versions.length === 1 ? "spec" : field));
  }
  return errors;
}

function columnErrors({ additionalPrinterColumns }: DefinitionVersion, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, { name, type, jsonPath }] of (additionalPrinterColumns ?? []).entries()) {
    const column = `${field}.additionalPrinterColumns[${index}]`;
    if (!name) errors.push(requiredValue(`${column}.name`));
    if (!type) errors.push(requiredValue(`${column}.type`, `must be one of ${COLUMN_TYPES.join(",")}`));
    else if (!COLUMN_TYPES.includes(type)) errors.push(invalidValue(`${column}.type`, type, `must be one of ${COLUMN_TYPES.join(",")}`));
    if (!jsonPath) errors.push(requiredValue(`${column}.JSONPath`));
    else if (!jsonPath.startsWith(".")) errors.push(invalidValue(`${column}.JSONPath`, jsonPath, "must be a simple json path starting with ."));
  }
  return errors;
}

function scaleErrors({ subresources }: DefinitionVersion, field: string): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const errors: FieldError[] = [];
  const under = (name: keyof typeof scale, root: string): void => {
    const path = scale[name];
    if (path !== undefined && !path.startsWith(`${root}.`)) errors.push(invalidValue(`${field}.subresources.scale.${name}`, path, `should be a json path under ${root}`));
  };
  under("specReplicasPath", ".spec");
  under("statusReplicasPath", ".status");
  return errors;
}

/** Several versions need a conversion. A webhook would not be called, so it is refused where it would be needed. */
function conversionErrors(conversion: Definition["spec"]["conversion"], versions: readonly DefinitionVersion[]): FieldError[] {
  const strategy = conversion?.strategy ?? "None";
  if (strategy !== "None" && strategy !== "Webhook") return [unsupportedValue("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  if (strategy === "Webhook" && conversion?.webhook === undefined) {
    return [requiredValue("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook"), requiredValue("spec.conversion.conversionReviewVersions")];
  }
  if (strategy === "Webhook" && versions.length > 1) return [forbiddenField("spec.conversion.strategy", "Flotilla does not call conversion webhooks yet; use the strategy None, or serve one version")];
  return [];
}
