/** Whether the schema engine can run what a definition's schema says: its patterns, and its defaults against itself. */
import { PatternError, compilePattern, compileSchema } from "../machinery/index.ts";
import type { FieldError, Schema } from "../machinery/index.ts";
import { invalidValue } from "./context.ts";

/** A hostile schema should cost one answer, not megabytes of it. */
const MAX_ERRORS = 50;
const MAX_DEPTH = 100;

export function schemaErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, field, errors, 0);
  return errors;
}

function walk(schema: Schema, field: string, errors: FieldError[], depth: number): void {
  if (errors.length >= MAX_ERRORS || depth > MAX_DEPTH) return;
  const { properties, items, additionalProperties } = schema;
  if (schema.pattern !== undefined) checkPattern(schema.pattern, `${field}.pattern`, errors);
  if (schema.default !== undefined) checkDefault(schema, field, errors);
  for (const [name, property] of Object.entries(properties ?? {})) walk(property, `${field}.properties[${name}]`, errors, depth + 1);
  if (items) walk(items, `${field}.items`, errors, depth + 1);
  if (typeof additionalProperties === "object") walk(additionalProperties, `${field}.additionalProperties`, errors, depth + 1);
}

function checkPattern(pattern: string, field: string, errors: FieldError[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    errors.push(invalidValue(field, pattern, `must be a valid regular expression, but isn't: ${error.message}`));
  }
}

/** A default must be what the schema would store. It is looked at as a field, because schemas are compiled for whole objects. */
function checkDefault(schema: Schema, field: string, errors: FieldError[]): void {
  const { default: fallback, ...rest } = schema;
  const compiled = compileSchema({ type: "object", properties: { value: rest } });
  const unknownFields: string[] = [];
  const admitted = compiled.admit({ value: fallback ?? null }, { unknownFields });
  if (unknownFields.length > 0) errors.push(invalidValue(`${field}.default`, fallback, "must not have unknown fields"));
  else for (const { type, message } of compiled.validate(admitted)) errors.push({ type, field: `${field}.default`, message });
}
