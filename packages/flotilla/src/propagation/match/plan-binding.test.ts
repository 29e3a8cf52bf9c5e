import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { copy, deepFreeze, type DeepReadonly } from "@flotilla/base";
import { bindingConflict, mergeBinding, planBinding } from "./plan-binding.ts";

const template: DeepReadonly<KubernetesObject> = deepFreeze({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", uid: "uid-1", resourceVersion: "7" },
});
const policy: DeepReadonly<PropagationPolicy> = deepFreeze({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "spread", namespace: "shop", labels: { "propagationpolicy.karmada.io/permanent-id": "id-1" } },
  spec: { resourceSelectors: [], placement: { clusterAffinity: { clusterNames: ["oslo"] } } },
});

describe("a planned binding", () => {
  test("names the template, its owner and the policy that claimed it", () => {
    expect(planBinding({ template, policy, replicas: { replicas: 3 } })).toEqual({
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: {
        name: "web-deployment",
        namespace: "shop",
        labels: { "propagationpolicy.karmada.io/permanent-id": "id-1" },
        annotations: {
          "propagationpolicy.karmada.io/namespace": "shop",
          "propagationpolicy.karmada.io/name": "spread",
        },
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            name: "web",
            uid: "uid-1",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
        finalizers: ["karmada.io/binding-controller"],
      },
      spec: {
        resource: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          namespace: "shop",
          name: "web",
          uid: "uid-1",
          resourceVersion: "7",
        },
        replicas: 3,
        placement: { clusterAffinity: { clusterNames: ["oslo"] } },
        conflictResolution: "Abort",
      },
    });
  });

  test("uses the template's namespace for quota estimates", () => {
    const { spec } = planBinding({
      template,
      policy,
      replicas: { replicas: 1, requirements: { resourceRequest: { cpu: "1" } } },
    });

    expect(spec.replicaRequirements).toEqual({ resourceRequest: { cpu: "1" }, namespace: "shop" });
  });

  test("a planned binding of a cluster-scoped template is a ClusterResourceBinding", () => {
    const role: KubernetesObject = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "shop:reader", uid: "uid-2" },
    };

    const { kind, metadata } = planBinding({ template: role, policy });

    expect({ kind, name: metadata.name, namespace: metadata.namespace, finalizers: metadata.finalizers }).toEqual({
      kind: "ClusterResourceBinding",
      name: "shop.reader-clusterrole",
      namespace: undefined,
      finalizers: ["karmada.io/cluster-resource-binding-controller"],
    });
  });

  test("has the policy's priority and the groups of the template's labels", () => {
    const grouping: DeepReadonly<PropagationPolicy> = {
      ...policy,
      spec: {
        ...policy.spec,
        placement: {
          workloadAffinity: { affinity: { groupByLabelKey: "team" }, antiAffinity: { groupByLabelKey: "tier" } },
        },
      },
    };

    const { spec } = planBinding({
      template: { ...template, metadata: { ...template.metadata, labels: { team: "blue" } } },
      policy: grouping,
      schedulePriority: 0,
    });

    expect(spec).toMatchObject({
      schedulePriority: { priority: 0 },
      workloadAffinityGroups: { affinityGroup: "team=blue" },
    });
    expect(spec.workloadAffinityGroups?.antiAffinityGroup).toBeUndefined();
  });

  test("has no replicas for a kind without replicas", () => {
    expect(planBinding({ template, policy }).spec).not.toHaveProperty("replicas");
  });
});

describe("an existing binding", () => {
  const desired = planBinding({ template, policy, replicas: { replicas: 3 } });

  function existing(change: (binding: ResourceBinding) => void = () => {}): DeepReadonly<ResourceBinding> {
    const binding: ResourceBinding = copy(desired);
    binding.metadata.labels = { ...binding.metadata.labels, "resourcebinding.karmada.io/permanent-id": "binding-1" };
    binding.spec.clusters = [{ name: "oslo", replicas: 3 }];
    change(binding);
    return deepFreeze(binding);
  }

  test("is the same object when nothing differs", () => {
    const binding = existing();

    expect(mergeBinding(binding, desired)).toBe(binding);
  });

  test("is not written when only the template's resourceVersion changed with its status", () => {
    const binding = existing((draft) => (draft.spec.resource.resourceVersion = "6"));

    expect(mergeBinding(binding, desired)).toBe(binding);
  });

  test("gets new replicas and keeps the fields of other stages", () => {
    const binding = existing((draft) => {
      draft.spec.replicas = 1;
      draft.spec.rescheduleTriggeredAt = "2024-05-01T00:00:00Z";
      draft.spec.suspension = { scheduling: true };
    });

    const merged = mergeBinding(binding, desired);

    expect(merged.spec).toEqual({
      ...desired.spec,
      clusters: [{ name: "oslo", replicas: 3 }],
      rescheduleTriggeredAt: "2024-05-01T00:00:00Z",
      suspension: { scheduling: true },
    });
    expect(merged.metadata.labels).toEqual({
      "propagationpolicy.karmada.io/permanent-id": "id-1",
      "resourcebinding.karmada.io/permanent-id": "binding-1",
    });
  });

  test("loses settings that the policy no longer has, and the claim of an earlier policy", () => {
    const binding = existing((draft) => {
      draft.spec.propagateDeps = true;
      draft.metadata.labels = { "clusterpropagationpolicy.karmada.io/permanent-id": "old" };
      draft.metadata.annotations = {
        "clusterpropagationpolicy.karmada.io/name": "old",
        "policy.karmada.io/applied-placement": "{}",
      };
    });

    const merged = mergeBinding(binding, desired);

    expect(merged.spec.propagateDeps).toBeUndefined();
    expect(merged.metadata.labels).toEqual(desired.metadata.labels);
    expect(merged.metadata.annotations).toEqual({
      ...desired.metadata.annotations,
      "policy.karmada.io/applied-placement": "{}",
    });
  });

  test("an existing binding of a deleted object with the same name is distinguished from one of another group", () => {
    const owner = (apiVersion: string, uid: string) =>
      existing(
        (draft) =>
          (draft.metadata.ownerReferences = [{ apiVersion, kind: "Deployment", name: "web", uid, controller: true }]),
      );

    expect(bindingConflict(existing(), template)).toBeUndefined();
    expect(bindingConflict(owner("apps/v1", "uid-0"), template)).toBe("earlier");
    expect(bindingConflict(owner("apps.example.com/v1", "uid-0"), template)).toBe("other");
  });
});
