/**
 * Compiles a structural schema into what the write path needs: `admit` prunes and defaults in one pass, `validate` names what is
 * wrong in the words of Kubernetes.
 *
 * A node is compiled when a value first reaches it, so a schema of hundreds of kilobytes or one that contains itself costs
 * only what its objects use. Compiled schemas are kept by identity: a schema is shared and never changed.
 */
import type { JsonObject } from "../base/index.ts";
import { withObjectMeta } from "./object-meta-schema.ts";
import type { Schema } from "./schema.ts";
import type { FieldError } from "./status.ts";
import { admitNode, type AdmitContext, SchemaNode } from "./structural-admit.ts";
import { ValidationNode, validateNode } from "./structural-validate.ts";

export interface CompiledSchema {
  /**
   * Removes what the schema does not know and fills in defaults. The object is not changed: the answer shares what stays as
   * it is, and is the same object when nothing changes. Paths of removed fields (`spec.list[0].y`) are added to
   * `unknownFields` in the order in which they appear. Parts that are the very same in `settled` are passed over.
   */
  admit(object: JsonObject, options?: { unknownFields?: string[]; settled?: JsonObject | undefined }): JsonObject;
  /**
   * Everything that is wrong with the object, which should be admitted before. `settled` is an object that was admitted and
   * found valid by this schema: parts that are the very same in both are not looked at again.
   */
  validate(object: JsonObject, settled?: JsonObject): FieldError[];
}

const compiled = new WeakMap<Schema, CompiledSchema>();

export function compileSchema(schema: Schema): CompiledSchema {
  let result = compiled.get(schema);
  if (!result) {
    result = compile(withObjectMeta(schema));
    compiled.set(schema, result);
  }
  return result;
}

function compile(root: Schema): CompiledSchema {
  const admission = new SchemaNode(root);
  let validation: ValidationNode | undefined;
  return {
    admit(object, options) {
      const context: AdmitContext | undefined = options?.unknownFields && { unknownFields: options.unknownFields, path: [] };
      return admitNode(admission, object, context, options?.settled) as JsonObject;
    },
    validate(object, settled) {
      validation ??= new ValidationNode(root);
      const errors: FieldError[] = [];
      validateNode(validation, object, { path: [], errors }, settled);
      return errors;
    },
  };
}

/** Whether a schema states CEL rules (`x-kubernetes-validations`) anywhere. They are not evaluated, so a definition with them must be refused or warned about. */
export function hasValidationRules(schema: Schema): boolean {
  for (const node of schemasWithin(schema)) if ((node["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  return false;
}

/** All patterns of a schema, so that a definition with one that cannot be run is refused when it is written. */
export function patternsOf(schema: Schema): string[] {
  const patterns = new Set<string>();
  for (const node of schemasWithin(schema)) if (node.pattern !== undefined) patterns.add(node.pattern);
  return [...patterns];
}

/** Every schema that can be reached, each once. */
function schemasWithin(root: Schema): Set<Schema> {
  const seen = new Set<Schema>([root]);
  for (const node of seen) {
    const { properties, additionalProperties, items, allOf, anyOf, oneOf, not } = node;
    for (const child of Object.values(properties ?? {})) seen.add(child);
    for (const child of [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])]) seen.add(child);
    for (const child of [additionalProperties, items, not]) if (typeof child === "object") seen.add(child);
  }
  return seen;
}
