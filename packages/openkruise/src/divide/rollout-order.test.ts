import { defined, omitZero } from "@flotilla/base";
import { expect, test } from "vitest";
import type { Share } from "@flotilla/kubernetes";
import { rejectRolloutOrder, rolloutOrderOf, type RolloutOrder } from "./rollout-order.ts";

const shares: Share[] = ["paris", "oslo", "rome"].map((cluster) => ({ cluster, replicas: 2 }));
const annotated = (order?: string, canaries?: string) => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: {
    name: "web",
    annotations: {
      ...omitZero({ "flotilla.dev/rollout-order": order }),
      ...defined({ "flotilla.dev/canary-clusters": canaries }),
    },
  },
});

const orders: Record<string, { order?: string; canaries?: string; want: RolloutOrder }> = {
  "spreads by default": { want: "spread" },
  "spreads with the order spread": { order: "spread", want: "spread" },
  "updates the targets one after another with the order ordered": { order: "ordered", want: "ordered" },
  "marks the canaries among the targets": {
    order: "canary",
    canaries: "rome, oslo,",
    want: { canaries: [false, true, true] },
  },
  "holds while no canary is a target": { order: "canary", canaries: "madrid", want: "hold" },
};
for (const [behaviour, { order, canaries, want }] of Object.entries(orders)) {
  test(`a rollout ${behaviour}`, () => {
    expect(rolloutOrderOf(annotated(order, canaries), shares)).toEqual(want);
  });
}

test("rejects an unknown order and lists the valid ones", () => {
  expect(() => rolloutOrderOf(annotated("random"), shares)).toThrow(
    'dividing CloneSet web: annotation flotilla.dev/rollout-order is "random"; it must be spread, ordered or canary',
  );
});

test("rejects the order canary without canary clusters", () => {
  expect(() => rolloutOrderOf(annotated("canary"), shares)).toThrow(
    "flotilla.dev/canary-clusters must name the clusters that are updated first",
  );
});

test("rejects any order for a kind that is updated by ordinal", () => {
  expect(() => rejectRolloutOrder(annotated("spread"))).not.toThrow();
  expect(() => rejectRolloutOrder(annotated("ordered"))).toThrow("updated from its highest ordinal down");
});
