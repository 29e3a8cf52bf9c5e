import { expect, test } from "vitest";
import type { Namespace } from "@flotilla/kubernetes";
import type { Work } from "@flotilla/karmada";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { planNamespaceWorks } from "./plan-namespace-works.ts";

const namespace = (name: string, metadata: Partial<Namespace["metadata"]> = {}): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, ...metadata },
});
function plan(...[object, members]: [Namespace | undefined, typeof clusters]): Work[] | "leave" {
  const planned = planNamespaceWorks(object, members, (copy) => ({ object: copy }));
  return planned === "leave" ? planned : planned.works;
}
const clusters = [
  makeCluster("paris"),
  makeCluster("oslo", ({ metadata }) => (metadata.deletionTimestamp = "2024-05-01T12:00:00Z")),
];

test("a namespace is propagated to every member that is not leaving, with its labels", () => {
  const works = plan(namespace("shop", { labels: { team: "a" } }), clusters);

  expect(works).toMatchObject([
    {
      metadata: { namespace: "karmada-es-paris" },
      spec: { workload: { manifests: [{ kind: "Namespace", metadata: { name: "shop", labels: { team: "a" } } }] } },
    },
  ]);
});

const stays: Record<string, Namespace> = {
  "the default namespace": namespace("default"),
  "kube-system": namespace("kube-system"),
  "karmada-system": namespace("karmada-system"),
  "an execution namespace": namespace("karmada-es-paris"),
  "a namespace that opted out": namespace("shop", { labels: { "namespace.karmada.io/skip-auto-propagation": "true" } }),
  "a namespace that opted out in capitals": namespace("shop", {
    labels: { "namespace.karmada.io/skip-auto-propagation": "True" },
  }),
};
for (const [which, object] of Object.entries(stays)) {
  test(`is not propagated, and members stay unchanged: ${which}`, () => {
    expect(plan(object, clusters)).toBe("leave");
  });
}

test("a namespace is deleted from members only after its deletion on the hub", () => {
  expect(plan(namespace("shop", { deletionTimestamp: "2024-05-01T12:00:00Z" }), clusters)).toBe("leave");
  expect(plan(undefined, clusters)).toEqual([]);
});

test("cluster override policies change a member's copy, and the Work records them", () => {
  const planned = planNamespaceWorks(namespace("shop"), clusters, (copy) => ({
    object: { ...copy, metadata: { ...copy.metadata, labels: { tier: "gold" } } },
    appliedClusterOverrides: "[]",
  }));

  expect(planned).toMatchObject({
    works: [
      {
        metadata: { annotations: { "policy.karmada.io/applied-cluster-overrides": "[]" } },
        spec: { workload: { manifests: [{ metadata: { labels: { tier: "gold" } } }] } },
      },
    ],
  });
});

test("a member whose override fails keeps its copy, and the others get theirs", () => {
  const failing = planNamespaceWorks(
    namespace("shop"),
    [makeCluster("paris"), makeCluster("rome")],
    (object, cluster) => {
      if (cluster === "paris") throw new Error("no such path");
      return { object };
    },
  );

  expect(failing).toMatchObject({
    works: [{ metadata: { namespace: "karmada-es-rome" } }],
    failures: [{ cluster: "paris" }],
  });
});
