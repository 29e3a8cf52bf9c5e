import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { createPlacementUses } from "./placement-use.ts";

const binding = (policy: string, kind: string, clusters: string[], affinity?: string): ResourceBinding =>
  ({
    metadata: {
      namespace: "shop",
      name: "web",
      annotations: {
        "propagationpolicy.karmada.io/namespace": "shop",
        "propagationpolicy.karmada.io/name": policy,
      },
    },
    spec: {
      resource: { apiVersion: "example.com/v1", kind, name: "web" },
      clusters: clusters.map((name) => ({ name })),
    },
    status: { schedulerObservingAffinityName: affinity },
  }) as unknown as ResourceBinding;

test("the bindings of a policy show its terms in use and the members with copies of each kind", () => {
  const uses = createPlacementUses();
  uses.see(binding("all", "Widget", ["oslo"], "first"));
  uses.see(binding("all", "Gadget", ["rome"]));
  uses.see(binding("other", "Widget", ["bonn"], "second"));

  const { affinities, hasCopies } = uses.of({ kind: "PropagationPolicy", namespace: "shop", name: "all" });

  expect([...affinities]).toEqual(["first"]);
  expect(
    ["oslo", "rome", "bonn"].filter((cluster) => hasCopies(cluster, { apiVersion: "example.com/v2", kind: "Widget" })),
  ).toEqual(["oslo"]);
  expect(hasCopies("oslo", { apiVersion: "other.example.com/v1", kind: "Widget" })).toBe(false);
  expect(uses.of({ kind: "ClusterPropagationPolicy", name: "all" }).affinities.size).toBe(0);
});
