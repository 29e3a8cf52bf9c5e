import { expect, test } from "vitest";
import type { Namespace } from "../../api/index.ts";
import { makeCluster } from "../../testing/index.ts";
import { planNamespaceWorks } from "./plan-namespace-works.ts";

const namespace = (name: string, metadata: Partial<Namespace["metadata"]> = {}): Namespace => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, ...metadata } });
const clusters = [makeCluster("paris"), makeCluster("oslo", ({ metadata }) => (metadata.deletionTimestamp = "2024-05-01T12:00:00Z"))];

test("a namespace goes to every member that stays, with its labels", () => {
  const works = planNamespaceWorks(namespace("shop", { labels: { team: "a" } }), clusters);

  expect(works).toMatchObject([{ metadata: { namespace: "karmada-es-paris" }, spec: { workload: { manifests: [{ kind: "Namespace", metadata: { name: "shop", labels: { team: "a" } } }] } } }]);
});

const stays: Record<string, Namespace> = {
  "every cluster's own default": namespace("default"),
  "every cluster's own kube-system": namespace("kube-system"),
  "the hub's own karmada-system": namespace("karmada-system"),
  "the namespace of a member's Works": namespace("karmada-es-paris"),
  "one that opted out": namespace("shop", { labels: { "namespace.karmada.io/skip-auto-propagation": "true" } }),
};
for (const [which, object] of Object.entries(stays)) {
  test(`stays on the hub, and nothing on the members is touched: ${which}`, () => {
    expect(planNamespaceWorks(object, clusters)).toBe("leave");
  });
}

test("a namespace that is gone from the hub, or on its way, goes from the members", () => {
  expect(planNamespaceWorks(undefined, clusters)).toEqual([]);
  expect(planNamespaceWorks(namespace("shop", { deletionTimestamp: "2024-05-01T12:00:00Z" }), clusters)).toEqual([]);
});
