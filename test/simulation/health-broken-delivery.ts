/** Workloads that do not reach their members as they should: policies, overrides, rules, obstacles on the member. */
import type { JsonObject } from "@flotilla/base";
import type { Broken, Manifest } from "./health-fleet.ts";
import {
  cloneSet,
  cronJob,
  custom,
  definition,
  denies,
  deployment,
  freeze,
  object,
  override,
  policy,
} from "./health-manifests.ts";

export const brokenDelivery: Record<string, Broken> = {
  "a policy that names a member that left": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["gone"] })],
    cause: /names gone, which is not a member/,
  },
  "a policy whose labels match no cluster": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        placement: { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } },
      }),
    ],
    cause: /0\/6 clusters are available: 6 cluster\(s\) did not match the placement cluster affinity/,
  },
  "a member with a taint that the policy does not tolerate": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["reserved"] })],
    cause: /1 cluster\(s\) had untolerated taint \{gpu:NoSchedule\}/,
  },
  "an override with a wrong path": {
    hub: (ns) => [override(ns, "/spec/nowhere/deep", 1), deployment(ns), policy(ns, "Deployment")],
    cause: /cannot replace \/spec\/nowhere\/deep: the object has no such path/,
  },
  "an override that fails for one of two members": {
    hub: (ns) => [
      override(ns, "/spec/nowhere/deep", 1, { clusters: ["m2"] }),
      deployment(ns),
      policy(ns, "Deployment", { clusters: ["m1", "m2"] }),
    ],
    cause: /m2: .*cannot replace \/spec\/nowhere\/deep: the object has no such path/,
  },
  "an override that the member rejects": {
    hub: (ns) => [override(ns, "/spec/replicas", -1), deployment(ns), policy(ns, "Deployment")],
    cause: /spec\.replicas: Invalid value: -1/,
  },
  "a health rule that throws": {
    hub: (ns) => custom("Alpha", ns),
    why: "alpha/web",
    cause: /InterpretHealth .*with key 'nowhere'/,
  },
  "a health rule that returns the wrong type": {
    hub: (ns) => custom("Beta", ns),
    why: "beta/web",
    cause: /InterpretHealth .*result type 3 is not bool/,
  },
  "a replica rule that throws": {
    hub: (ns) => custom("Gamma", ns),
    why: "gamma/web",
    cause: /InterpretReplica .*with key 'count'/,
  },
  "an aggregation rule that throws": {
    hub: (ns) => custom("Delta", ns),
    why: "delta/web",
    cause: /AggregateStatus .*with key 'sum'/,
  },
  "a status rule that throws": {
    hub: (ns) => custom("Epsilon", ns),
    why: "epsilon/web",
    cause: /InterpretStatus .*with key 'part'/,
  },
  "a dependency rule that throws": {
    hub: (ns) => [
      object("example.com/v1", "Zeta", ns, "web", { spec: { replicas: 2 } }),
      policy(ns, "Zeta", { apiVersion: "example.com/v1", spec: { propagateDeps: true } }),
    ],
    why: "zeta/web",
    cause: /InterpretDependency .*with key 'name'/,
  },
  "a kind that the member does not serve": {
    hub: (ns) => custom("Orphan", ns),
    why: "orphan/web",
    cause: /1 cluster\(s\) did not have the API resource|m1.* do not serve it/,
  },
  "a policy that names a member without the kind": {
    hub: (ns) => [
      object("example.com/v1", "Lambda", ns, "web", { spec: { replicas: 2 } }),
      policy(ns, "Lambda", { apiVersion: "example.com/v1", clusters: ["m1", "m2"] }),
    ],
    why: "lambda/web",
    cause: /m2 does not serve Lambda in example\.com\/v1, so it gets no copies/,
  },
  "a kind whose CRD was deleted on the member": {
    hub: (ns) => custom("Vanished", ns),
    next: ({ remove }) => remove("m1", definition("Vanished")),
    why: "vanished/web",
    cause: /m1 does not serve (Vanished in example.com\/v1|it)/,
  },
  "a namespace that is being deleted on the member": {
    member: (ns) => [
      object("v1", "Namespace", "", ns),
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "held", namespace: ns, finalizers: ["example.com/hold"] },
      },
    ],
    hub: () => [],
    next: async ({ create, remove, fleet }, ns) => {
      await remove("m1", object("v1", "Namespace", "", ns));
      await fleet.run(2_000);
      await create("hub", deployment(ns), policy(ns, "Deployment"));
    },
    cause: /unable to create new content in namespace b\d+ because it is being terminated/,
  },
  "an object that already exists on the member": {
    member: (ns) => [object("v1", "Namespace", "", ns), deployment(ns, { image: "other:1" })],
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    cause: /already exists in the cluster m1/,
  },
  "dispatching that is suspended": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { spec: { suspension: { dispatching: true } } })],
    cause: /dispatching is suspended/,
  },
  "dispatching that is suspended for a member": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        spec: { suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } } },
      }),
    ],
    cause: /dispatching to m2 is suspended/,
  },
  "a policy that waits for its PriorityClass": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        spec: { schedulePriority: { priorityClassSource: "KubePriorityClass", priorityClassName: "absent" } },
      }),
    ],
    cause: /waiting for PriorityClass absent/,
  },
  "a workload without a policy": {
    hub: (ns) => [deployment(ns)],
    cause: /no policy selects it/,
    // Objects without a policy are usual.
    only: ["why"],
  },
  "a spread constraint that cannot be satisfied": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 3, maxGroups: 3 }] },
      }),
    ],
    cause: /the number of feasible clusters is less than spreadConstraint.MinGroups \(3 required, 2 found: m1, m2\)/,
  },
  "a dependency that does not exist": {
    hub: (ns) => [
      deployment(ns, { container: { envFrom: [{ configMapRef: { name: "settings" } }] } }),
      policy(ns, "Deployment", { spec: { propagateDeps: true } }),
    ],
    cause: /2 pods wait on m1: CreateContainerConfigError: configmap "settings" not found/,
  },
  "an override that a webhook of the member rejects": {
    hub: (ns) => [
      object("policy.karmada.io/v1alpha1", "OverridePolicy", ns, "all", {
        spec: {
          resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" }],
          overrideRules: [
            {
              overriders: { plaintext: [{ path: "/spec/updateStrategy", operator: "add", value: { type: "Never" } }] },
            },
          ],
        },
      }),
      cloneSet(ns),
      policy(ns, "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" }),
    ],
    why: "cloneset/web",
    cause: /spec.updateStrategy.type: .*Never/,
  },
  "a revision rule that throws": {
    hub: (ns) => [
      object("example.com/v1", "Eta", ns, "web", { spec: { replicas: 2 } }),
      policy(ns, "Eta", {
        apiVersion: "example.com/v1",
        placement: { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } },
      }),
    ],
    why: "eta/web",
    cause: /ReviseReplica .*with key 'count'/,
  },
  "a retention rule that throws": {
    hub: (ns) => custom("Theta", ns),
    next: ({ patch }, ns) => patch("hub", object("example.com/v1", "Theta", ns, "web"), { spec: { replicas: 3 } }),
    why: "theta/web",
    cause: /Retain .*with key 'kept'/,
  },
  "an interpreter webhook that is down": {
    hub: (ns) => custom("Iota", ns),
    why: "iota/web",
    cause: /webhook down\/hook.example.com for InterpretReplica .*the webhook is unreachable \(connect ECONNREFUSED/,
  },
  "an interpreter webhook that answers rubbish": {
    hub: (ns) => custom("Kappa", ns),
    why: "kappa/web",
    cause: /webhook rubbish\/hook.example.com for InterpretHealth .*the response is not JSON/,
  },
  "a member whose store is above its quota": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    refuses: { code: 507, reason: "InsufficientStorage", message: "the store of this server is full" },
    cause: /m1.*the store of this server is full/,
  },
  "a member whose etcd has no space": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    refuses: { code: 500, reason: "InternalError", message: "etcdserver: mvcc: database space exceeded" },
    cause: /m1.*etcdserver: mvcc: database space exceeded/,
  },
  "a client on the member that scales the copy again and again": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment")],
    next: async ({ patch, fleet }, ns) => {
      for (let time = 0; time < 5; time++) {
        await patch("m1", deployment(ns), { spec: { replicas: 5 } });
        await fleet.run(3_000);
      }
    },
    cause: /web-\w+ on m1 Reverted \S+ ago: Deployment web: spec\.replicas was 5 instead of 2/,
    // The hub reverts it each time, so the workload is as asked.
    only: ["doctor"],
  },
  "a workload whose Works a policy of the hub denies for one of its members": {
    hub: () => [],
    next: async ({ create, fleet }, ns) => {
      await create("hub", ...freeze(ns, "m1"));
      await fleet.run(2_000);
      await create("hub", deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "m2"] }));
    },
    cause: /m1: the hub cannot write the Work: ValidatingAdmissionPolicy 'freeze-b\d+' .*change freeze on m1/,
  },
  "an update whose Work a policy of the hub denies": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "m2"] })],
    next: async ({ create, patch, fleet }, ns) => {
      await create("hub", ...freeze(ns, "m1"));
      await fleet.run(2_000);
      await patch("hub", deployment(ns), { spec: { paused: true } });
    },
    cause: /m1: the hub cannot write the Work: ValidatingAdmissionPolicy 'freeze-b\d+' .*change freeze on m1/,
  },
  "an update whose Work the hub denies for one member, while dispatching to another is suspended": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment", {
        clusters: ["m1", "m2"],
        spec: { suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } } },
      }),
    ],
    next: async ({ create, patch, fleet }, ns) => {
      await create("hub", ...freeze(ns, "m1"));
      await fleet.run(2_000);
      await patch("hub", deployment(ns), { spec: { paused: true } });
    },
    cause: /m1: the hub cannot write the Work: ValidatingAdmissionPolicy 'freeze-b\d+' .*change freeze on m1/,
  },
  "an object whose Works the hub cannot delete": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1"] })],
    next: async ({ create, remove, fleet }, ns) => {
      await create("hub", ...freeze(ns, "m1", "oldObject"));
      await fleet.run(2_000);
      await remove("hub", deployment(ns));
    },
    cause: /[tT]he hub cannot delete the Works: ValidatingAdmissionPolicy 'freeze-b\d+'/,
    only: ["status", "doctor"],
  },
  "a placement that a policy of the hub denies": {
    hub: (ns) => [
      ...denies(ns, {
        resources: { apiGroups: ["work.karmada.io"], resources: ["resourcebindings"] },
        operations: ["UPDATE"],
        expression: `request.namespace != '${ns}' || !has(object.spec.clusters) || size(object.spec.clusters) == 0`,
        message: "placement freeze",
      }),
      deployment(ns),
      policy(ns, "Deployment"),
    ],
    cause: /the hub cannot write the placement: ValidatingAdmissionPolicy 'freeze-b\d+'/,
  },
  "a status that a policy of the hub denies": {
    hub: (ns) => [
      ...denies(ns, {
        resources: { apiGroups: ["apps"], resources: ["deployments/status"] },
        operations: ["UPDATE"],
        expression: `request.namespace != '${ns}'`,
        message: "status freeze",
      }),
      deployment(ns),
      policy(ns, "Deployment"),
    ],
    cause: /status freeze/,
    only: ["status", "why"],
  },
  "nodes that are lost": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["lost"] })],
    cause: /pods? (is|are) not ready on lost: its containers were ready when its node \S+ last reported/,
  },
  "an update that the member rejects, while the nodes of the running pods are lost": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["lost"] })],
    next: ({ create }, ns) => create("hub", override(ns, "/spec/replicas", -1)),
    cause: /1 pod is not ready on lost: its containers were ready when its node \S+ last reported/,
    also: /spec\.replicas: Invalid value: -1/,
  },
  "an update that one member rejects, while pods of another fail": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "tainted"] })],
    next: ({ create }, ns) => create("hub", override(ns, "/spec/replicas", -1, { clusters: ["m1"] })),
    cause: /2 pods wait on tainted: Unschedulable/,
    also: /m1.*spec\.replicas: Invalid value: -1/,
  },
  "two members that reject an update for different reasons": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "m2"] })],
    next: ({ create }, ns) =>
      create("hub", override(ns, "/spec/replicas", -1, { clusters: ["m1"] }), {
        ...override(ns, "/spec/revisionHistoryLimit", -2, { clusters: ["m2"] }),
        metadata: { namespace: ns, name: "m2" },
      }),
    cause: /\bm1\b.*spec\.replicas: Invalid value: -1/,
    // On a narrow terminal, status has no room for the whole second cause.
    also: /\bm2: Deployment\.apps …|\bm2\b.*spec\.revisionHistoryLimit: Invalid value: -2/,
  },
  "a member that rejects an update, and an override that fails for another": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment", { clusters: ["m1", "m2"] })],
    next: ({ create }, ns) =>
      create("hub", override(ns, "/spec/replicas", -1, { clusters: ["m1"] }), {
        ...override(ns, "/spec/nowhere", 1, { clusters: ["m2"] }),
        metadata: { namespace: ns, name: "m2" },
      }),
    cause: /m2.*cannot replace \/spec\/nowhere/,
    also: /\bm1: Deployment\.a[^;]*…|\bm1\b.*spec\.replicas: Invalid value: -1/,
  },
  "pods of two members that wait for different reasons": {
    hub: (ns) => [
      override(ns, "/spec/template/spec/containers/0/image", "web:broken", { clusters: ["m1"] }),
      deployment(ns),
      policy(ns, "Deployment", { clusters: ["m1", "tainted"] }),
    ],
    cause: /2 pods wait on m1: ImagePullBackOff/,
    also: /2 pods wait on tainted: Unschedulable/,
  },
  "a release that is not sent, while the nodes of the running pods are lost": {
    hub: (ns) => [retainedCloneSet(ns), policy(ns, "CloneSet", { apiVersion: RETAINED, clusters: ["lost"] })],
    next: ({ patch }, ns) => patch("hub", retainedCloneSet(ns), release("web:2")),
    why: "cloneset/web",
    cause: /3 pods are not ready on lost: its containers were ready when its node \S+ last reported/,
    also: /the release is not sent/,
  },
  "a release that is not sent, while the running pods do not start": {
    hub: (ns) => [retainedCloneSet(ns, "web:broken"), policy(ns, "CloneSet", { apiVersion: RETAINED })],
    next: ({ patch }, ns) => patch("hub", retainedCloneSet(ns), release("web:2")),
    why: "cloneset/web",
    cause: /4 pods wait on m1: ImagePullBackOff: image web:broken/,
    also: /the release is not sent/,
  },
  "an update of a scheduled run that the member rejects, while its pods do not start": {
    hub: (ns) => [cronJob(ns, { image: "web:broken" }), policy(ns, "CronJob", { apiVersion: "batch/v1" })],
    next: ({ create }, ns) =>
      create("hub", override(ns, "/spec/schedule", "never", { kind: "CronJob", apiVersion: "batch/v1" })),
    why: "cronjob/web",
    cause: /1 pod waits on m1: ImagePullBackOff: image web:broken/,
    also: /never/,
  },
};

/** A version of its own, so that the Retain rule for it affects no other case. */
export const RETAINED = "apps.kruise.io/v1beta1";

const retainedCloneSet = (namespace: string, image = "web:1"): Manifest => ({
  ...cloneSet(namespace, { image, replicas: 4 }),
  apiVersion: RETAINED,
});

/** The rule keeps the member's partition, which lets it reach every pod. */
const release = (image: string): JsonObject => ({
  spec: { updateStrategy: { partition: 3 }, template: { spec: { containers: [{ name: "main", image }] } } },
});
