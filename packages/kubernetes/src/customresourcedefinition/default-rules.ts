/**
 * Defaults must be what the server would store: without unknown fields, and valid against the schema that declares
 * them.
 */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { checkDefault, embeddedErrors, field, hasValidationRules, type FieldError } from "@flotilla/apimachinery";
import { compileValidations } from "@flotilla/cel";
import { META_FIELDS } from "./schema-rules.ts";
import { propertiesOf } from "./structural-rules.ts";

/** Places a value at its schema's position in an object. Unset outside object metadata. */
type WrapInObject = ((value: Json) => JsonObject) | undefined;

/** `schema` is structural. A default inside metadata is checked as part of an otherwise empty object. */
export function checkDefaults(at: string, schema: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  check(at, schema, true, undefined, errors);
  return errors;
}

function check(at: string, schema: JsonObject, isRoot: boolean, given: WrapInObject, errors: FieldError[]): void {
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const surround = isResource ? undefined : given;
  const { items, default: fallback } = schema;
  if (fallback !== undefined)
    errors.push(...(surround ? metadataErrors(at, schema, fallback, surround) : defaultErrors(at, schema, fallback)));
  if (isObject(items)) check(`${at}.items`, items, false, surround && ((value) => surround([value])), errors);
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (!isObject(property)) continue;
    const outside: WrapInObject =
      isResource && META_FIELDS.has(name)
        ? (value) => ({ apiVersion: "validation/v1", kind: "Validation", [name]: value })
        : surround && ((value) => surround({ [name]: value }));
    check(`${at}.properties[${name}]`, property, false, outside, errors);
  }
}

function defaultErrors(at: string, schema: JsonObject, value: Json): FieldError[] {
  const path = `${at}.default`;
  const { isPruned, findings } = checkDefault(schema, value, path);
  const unknown = isPruned ? [] : [field.invalid(path, value, "must not have unknown fields")];
  if (!findings) return unknown.length > 0 ? unknown : ruleErrors(path, schema, value);
  return [...unknown, ...(findings.embedded.length > 0 ? findings.embedded : findings.values)];
}

/** CEL rules that the default itself would break, both as a new value and as an unchanged one. */
function ruleErrors(path: string, schema: JsonObject, value: Json): FieldError[] {
  if (!hasValidationRules(schema)) return [];
  const validations = compileValidations(schema);
  const found = validations.validate(value as JsonObject, value as JsonObject).errors;
  const errors = found.length > 0 ? found : validations.validate(value as JsonObject).errors;
  return errors.map((error) => ({ ...error, field: error.field === "<nil>" ? path : `${path}.${error.field}` }));
}

function metadataErrors(
  at: string,
  schema: JsonObject,
  value: Json,
  surround: (value: Json) => JsonObject,
): FieldError[] {
  const path = `${at}.default`;
  const problems = embeddedErrors(surround(value), "").map(({ field: where, message }) => `${where}: ${message}`);
  if (problems.length > 0)
    return [
      field.invalid(
        path,
        value,
        `must result in valid metadata: ${problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`}`,
      ),
    ];
  return checkDefault(schema, value, path).findings?.values ?? [];
}
