import { describe, expect, test } from "vitest";
import { completedBy, problemsOf, review, UID, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { ClusterPropagationPolicy } from "../clusterpropagationpolicy/clusterpropagationpolicy-kind.ts";
import { clusterPropagationPolicyRules as clusterPolicyAdmissions } from "../clusterpropagationpolicy/clusterpropagationpolicy-rules.ts";
import type { PropagationPolicy } from "../propagationpolicy/propagationpolicy-kind.ts";
import { propagationPolicyRules as admissions } from "../propagationpolicy/propagationpolicy-rules.ts";

const ID = "propagationpolicy.karmada.io/permanent-id";
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
const inShop = { ...deployments, namespace: "shop" };

function policy(spec: object, metadata: object = {}): PropagationPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "p", namespace: "shop", ...metadata },
    spec: { resourceSelectors: [inShop], ...spec },
  };
}
function clusterPolicy(spec: object): ClusterPropagationPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "p" },
    spec: { resourceSelectors: [deployments], ...spec },
  };
}
/** The stored form: defaulted, also by the schema. */
const stored = (labels: object = { [ID]: "mine" }): PropagationPolicy =>
  policy({ schedulerName: "default-scheduler", placement: {} }, { labels });

describe("defaults a policy", () => {
  test("defaults a policy with its own permanent id, ignoring the one it was sent with", () => {
    const { metadata } = completedBy(admissions, policy({}, { labels: { [ID]: "another-id", tier: "a" } }));

    expect(metadata.labels).toEqual({ [ID]: UID, tier: "a" });
  });

  const cases: Record<string, { spec: object; want: object }> = {
    "with its namespace in selectors without one": {
      spec: { resourceSelectors: [deployments] },
      want: { resourceSelectors: [inShop], placement: {} },
    },
    "with a replica division preference": {
      spec: { placement: { replicaScheduling: {} } },
      want: {
        resourceSelectors: [inShop],
        placement: { replicaScheduling: { replicaDivisionPreference: "Weighted" } },
      },
    },
    "without a division preference when replicas are duplicated": {
      spec: { placement: { replicaScheduling: { replicaSchedulingType: "Duplicated" } } },
      want: { resourceSelectors: [inShop], placement: { replicaScheduling: { replicaSchedulingType: "Duplicated" } } },
    },
    "with spread fields and at least one group for spread constraints": {
      spec: { placement: { spreadConstraints: [{ maxGroups: 2 }, { spreadByLabel: "rack", minGroups: 2 }] } },
      want: {
        resourceSelectors: [inShop],
        placement: {
          spreadConstraints: [
            { maxGroups: 2, spreadByField: "cluster", minGroups: 1 },
            { spreadByLabel: "rack", minGroups: 2 },
          ],
        },
      },
    },
    "with a grace period when applications fail over gracefully": {
      spec: { propagateDeps: true, failover: { application: {} } },
      want: {
        resourceSelectors: [inShop],
        propagateDeps: true,
        placement: {},
        failover: { application: { decisionConditions: {}, gracePeriodSeconds: 600 } },
      },
    },
    "with propagateDeps when it selects ServiceImports": {
      spec: { resourceSelectors: [{ apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ServiceImport" }] },
      want: {
        resourceSelectors: [{ apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ServiceImport", namespace: "shop" }],
        propagateDeps: true,
        placement: {},
      },
    },
    "without empty fields": {
      spec: {
        propagateDeps: false,
        dependentOverrides: [],
        suspension: null,
        placement: { clusterAffinities: [], clusterAffinity: { exclude: [] } },
      },
      want: { resourceSelectors: [inShop], placement: { clusterAffinity: {} } },
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(completedBy(admissions, policy(spec)).spec).toEqual(want);
    });
  }

  test("defaults a policy without namespaces in a ClusterPropagationPolicy", () => {
    expect(completedBy(clusterPolicyAdmissions, clusterPolicy({})).spec).toEqual({
      resourceSelectors: [deployments],
      placement: {},
    });
  });
});

test("a policy copied from Karmada loses Karmada's finalizer, which no controller here removes", () => {
  const { metadata } = completedBy(
    admissions,
    policy({}, { finalizers: ["example.com/mine", "karmada.io/propagation-policy-controller"] }),
  );

  expect(metadata.finalizers).toEqual(["example.com/mine"]);
});

describe("the permanent id of a policy", () => {
  test("is kept when an update omits it", () => {
    const updated = completedBy(admissions, stored({}), stored());

    expect(updated.metadata.labels).toEqual({ [ID]: "mine" });
    expect(problemsOf(admissions, stored({}), stored())).toEqual([]);
  });

  test("cannot be changed", () => {
    expect(() => problemsOf(admissions, stored({ [ID]: "yours" }), stored())).toThrow(
      `admission webhook "propagationpolicy.karmada.io" denied the request: label ${ID} is immutable, it can only be set by the system during creation`,
    );
  });
});

test("the scheduler of a policy is immutable, and a change is rejected with 403", () => {
  const change = (): unknown =>
    problemsOf(admissions, policy({ schedulerName: "mine" }, { labels: { [ID]: "mine" } }), stored());

  expect(change).toThrow("the schedulerName should not be updated");
  expect(change).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 403, reason: "Forbidden" }) as unknown }),
  );
});

test("a status update does not validate the spec", () => {
  const { problems, object } = review(
    admissions,
    policy({ resourceSelectors: [{ ...deployments, namespace: "other" }] }),
    { old: stored(), subresource: "status" },
  );

  expect(problems).toEqual([]);
  expect(object.spec.resourceSelectors).toEqual([{ ...deployments, namespace: "other" }]);
});

describe("rejects a policy", () => {
  const affinity = { clusterNames: ["m1"] };
  const cases: Record<string, { spec: object; want: string[] }> = {
    "that selects in another namespace": {
      spec: { resourceSelectors: [{ ...deployments, namespace: "other" }] },
      want: [
        'spec.resourceSelectors[0].namespace: Invalid value: "other": namespace of resource selector must be the same as the namespace of the policy',
      ],
    },
    "with preemption and a selector without names": {
      spec: { preemption: "Always" },
      want: [
        'spec.resourceSelectors[0].name: Invalid value: "": name cannot be empty if preemption is Always, the ' +
          "empty name may cause unexpected resources preemption",
      ],
    },
    "that suspends dispatching both on all clusters and on some": {
      spec: { suspension: { dispatchingOnClusters: { clusterNames: ["m1"] }, dispatching: true } },
      want: [
        "spec.suspension.suspension: Invalid value: " +
          '{"dispatchingOnClusters":{"clusterNames":["m1"]},"dispatching":true}: suspension dispatching cannot ' +
          "co-exist with dispatchingOnClusters.clusterNames",
      ],
    },
    "with both clusterAffinity and clusterAffinities": {
      spec: { placement: { clusterAffinities: [{ affinityName: "a" }], clusterAffinity: affinity } },
      want: [
        "spec.placement: Invalid value: " +
          '{"clusterAffinities":[{"affinityName":"a"}],"clusterAffinity":{"clusterNames":["m1"]}}: ' +
          "clusterAffinities cannot co-exist with clusterAffinity",
      ],
    },
    "with duplicate affinity names": {
      spec: { placement: { clusterAffinities: [{ affinityName: "a" }, { affinityName: "a" }] } },
      want: [
        'spec.placement.clusterAffinities: Invalid value: [{"affinityName":"a"},{"affinityName":"a"}]: each affinity term in a policy must have a unique name',
      ],
    },
    "with overflow affinities and a division that ignores capacity": {
      spec: {
        placement: {
          clusterAffinities: [{ affinityName: "a", ...affinity, overflowAffinities: [{ affinityName: "b" }] }],
        },
      },
      want: [
        'spec.placement.clusterAffinities[0].overflowAffinities: Invalid value: [{"affinityName":"b"}]: ' +
          "overflowAffinities can only be used together with dynamic weight or aggregated scheduling",
      ],
    },
    "with an unknown cluster field in a field selector": {
      spec: {
        placement: {
          clusterAffinity: {
            fieldSelector: { matchExpressions: [{ key: "planet", operator: "In", values: ["earth"] }] },
          },
        },
      },
      want: [
        "spec.placement.clusterAffinity.fieldSelector: Invalid value: " +
          '{"matchExpressions":[{"key":"planet","operator":"In","values":["earth"]}]}: unsupported key "planet", ' +
          "must be provider, region, or zone",
      ],
    },
    "with a region spread constraint but no cluster spread constraint": {
      spec: { placement: { spreadConstraints: [{ spreadByField: "region" }] } },
      want: [
        'spec.placement.spreadConstraints: Invalid value: [{"spreadByField":"region","minGroups":1}]: the ' +
          "cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is " +
          "enabled",
      ],
    },
    "with a numeric toleration operator": {
      spec: { placement: { clusterTolerations: [{ key: "a", operator: "Gt", value: "1" }] } },
      want: [
        'spec.placement.clusterTolerations[0].operator: Unsupported value: "Gt": supported values: "", "Exists", "Equal"',
      ],
    },
    "with workload affinity and anti-affinity on one label": {
      spec: {
        placement: {
          workloadAffinity: { affinity: { groupByLabelKey: "app" }, antiAffinity: { groupByLabelKey: "app" } },
        },
      },
      want: [
        "spec.placement.workloadAffinity: Invalid value: " +
          '{"affinity":{"groupByLabelKey":"app"},"antiAffinity":{"groupByLabelKey":"app"}}: affinity and ' +
          "antiAffinity must not use the same groupByLabelKey",
      ],
    },
    "with application failover and no propagateDeps": {
      spec: {
        failover: {
          application: { decisionConditions: { tolerationSeconds: -1 }, purgeMode: "Directly", gracePeriodSeconds: 0 },
        },
      },
      want: [
        "spec.propagateDeps: Invalid value: false: application failover is set, propagateDeps must be true",
        "spec.failover.application.decisionConditions.tolerationSeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.failover.application.gracePeriodSeconds: Invalid value: 0: only takes effect when purgeMode is gracefully",
        "spec.failover.application.gracePeriodSeconds: Invalid value: 0: must be greater than 0",
      ],
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problemsOf(admissions, policy(spec))).toEqual(want);
    });
  }

  test("rejects a policy with a value of the wrong type, with the decoding error of Karmada's webhook", () => {
    expect(() => completedBy(admissions, policy({ priority: "high" }))).toThrow(
      'admission webhook "propagationpolicy.karmada.io" denied the request: json: cannot unmarshal string into ' +
        "Go struct field PropagationSpec.spec.priority of type int32",
    );
  });
});

describe("warns of a policy", () => {
  const cases: Record<string, { spec: object; want: string[] }> = {
    "that selects the cluster-scoped SidecarSet": {
      spec: { resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "SidecarSet", name: "logs" }] },
      want: [
        "spec.resourceSelectors[0]: SidecarSet is in no namespace but is still selected; the canonical form is a ClusterPropagationPolicy",
      ],
    },
    "that selects a kind only a ClusterPropagationPolicy can select": {
      spec: { resourceSelectors: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" }] },
      want: [
        "spec.resourceSelectors[0]: ClusterRole is in no namespace, so nothing is selected; the canonical form is a ClusterPropagationPolicy",
      ],
    },
    "with a deprecated purge mode": {
      spec: { propagateDeps: true, failover: { application: { decisionConditions: {}, purgeMode: "Immediately" } } },
      want: ["spec.failover.application.purgeMode: Immediately is an old name; the canonical form is Directly"],
    },
    "whose label selector matches no cluster": {
      spec: {
        placement: { clusterAffinity: { labelSelector: { matchExpressions: [{ key: "zone", operator: "Is" }] } } },
      },
      want: [
        'spec.placement.clusterAffinity.labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator; no cluster matches',
      ],
    },
    "whose label selector is ignored": {
      spec: { resourceSelectors: [{ ...deployments, name: "web", labelSelector: { matchLabels: { app: "web" } } }] },
      want: ["spec.resourceSelectors[0].labelSelector: ignored because the selector has a name"],
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(warningsOf(admissions, policy(spec))).toEqual(want);
    });
  }

  test("but not of a ClusterPropagationPolicy that selects the same", () => {
    expect(
      warningsOf(
        clusterPolicyAdmissions,
        clusterPolicy({ resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "SidecarSet" }] }),
      ),
    ).toEqual([]);
  });
});
