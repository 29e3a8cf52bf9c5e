/**
 * OpenAPI v3 schema of a custom resource: the CRD's schema plus the fields every object has, with the `x-kubernetes`
 * extensions expanded.
 */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import type { ServedVersion } from "../resources/resources.ts";
import { OBJECT_META, refTo } from "./type-components.ts";

/** `com.example.stable.v1.CronTab`: the group's domain labels in reverse order. */
export function customName({ resource: { kind }, version }: ServedVersion): string {
  return `${kind.group.split(".").toReversed().join(".")}.${version}.${kind.kind}`;
}

const METADATA: JsonObject = { description: "Standard object's metadata.", allOf: [refTo(OBJECT_META)] };
const API_VERSION: JsonObject = {
  type: "string",
  description: "APIVersion defines the versioned schema of this representation of an object.",
};
const KIND: JsonObject = { type: "string", description: "Kind is the resource type that this object represents." };

export function customSchema({ resource: { kind }, version, schema }: ServedVersion): JsonObject {
  const { apiVersion: _a, kind: _k, metadata: _m, ...own } = schema.properties ?? {};
  return {
    ...converted({ ...schema, properties: own }),
    properties: { apiVersion: API_VERSION, kind: KIND, metadata: METADATA, ...convertAll(own) },
    "x-kubernetes-group-version-kind": [{ group: kind.group, kind: kind.kind, version }],
  };
}

function convertAll(properties: Record<string, Schema> = {}): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, converted(property)]));
}

const INT_OR_STRING = [{ type: "integer" }, { type: "string" }];

function converted(schema: Schema): JsonObject {
  const { properties, items, additionalProperties, "x-flotilla-always": _, ...rest } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  return {
    ...(rest as JsonObject),
    ...defined({
      anyOf: schema["x-kubernetes-int-or-string"] && !schema.anyOf && !schema.allOf ? INT_OR_STRING : undefined,
      required: isEmbedded ? [...new Set(["kind", "apiVersion", ...(schema.required ?? [])])] : undefined,
      properties:
        properties || isEmbedded
          ? {
              ...convertAll(properties),
              ...defined({
                apiVersion: isEmbedded ? API_VERSION : undefined,
                kind: isEmbedded ? KIND : undefined,
                metadata: isEmbedded ? METADATA : undefined,
              }),
            }
          : undefined,
      items: items ? converted(items) : undefined,
      additionalProperties:
        additionalProperties === undefined
          ? undefined
          : typeof additionalProperties === "object"
            ? converted(additionalProperties)
            : additionalProperties,
    }),
  };
}
