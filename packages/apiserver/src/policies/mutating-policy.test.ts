import { describe, expect, test } from "vitest";
import { Deployment } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { createResource } from "../resources/resources.ts";
import { compileMutatingPolicy } from "./mutating-policy.ts";

const TYPE = { schema: createResource(Deployment).storage.schema, builtIn: true };
const KIND = { group: "apps", version: "v1", kind: "Deployment" };
const RESOURCE = { group: "apps", version: "v1", resource: "deployments" };

const makeDeployment = (): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", labels: { app: "d" } },
  spec: {
    replicas: 1,
    template: { spec: { containers: [{ name: "c", image: "i" }], tolerations: [{ key: "a" }] } },
  },
});

function mutate(patchType: "ApplyConfiguration" | "JSONPatch", expression: string): unknown {
  const { mutations } = compileMutatingPolicy({
    mutations: [
      patchType === "JSONPatch"
        ? { patchType, jsonPatch: { expression } }
        : { patchType, applyConfiguration: { expression } },
    ],
  });
  const object = makeDeployment();
  const request = {
    kind: KIND,
    resource: RESOURCE,
    requestKind: KIND,
    requestResource: RESOURCE,
    name: "d",
    operation: "CREATE",
    userInfo: {},
    dryRun: false,
  };
  const result = mutations[0]?.({ request, object }, object, TYPE);
  return result?.problem ?? result?.object;
}

describe("an apply configuration", () => {
  test("is merged into the object as server-side apply merges: maps by key, lists by their keys", () => {
    const object = mutate(
      "ApplyConfiguration",
      `Object{
        metadata: Object.metadata{labels: {"tier": "web"}},
        spec: Object.spec{
          replicas: object.spec.replicas + 3,
          template: Object.spec.template{spec: Object.spec.template.spec{containers: [
            Object.spec.template.spec.containers{name: "c", imagePullPolicy: "Never"},
            Object.spec.template.spec.containers{name: "side", image: "s"}
          ]}}}}`,
    );

    expect(object).toMatchObject({
      metadata: { name: "d", labels: { app: "d", tier: "web" } },
      spec: {
        replicas: 4,
        template: {
          spec: {
            containers: [
              { name: "c", image: "i", imagePullPolicy: "Never" },
              { name: "side", image: "s" },
            ],
          },
        },
      },
    });
  });

  const rejected: Record<string, [expression: string, problem: string]> = {
    "a list that is replaced as a whole": [
      "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: []}}}}",
      "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.template.spec.tolerations",
    ],
    "a field that the kind does not have": [
      "Object{spec: Object.spec{nope: 1}}",
      "error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema",
    ],
    "an object whose name is not its path": [
      "Object{spec: Object.metadata{name: 'x'}}",
      'type mismatch: unexpected type name "Object.metadata", expected "Object.spec", which matches field name path from root Object type',
    ],
    "an expression that fails": [
      "Object{spec: Object.spec{replicas: object.spec.missing}}",
      "expression 'Object{spec: Object.spec{replicas: object.spec.missing}}' resulted in error: no such key: missing",
    ],
  };
  for (const [what, [expression, problem]] of Object.entries(rejected))
    test(`is rejected with ${what}`, () => {
      expect(mutate("ApplyConfiguration", expression)).toBe(problem);
    });
});

describe("a JSON patch", () => {
  test("is applied in order, with objects and escaped keys as values", () => {
    const object = mutate(
      "JSONPatch",
      `[
        JSONPatch{op: "test", path: "/spec/replicas", value: 1},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/a~b"), value: "yes"},
        JSONPatch{op: "add", path: "/spec/strategy", value: Object.spec.strategy{type: "Recreate"}},
        JSONPatch{op: "remove", path: "/spec/replicas"}
      ]`,
    );

    expect(object).toMatchObject({
      metadata: { labels: { app: "d", "example.com/a~b": "yes" } },
      spec: { strategy: { type: "Recreate" } },
    });
    expect((object as { spec: JsonObject }).spec).not.toHaveProperty("replicas");
  });

  test("whose test fails leaves the object as it is", () => {
    const object = mutate(
      "JSONPatch",
      `[JSONPatch{op: "remove", path: "/metadata/labels"}, JSONPatch{op: "test", path: "/spec/replicas", value: 2}]`,
    );

    expect(object).toEqual(makeDeployment());
  });

  test("a JSON patch that cannot be applied is a problem", () => {
    expect(mutate("JSONPatch", `[JSONPatch{op: "remove", path: "/spec/missing"}]`)).toMatch(/^JSON Patch: /);
  });
});
