import { expect, test } from "vitest";
import type { ManifestWork } from "@flotilla/ocm";
import type { JsonObject } from "@flotilla/base";
import { dynamicKind } from "@flotilla/apimachinery";
import { inScope, manifestsOf, metaOf } from "./manifests.ts";

const work = (...manifests: JsonObject[]): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name: "web" },
  spec: { workload: { manifests } },
});
const sidecarSets = dynamicKind({
  group: "apps.kruise.io",
  version: "v1alpha1",
  kind: "SidecarSet",
  plural: "sidecarsets",
  scope: "Cluster",
});

test("server-set fields are not applied", () => {
  const [manifest] = manifestsOf(
    work({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", uid: "1", resourceVersion: "2", creationTimestamp: null, labels: { a: "b" } },
      spec: { template: { metadata: { creationTimestamp: null, name: "x" } } },
      status: { a: 1 },
    }),
  );

  expect(manifest?.object).toEqual({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", labels: { a: "b" } },
    spec: { template: { metadata: { name: "x" } } },
  });
});

test("stringData of a Secret becomes data, and conflicting values are an error", () => {
  const secret = (data: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "key" },
    stringData: { a: "x" },
    data,
  });

  expect(manifestsOf(work(secret({ b: "Yg==" })))[0]?.object).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "key" },
    data: { a: "eA==", b: "Yg==" },
  });
  expect(manifestsOf(work(secret({ a: "eQ==" })))[0]?.problem).toBe(
    'Secret.stringData["a"] conflicts with Secret.data["a"]',
  );
});

test("a spec is prepared once, and unchanged manifests are shared", () => {
  const one = work({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } });

  expect(manifestsOf(one)).toBe(manifestsOf({ ...one, status: {} }));
});

test("a cluster-scoped object is identified without a namespace", () => {
  const [manifest] = manifestsOf(
    work({
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "SidecarSet",
      metadata: { name: "logs", namespace: "default" },
    }),
  );

  expect(manifest && inScope(manifest.object, sidecarSets).metadata).toEqual({ name: "logs" });
  expect(manifest && metaOf(manifest, sidecarSets)).toEqual({
    ordinal: 0,
    group: "apps.kruise.io",
    version: "v1alpha1",
    kind: "SidecarSet",
    resource: "sidecarsets",
    name: "logs",
    namespace: "",
  });
});

test("a manifest without a kind is reported and does not affect the others", () => {
  expect(manifestsOf(work({ metadata: {} }))[0]?.problem).toMatch(/has no kind or no apiVersion/);
});
