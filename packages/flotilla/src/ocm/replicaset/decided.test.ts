import { expect, test } from "vitest";
import type { OcmPlacement, PlacementDecision } from "@flotilla/ocm";
import { decidedBy, type Verdict } from "./decided.ts";

const API_VERSION = "cluster.open-cluster-management.io/v1beta1";

interface PlacementFields {
  selected?: number;
  observedGeneration?: number;
  metadata?: Partial<OcmPlacement["metadata"]>;
}
const placementOf = ({ selected, observedGeneration, metadata = {} }: PlacementFields): OcmPlacement => ({
  apiVersion: API_VERSION,
  kind: "Placement",
  metadata: { name: "all", namespace: "shop", uid: "now", generation: 2, ...metadata },
  spec: {},
  status:
    selected !== undefined
      ? {
          numberOfSelectedClusters: selected,
          decisionGroups: [],
          conditions: [
            {
              type: "PlacementSatisfied",
              status: "True",
              reason: "AllDecisionsScheduled",
              message: "",
              lastTransitionTime: "2026-01-01T00:00:00Z",
              observedGeneration,
            },
          ],
        }
      : undefined,
});
/** A decision of the Placement with this uid, or one written by a user. */
function decision(owner: string | undefined, clusters: string[], index = 0): PlacementDecision {
  const labels = {
    "cluster.open-cluster-management.io/placement": "all",
    "cluster.open-cluster-management.io/decision-group-index": String(index),
    "cluster.open-cluster-management.io/decision-group-name": "",
  };
  return {
    apiVersion: API_VERSION,
    kind: "PlacementDecision",
    metadata: {
      name: `all-decision-${index + 1}`,
      namespace: "shop",
      labels,
      ownerReferences:
        owner !== undefined ? [{ apiVersion: API_VERSION, kind: "Placement", name: "all", uid: owner }] : undefined,
    },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: "" })) },
  };
}
const summaryOf = (verdict: Verdict): unknown =>
  typeof verdict === "string"
    ? verdict
    : { clusters: verdict.groups.flatMap(({ clusters }) => clusters), isFinal: verdict.isFinal };

const off = {
  metadata: { annotations: { "cluster.open-cluster-management.io/experimental-scheduling-disable": "true" } },
};
const cases: Record<string, { placement?: PlacementFields; decisions: PlacementDecision[]; want: unknown }> = {
  "has decided when its decisions add up to numberOfSelectedClusters": {
    placement: { selected: 3 },
    decisions: [decision("now", ["c1", "c2"]), decision("now", ["c3"], 1)],
    want: { clusters: ["c1", "c2", "c3"], isFinal: true },
  },
  "has decided on no clusters when numberOfSelectedClusters is 0": {
    placement: { selected: 0 },
    decisions: [decision("now", [])],
    want: { clusters: [], isFinal: true },
  },
  "has decided when its status is for the current generation": {
    placement: { selected: 1, observedGeneration: 2 },
    decisions: [decision("now", ["c1"])],
    want: { clusters: ["c1"], isFinal: true },
  },
  "whose spec changed since its status was written has not decided": {
    placement: { selected: 1, observedGeneration: 1 },
    decisions: [decision("now", ["c1"])],
    want: "deciding",
  },
  "that is new has not decided": { placement: {}, decisions: [], want: "deciding" },
  "has not decided while some of its decisions are missing": {
    placement: { selected: 3 },
    decisions: [decision("now", ["c1", "c2"])],
    want: "deciding",
  },
  "whose decision was emptied has not decided": {
    placement: { selected: 1 },
    decisions: [decision("now", [])],
    want: "deciding",
  },
  "counts a cluster in two decisions once": {
    placement: { selected: 2 },
    decisions: [decision("now", ["c1", "c2"]), decision("now", ["c2"], 1)],
    want: { clusters: ["c1", "c2"], isFinal: true },
  },
  "ignores decisions of an earlier Placement with the same name": {
    placement: { selected: 1 },
    decisions: [decision("then", ["c1"]), decision("now", ["c2"])],
    want: { clusters: ["c2"], isFinal: true },
  },
  "that is new does not take over the decisions of an earlier Placement": {
    placement: {},
    decisions: [decision("then", ["c1"])],
    want: "deciding",
  },
  "that is being deleted is still deciding": {
    placement: { selected: 0, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
    decisions: [],
    want: "deciding",
  },
  "with only user-written decisions is not final until a controller writes its status": {
    placement: {},
    decisions: [decision(undefined, ["c1"])],
    want: { clusters: ["c1"], isFinal: false },
  },
  "includes user-written decisions besides its own": {
    placement: { selected: 1 },
    decisions: [decision("now", ["c1"]), decision(undefined, ["c2"], 1)],
    want: { clusters: ["c1", "c2"], isFinal: true },
  },
  "with scheduling disabled has decided by its decisions alone": {
    placement: { selected: 9, ...off },
    decisions: [decision(undefined, ["c1"])],
    want: { clusters: ["c1"], isFinal: true },
  },
  "with scheduling disabled and no decisions has not decided": {
    placement: { selected: 9, ...off },
    decisions: [],
    want: "deciding",
  },
};
for (const [behaviour, { placement, decisions, want }] of Object.entries(cases)) {
  test(`a Placement ${behaviour}`, () => {
    expect(summaryOf(decidedBy(placement && placementOf(placement), decisions))).toEqual(want);
  });
}

test("a missing Placement is absent, even if decisions of it remain", () => {
  expect(decidedBy(undefined, [decision("then", ["c1"])])).toBe("absent");
});
