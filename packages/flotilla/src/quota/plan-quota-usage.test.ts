import type { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { readAmounts, writeAmounts } from "@flotilla/kubernetes";
import { describe, expect, test } from "vitest";
import { usageOfBinding } from "./binding-usage.ts";
import { planQuotaUsage } from "./plan-quota-usage.ts";

type Requests = Record<string, string | number>;

/** A binding whose replicas each request these amounts, on members with so many replicas. */
const binding = (resourceRequest: Requests, replicas: (number | undefined)[]): ResourceBinding => ({
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: { name: "web-deployment", namespace: "shop" },
  spec: {
    resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" },
    replicaRequirements: { resourceRequest },
    clusters: replicas.map((count, index) => ({ name: `member${index}`, replicas: count })),
  },
});
const quota = (overall: Requests, overallUsed?: Requests): FederatedResourceQuota => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "FederatedResourceQuota",
  metadata: { name: "shop", namespace: "shop" },
  spec: { overall },
  status: { overallUsed },
});

describe("the usage of a quota", () => {
  const cases: Record<
    string,
    {
      overall?: Requests;
      used?: Requests;
      bindings: ResourceBinding[];
      givenBack?: Requests;
      isQuiet?: boolean;
      want: Record<string, string>;
      isAbove?: boolean;
    }
  > = {
    "is zero without bindings": { bindings: [], want: { cpu: "0" } },
    "is the sum over bindings and members": {
      bindings: [binding({ cpu: "500m" }, [2, 1]), binding({ cpu: 1 }, [3])],
      want: { cpu: "4500m" },
    },
    "leaves out resources that the quota does not limit": {
      bindings: [binding({ cpu: "1", memory: "1Gi" }, [1])],
      want: { cpu: "1" },
    },
    "of a workload with zero replicas is zero": { bindings: [binding({ cpu: "1" }, [0, 0])], want: { cpu: "0" } },
    "of a target without replicas is zero": { bindings: [binding({ cpu: "1" }, [undefined])], want: { cpu: "0" } },
    "is exact for huge numbers": {
      overall: { memory: "1Ei" },
      bindings: [binding({ memory: "9007199254740993" }, [3])],
      want: { memory: "27021597764222979" },
    },
    "is adopted at once where bindings use more than was reserved": {
      used: { cpu: "1" },
      bindings: [binding({ cpu: "1" }, [3])],
      want: { cpu: "3" },
    },
    "keeps a reservation whose binding is not stored yet": {
      used: { cpu: "3" },
      bindings: [binding({ cpu: "1" }, [1])],
      want: { cpu: "3" },
      isAbove: true,
    },
    "subtracts at once what bindings gave back": {
      used: { cpu: "3" },
      bindings: [binding({ cpu: "1" }, [1])],
      givenBack: { cpu: "2", memory: "1Gi" },
      want: { cpu: "1" },
    },
    "does not fall below the bindings when more was given back than reserved": {
      used: { cpu: "3" },
      bindings: [binding({ cpu: "1" }, [2])],
      givenBack: { cpu: "100" },
      want: { cpu: "2" },
    },
    "falls to the bindings when nothing was reserved for a while": {
      used: { cpu: "3" },
      bindings: [binding({ cpu: "1" }, [1])],
      isQuiet: true,
      want: { cpu: "1" },
    },
    "starts to count a resource that the quota begins to limit": {
      overall: { cpu: "10", memory: "10Gi" },
      used: { cpu: "1" },
      bindings: [binding({ cpu: "1", memory: "1Gi" }, [1])],
      want: { cpu: "1", memory: "1Gi" },
    },
    "drops a resource that the quota no longer limits": {
      used: { cpu: "1", memory: "1Gi" },
      bindings: [binding({ cpu: "1" }, [1])],
      want: { cpu: "1" },
    },
  };
  for (const [behaviour, given] of Object.entries(cases))
    test(behaviour, () => {
      const { overall = { cpu: "10" }, used, bindings, givenBack, isQuiet = false, want, isAbove = false } = given;

      const plan = planQuotaUsage(quota(overall, used), bindings, readAmounts(givenBack), isQuiet);

      expect({ used: writeAmounts(plan.used), isAbove: plan.isAbove }).toEqual({ used: want, isAbove });
    });
});

describe("the usage of a binding", () => {
  const components: ResourceBinding["spec"]["components"] = [
    { name: "driver", replicas: 1, replicaRequirements: { resourceRequest: { cpu: "2" } } },
    { name: "worker", replicas: 3, replicaRequirements: { resourceRequest: { cpu: "500m", memory: "1Gi" } } },
    { name: "sidecar", replicas: 1 },
  ];
  const cases: Record<string, { spec: ResourceBinding["spec"]; want: Record<string, string> }> = {
    "counts all components on each of its members": {
      spec: { ...binding({}, [undefined, undefined]).spec, components },
      want: { cpu: "7", memory: "6Gi" },
    },
    "with components is nothing before members are chosen": { spec: { ...binding({}, []).spec, components }, want: {} },
    "leaves out requests of zero": { spec: binding({ cpu: "0", memory: "1Gi" }, [2]).spec, want: { memory: "2Gi" } },
    "is nothing without requests": {
      spec: { ...binding({}, [2]).spec, replicaRequirements: undefined },
      want: {},
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(writeAmounts(usageOfBinding({ spec }))).toEqual(want);
    });
});
