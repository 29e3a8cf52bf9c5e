/**
 * Compiles a structural schema into what the write path needs: `admit` prunes and defaults in one pass, `validate`
 * names what is wrong in the words of Kubernetes.
 *
 * A node is compiled when a value first reaches it, so a schema of hundreds of kilobytes or one that contains itself
 * costs only what its objects use. Compiled schemas are kept by identity: a schema is shared and never changed.
 */
import type { Json, JsonObject } from "../base/index.ts";
import { withObjectMeta } from "./object-meta-schema.ts";
import type { Schema } from "./schema.ts";
import type { FieldError } from "./status.ts";
import { AdmitWalk, admitNode, admitNodeOf, SchemaNode } from "./structural-admit.ts";
import { ValidationNode, nodeOf, valueErrors } from "./structural-validate.ts";
import { ValidationWalk } from "./structural-walk.ts";

export interface AdmitOptions {
  /** Paths of removed fields (`spec.list[0].y`) are added in the order in which they appear. */
  unknownFields?: string[];
  /** Of these, the fields of metadata of embedded objects; without it they are with the others. */
  embeddedFields?: string[];
  /** Metadata of embedded objects that is of the wrong type is a bad request. */
  strictMetadata?: boolean;
  /** An object that was admitted before: parts that are the very same are passed over. */
  settled?: JsonObject | undefined;
}

export interface ValidateOptions {
  /**
   * An object that was admitted and found valid by this schema: parts that are the very same in both are not looked at
   * again.
   */
  settled?: JsonObject | undefined;
  /** What an update replaces. What is wrong in it and stays as it was is let through. */
  oldObject?: JsonObject | undefined;
  /** Looks at the status only, and words it as if it were the whole. */
  part?: "status" | undefined;
}

/** What is wrong with an object, in the three groups in which the real server finds it. */
export interface Findings {
  /** Keywords of the schema. */
  values: FieldError[];
  /** Kind and metadata of embedded objects. An update does not excuse them. */
  embedded: FieldError[];
  /** Elements that lists of type set or map hold twice. */
  duplicates: FieldError[];
}

export interface CompiledSchema {
  /**
   * Removes what the schema does not know and fills in defaults. The object is not changed: the answer shares what
   * stays as it is, and is the same object when nothing changes.
   */
  admit(object: JsonObject, options?: AdmitOptions): JsonObject;
  /** Everything that is wrong with the object, which should be admitted before; undefined when it is fine. */
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
  // Most objects are fine, so what was wrong before is looked for only when something is.
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

/** What alternatives say twice is told once. */
function distinct(errors: FieldError[]): FieldError[] {
  if (errors.length < 2) return errors;
  const seen = new Set<string>();
  return errors.filter(({ field, message }) => seen.size < seen.add(`${field}: ${message}`).size);
}

/** A default of a schema, checked as a value of that schema. `field` is where the default stands. */
export function checkDefault(
  schema: Schema,
  value: Json,
  field: string,
): { isPruned: boolean; findings: Findings | undefined } {
  const unknown: string[] = [];
  // Only pruning is of interest: defaults inside of the default are filled in when it is used.
  admitNode(admitNodeOf(schema), value, new AdmitWalk(unknown, [], false), undefined);
  return { isPruned: unknown.length === 0, findings: examine(nodeOf(schema), value, field, undefined, undefined) };
}

/** Whether a schema states CEL rules (`x-kubernetes-validations`) anywhere. */
export function hasValidationRules(schema: Schema): boolean {
  for (const node of schemasWithin(schema)) if ((node["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  return false;
}

/** Every schema that can be reached, each once. */
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
