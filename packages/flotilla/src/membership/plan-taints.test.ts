import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { describeTaints, planConditionTaints, planPolicyTaints } from "./plan-taints.ts";
import type { TaintRule } from "./plan-taints.ts";

type Taints = NonNullable<Cluster["spec"]["taints"]>;

const NOW = "2024-05-01T12:00:00Z";
const OWN = { key: "team", value: "a", effect: "NoSchedule" } as const;
const NOT_READY = { key: "cluster.karmada.io/not-ready", effect: "NoSchedule" } as const;
const UNREACHABLE = { key: "cluster.karmada.io/unreachable", effect: "NoSchedule" } as const;

function clusterWith(ready: string | undefined, taints: Taints = []): Cluster {
  const cluster = makeCluster("paris");
  const conditions =
    ready === undefined
      ? []
      : [{ type: "Ready", status: ready as "True", reason: "x", message: "", lastTransitionTime: NOW }];
  return { ...cluster, spec: { ...cluster.spec, taints }, status: { conditions } };
}

describe("the taints that follow a condition", () => {
  const cases: Record<string, { ready: string | undefined; taints: Taints; want: Taints | undefined }> = {
    "a member without conditions is tainted as not ready": { ready: undefined, taints: [], want: [NOT_READY] },
    "a member that is not ready is tainted NoSchedule": { ready: "False", taints: [OWN], want: [OWN, NOT_READY] },
    "a member in unknown state is tainted as unreachable": {
      ready: "Unknown",
      taints: [NOT_READY],
      want: [UNREACHABLE],
    },
    "a ready member loses both taints and keeps others": {
      ready: "True",
      taints: [NOT_READY, OWN, UNREACHABLE],
      want: [OWN],
    },
    "correct taints are unchanged": { ready: "False", taints: [OWN, NOT_READY], want: undefined },
    "a ready member without the taints is unchanged": { ready: "True", taints: [], want: undefined },
    "a NoExecute taint with the same key belongs to another writer and stays": {
      ready: "True",
      taints: [{ key: NOT_READY.key, effect: "NoExecute" }],
      want: undefined,
    },
  };
  for (const [behaviour, { ready, taints, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(planConditionTaints(clusterWith(ready, taints))).toEqual(want);
    });
  }
});

describe("the taints of ClusterTaintPolicies", () => {
  const away: TaintRule<string> = {
    targetClusters: "paris",
    addOnConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] }],
    removeOnConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["False", "Unknown"] }],
    taints: [{ key: "quarantine", effect: "NoExecute" }],
  };
  const QUARANTINE = { key: "quarantine", effect: "NoExecute", timeAdded: NOW } as const;
  const plan = (cluster: Cluster, ...rules: TaintRule<string>[]): unknown =>
    planPolicyTaints(cluster, rules, (affinity) => affinity === cluster.metadata.name, NOW);

  const cases: Record<string, { cluster: Cluster; rules: TaintRule<string>[]; want: unknown }> = {
    "are added when all addOn conditions match": {
      cluster: clusterWith("False", [OWN]),
      rules: [away],
      want: [OWN, QUARANTINE],
    },
    "are not renewed where a later policy adds what an earlier one removes": {
      cluster: clusterWith("False", [{ ...QUARANTINE, timeAdded: "2024-05-01T11:00:00Z" }, OWN]),
      rules: [{ ...away, removeOnConditions: away.addOnConditions, addOnConditions: [] }, away],
      want: undefined,
    },
    "are not added and removed again where a later policy removes what an earlier one adds": {
      cluster: clusterWith("False", [OWN]),
      rules: [away, { ...away, removeOnConditions: away.addOnConditions, addOnConditions: [] }],
      want: undefined,
    },
    "do not include those that the hub itself adds and removes": {
      cluster: clusterWith("False", [NOT_READY]),
      rules: [{ ...away, removeOnConditions: away.addOnConditions, taints: [NOT_READY] }],
      want: undefined,
    },
    "are removed when all removeOn conditions match": {
      cluster: clusterWith("True", [QUARANTINE, OWN]),
      rules: [away],
      want: [OWN],
    },
    "stay unchanged when no conditions match": {
      cluster: clusterWith("False", [QUARANTINE]),
      rules: [away],
      want: undefined,
    },
    "do not apply to clusters outside the affinity": {
      cluster: clusterWith("False"),
      rules: [{ ...away, targetClusters: "oslo" }],
      want: undefined,
    },
    "without conditions are never added": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [] }],
      want: undefined,
    },
    "are not added for a condition type that the cluster lacks, not even with NotIn": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [{ conditionType: "Unheard", operator: "NotIn", statusValues: ["True"] }] }],
      want: undefined,
    },
    "are not added for an unknown operator": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [{ conditionType: "Ready", operator: "Exists", statusValues: ["False"] }] }],
      want: undefined,
    },
    "of a later policy are evaluated after those of an earlier one": {
      cluster: clusterWith("False", [QUARANTINE]),
      rules: [away, { taints: away.taints, removeOnConditions: away.addOnConditions }],
      want: [],
    },
  };
  for (const [behaviour, { cluster, rules, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(plan(cluster, ...rules)).toEqual(want);
    });
  }
});

test("describes taints in Karmada's format", () => {
  expect(describeTaints([])).toBe("cluster now does not have taints");
  expect(describeTaints([OWN, NOT_READY])).toBe(
    "cluster now has taints([{Key:team,Value:a,Effect:NoSchedule},{Key:cluster.karmada.io/not-ready,Effect:NoSchedule}])",
  );
});
