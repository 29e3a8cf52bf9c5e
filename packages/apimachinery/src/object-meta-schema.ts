/**
 * The schema of the fields that every object has. CRD schemas contain no more than `metadata: object`, so the machinery
 * substitutes the known fields of `ObjectMeta`.
 */
import { omitZero } from "@flotilla/base";
import type { Schema } from "./schema.ts";

const text: Schema = { type: "string" };
const integer: Schema = { type: "integer", format: "int64" };
const flag: Schema = { type: "boolean" };
const texts: Schema = { type: "object", additionalProperties: text };

const ownerReference: Schema = {
  type: "object",
  properties: { apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag },
  required: ["apiVersion", "kind", "name", "uid"],
  "x-kubernetes-map-type": "atomic",
};

const managedFieldsEntry: Schema = {
  type: "object",
  properties: {
    manager: text,
    operation: text,
    apiVersion: text,
    time: text,
    fieldsType: text,
    fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    subresource: text,
  },
};

export const OBJECT_META: Schema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: integer,
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: integer,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: "array",
      items: ownerReference,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
    finalizers: { type: "array", items: text, "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" },
    managedFields: { type: "array", items: managedFieldsEntry },
  },
};

const completed = new WeakMap<Schema, Schema>();

/** The schema of a whole object: its own fields with `apiVersion`, `kind` and the full `metadata`. */
export function withObjectMeta(schema: Schema): Schema {
  let result = completed.get(schema);
  if (!result) {
    const own = schema.properties?.["metadata"]?.properties;
    result = {
      ...schema,
      properties: {
        apiVersion: text,
        kind: text,
        ...schema.properties,
        // A CRD may restrict names; everything else in its metadata schema is ignored.
        metadata: own ? { ...OBJECT_META, properties: { ...OBJECT_META.properties, ...pickNames(own) } } : OBJECT_META,
      },
    };
    completed.set(schema, result);
  }
  return result;
}

function pickNames(properties: Record<string, Schema>): Record<string, Schema> {
  const { name, generateName } = properties;
  return { ...omitZero({ name, generateName }) };
}
