import { expect, onTestFinished, test } from "vitest";
import {
  BINDING_FINALIZER,
  Cluster,
  ClusterPropagationPolicy,
  CronFederatedHpa,
  FederatedHpa,
  FederatedResourceQuota,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  RETAIN_REPLICAS,
  WorkloadRebalancer,
} from "@flotilla/karmada";
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Job,
  Namespace,
  PriorityClass,
} from "@flotilla/kubernetes";
import { AdvancedStatefulSet, CloneSet } from "@flotilla/openkruise";
import { dynamicKind, HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { RolloutStrategy } from "@flotilla/flotilla";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeBinding, makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { otherWriters, pipeline } from "../../packages/flotilla/src/propagation/pipeline.ts";
import { recordFieldWriters } from "./field-writers.ts";
import type { FieldWriters } from "./field-writers.ts";
import { RETAIN_STRATEGY } from "./rules-fleet.ts";

test("every field has one writer, and no stage writes inside another's field", () => {
  const fields = pipeline.flatMap(({ name, writes }) => writes.map((field) => ({ name, field })));
  const collisions = fields.flatMap((a) =>
    fields
      .filter(
        (b) =>
          a !== b && (b.field === a.field || b.field.startsWith(`${a.field}.`) || b.field.startsWith(`${a.field}[`)),
      )
      .map((b) => `${a.name} ${a.field} and ${b.name} ${b.field}`),
  );

  expect(collisions).toEqual([]);
});

test("every stage reads something that an earlier stage, a user or a member wrote", () => {
  const given = [
    "template",
    "PropagationPolicy",
    "OverridePolicy",
    "ClusterOverridePolicy",
    "PriorityClass",
    "Cluster",
    "WorkloadRebalancer",
    "member.status",
  ];
  for (const [place, { reads }] of pipeline.entries()) {
    const known = [...given, ...pipeline.slice(0, place).flatMap(({ name, writes }) => [name, ...writes])];

    expect(
      reads.filter(
        (read) =>
          !known.some((field) => field === read || field.startsWith(`${read}.`) || read.startsWith(`${field}.`)),
      ),
    ).toEqual([]);
  }
});

const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2", "member3"];
const FAULT = "simulation.flotilla.dev/fault";
let fleet: TestFleet;
let writers: FieldWriters;
async function start(): Promise<void> {
  writers = recordFieldWriters();
  fleet = await startTestFleet({
    members: MEMBERS,
    nodes: 1,
    scheduling: { multiplePodTemplatesScheduling: true },
    wrap: writers.wrap,
  });
  await create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}

async function create<T extends KubernetesObject>(kind: Kind<T>, object: DeepReadonly<T>): Promise<void> {
  await writers.asUser(() => fleet.client.create(kind, HUB, object));
}
async function patch<T extends KubernetesObject>(kind: Kind<T>, name: string, change: object): Promise<void> {
  const namespace = kind.scope === "Namespaced" ? "shop" : undefined;
  const key = { cluster: HUB, namespace, name };
  await writers.asUser(() => fleet.client.patch(kind, key, change as Json, { type: "merge" }));
}
const policyOf = (name: string, apiVersion: string, kind: string) =>
  makePolicy(`shop/${name}`).selects(apiVersion, kind, name).weights({ member1: 1, member2: 1, member3: 1 });

/** A workload with a dependency: every field of a policy, a taint, an unhealthy member, replicas that a member decides, an unmanaged copy, a rebalancing. */
async function moveDeployment(): Promise<void> {
  await create(ConfigMap, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "shop" },
  });
  await create(PriorityClass, {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "high" },
    value: 1000,
  });
  const policy = policyOf("web", "apps/v1", "Deployment").with(({ spec }) => {
    spec.propagateDeps = true;
    spec.preserveResourcesOnDeletion = true;
    spec.schedulePriority = { priorityClassSource: "KubePriorityClass", priorityClassName: "high" };
    spec.failover = {
      cluster: { purgeMode: "Gracefully" },
      application: { decisionConditions: { tolerationSeconds: 60 }, purgeMode: "Gracefully" },
    };
    Object.assign(spec.placement ?? {}, { workloadAffinity: { affinity: { groupByLabelKey: "team" } } });
  });
  await create(PropagationPolicy, policy.build());
  const web = makeDeployment("shop/web")
    .replicas(6)
    .with(({ metadata, spec }) => {
      metadata.labels = { team: "red" };
      const [container] = spec.template.spec?.containers ?? [];
      if (container) container.envFrom = [{ configMapRef: { name: "settings" } }];
    });
  await create(Deployment, web.build());
  await fleet.run(MINUTE_MS);

  const suspended = { dispatching: true };
  await patch(PropagationPolicy, "web", { spec: { suspension: suspended } });
  await fleet.run(MINUTE_MS);
  const one = { dispatchingOnClusters: { clusterNames: ["member1"] }, dispatching: null };
  await patch(PropagationPolicy, "web", { spec: { suspension: one } });
  await fleet.run(MINUTE_MS);
  await patch(PropagationPolicy, "web", { spec: { suspension: null } });
  await fleet.run(MINUTE_MS);

  const onMember = { cluster: "member2", namespace: "shop", name: "web" };
  await fleet.client.patch(Deployment, onMember, { spec: { replicas: 9 } }, { type: "merge" });
  await fleet.run(MINUTE_MS);
  await patch(Deployment, "web", { metadata: { labels: { [RETAIN_REPLICAS]: "true" } } });
  await fleet.run(MINUTE_MS);
  await fleet.client.patch(Deployment, onMember, { spec: { replicas: 9 } }, { type: "merge" });
  await fleet.run(MINUTE_MS);
  await patch(Deployment, "web", { metadata: { labels: { [RETAIN_REPLICAS]: null } } });
  await fleet.run(MINUTE_MS);
  await patch(Deployment, "web", { metadata: { annotations: { "flotilla.dev/unmanaged": "member3" } } });
  await fleet.run(MINUTE_MS);
  await patch(Deployment, "web", { metadata: { annotations: { "flotilla.dev/unmanaged": null } } });
  await fleet.run(MINUTE_MS);

  await patch(Cluster, "member1", { spec: { taints: [{ key: "maintenance", effect: "NoExecute" }] } });
  await fleet.run(10 * MINUTE_MS);
  await patch(Cluster, "member1", { spec: { taints: null } });
  await create(WorkloadRebalancer, {
    apiVersion: "apps.karmada.io/v1alpha1",
    kind: "WorkloadRebalancer",
    metadata: { name: "evenly" },
    spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }] },
  });
  await fleet.run(MINUTE_MS);
  await patch(Cluster, "member2", { metadata: { annotations: { [FAULT]: "unreachable" } } });
  await fleet.run(2 * MINUTE_MS);
  await patch(Cluster, "member2", { metadata: { annotations: { [FAULT]: null } } });
  await fleet.run(2 * MINUTE_MS);
}

/** Pods that do not fit on one member: it is left for the application's sake, and for an earlier affinity later. */
async function moveUnhealthy(): Promise<void> {
  const policy = makePolicy("shop/sick")
    .selects("apps/v1", "Deployment", "sick")
    .with(({ metadata, spec }) => {
      spec.propagateDeps = true;
      metadata.annotations = { "flotilla.dev/return-after-seconds": "60" };
      spec.failover = {
        cluster: { purgeMode: "Gracefully" },
        application: { decisionConditions: { tolerationSeconds: 60 }, purgeMode: "Gracefully" },
      };
      spec.placement = {
        clusterAffinities: [
          { affinityName: "first", clusterNames: ["member1"] },
          { affinityName: "second", clusterNames: ["member2", "member3"] },
        ],
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
      };
    });
  await create(PropagationPolicy, policy.build());
  await patch(Cluster, "member1", { spec: { taints: [{ key: "maintenance", effect: "NoSchedule" }] } });
  const sick = makeDeployment("shop/sick").with(({ spec }) => {
    const [container] = spec.template.spec?.containers ?? [];
    if (container) container.resources = { requests: { cpu: "1000" } };
  });
  await create(Deployment, sick.build());
  await fleet.run(10 * MINUTE_MS);
  await patch(Cluster, "member1", { spec: { taints: null } });
  await fleet.run(10 * MINUTE_MS);
}

/** A release whose rules, partition and named pods the members cannot follow as asked. */
async function releaseCloneSet(): Promise<void> {
  await create(PropagationPolicy, policyOf("cart", "apps.kruise.io/v1beta1", "CloneSet").build());
  await create(CloneSet, makeCloneSet("shop/cart").replicas(9).build());
  await fleet.run(MINUTE_MS);
  await patch(CloneSet, "cart", { spec: { scaleStrategy: { podsToDelete: ["cart-absent"] } } });
  await fleet.run(MINUTE_MS);
  await create(ResourceInterpreterCustomization, {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "mine" },
    spec: { target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }, customizations: RETAIN_STRATEGY },
  } as unknown as ResourceInterpreterCustomization);
  await fleet.run(MINUTE_MS);
  await patch(CloneSet, "cart", { spec: { updateStrategy: { partition: 4 } } });
  await fleet.run(MINUTE_MS);
  const keepImage = `function Retain(desiredObj, observedObj)
    desiredObj.spec.template.spec.containers[1].image = observedObj.spec.template.spec.containers[1].image
    return desiredObj
  end`;
  await patch(ResourceInterpreterCustomization, "mine", {
    spec: { customizations: { retention: { luaScript: keepImage } } },
  });
  await patch(CloneSet, "cart", {
    spec: { template: { spec: { containers: [{ name: "cart", image: "cart:kept" }] } } },
  });
  await fleet.run(MINUTE_MS);
  const failing = { statusReflection: { luaScript: "function ReflectStatus(observedObj) error('broken') end" } };
  await patch(ResourceInterpreterCustomization, "mine", { spec: { customizations: { retention: null, ...failing } } });
  await fleet.run(MINUTE_MS);
  const replacing = {
    replicaResource: { luaScript: "function GetReplicas(object) return 8 end" },
    statusReflection: { luaScript: "function ReflectStatus(object) return {} end" },
  };
  await patch(ResourceInterpreterCustomization, "mine", { spec: { customizations: replacing } });
  await fleet.run(MINUTE_MS);
}

/** What a deletion that orphans dependents leaves. */
async function leaveBinding(): Promise<void> {
  const gone = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "gone" } };
  const left = makeBinding(gone).targets("member1");
  await create(ResourceBinding, left.with(({ metadata }) => (metadata.finalizers = [BINDING_FINALIZER])).build());
  await fleet.run(5_000);
}

/** A template whose deletion waits for a finalizer. */
async function holdTemplate(): Promise<void> {
  await create(PropagationPolicy, policyOf("held", "v1", "ConfigMap").build());
  await create(ConfigMap, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "held", namespace: "shop", finalizers: ["example.com/hold"] },
  });
  await fleet.run(5_000);
  await fleet.client.delete(ConfigMap, { cluster: HUB, namespace: "shop", name: "held" });
  await fleet.run(5_000);
}

/** Pods of an Advanced StatefulSet keep a release although its partition is raised. */
async function raisePartition(): Promise<void> {
  const [labels, partition] = [{ app: "db" }, 6];
  await create(PropagationPolicy, policyOf("db", "apps.kruise.io/v1beta1", "StatefulSet").build());
  await create(AdvancedStatefulSet, {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "shop" },
    spec: {
      replicas: 6,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "db", image: "db:1" }] } },
      updateStrategy: { rollingUpdate: { partition } },
    },
  });
  await fleet.run(MINUTE_MS);
  for (const raised of [2, 5]) {
    const template = { spec: { containers: [{ name: "db", image: "db:2" }] } };
    await patch(AdvancedStatefulSet, "db", {
      spec: { template, updateStrategy: { rollingUpdate: { partition: raised } } },
    });
    await fleet.run(MINUTE_MS);
  }
}

/** A release in waves: members return the step that they have observed. */
async function releaseInWaves(): Promise<void> {
  await create(RolloutStrategy, {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { name: "careful", namespace: "shop" },
    spec: { selector: { matchLabels: { release: "careful" } }, waves: [{ name: "all" }] },
  } as unknown as RolloutStrategy);
  await create(PropagationPolicy, policyOf("waves", "apps.kruise.io/v1beta1", "CloneSet").build());
  const waves = makeCloneSet("shop/waves").with(({ metadata }) => (metadata.labels = { release: "careful" }));
  await create(CloneSet, waves.replicas(3).build());
  await fleet.run(MINUTE_MS);
  await patch(CloneSet, "waves", {
    spec: { template: { spec: { containers: [{ name: "waves", image: "waves:2" }] } } },
  });
  await fleet.run(MINUTE_MS);
}

async function moveJob(): Promise<void> {
  const policy = policyOf("seed", "batch/v1", "Job").with(({ metadata, spec }) => {
    metadata.annotations = { "flotilla.dev/rerun-jobs": "false" };
    spec.failover = { cluster: { purgeMode: "Gracefully" } };
  });
  await create(PropagationPolicy, policy.build());
  await create(Job, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "seed", namespace: "shop" },
    spec: {
      completions: 6,
      parallelism: 3,
      template: {
        metadata: { annotations: { "sim/run": "20" } },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "seed:1" }] },
      },
    },
  });
  await fleet.run(30_000);
  await patch(Cluster, "member2", { spec: { taints: [{ key: "maintenance", effect: "NoExecute" }] } });
  await fleet.run(10 * MINUTE_MS);
  await patch(Cluster, "member2", { spec: { taints: null } });
}

/** A policy that takes effect with the next change of the template, and an override that cannot be applied. */
async function failOverride(): Promise<void> {
  await create(Deployment, makeDeployment("shop/lazy").build());
  await fleet.run(MINUTE_MS);
  const policy = policyOf("lazy", "apps/v1", "Deployment").with(({ metadata, spec }) => {
    metadata.annotations = { "flotilla.dev/drift": "report" };
    spec.activationPreference = "Lazy";
  });
  await create(PropagationPolicy, policy.build());
  await create(OverridePolicy, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "lazy", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "lazy" }],
      overrideRules: [{ overriders: { plaintext: [{ path: "/spec/absent/field", operator: "replace", value: 1 }] } }],
    },
  });
  await fleet.run(MINUTE_MS);
  await patch(Deployment, "lazy", { spec: { replicas: 2 } });
  await fleet.run(MINUTE_MS);
}

async function placeComponents(): Promise<void> {
  const [group, version, kind, plural] = ["flink.apache.org", "v1beta1", "FlinkDeployment", "flinkdeployments"];
  const flink = dynamicKind({ group, version, kind, plural, scope: "Namespaced" });
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await create(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  await create(PropagationPolicy, policyOf("count", `${group}/${version}`, kind).build());
  await fleet.run(MINUTE_MS);
  const resource = { cpu: 1, memory: "1Gi" };
  await create(flink, {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "count", namespace: "shop" },
    spec: { jobManager: { replicas: 1, resource }, taskManager: { replicas: 2, resource } },
  });
  await fleet.run(MINUTE_MS);
}

/** A cluster-scoped object, which has a ClusterResourceBinding, leaves a member. */
async function moveClusterRole(): Promise<void> {
  const { spec } = makePolicy("shop/reader")
    .selects("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")
    .duplicates(...MEMBERS)
    .build();
  await create(ClusterPropagationPolicy, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "reader" },
    spec: { ...spec, failover: { cluster: { purgeMode: "Gracefully" } } },
  });
  await create(ClusterRole, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [],
  });
  await fleet.run(MINUTE_MS);
  await patch(Cluster, "member3", { spec: { taints: [{ key: "maintenance", effect: "NoExecute" }] } });
  await fleet.run(10 * MINUTE_MS);
  await patch(Cluster, "member3", { spec: { taints: null } });
  await fleet.run(MINUTE_MS);
}

/** Below the least replicas that its FederatedHPA allows; later a CronFederatedHPA scales it. */
async function scaleAutomatically(): Promise<void> {
  await create(PropagationPolicy, policyOf("busy", "apps/v1", "Deployment").build());
  await create(Deployment, makeDeployment("shop/busy").replicas(2).build());
  await fleet.run(MINUTE_MS);
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "busy" };
  const target = { type: "Utilization", averageUtilization: 50 } as const;
  await create(FederatedHpa, {
    apiVersion: "autoscaling.karmada.io/v1alpha1",
    kind: "FederatedHPA",
    metadata: { namespace: "shop", name: "busy" },
    spec: {
      scaleTargetRef,
      minReplicas: 4,
      maxReplicas: 9,
      metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
    },
  });
  await fleet.run(2 * MINUTE_MS);
  await patch(FederatedHpa, "busy", { spec: { minReplicas: 3, maxReplicas: 3 } });
  await create(CronFederatedHpa, {
    apiVersion: "autoscaling.karmada.io/v1alpha1",
    kind: "CronFederatedHPA",
    metadata: { namespace: "shop", name: "busy" },
    spec: {
      scaleTargetRef: { apiVersion: "autoscaling.karmada.io/v1alpha1", kind: "FederatedHPA", name: "busy" },
      rules: [{ name: "often", schedule: "* * * * *", targetMinReplicas: 5, targetMaxReplicas: 6 }],
    },
  });
  await fleet.run(2 * MINUTE_MS);
}

/** A quota with an assignment: admission reserves what a new placement uses, and the controller releases it. */
async function countQuota(): Promise<void> {
  await create(FederatedResourceQuota, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "FederatedResourceQuota",
    metadata: { namespace: "shop", name: "team" },
    spec: { overall: { cpu: "5000" }, staticAssignments: [{ clusterName: "member1", hard: { cpu: "1000" } }] },
  });
  await fleet.run(MINUTE_MS);
  await create(PropagationPolicy, policyOf("counted", "apps/v1", "Deployment").build());
  const counted = makeDeployment("shop/counted").with(({ spec }) => {
    const [container] = spec.template.spec?.containers ?? [];
    if (container) container.resources = { requests: { cpu: "1" } };
  });
  await create(Deployment, counted.replicas(3).build());
  await fleet.run(MINUTE_MS);
  writers.found(await fleet.client.get(FederatedResourceQuota, { cluster: HUB, namespace: "shop", name: "team" }));
  await patch(Deployment, "counted", { spec: { replicas: 1 } });
  await fleet.run(MINUTE_MS);
}

const kindOf = (field: string): string => field.replace(/[.[].*/, "");
/** Whether a row of the table covers a field: the same, a part of it, or a key that begins with its prefix. */
function covers(row: string, field: string): boolean {
  if (field === row) return true;
  if (row.endsWith("]")) return ["/", "-"].some((next) => field.startsWith(`${row.slice(0, -1)}${next}`));
  return [".", "["].some((next) => field.startsWith(`${row}${next}`));
}

test("a running fleet writes every field of the table, and only the stage that the table names writes it", async () => {
  await start();
  onTestFinished(async () => {
    writers.close();
    await fleet.stop();
  });
  await moveClusterRole();
  await moveDeployment();
  await moveUnhealthy();
  await releaseCloneSet();
  await raisePartition();
  await releaseInWaves();
  await moveJob();
  await placeComponents();
  await failOverride();
  await scaleAutomatically();
  await countQuota();
  await leaveBinding();
  await holdTemplate();

  const rows = [...pipeline.map(({ name, writes }) => ({ part: name, writes })), ...otherWriters].flatMap(
    ({ part, writes }) => writes.map((row) => ({ part, row })),
  );
  const observed = writers.observed();
  const isOfPipeline = (field: string): boolean =>
    pipeline.some(({ writes }) => writes.some((row) => kindOf(row) === kindOf(field)));
  /** Other objects need a row only where two parts write the same field. */
  const isShared = ({ part, field }: (typeof observed)[number]): boolean =>
    observed.some(
      (other) =>
        other.part !== part && (other.field === field || covers(other.field, field) || covers(field, other.field)),
    );
  const foreign = observed
    .filter((one) => isOfPipeline(one.field) || isShared(one))
    .filter(({ part, field }) => !rows.some((row) => row.part === part && covers(row.row, field)));
  const silent = rows.filter(
    ({ part, row }) =>
      !observed.some(
        // The binding of an attached dependency is a binding, too.
        (one) =>
          one.part === part &&
          (covers(row, one.field) || covers(row, one.field.replace(/^attached/, "ResourceBinding"))),
      ),
  );
  expect(foreign).toEqual([]);
  expect(silent).toEqual([]);
});
