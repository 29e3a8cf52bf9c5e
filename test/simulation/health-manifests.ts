/** Manifests for health-broken.test.ts and health-sound.test.ts: each shows what matters to its case. */
import { BINDING_NAMESPACE } from "@flotilla/karmada";
import { omitZero, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Manifest } from "./health-fleet.ts";

interface PodOptions {
  image?: string;
  /** Annotations of the pods, without the prefix of the simulation. */
  simulate?: Record<string, string>;
  pod?: JsonObject;
  container?: JsonObject;
}

function template({ image = "web:1", simulate = {}, pod = {}, container = {} }: PodOptions): JsonObject {
  const annotations = Object.fromEntries(
    Object.entries(simulate).map(([key, value]) => [`simulation.flotilla.dev/${key}`, value]),
  );
  return {
    metadata: { labels: { app: "web" }, annotations },
    spec: { containers: [{ name: "main", image, ...container }], ...pod },
  };
}

export interface WorkloadOptions extends PodOptions {
  name?: string;
  replicas?: number;
  spec?: JsonObject;
}

/** A workload `web` with a pod template. */
function workload(apiVersion: string, kind: string, namespace: string, options: WorkloadOptions = {}): Manifest {
  const { name = "web", replicas = 2, spec = {} } = options;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template(options), ...spec },
  };
}

export const deployment = (namespace: string, options?: WorkloadOptions): Manifest =>
  workload("apps/v1", "Deployment", namespace, options);
export const cloneSet = (namespace: string, options?: WorkloadOptions): Manifest =>
  workload("apps.kruise.io/v1alpha1", "CloneSet", namespace, options);
export const statefulSet = (namespace: string, options: WorkloadOptions = {}): Manifest =>
  workload("apps/v1", "StatefulSet", namespace, { ...options, spec: { serviceName: "web", ...options.spec } });
export const advancedStatefulSet = (namespace: string, options: WorkloadOptions = {}): Manifest =>
  workload("apps.kruise.io/v1beta1", "StatefulSet", namespace, {
    ...options,
    spec: { serviceName: "web", ...options.spec },
  });

export function daemonSet(namespace: string, options: WorkloadOptions = {}): Manifest {
  const { replicas: _replicas, ...spec } = workload("apps/v1", "DaemonSet", namespace, options)["spec"] as JsonObject;
  return { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "web", namespace }, spec };
}

export function job(namespace: string, options: WorkloadOptions = {}): Manifest {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "web", namespace },
    spec: {
      backoffLimit: 0,
      template: template({ ...options, pod: { restartPolicy: "Never", ...options.pod } }),
      ...options.spec,
    },
  };
}

export const object = (
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  rest: JsonObject = {},
): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, ...omitZero({ namespace }) },
  ...rest,
});

export interface PolicyOptions {
  clusters?: string[];
  apiVersion?: string;
  spec?: JsonObject;
  placement?: JsonObject;
}

/** A policy for everything of a kind in the namespace, on `m1` with all replicas. */
export function policy(namespace: string, kind: string, options: PolicyOptions = {}): Manifest {
  const { clusters = ["m1"], apiVersion = "apps/v1", spec = {}, placement = {} } = options;
  return object("policy.karmada.io/v1alpha1", "PropagationPolicy", namespace, "all", {
    spec: {
      resourceSelectors: [{ apiVersion, kind }],
      placement: { clusterAffinity: { clusterNames: clusters }, ...placement },
      ...spec,
    },
  });
}

/** An OverridePolicy for everything of a kind in the namespace, on all members if `clusters` is unset. */
export const override = (
  namespace: string,
  path: string,
  value: unknown,
  {
    apiVersion = "apps/v1",
    kind = "Deployment",
    clusters,
  }: { kind?: string } & Pick<PolicyOptions, "apiVersion" | "clusters"> = {},
): Manifest =>
  object("policy.karmada.io/v1alpha1", "OverridePolicy", namespace, "all", {
    spec: {
      resourceSelectors: [{ apiVersion, kind }],
      overrideRules: [
        {
          ...defined({ targetCluster: clusters ? { clusterNames: clusters } : undefined }),
          overriders: { plaintext: [{ path, operator: "replace", value: value as JsonObject }] },
        },
      ],
    },
  });

/** A kind of its own, so that rules for it affect no other case. */
export function definition(kind: string): Manifest {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", `${plural}.example.com`, {
    spec: {
      group: "example.com",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      ],
    },
  });
}

/** Rules in Lua for a kind of `definition`: `{ healthInterpretation: "function InterpretHealth(o) … end" }`. */
export const rules = (kind: string, scripts: Record<string, string>, apiVersion = "example.com/v1"): Manifest =>
  object("config.karmada.io/v1alpha1", "ResourceInterpreterCustomization", "", kind.toLowerCase(), {
    spec: {
      target: { apiVersion, kind },
      customizations: Object.fromEntries(Object.entries(scripts).map(([rule, luaScript]) => [rule, { luaScript }])),
    },
  });

/** An interpreter webhook at `https://<name>.example.com` for a kind of `definition`. */
export const interpreterWebhook = (name: string, kind: string, operations: string[]): Manifest =>
  object("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "", name, {
    webhooks: [
      {
        name: "hook.example.com",
        rules: [{ operations, apiGroups: ["example.com"], apiVersions: ["v1"], kinds: [kind] }],
        clientConfig: { url: `https://${name}.example.com/interpret` },
        interpreterContextVersions: ["v1alpha1"],
      },
    ],
  });

export const manifestWork = (cluster: string, name: string, ...manifests: Manifest[]): Manifest =>
  object("work.open-cluster-management.io/v1", "ManifestWork", cluster, name, { spec: { workload: { manifests } } });

export const kruise = (namespace: string, kind: string): Manifest =>
  policy(namespace, kind, { apiVersion: "apps.kruise.io/v1alpha1" });

/** A container with a variable from this source. */
export const env = (source: JsonObject): JsonObject => ({ env: [{ name: "A", valueFrom: source }] });

/** An object of a kind of `definition`, and its policy. */
export const custom = (kind: string, namespace: string): Manifest[] => [
  object("example.com/v1", kind, namespace, "web", { spec: { replicas: 2 } }),
  policy(namespace, kind, { apiVersion: "example.com/v1" }),
];

/** The spec of a Job. */
export const runSpec = (options: WorkloadOptions = {}): JsonObject => job("", options)["spec"] as JsonObject;

/** Runs every minute. */
export const cronJob = (namespace: string, options: WorkloadOptions = {}): Manifest =>
  object("batch/v1", "CronJob", namespace, "web", {
    spec: { schedule: "* * * * *", jobTemplate: { spec: runSpec({ ...options, spec: {} }) }, ...options.spec },
  });

export const advancedCronJob = (namespace: string, runs: JsonObject, spec: JsonObject = {}): Manifest =>
  object("apps.kruise.io/v1alpha1", "AdvancedCronJob", namespace, "web", {
    spec: { schedule: "* * * * *", template: runs, ...spec },
  });

export const broadcastJob = (namespace: string, options: WorkloadOptions = {}): Manifest =>
  object("apps.kruise.io/v1alpha1", "BroadcastJob", namespace, "web", {
    spec: {
      template: template({ ...options, pod: { restartPolicy: "Never", ...options.pod } }),
      completionPolicy: { type: "Always" },
      ...options.spec,
    },
  });

/** A CloneSet `web` of four pods that the strategy of the namespace selects. */
export function released(namespace: string, options: WorkloadOptions = {}): Manifest {
  const web = cloneSet(namespace, { replicas: 4, ...options });
  return { ...web, metadata: { ...web.metadata, labels: { release: "careful" } } };
}

/** A policy that divides CloneSets over `m1` and `m2`, two pods of four on each. */
export const dividedCloneSets = (namespace: string): Manifest =>
  policy(namespace, "CloneSet", {
    apiVersion: "apps.kruise.io/v1alpha1",
    clusters: ["m1", "m2"],
    placement: {
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: {
          staticWeightList: ["m1", "m2"].map((name) => ({ targetCluster: { clusterNames: [name] }, weight: 1 })),
        },
      },
    },
  });

/** Two waves: `m1`, then the rest. */
export const strategy = (namespace: string, spec: JsonObject = {}, rest: JsonObject = {}): Manifest =>
  object("flotilla.dev/v1alpha1", "RolloutStrategy", namespace, "careful", {
    spec: {
      selector: { matchLabels: { release: "careful" } },
      waves: [
        { name: "canary", clusters: { names: ["m1"] } },
        { name: "all", ...rest },
      ],
      ...spec,
    },
  });

/** Keeps the pods of Deployment `web` at half of their CPU requests. */
export const federatedHpa = (namespace: string, spec: JsonObject = {}): Manifest =>
  object("autoscaling.karmada.io/v1alpha1", "FederatedHPA", namespace, "web", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
      ...spec,
    },
  });

export const quota = (namespace: string, spec: JsonObject): Manifest =>
  object("policy.karmada.io/v1alpha1", "FederatedResourceQuota", namespace, "team", { spec });

/** A container for the pods of an EphemeralJob. */
export const ephemeral = (image: string): JsonObject => ({
  name: "debug",
  image,
  targetContainerName: "main",
  imagePullPolicy: "IfNotPresent",
  terminationMessagePolicy: "File",
});

/** Admission of the hub that denies the Works of the bindings of a namespace, for a member: to write, or to delete them. */
export const freeze = (namespace: string, member: string, subject: "object" | "oldObject" = "object"): Manifest[] =>
  denies(namespace, {
    resources: { apiGroups: ["work.karmada.io"], resources: ["works"] },
    operations: subject === "object" ? ["CREATE", "UPDATE"] : ["DELETE"],
    expression:
      `request.namespace != 'karmada-es-${member}' || !has(${subject}.metadata.annotations) || ` +
      `!('${BINDING_NAMESPACE}' in ${subject}.metadata.annotations) || ` +
      `${subject}.metadata.annotations['${BINDING_NAMESPACE}'] != '${namespace}'`,
    message: `change freeze on ${member}`,
  });

/** Admission of the hub that denies what the expression does not allow. */
export const denies = (
  namespace: string,
  {
    resources,
    operations,
    expression,
    message,
  }: { resources: JsonObject; operations: string[]; expression: string; message: string },
): Manifest[] => [
  object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", `freeze-${namespace}`, {
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: [{ apiVersions: ["*"], operations, ...resources }] },
      validations: [{ expression, message }],
    },
  }),
  object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", `freeze-${namespace}`, {
    spec: { policyName: `freeze-${namespace}`, validationActions: ["Deny"] },
  }),
];
