/**
 * Compiles a structural schema for the write path: `admit` prunes and defaults in one pass, `validate` reports errors
 * in Kubernetes' wording.
 *
 * A node is compiled when a value first reaches it, so a large or recursive schema costs only what its objects use.
 * Compiled schemas are cached by identity: a schema is shared and immutable.
 */
import type { Json, JsonObject } from "@flotilla/base";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";
import type { FieldError } from "../field.ts";
import { AdmitWalk, admitNode, admitNodeOf, SchemaNode } from "./structural-admit.ts";
import { ValidationNode, nodeOf, valueErrors } from "./structural-validate.ts";
import { ValidationWalk } from "./structural-walk.ts";

interface AdmitOptions {
  /** Paths of removed fields (`spec.list[0].y`) are added in the order in which they appear. */
  unknownFields?: string[];
  /** Of these, the metadata fields of embedded objects; without it they are included with the others. */
  embeddedFields?: string[];
  /** Metadata of embedded objects with a wrong type is a bad request. */
  strictMetadata?: boolean;
  /** An object that was admitted before: identical parts are skipped. */
  settled?: JsonObject | undefined;
}

export interface ValidateOptions {
  /**
   * An object that was admitted and validated by this schema: parts that are identical in both are not validated again.
   */
  settled?: JsonObject | undefined;
  /** The object that an update replaces. Errors in its unchanged parts are accepted (ratcheting). */
  oldObject?: JsonObject | undefined;
  /** Validates only the status; messages name paths relative to it. */
  part?: "status" | undefined;
}

/** The errors of an object, in the real server's three groups. */
export interface Findings {
  /** Errors of schema keywords. */
  values: FieldError[];
  /** Kind and metadata of embedded objects. Ratcheting does not apply to them. */
  embedded: FieldError[];
  /** Duplicate elements in lists of type set or map. */
  duplicates: FieldError[];
}

export interface CompiledSchema {
  /**
   * Removes unknown fields and sets defaults. The object is not modified: the result shares unchanged parts, and is the
   * same object when nothing changes.
   */
  admit(object: JsonObject, options?: AdmitOptions): JsonObject;
  /** All errors of the object, which should have been admitted before; undefined when it is valid. */
  validate(object: JsonObject, options?: ValidateOptions): Findings | undefined;
}

const compiled = new WeakMap<Schema, CompiledSchema>();

export function compileSchema(schema: Schema): CompiledSchema {
  let result = compiled.get(schema);
  if (!result) {
    result = compile(schema);
    compiled.set(schema, result);
  }
  return result;
}

function compile(root: Schema): CompiledSchema {
  const admission = new SchemaNode(withObjectMeta(root));
  let validation: ValidationNode | undefined;
  return {
    admit(object, options) {
      const { unknownFields, embeddedFields, strictMetadata = false, settled } = options ?? {};
      const walk =
        unknownFields || strictMetadata
          ? new AdmitWalk(unknownFields ?? [], embeddedFields ?? unknownFields ?? [], strictMetadata)
          : undefined;
      return admitNode(admission, object, walk, settled) as JsonObject;
    },
    validate(object, options = {}) {
      if (options.part === undefined)
        return examine((validation ??= new ValidationNode(root)), object, "", options.settled, options.oldObject);
      const status = root.properties?.["status"];
      const { status: value } = object;
      if (!status || value === undefined) return undefined;
      return examine(nodeOf(status), value, "status", options.settled?.["status"], options.oldObject?.["status"]);
    },
  };
}

function examine(
  node: ValidationNode,
  value: Json,
  base: string,
  settled: Json | undefined,
  old: Json | undefined,
): Findings | undefined {
  const walk = new ValidationWalk(node.schema, base, false);
  let values = valueErrors(node, value, walk, settled);
  let { duplicates } = walk;
  if (values.length + walk.embedded.length + duplicates.length === 0) return undefined;
  // Most objects are valid, so old errors are computed only when there are new ones.
  if (values.length > 0 && old !== undefined) {
    const ratchet = new ValidationWalk(node.schema, base, true);
    values = valueErrors(node, value, ratchet, old);
  }
  if (duplicates.length > 0 && old !== undefined) {
    const before = new ValidationWalk(node.schema, base, false);
    valueErrors(node, old, before);
    if (before.duplicates.length > 0) duplicates = [];
  }
  return { values: distinct(values), embedded: walk.embedded, duplicates };
}

/** Removes duplicate errors from alternatives. */
function distinct(errors: FieldError[]): FieldError[] {
  if (errors.length < 2) return errors;
  const seen = new Set<string>();
  return errors.filter(({ field, message }) => seen.size < seen.add(`${field}: ${message}`).size);
}

/** Validates a schema's default against that schema. `field` is the path of the default. */
export function checkDefault(
  schema: Schema,
  value: Json,
  field: string,
): { isPruned: boolean; findings: Findings | undefined } {
  const unknown: string[] = [];
  // Only for pruning: defaults inside the default are set when it is used.
  admitNode(admitNodeOf(schema), value, new AdmitWalk(unknown, [], false), undefined);
  return { isPruned: unknown.length === 0, findings: examine(nodeOf(schema), value, field, undefined, undefined) };
}

/** Reports whether a schema contains CEL rules (`x-kubernetes-validations`) anywhere. */
export function hasValidationRules(schema: Schema): boolean {
  for (const node of schemasWithin(schema)) if ((node["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  return false;
}

/** Every reachable schema, each once. */
export function schemasWithin(root: Schema): Set<Schema> {
  const seen = new Set<Schema>([root]);
  for (const node of seen) {
    const { properties, additionalProperties, items, allOf, anyOf, oneOf, not } = node;
    for (const child of Object.values(properties ?? {})) seen.add(child);
    for (const child of [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])]) seen.add(child);
    for (const child of [additionalProperties, items, not]) if (typeof child === "object") seen.add(child);
  }
  return seen;
}
