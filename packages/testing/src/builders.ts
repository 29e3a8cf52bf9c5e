/** Test builders: each shows only what matters to the case. */
import type { CloneSet } from "@flotilla/openkruise";
import type { Cluster, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import type { Deployment } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";

/** `shop/web` → namespace and name; `web` → a name in `default`. */
function named(path: string): { namespace: string; name: string } {
  const [first = "", second] = path.split("/");
  return second === undefined ? { namespace: "default", name: first } : { namespace: first, name: second };
}

interface Builder<T> {
  /** A copy, which stays as it is when the builder is used again: what was sent is not modified. */
  build(): T;
}

const podTemplate = (name: string, image: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name, image }] },
});

export interface WorkloadBuilder<T> extends Builder<T> {
  replicas(count: number): WorkloadBuilder<T>;
  image(image: string): WorkloadBuilder<T>;
  labels(labels: Record<string, string>): WorkloadBuilder<T>;
  with(change: (object: T) => void): WorkloadBuilder<T>;
}

function makeWorkload<T extends Deployment | CloneSet>(object: T): WorkloadBuilder<T> {
  const builder: WorkloadBuilder<T> = {
    replicas(count) {
      object.spec.replicas = count;
      return builder;
    },
    image(image) {
      const [container] = object.spec.template.spec?.containers ?? [];
      if (container) container.image = image;
      return builder;
    },
    labels(labels) {
      object.metadata.labels = { ...object.metadata.labels, ...labels };
      return builder;
    },
    with(change) {
      change(object);
      return builder;
    },
    build: () => copy(object) as T,
  };
  return builder;
}

export function makeDeployment(path: string): WorkloadBuilder<Deployment> {
  const { namespace, name } = named(path);
  return makeWorkload<Deployment>({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name },
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: podTemplate(name, `${name}:1`) },
  });
}

export function makeCloneSet(path: string): WorkloadBuilder<CloneSet> {
  const { namespace, name } = named(path);
  return makeWorkload<CloneSet>({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { namespace, name },
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: podTemplate(name, `${name}:1`) },
  });
}

export interface PolicyBuilder extends Builder<PropagationPolicy> {
  selects(apiVersion: string, kind: string, name?: string): PolicyBuilder;
  /** Divides by static weights, `{ member1: 2, member2: 1 }`. */
  weights(weights: Record<string, number>): PolicyBuilder;
  /** Every cluster gets all replicas. */
  duplicates(...clusters: string[]): PolicyBuilder;
  with(change: (policy: PropagationPolicy) => void): PolicyBuilder;
}

export function makePolicy(path: string): PolicyBuilder {
  const policy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: named(path),
    spec: { resourceSelectors: [], placement: {} },
  } as unknown as PropagationPolicy;
  const builder: PolicyBuilder = {
    selects(apiVersion, kind, name) {
      policy.spec.resourceSelectors.push({ apiVersion, kind, name: name || undefined });
      return builder;
    },
    weights(weights) {
      policy.spec.placement = {
        clusterAffinity: { clusterNames: Object.keys(weights) },
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
          weightPreference: {
            staticWeightList: Object.entries(weights).map(([name, weight]) => ({
              targetCluster: { clusterNames: [name] },
              weight,
            })),
          },
        },
      };
      return builder;
    },
    duplicates(...clusters) {
      policy.spec.placement = {
        clusterAffinity: { clusterNames: clusters },
        replicaScheduling: { replicaSchedulingType: "Duplicated" },
      };
      return builder;
    },
    with(change) {
      change(policy);
      return builder;
    },
    build: () => copy(policy),
  };
  return builder;
}

export interface BindingBuilder extends Builder<ResourceBinding> {
  /** `targets("paris", "oslo")`, or with replicas: `targets({ paris: 5, oslo: 3 })`. */
  targets(...clusters: (string | Record<string, number>)[]): BindingBuilder;
  with(change: (binding: ResourceBinding) => void): BindingBuilder;
}

export function makeBinding(template: KubernetesObject): BindingBuilder {
  const { apiVersion, kind, metadata } = template;
  const { namespace = "", name, uid = `uid-of-${metadata.name}` } = metadata;
  const binding: ResourceBinding = {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace,
      name: `${name}-${kind.toLowerCase()}`,
      labels: { "resourcebinding.karmada.io/permanent-id": `id-of-${name}` },
    },
    spec: { resource: { apiVersion, kind, namespace, name, uid } },
  };
  const builder: BindingBuilder = {
    targets(...clusters) {
      binding.spec.clusters = clusters.flatMap((entry) =>
        typeof entry === "string"
          ? [{ name: entry }]
          : Object.entries(entry).map(([cluster, replicas]) => ({ name: cluster, replicas })),
      );
      return builder;
    },
    with(change) {
      change(binding);
      return builder;
    },
    build: () => copy(binding),
  };
  return builder;
}

export interface WorkBuilder extends Builder<Work> {
  applied(status: "True" | "False", message?: string): WorkBuilder;
  reports(status: Record<string, number>, health?: "Healthy" | "Unhealthy"): WorkBuilder;
}

/** The Work of `name` on a member. */
export function makeWork(cluster: string, name: string): WorkBuilder {
  const work: Work = {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: `karmada-es-${cluster}`, name },
    spec: { workload: { manifests: [] } },
  };
  const builder: WorkBuilder = {
    applied(status, message = "") {
      work.status = {
        ...work.status,
        conditions: [{ type: "Applied", status, reason: "Test", message, lastTransitionTime: "2024-05-01T12:00:00Z" }],
      };
      return builder;
    },
    reports(status, health = "Healthy") {
      work.status = {
        ...work.status,
        manifestStatuses: [
          {
            identifier: { ordinal: 0, version: "v1", kind: "Deployment", resource: "deployments", name },
            status,
            health,
          },
        ],
      };
      return builder;
    },
    build: () => copy(work),
  };
  return builder;
}

export function makeCluster(name: string, change: (cluster: Cluster) => void = () => {}): Cluster {
  const cluster: Cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  };
  change(cluster);
  return cluster;
}
