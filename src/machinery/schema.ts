/**
 * Structural schemas: the form in which CustomResourceDefinitions state them, which is also how the fact tables of
 * built-in kinds are read. One schema says what to prune, default and validate, how lists merge, and what apply owns.
 *
 * Schemas are shared and never changed. A type that contains itself is a cycle of objects, so walk them with the value.
 */
import type { Json } from "../base/index.ts";

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
   * Built-in kinds only: how a strategic merge patch treats the field (`merge`, `replace`, `retainKeys`; comma
   * separated).
   */
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-validations"?: Json[];
  /**
   * Built-in kinds only: the real server writes the field even when it is empty, so that creating it is not owning it.
   */
  "x-flotilla-always"?: boolean;
}
