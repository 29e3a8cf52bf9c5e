/**
 * Valid input to start from: one object of every kind, the recorded expressions with their schemas, and additions from
 * findings.
 */
import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { kinds, minimalObject } from "../../test/contract/minimal-objects.ts";

const container: JsonObject = {
  name: "main",
  image: "web:1",
  command: ["sh", "-c", "sleep 1"],
  env: [
    { name: "A", value: "1" },
    { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ],
  ports: [
    { name: "http", containerPort: 80 },
    { containerPort: 81, protocol: "UDP" },
  ],
  resources: { limits: { cpu: "100m", memory: "1.5Gi" }, requests: { cpu: "0.1" } },
  livenessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 3 },
  volumeMounts: [{ name: "data", mountPath: "/data" }],
};

const template: JsonObject = {
  metadata: { labels: { app: "web" }, annotations: { a: "b" } },
  spec: {
    containers: [container, { ...container, name: "other" }],
    initContainers: [{ name: "first", image: "web:1", env: [{ name: "A", value: "1" }] }],
    volumes: [{ name: "data", emptyDir: {} }],
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { zone: "a" },
  },
};

export const deployment: CorpusObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default", labels: { app: "web" }, finalizers: ["example.com/keep"] },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] },
    strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
    template,
  },
};

const widgetSchema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 0, maximum: 10, default: 3 },
        name: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$", maxLength: 20 },
        parts: {
          type: "array",
          maxItems: 5,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["id"],
          items: {
            type: "object",
            required: ["id"],
            properties: { id: { type: "string", maxLength: 10 }, at: { type: "string", format: "date-time" } },
          },
        },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        more: { type: "object", additionalProperties: { type: "number", nullable: true } },
        inner: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
      "x-kubernetes-validations": [{ rule: "self.size < 5 || self.name.startsWith('big')", message: "too big" }],
    },
    status: { type: "object", properties: { phase: { type: "string", enum: ["A", "B"] } } },
  },
};

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.fuzz.example" },
  spec: {
    group: "fuzz.example",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList", shortNames: ["wd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: widgetSchema },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
        selectableFields: [{ jsonPath: ".spec.name" }],
      },
    ],
  },
} satisfies CorpusObject;

export const widget: CorpusObject = {
  apiVersion: "fuzz.example/v1",
  kind: "Widget",
  metadata: { name: "one", namespace: "default" },
  spec: {
    size: 2,
    name: "big-one",
    parts: [{ id: "a", at: "2024-05-01T00:00:00Z" }, { id: "b" }],
    tags: ["x", "y"],
    any: { a: [1, { b: null }] },
    port: "80%",
    more: { a: 1.5, b: null },
    inner: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "in" } },
  },
};

/** An object of the corpus: well-formed until it is mutated. */
export type CorpusObject = JsonObject & { apiVersion: string; kind: string; metadata: JsonObject & { name: string } };

/** One of each kind, and some with more fields. */
export const objects: readonly CorpusObject[] = [
  ...kinds.map((kind) => minimalObject(kind) as CorpusObject),
  deployment,
  definition,
  widget,
];

interface Recorded {
  schema: Schema;
  objects: Json[];
  cases: { expression: string }[];
}

const recorded = JSON.parse(
  readFileSync(new URL("../../packages/cel/src/testdata/recorded.json", import.meta.url), "utf8"),
) as Recorded[];

/** Schemas, objects of them, and expressions over these. */
export const expressions: readonly { schema: Schema; objects: readonly Json[]; texts: readonly string[] }[] = recorded
  .map(({ schema, objects, cases }) => ({ schema, objects, texts: cases.map(({ expression }) => expression) }))
  .filter(({ texts }) => texts.length > 0);

export const schemas: readonly Schema[] = [widgetSchema, ...expressions.map(({ schema }) => schema)];
