import { expect, test } from "vitest";
import type { ManifestWork } from "@flotilla/ocm";
import type { JsonObject } from "@flotilla/base";
import { findDeliveringWorks } from "./delivering-works.ts";

const makeWork = (cluster: string, ...manifests: JsonObject[]): ManifestWork => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { namespace: cluster, name: "web" },
  spec: { workload: { manifests } },
});
const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name: "web" } };
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "system:web" } };

test("finds works by the explanation name of their object", () => {
  const works = [
    makeWork("paris", role, deployment),
    makeWork("oslo", deployment),
    makeWork("rome", { ...deployment, metadata: { namespace: "other", name: "web" } }),
  ];

  expect(findDeliveringWorks(works, "shop", "web-deployment")).toEqual({
    resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
    deliveries: [
      { work: works[0], ordinal: 1 },
      { work: works[1], ordinal: 0 },
    ],
  });
  expect(findDeliveringWorks(works, undefined, "system.web-clusterrole")).toMatchObject({
    resource: { kind: "ClusterRole", name: "system:web" },
    deliveries: [{ work: works[0], ordinal: 0 }],
  });
  expect(findDeliveringWorks(works, "shop", "cart-deployment")).toBeUndefined();
});

test("a kind of the same name in another group does not match", () => {
  const works = [makeWork("paris", { ...deployment, apiVersion: "example.com/v1" }), makeWork("oslo", deployment)];

  expect(findDeliveringWorks(works, "shop", "web-deployment")?.deliveries).toEqual([{ work: works[0], ordinal: 0 }]);
  expect(findDeliveringWorks(works, "shop", "web-deployment", "apps")?.deliveries).toEqual([
    { work: works[1], ordinal: 0 },
  ]);
});

test("a search for delivering ManifestWorks skips empty manifests", () => {
  expect(
    findDeliveringWorks([makeWork("paris", {}, { kind: "Deployment", metadata: "web" })], undefined, "web-deployment"),
  ).toBeUndefined();
});

test("lists the first hundred of many works", () => {
  const works = Array.from({ length: 150 }, (_item, index) => makeWork(`c${index}`, deployment));

  expect(findDeliveringWorks(works, "shop", "web-deployment")?.deliveries).toHaveLength(100);
});
