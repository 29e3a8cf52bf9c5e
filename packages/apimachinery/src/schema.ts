/**
 * Structural schemas: the form of CRD schemas, which the fact tables of built-in kinds are also converted to. One
 * schema defines pruning, defaulting, validation, list merging, and apply ownership.
 *
 * Schemas are shared and immutable. A recursive type is a cycle of objects, so walk them along with the value.
 */
import type { Json } from "@flotilla/base";

export interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  description?: string;
  nullable?: boolean;
  default?: Json;
  enum?: Json[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  /**
   * Built-in kinds only: the strategic merge patch strategy of the field (`merge`, `replace`, `retainKeys`; comma
   * separated).
   */
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-validations"?: Json[];
  /**
   * Built-in kinds only: the real server writes the field even when it is empty, so that creating it does not establish
   * ownership.
   */
  "x-flotilla-always"?: boolean;
}

/** The schema of a field: its own, or the one of all others. */
export function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
