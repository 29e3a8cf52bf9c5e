/** Random objects of a user's files, for histories of plans. Objects of one slot replace each other. */
import * as fc from "fast-check";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { defined } from "@flotilla/base";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

export const MEMBERS = ["member1", "member2", "member3"];
export const NAMESPACE = "shop";
/** The prefix of objects of ManifestWorks, which are in the namespace `default`. */
export const WORK_OBJECT = "work-";
/** Selects members in policies. */
export const ZONE = "example.com/zone";
const KRUISE = "apps.kruise.io/v1alpha1";
const POLICY = "policy.karmada.io/v1alpha1";
const OCM_CLUSTER = "cluster.open-cluster-management.io";

/** Kinds whose objects reach members through policies. */
export const KINDS = [
  ["apps/v1", "Deployment"],
  [KRUISE, "CloneSet"],
  ["v1", "ConfigMap"],
  ["batch/v1", "Job"],
  ["river.example.com/v1", "Trout"],
  ["v1", "Service"],
  ["v1", "PersistentVolumeClaim"],
  ["batch/v1", "CronJob"],
  [KRUISE, "AdvancedCronJob"],
  ["autoscaling/v2", "HorizontalPodAutoscaler"],
] as const;

export interface Entry {
  slot: string;
  object: KubernetesObject;
}

const entry = (object: object): Entry => {
  const { kind, metadata } = object as KubernetesObject;
  return { slot: `${kind} ${metadata.namespace ?? ""}/${metadata.name}`, object: object as KubernetesObject };
};

const name = fc.constantFrom("a", "b");
const image = fc.constantFrom("web:1", "web:2", "registry.example.com/shop/web:3");
const members = fc.subarray(MEMBERS, { minLength: 1 });
const sized = fc.record({
  name,
  image,
  replicas: fc.integer({ min: 0, max: 6 }),
  cpu: fc.constantFrom("100m", "500m"),
  /** The ConfigMap that its pods read. */
  reads: fc.option(name, { nil: undefined }),
});

interface Pods {
  cpu: string;
  reads?: string | undefined;
}

const withPods =
  ({ cpu, reads }: Pods) =>
  ({ spec }: { spec: { template?: { spec?: unknown } } }): void => {
    const { containers = [] } = (spec.template?.spec ?? {}) as { containers?: Record<string, unknown>[] };
    for (const container of containers) {
      container["resources"] = { requests: { cpu } };
      if (reads !== undefined) container["envFrom"] = [{ configMapRef: { name: reads, optional: true } }];
    }
  };

const deployment = sized.map((given) =>
  entry(
    makeDeployment(`${NAMESPACE}/${given.name}`)
      .replicas(given.replicas)
      .image(given.image)
      .labels({ release: "careful" })
      .with(withPods(given))
      .build(),
  ),
);
const cloneSet = fc.tuple(sized, fc.integer({ min: 0, max: 4 })).map(([given, partition]) => {
  const set = makeCloneSet(`${NAMESPACE}/${given.name}`)
    .replicas(given.replicas)
    .image(given.image)
    .with(withPods(given))
    .build();
  return entry({ ...set, apiVersion: KRUISE, spec: { ...set.spec, updateStrategy: { partition } } });
});
const configMap = fc
  .record({ name, data: fc.dictionary(fc.constantFrom("k1", "k2"), fc.constantFrom("1", "2")) })
  .map((given) => entry(made("v1", "ConfigMap", given.name, { data: given.data })));
const job = fc.record({ name, parallelism: fc.integer({ min: 1, max: 3 }) }).map((given) =>
  entry(
    made("batch/v1", "Job", given.name, {
      spec: { parallelism: given.parallelism, completions: 4, template: { spec: runOnce("run:1") } },
    }),
  ),
);
const trout = fc
  .record({ name, size: fc.integer({ min: 1, max: 3 }) })
  .map((given) => entry(made("river.example.com/v1", "Trout", given.name, { spec: { size: given.size } })));

const service = fc
  .record({ name, port: fc.constantFrom(80, 8080), type: fc.constantFrom("ClusterIP", "NodePort", undefined) })
  .map((given) =>
    entry(
      made("v1", "Service", given.name, {
        spec: { ...defined({ type: given.type }), selector: { app: given.name }, ports: [{ port: given.port }] },
      }),
    ),
  );
/** Only its labels and its request may change. */
const claim = fc.record({ name, size: fc.constantFrom("1Gi", "2Gi"), tier: fc.constantFrom("x", "y") }).map((given) =>
  entry({
    ...made("v1", "PersistentVolumeClaim", given.name, {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }),
    metadata: { namespace: NAMESPACE, name: given.name, labels: { tier: given.tier } },
  }),
);
const cronJob = fc
  .record({ name, schedule: fc.constantFrom("*/1 * * * *", "0 3 * * *"), suspend: fc.boolean(), image })
  .map((given) =>
    entry(
      made("batch/v1", "CronJob", given.name, {
        spec: {
          schedule: given.schedule,
          suspend: given.suspend,
          jobTemplate: { spec: { template: { spec: runOnce(given.image) } } },
        },
      }),
    ),
  );
const advancedCronJob = fc.record({ name, schedule: fc.constantFrom("*/1 * * * *", "0 3 * * *") }).map((given) =>
  entry(
    made(KRUISE, "AdvancedCronJob", given.name, {
      spec: {
        schedule: given.schedule,
        template: {
          broadcastJobTemplate: {
            spec: { template: { spec: runOnce("run:1") }, completionPolicy: { type: "Always" } },
          },
        },
      },
    }),
  ),
);
const scaled = fc.record({
  name,
  target: name,
  min: fc.integer({ min: 1, max: 3 }),
  more: fc.integer({ min: 0, max: 3 }),
});
const autoscaler = scaled.map((given) =>
  entry(
    made("autoscaling/v2", "HorizontalPodAutoscaler", given.name, {
      spec: { ...scalingOf(given), metrics: [cpuMetric(80)] },
    }),
  ),
);
/** The hub itself scales the template. */
const federatedAutoscaler = scaled.map((given) =>
  entry(
    made("autoscaling.karmada.io/v1alpha1", "FederatedHPA", given.name, {
      spec: { ...scalingOf(given), metrics: [cpuMetric(80)] },
    }),
  ),
);

interface Scaled {
  target: string;
  min: number;
  more: number;
}
const scalingOf = ({ target, min, more }: Scaled) => ({
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: target },
  minReplicas: min,
  maxReplicas: min + more,
});
const cpuMetric = (averageUtilization: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});

/** Workloads are selected more often than the other kinds. */
const selected = fc.oneof(fc.constantFrom(...KINDS.slice(0, 3)), fc.constantFrom(...KINDS));

/** Several of equal rank select the same objects. */
export const policy = fc
  .record({
    own: fc.constantFrom("a", "b", "c"),
    kind: selected,
    selects: fc.option(name, { nil: undefined }),
    divided: fc.boolean(),
    to: fc.oneof({ weight: 3, arbitrary: members }, { weight: 1, arbitrary: fc.constantFrom("x", "y") }),
    priority: fc.constantFrom(0, 0, 0, 1),
    preemption: fc.constantFrom("Never", "Never", "Always"),
    propagateDeps: fc.boolean(),
  })
  .map(({ own, kind: [apiVersion, kind], selects, divided, to, priority, preemption, propagateDeps }) => {
    const builder = makePolicy(`${NAMESPACE}/${kind.toLowerCase()}-${own}`).selects(apiVersion, kind, selects);
    const inZone = typeof to === "string" ? { labelSelector: { matchLabels: { [ZONE]: to } } } : undefined;
    const names = typeof to === "string" ? [] : to;
    const placed =
      divided && !inZone
        ? builder.weights(Object.fromEntries(names.map((member, index) => [member, index + 1])))
        : builder.duplicates(...names);
    // Karmada accepts preemption from policies that name their objects only.
    const ranked = { priority, preemption: selects === undefined ? "Never" : preemption, propagateDeps };
    return entry(
      placed
        .with(({ spec }) => {
          Object.assign(spec, ranked);
          if (inZone) spec.placement = { ...spec.placement, clusterAffinity: inZone };
        })
        .build(),
    );
  });

const override = fc
  .record({
    own: name,
    kind: selected,
    to: members,
    value: fc.constantFrom("x", "y"),
    image: fc.boolean(),
  })
  .map(({ own, kind: [apiVersion, kind], to, value, image: ofImage }) => {
    const overriders =
      ofImage && ["Deployment", "CloneSet"].includes(kind)
        ? { imageOverrider: [{ component: "Registry", operator: "replace", value: `${value}.example.com` }] }
        : { labelsOverrider: [{ operator: "add", value: { mirror: value } }] };
    return entry({
      apiVersion: POLICY,
      kind: "OverridePolicy",
      metadata: { namespace: NAMESPACE, name: `${kind.toLowerCase()}-${own}` },
      spec: {
        resourceSelectors: [{ apiVersion, kind }],
        overrideRules: [{ targetCluster: { clusterNames: to }, overriders }],
      },
    });
  });

/** A ResourceQuota of a member rejects what it has no room for. */
const ofMember = fc.record({
  clusterName: fc.constantFrom(...MEMBERS),
  hard: fc.constantFrom({ "count/configmaps": "2" }, { "count/jobs.batch": "1" }, { pods: "2" }),
});
const quota = fc.tuple(fc.constantFrom("1", "2", "10"), fc.option(ofMember)).map(([cpu, assigned]) =>
  entry(
    made(POLICY, "FederatedResourceQuota", "team", {
      spec: {
        overall: { cpu, pods: "9", "count/configmaps": "9", "count/jobs.batch": "9" },
        staticAssignments: assigned === null ? [] : [assigned],
      },
    }),
  ),
);

const gated = fc.boolean().map((isGated) =>
  entry(
    made("flotilla.dev/v1alpha1", "RolloutStrategy", "careful", {
      spec: {
        selector: { matchLabels: { release: "careful" } },
        waves: [
          {
            name: "first",
            clusters: { names: ["member2"] },
            ...defined({ before: isGated ? [{ approval: {} }] : undefined }),
          },
          { name: "rest", before: [{ approval: {} }] },
        ],
      },
    }),
  ),
);

const workContent = (data: string, second: boolean): object => ({
  workload: {
    manifests: ["one", ...(second ? ["two"] : [])].map((each) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", name: `${WORK_OBJECT}${each}` },
      data: { value: data },
    })),
  },
});
const manifestWork = fc
  .record({ member: fc.constantFrom(...MEMBERS), data: fc.constantFrom("1", "2"), second: fc.boolean() })
  .map(({ member, data, second }) =>
    entry({
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { namespace: member, name: "work" },
      spec: workContent(data, second),
    }),
  );
const placement = fc
  .record({ name, count: fc.integer({ min: 1, max: 3 }), zone: fc.constantFrom("x", "y", undefined) })
  .map((given) =>
    entry(
      made(`${OCM_CLUSTER}/v1beta1`, "Placement", given.name, {
        spec: {
          numberOfClusters: given.count,
          ...defined({
            predicates: given.zone && [
              { requiredClusterSelector: { labelSelector: { matchLabels: { [ZONE]: given.zone } } } },
            ],
          }),
        },
      }),
    ),
  );
const bound = fc.constant(
  entry(made(`${OCM_CLUSTER}/v1beta2`, "ManagedClusterSetBinding", "global", { spec: { clusterSet: "global" } })),
);
const replicaSet = fc.record({ placed: name, data: fc.constantFrom("1", "2") }).map(({ placed, data }) =>
  entry(
    made("work.open-cluster-management.io/v1alpha1", "ManifestWorkReplicaSet", "fleet", {
      spec: { placementRefs: [{ name: placed }], manifestWorkTemplate: workContent(data, false) },
    }),
  ),
);

const RETAIN: Readonly<Record<string, string>> = {
  "keep-data":
    "if observed.data ~= nil and observed.data.k1 ~= nil then\ndesired.data = desired.data or {}\ndesired.data.k1 = observed.data.k1\nend",
  "keep-labels":
    "if observed.metadata.labels ~= nil and observed.metadata.labels.mirror ~= nil then\n" +
    "desired.metadata.labels = desired.metadata.labels or {}\n" +
    "desired.metadata.labels.mirror = observed.metadata.labels.mirror\n" +
    "end",
  constant: "desired.data = desired.data or {}\ndesired.data.k2 = 'kept'",
};
const retention = fc.constantFrom(...Object.keys(RETAIN)).map((rule) =>
  entry(
    customization("configmaps", "v1", "ConfigMap", {
      retention: { luaScript: `function Retain(desired, observed)\n${RETAIN[rule] ?? ""}\nreturn desired\nend` },
    }),
  ),
);

const customization = (own: string, apiVersion: string, kind: string, customizations: object): object => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name: own },
  spec: { target: { apiVersion, kind }, customizations },
});

/** Rules that are the same in each history. */
const CUSTOMIZATIONS = [
  customization("trouts", "river.example.com/v1", "Trout", {
    replicaResource: { luaScript: "function GetReplicas(o) return o.spec.size, nil end" },
    replicaRevision: { luaScript: "function ReviseReplica(o, replicas) o.spec.size = replicas return o end" },
    healthInterpretation: { luaScript: "function InterpretHealth(o) return o.spec.size < 3 end" },
    statusAggregation: {
      luaScript: "function AggregateStatus(desired, items) desired.status = { members = #items } return desired end",
    },
    dependencyInterpretation: {
      luaScript:
        "function GetDependencies(o) return { { apiVersion = 'v1', kind = 'ConfigMap', namespace = o.metadata.namespace, name = 'a' } } end",
    },
  }),
  customization("clonesets", KRUISE, "CloneSet", {
    healthInterpretation: {
      luaScript: "function InterpretHealth(o) return o.status.readyReplicas == o.spec.replicas end",
    },
  }),
];
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "trouts.river.example.com" },
  spec: {
    group: "river.example.com",
    names: { kind: "Trout", plural: "trouts", singular: "trout" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const CRD_POLICY = {
  apiVersion: POLICY,
  kind: "ClusterPropagationPolicy",
  metadata: { name: "crds" },
  spec: {
    resourceSelectors: [
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: CRD.metadata.name },
    ],
    placement: { clusterAffinity: { clusterNames: MEMBERS } },
  },
};

/** What the first file of a history brings for all that follow. */
export const FIRST: readonly Entry[] = [
  CRD,
  CRD_POLICY,
  ...CUSTOMIZATIONS,
  { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
].map(entry);

export const given: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 8, arbitrary: deployment },
  { weight: 4, arbitrary: cloneSet },
  { weight: 5, arbitrary: configMap },
  { weight: 4, arbitrary: job },
  { weight: 4, arbitrary: trout },
  { weight: 3, arbitrary: service },
  { weight: 2, arbitrary: claim },
  { weight: 2, arbitrary: cronJob },
  { weight: 2, arbitrary: advancedCronJob },
  { weight: 2, arbitrary: autoscaler },
  { weight: 1, arbitrary: federatedAutoscaler },
  { weight: 18, arbitrary: policy },
  { weight: 5, arbitrary: override },
  { weight: 4, arbitrary: quota },
  { weight: 2, arbitrary: gated },
  { weight: 3, arbitrary: manifestWork },
  { weight: 1, arbitrary: placement },
  { weight: 1, arbitrary: bound },
  { weight: 1, arbitrary: replicaSet },
  { weight: 2, arbitrary: retention },
);

function made(apiVersion: string, kind: string, own: string, content: object) {
  return { apiVersion, kind, metadata: { namespace: NAMESPACE, name: own }, ...content };
}

function runOnce(of: string): object {
  return { restartPolicy: "Never", containers: [{ name: "run", image: of }] };
}
