import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { expandBareManifests } from "./manifestwork-shorthand.ts";

const bare = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" };
const whole = { ...bare, metadata: { name: "web", namespace: "shop" }, spec: { replicas: 3 } };
const config = (identifier: JsonObject = {}): JsonObject => ({
  resourceIdentifier: { group: "apps.kruise.io", resource: "clonesets", name: "web", namespace: "shop", ...identifier },
});
const workOf = (manifests: JsonObject[], ...manifestConfigs: JsonObject[]): JsonObject => ({
  spec: { workload: { manifests }, manifestConfigs },
});

function read(sent: JsonObject, stored?: JsonObject): { manifests: unknown; warnings: string[] } {
  const warnings: string[] = [];
  const { spec } = expandBareManifests(sent, { warn: (text) => warnings.push(text), stored }) as {
    spec: { workload: { manifests: unknown } };
  };
  return { manifests: spec.workload.manifests, warnings };
}

describe("a manifest with only a kind", () => {
  test("is replaced by the stored object that a config names", () => {
    const { manifests, warnings } = read(workOf([bare], config()), workOf([whole]));

    expect(manifests).toEqual([whole]);
    expect(warnings).toEqual([
      expect.stringContaining("is taken for the CloneSet shop/web of spec.manifestConfigs[0], as it is stored"),
    ]);
  });

  test("gets its name from the config when no object is stored", () => {
    expect(read(workOf([bare], config())).manifests).toEqual([
      { ...bare, metadata: { name: "web", namespace: "shop" } },
    ]);
  });

  const untouched: Record<string, JsonObject> = {
    "no config names": workOf([bare]),
    "two configs name": workOf([bare], config(), config({ name: "api" })),
    "a pattern names": workOf([bare], config({ name: "*" })),
    "a config of another kind names": workOf([bare], config({ resource: "statefulsets" })),
    "a config names, but which has other fields": workOf([{ ...bare, metadata: {} }], config()),
  };
  for (const [what, sent] of Object.entries(untouched)) {
    test(`stays unchanged when it is one that ${what}`, () => {
      expect(read(sent, workOf([whole]))).toEqual({
        manifests: (sent["spec"] as { workload: { manifests: unknown } }).workload.manifests,
        warnings: [],
      });
    });
  }
});

test("values of other types are left to the schema", () => {
  for (const sent of [
    {},
    { spec: 5 },
    { spec: { workload: [] } },
    { spec: { workload: { manifests: {} } } },
    { spec: { workload: { manifests: [null, 5, bare] }, manifestConfigs: "x" } },
  ] as JsonObject[]) {
    expect(expandBareManifests(sent, { warn: () => {} })).toEqual(sent);
  }
});
