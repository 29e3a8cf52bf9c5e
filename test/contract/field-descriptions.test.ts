/**
 * `kubectl explain` describes every field that users of Karmada, Open Cluster Management and OpenKruise write: every
 * field outside of the status, in every served version, except inside of pods.
 */
import { describe, expect, test } from "vitest";
import type { Kind, Schema } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { argoDefinitions } from "@flotilla/argo";
import { rolloutDefinitions } from "@flotilla/flotilla";
import { Cluster, karmadaDefinitions } from "@flotilla/karmada";
import { Node, servedKinds } from "@flotilla/kubernetes";
import { ocmDefinitions } from "@flotilla/ocm";
import { kruiseDefinitions } from "@flotilla/openkruise";
import { createTestServer, PROFILE } from "@flotilla/testing/api-server.ts";

const kinds = [karmadaDefinitions, ocmDefinitions, kruiseDefinitions, argoDefinitions, rolloutDefinitions].flatMap(
  (definitions) => servedKinds(definitions),
);

/** Of Kubernetes' types only the pod is not described: the field itself is, its inner fields are not. */
const isPodSpec = ({ properties = {} }: Schema): boolean =>
  ["containers", "restartPolicy"].every((field) => Object.hasOwn(properties, field));

/** Fields of a container, which a sidecar has as well. */
const isContainer = ({ properties = {} }: Schema): boolean =>
  ["image", "env", "livenessProbe"].every((field) => Object.hasOwn(properties, field));
const SIDECAR_FIELDS = new Set([
  "podInjectPolicy",
  "resourcesPolicy",
  "shareVolumeDevicePolicy",
  "shareVolumePolicy",
  "transferEnv",
  "upgradeStrategy",
]);

interface Field {
  path: string;
  schema: Schema;
}

/** The fields of an object, without those inside of pods. */
function* fieldsOf(path: string, schema: Schema): Generator<Field> {
  const { items, additionalProperties, properties = {} } = schema;
  if (items) yield* fieldsOf(`${path}[]`, items);
  if (typeof additionalProperties === "object") yield* fieldsOf(`${path}.*`, additionalProperties);
  if (path.endsWith("metadata") || isPodSpec(schema)) return;
  for (const [name, field] of Object.entries(properties)) {
    if (isContainer(schema) && !SIDECAR_FIELDS.has(name)) continue;
    const inner = path === "" ? name : `${path}.${name}`;
    yield { path: inner, schema: field };
    yield* fieldsOf(inner, field);
  }
}

const writtenFields = ({ properties = {}, ...root }: Schema): Field[] => {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...written } = properties;
  return [...fieldsOf("", { ...root, properties: written })];
};

/** The part of a schema at a path of a table; undefined if there is none. */
function partAt(schema: Schema | undefined, path: string): Schema | undefined {
  const steps = path === "" ? [] : path.replaceAll("[]", ".[]").split(".");
  return steps.reduce<Schema | undefined>((part, step) => {
    if (step === "[]") return part?.items;
    const { properties = {}, additionalProperties } = part ?? {};
    if (Object.hasOwn(properties, step)) return properties[step];
    return step === "*" && typeof additionalProperties === "object" ? additionalProperties : undefined;
  }, schema);
}

const schemasOf = ({ versions }: Kind): Schema[] => Object.values(versions).map(({ schema }) => schema);

describe.each(kinds.map((kind) => [`${kind.kind}.${kind.group}`, kind] as const))("%s", (_name, kind) => {
  test("describes itself and every field that users write, in every version", () => {
    const silent = Object.entries(kind.versions).flatMap(([version, { schema }]) =>
      [{ path: "", schema }, ...writtenFields(schema)]
        .filter((field) => !field.schema.description)
        .map(({ path }) => `${version} ${path}`),
    );

    expect(silent).toEqual([]);
  });

  test("describes only fields that one of its versions has", () => {
    const gone = Object.keys(kind.descriptions ?? {}).filter((path) =>
      schemasOf(kind).every((schema) => partAt(schema, path) === undefined),
    );

    expect(gone).toEqual([]);
  });

  test("describes conditions and counts of its status", () => {
    const silent = schemasOf(kind).flatMap((schema) =>
      Object.entries(schema.properties?.["status"]?.properties ?? {})
        .filter(([name, field]) => (name === "conditions" || field.type === "integer") && !field.description)
        .map(([name]) => name),
    );

    expect(silent).toEqual([]);
  });

  test("has descriptions that are whole sentences", () => {
    const odd = Object.entries(kind.descriptions ?? {}).filter(
      ([, text]) => !/[.)]$/.test(text) || /  |\.\.|`/.test(text) || text.length > 420,
    );

    expect(odd).toEqual([]);
  });
});

test("the fields of an autoscaler's metrics and behavior, and of node selectors, are among those that are counted", () => {
  const count = (kind: string): number =>
    kinds
      .filter((each) => each.kind === kind)
      .flatMap(schemasOf)
      .reduce((sum, schema) => sum + writtenFields(schema).filter((field) => field.schema.description).length, 0);

  expect([count("FederatedHPA"), count("WorkloadSpread"), count("Workflow")]).toEqual([87, 48, 1]);
});

test("a field without a description is found, inside of lists and maps as well", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      kind: { type: "string" },
      spec: {
        type: "object",
        description: "What is wanted.",
        properties: {
          parts: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
          limits: {
            type: "object",
            additionalProperties: { type: "object", properties: { max: { type: "integer" } } },
          },
          pod: {
            type: "object",
            properties: { containers: { type: "array" }, restartPolicy: { type: "string" } },
          },
        },
      },
      status: { type: "object" },
    },
  };

  const silent = writtenFields(schema).filter((field) => !field.schema.description);

  expect(silent.map(({ path }) => path)).toEqual([
    "spec.parts",
    "spec.parts[].name",
    "spec.limits",
    "spec.limits.*.max",
    "spec.pod",
  ]);
});

test("OpenAPI documents have the descriptions of a kind with a fact table, in its own types and in those of Kubernetes", async () => {
  const server = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Node, Cluster] } },
  });

  const { body: document } = await server.request("GET", "/openapi/v3/apis/cluster.karmada.io/v1alpha1");
  const { body } = await server.request("GET", "/openapi/v2");

  const { schemas } = document["components"] as { schemas: Record<string, JsonObject> };
  const own = "com.github.karmada-io.karmada.pkg.apis.cluster.v1alpha1";
  expect(schemas[`${own}.Cluster`]).toMatchObject({
    description: expect.stringContaining("A member of the fleet") as string,
    properties: {
      spec: {
        description: expect.stringContaining("How the hub reaches") as string,
        allOf: [{ $ref: `#/components/schemas/${own}.ClusterSpec` }],
      },
    },
  });
  expect(schemas[`${own}.ResourceModelRange`]).toHaveProperty(
    "properties.name.description",
    "The resource, such as cpu.",
  );
  expect(schemas["io.k8s.api.core.v1.Taint"]).toHaveProperty(
    "properties.effect.description",
    expect.stringContaining("failover.cluster"),
  );
  // The taints of nodes mean something else, and v2 has one definition for both.
  expect((body.definitions as JsonObject)["io.k8s.api.core.v1.Taint"]).not.toHaveProperty(
    "properties.effect.description",
  );
});
