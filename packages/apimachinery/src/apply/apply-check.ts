/**
 * Validates an applied configuration against the schema before it is merged: unknown fields, wrong types and duplicate
 * elements are rejected, regardless of the request's field validation. The real server returns 500 here, which clients
 * see.
 */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { formatElement } from "./field-set.ts";
import { elementOf, isNamedField } from "./field-shape.ts";
import { fieldSchema } from "../schema.ts";
import { formatGo, patchFailed } from "../patch/patch-errors.ts";
import type { Schema } from "../schema.ts";
import type { ApiError } from "../status.ts";

/** The keys of a built-in list have a default, if only an empty one, so validation finds missing keys. */
export function checkApplied(applied: JsonObject, schema: Schema, builtIn: boolean): void {
  const problem = appliedProblem(applied, schema, builtIn);
  if (problem !== undefined) throw typedPatchError(applied, problem);
}

/** Why a configuration does not match its schema; undefined when it does. */
export function appliedProblem(applied: JsonObject, schema: Schema, builtIn: boolean): string | undefined {
  const errors: string[] = [];
  checkMap(applied, schema, "", { errors, builtIn });
  if (errors.length === 0) return undefined;
  return errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join("\n")}`;
}

function typedPatchError(applied: JsonObject, problem: string): ApiError {
  const metadata = isObject(applied["metadata"]) ? applied["metadata"] : {};
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  const apiVersion = text(applied["apiVersion"]);
  const shown =
    `${text(metadata["namespace"])}/${text(metadata["name"])}; ` +
    `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${text(applied["kind"])}`;
  return patchFailed(`failed to create typed patch object (${shown}): ${problem}`);
}

interface Walk {
  readonly errors: string[];
  readonly builtIn: boolean;
}

/** Limits the cost of a hostile configuration to one response. */
const MAX_ERRORS = 50;

function check(value: Json, schema: Schema | undefined, path: string, walk: Walk): void {
  const { errors } = walk;
  if (
    schema === undefined ||
    value === null ||
    errors.length >= MAX_ERRORS ||
    schema["x-kubernetes-int-or-string"] === true
  )
    return;
  switch (schema.type) {
    case "object":
      if (isObject(value)) checkMap(value, schema, path, walk);
      else errors.push(`${path}: expected map, got &{${formatGo(value)}}`);
      return;
    case "array":
      if (Array.isArray(value)) checkList(value, schema, path, walk);
      else errors.push(`${path}: expected list, got &{${formatGo(value)}}`);
      return;
    case "string":
      // The typed form of a quantity or a port accepts numbers too; their schemas are int-or-string.
      if (typeof value !== "string") errors.push(`${path}: expected string, got ${describe(value)}`);
      return;
    case "integer":
    case "number":
      if (typeof value !== "number")
        errors.push(
          `${path}: expected numeric (int or float), got ${typeof value === "string" ? "string" : describe(value)}`,
        );
      return;
    case "boolean":
      if (typeof value !== "boolean") errors.push(`${path}: expected boolean, got ${describe(value)}`);
      return;
    default:
      if (isObject(value) && schema.properties) checkMap(value, schema, path, walk);
  }
}

const describe = (value: Json): string =>
  typeof value === "object"
    ? `&value.valueUnstructured{Value:${JSON.stringify(value).slice(0, 200)}}`
    : `&value.valueUnstructured{Value:${typeof value === "string" ? JSON.stringify(value) : String(value)}}`;

function checkMap(map: JsonObject, schema: Schema, path: string, walk: Walk): void {
  const open =
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema.additionalProperties === true ||
    schema["x-kubernetes-embedded-resource"] === true;
  for (const key of Object.keys(map)) {
    const below = `${path}.${key}`;
    const child = fieldSchema(schema, key);
    if (child) check(map[key] as Json, child, below, walk);
    else if (!open && !isNamedField(schema, key) && schema.properties)
      walk.errors.push(`${below}: field not declared in schema`);
  }
}

function checkList(list: readonly Json[], schema: Schema, path: string, walk: Walk): void {
  const { errors, builtIn } = walk;
  const type = schema["x-kubernetes-list-type"];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const element =
      type === "set" || type === "map"
        ? elementOf(type === "set" ? "set" : "list-map", schema, item, index)
        : `i:${index}`;
    if (type === "map" && !builtIn && element.startsWith("i:")) {
      const keys = (schema["x-kubernetes-list-map-keys"] ?? []).map((key) => JSON.stringify(key)).join(" ");
      errors.push(
        `${path}: element ${index}: associative list with keys has an element that omits all key fields ` +
          `[${keys}] (and doesn't have default values for any key fields)`,
      );
      continue;
    }
    if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${formatElement(element)}`);
    seen.add(element);
    check(item, schema.items, path + formatElement(element), walk);
  }
}
