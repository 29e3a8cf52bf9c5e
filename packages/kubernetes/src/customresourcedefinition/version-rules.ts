/**
 * Validation rules for the parts of a version besides its schema: printer columns, scale paths, selectable fields,
 * deprecation.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
  SelectableField,
} from "@flotilla/apimachinery/facts/apiextensions-v1.ts";
import { findField } from "./field-paths.ts";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MAX_SELECTABLE_FIELDS = 8;
const MAX_WARNING_BYTES = 256;

const startsWithDot = (at: string, path: string): FieldError[] =>
  path.startsWith(".") ? [] : [field.invalid(at, path, "must be a simple json path starting with .")];

export function checkColumns(
  at: string,
  columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined,
): FieldError[] {
  return (columns ?? []).flatMap(({ name, type, format, jsonPath }, index) => {
    const path = `${at}.additionalPrinterColumns[${index}]`;
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    return [
      ...(name ? [] : [field.required(`${path}.name`)]),
      ...(!type
        ? [field.required(`${path}.type`, types)]
        : COLUMN_TYPES.includes(type)
          ? []
          : [field.invalid(`${path}.type`, type, types)]),
      ...(format && !COLUMN_FORMATS.includes(format)
        ? [field.invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`)]
        : []),
      ...(jsonPath ? startsWithDot(`${path}.JSONPath`, jsonPath) : [field.required(`${path}.JSONPath`)]),
    ];
  });
}

export function checkSubresources(
  at: string,
  subresources: DeepReadonly<CustomResourceSubresources> | undefined,
): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const under = (name: keyof typeof scale, roots: readonly string[], where: string): FieldError[] => {
    const path = scale[name];
    const fieldPath = `${at}.subresources.scale.${name}`;
    if (!path) return name === "labelSelectorPath" ? [] : [field.required(fieldPath)];
    const problems = startsWithDot(fieldPath, path);
    if (problems.length > 0 || roots.some((root) => path.startsWith(`${root}.`))) return problems;
    return [field.invalid(fieldPath, path, `should be a json path under ${where}`)];
  };
  return [
    ...under("specReplicasPath", [".spec"], ".spec"),
    ...under("statusReplicasPath", [".status"], ".status"),
    ...under("labelSelectorPath", [".spec", ".status"], "either .spec or .status"),
  ];
}

const SELECTABLE_TYPES = ["string", "boolean", "integer"];

/** `mayBeMany`: the stored object already exceeds the limit and the list is unchanged. */
export function checkSelectableFields(
  at: string,
  fields: DeepReadonly<SelectableField[]> | undefined,
  schema: JsonObject | undefined,
  mayBeMany: boolean,
): FieldError[] {
  if (!fields || fields.length === 0 || !schema) return [];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const path = `${at}.selectableFields[${index}].jsonPath`;
    if (!jsonPath) {
      errors.push(field.required(path));
      continue;
    }
    const found = findField(jsonPath, schema);
    if ("problem" in found) {
      errors.push(field.invalid(path, jsonPath, `is an invalid path: ${found.problem}`));
      continue;
    }
    if (found.names[0] === "metadata")
      errors.push(field.invalid(path, jsonPath, "must not point to fields in metadata"));
    if (typeof found.schema?.["type"] !== "string" || !SELECTABLE_TYPES.includes(found.schema["type"])) {
      errors.push(
        field.invalid(
          path,
          jsonPath,
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
      );
    }
    const name = found.names.join(".");
    if (seen.has(name)) errors.push(field.duplicate(path, jsonPath));
    seen.add(name);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS && !mayBeMany)
    errors.push(field.tooMany(`${at}.selectableFields`, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

export function checkDeprecation(
  at: string,
  deprecated: boolean | undefined,
  warning: string | undefined,
): FieldError[] {
  if (warning === undefined) return [];
  const path = `${at}.deprecationWarning`;
  if (!deprecated) return [field.invalid(path, warning, "can only be set for deprecated versions")];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(warning) > MAX_WARNING_BYTES)
    errors.push(field.invalid(path, warning, `must be <= ${MAX_WARNING_BYTES} characters long`));
  if (warning === "") errors.push(field.invalid(path, warning, "must not be an empty string"));
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd)
    errors.push(
      field.invalid(
        path,
        warning,
        `must only contain printable UTF-8 characters; non-printable character found at index ${Buffer.byteLength(warning.slice(0, odd.index))}`,
      ),
    );
  return errors;
}
