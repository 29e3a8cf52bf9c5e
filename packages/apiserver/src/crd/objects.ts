/**
 * Validation of custom objects: schema, scale, finalizers. Errors come in kube-apiserver's order, which reports all of
 * them together.
 */
import { field, formatValue, labelKeyProblems, quoteText } from "@flotilla/apimachinery";
import type { FieldError, ScalePaths } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { pathParts } from "../codec/field-paths.ts";

const NOTHING: readonly FieldError[] = [];

/** Rules are not evaluated on an object that lacks the fields they may read, or that exceeds their limits. */
const BLOCKING: ReadonlySet<FieldError["type"]> = new Set([
  "NotSupported",
  "Required",
  "TooLong",
  "TooMany",
  "TypeInvalid",
]);
const UNCHECKED = field.invalid(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

/** All validation errors of a custom object, in addition to those of its metadata. */
export function customErrors(
  context: RequestContext,
  object: JsonObject,
  oldObject: JsonObject | undefined,
  settled: JsonObject | undefined,
  metadataErrors: readonly FieldError[],
): readonly FieldError[] {
  const errors = schemaErrors(context, object, oldObject, settled);
  const { validations } = context.served;
  if (!validations.hasRules) return errors;
  if (errors.some(({ type }) => BLOCKING.has(type)) || metadataErrors.some(({ type }) => BLOCKING.has(type)))
    return [...errors, UNCHECKED];
  const outcome = validations.validate(object, oldObject);
  for (const text of outcome.warnings) context.warn(text);
  return outcome.errors.length === 0 ? errors : [...errors, ...outcome.errors];
}

function schemaErrors(
  { served, subresource }: RequestContext,
  object: JsonObject,
  oldObject: JsonObject | undefined,
  settled: JsonObject | undefined,
): readonly FieldError[] {
  const part = subresource === "status" ? "status" : undefined;
  const findings = served.compiled.validate(object, { settled, oldObject, part });
  const { scale } = served.subresources;
  const scaleErrors = scale ? scaleProblems(object, scale, part === "status") : NOTHING;
  if (!findings) return scaleErrors;
  return [...findings.values, ...scaleErrors, ...(part === undefined ? findings.embedded : []), ...findings.duplicates];
}

/** Warns about unwise values in an otherwise valid object. */
export function warnAboutCustomObject(
  { subresource, warn }: RequestContext,
  object: JsonObject,
  oldObject: JsonObject | undefined,
): void {
  if (subresource !== undefined) return;
  for (const text of finalizerWarnings(metadataOf(object), oldObject && metadataOf(oldObject))) warn(text);
}

const MAX_REPLICAS = 2 ** 31 - 1;

/** Whatever the schema allows, the value that the scale subresource reads must be a valid number of replicas. */
function scaleProblems(
  object: JsonObject,
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  statusOnly: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const path of statusOnly ? [statusReplicasPath] : [specReplicasPath, statusReplicasPath]) {
    const { value, problem } = readPath(object, path, "int64");
    const replicas = typeof value === "number" ? value : 0;
    if (problem !== undefined) errors.push(invalid(path, 0, problem));
    else if (replicas < 0) errors.push(invalid(path, replicas, "should be a non-negative integer"));
    else if (replicas > MAX_REPLICAS)
      errors.push(invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`));
  }
  if (labelSelectorPath) {
    const { problem } = readPath(object, labelSelectorPath, "string");
    if (problem !== undefined) errors.push(invalid(labelSelectorPath, "", problem));
  }
  return errors;
}

const invalid = (path: string, value: Json, detail: string): FieldError =>
  field.invalid(path, field.shown(formatValue(value)), detail);

/** The value at a scale path, or why it cannot be read. */
function readPath(object: JsonObject, path: string, type: "int64" | "string"): { value?: Json; problem?: string } {
  let value: Json | undefined = object;
  const parts = pathParts(path);
  for (let index = 0; index < parts.length; index++) {
    if (value === undefined) return {};
    const part = parts[index] as string;
    if (!isObject(value))
      return {
        problem: `.${parts.slice(0, index + 1).join(".")} accessor error: ${plainText(value)} is of the type ${goType(value)}, expected map[string]interface{}`,
      };
    value = Object.hasOwn(value, part) ? value[part] : undefined;
  }
  if (value === undefined) return {};
  const fits = type === "string" ? typeof value === "string" : Number.isInteger(value);
  return fits
    ? { value }
    : {
        problem: `.${parts.join(".")} accessor error: ${plainText(value)} is of the type ${goType(value)}, expected ${type}`,
      };
}

const plainText = (value: Json): string => (typeof value === "string" ? value : formatValue(value));

function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "object" ? "map[string]interface {}" : typeof value === "boolean" ? "bool" : typeof value;
}

const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** New finalizers that could conflict with those of other writers. */
function* finalizerWarnings(metadata: JsonObject, before: JsonObject | undefined): Generator<string> {
  const { finalizers } = metadata;
  if (!Array.isArray(finalizers) || finalizers === before?.finalizers) return;
  const known = new Set(before ? finalizersOf(before) : []);
  for (const finalizer of [...new Set(finalizersOf(metadata))].sort()) {
    if (known.has(finalizer)) continue;
    const about = `metadata.finalizers: ${quoteText(finalizer)}: `;
    for (const problem of labelKeyProblems(finalizer)) yield about + problem;
    if (finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) continue;
    yield (
      `${about}prefer a domain-qualified finalizer name ` +
        `${finalizer.includes(".") ? "including a path (/) " : ""}to avoid accidental conflicts with other ` +
        "finalizer writers"
    );
  }
}
