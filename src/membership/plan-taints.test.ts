import { describe, expect, test } from "vitest";
import type { Cluster } from "../api/index.ts";
import { makeCluster } from "../testing/index.ts";
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
    "a member that nobody has looked at counts as not ready": { ready: undefined, taints: [], want: [NOT_READY] },
    "a member that is not ready gets nothing new": { ready: "False", taints: [OWN], want: [OWN, NOT_READY] },
    "a member of which nothing is known is unreachable": { ready: "Unknown", taints: [NOT_READY], want: [UNREACHABLE] },
    "a ready member loses both and keeps those of others": {
      ready: "True",
      taints: [NOT_READY, OWN, UNREACHABLE],
      want: [OWN],
    },
    "nothing changes where they are right": { ready: "False", taints: [OWN, NOT_READY], want: undefined },
    "nothing changes for a ready member without them": { ready: "True", taints: [], want: undefined },
    "one of the same key that evicts is somebody else's": {
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

describe("the taints of policies", () => {
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
    "are added when all their conditions hold": {
      cluster: clusterWith("False", [OWN]),
      rules: [away],
      want: [OWN, QUARANTINE],
    },
    "are removed when those conditions hold": {
      cluster: clusterWith("True", [QUARANTINE, OWN]),
      rules: [away],
      want: [OWN],
    },
    "stay as they are while nothing says otherwise": {
      cluster: clusterWith("False", [QUARANTINE]),
      rules: [away],
      want: undefined,
    },
    "are not for other clusters": {
      cluster: clusterWith("False"),
      rules: [{ ...away, targetClusters: "oslo" }],
      want: undefined,
    },
    "without conditions are never added": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [] }],
      want: undefined,
    },
    "about a condition that the cluster does not have are not added, not even as NotIn": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [{ conditionType: "Unheard", operator: "NotIn", statusValues: ["True"] }] }],
      want: undefined,
    },
    "with a word that nobody knows are not added": {
      cluster: clusterWith("False"),
      rules: [{ ...away, addOnConditions: [{ conditionType: "Ready", operator: "Exists", statusValues: ["False"] }] }],
      want: undefined,
    },
    "of a later policy see those of an earlier one": {
      cluster: clusterWith("False"),
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

test("taints are told in Karmada's words", () => {
  expect(describeTaints([])).toBe("cluster now does not have taints");
  expect(describeTaints([OWN, NOT_READY])).toBe(
    "cluster now has taints([{Key:team,Value:a,Effect:NoSchedule},{Key:cluster.karmada.io/not-ready,Effect:NoSchedule}])",
  );
});
