import type { JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { manifestsOfInstall, planInstall } from "./plan-install.ts";
import type { InstallOptions } from "./plan-install.ts";

interface Manifest extends JsonObject {
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string> };
}
interface Webhook {
  name: string;
  rules: { apiVersions: string[]; resources: string[]; operations: string[] }[];
  clientConfig: { service: { port: number; path: string } };
  matchConditions?: { expression: string }[];
}
interface Version {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: JsonObject };
}

const OPTIONS: InstallOptions = {
  namespace: "flotilla-system",
  projects: ["openkruise", "argo"],
  image: "flotilla:test",
  replicas: 2,
  isAggregated: true,
  proxyUsers: ["jane"],
};
const install = (options: Partial<InstallOptions> = {}): Manifest[] =>
  manifestsOfInstall(planInstall({ ...OPTIONS, ...options })) as Manifest[];
const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const versionsOf = (manifests: readonly Manifest[], name: string): Version[] =>
  (named(manifests, "CustomResourceDefinition", name)["spec"] as unknown as { versions: Version[] }).versions;
const webhooksOf = (manifests: readonly Manifest[], kind: string): Webhook[] =>
  named(manifests, kind, "flotilla-webhooks")["webhooks"] as unknown as Webhook[];

test("every object of an installation has the label by which it is found again", () => {
  const without = install().filter(({ metadata }) => metadata.labels?.["flotilla.dev/installed"] !== "true");

  expect(without.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([]);
});

test("Clusters have a second version for the API server itself, only where their first one is aggregated", () => {
  const [own, plain] = [install(), install({ isAggregated: false })];

  expect(versionsOf(own, "clusters.cluster.karmada.io").map(({ name, storage }) => [name, storage])).toEqual([
    ["v1alpha1", true],
    ["stored", false],
  ]);
  expect(versionsOf(plain, "clusters.cluster.karmada.io").map(({ name }) => name)).toEqual(["v1alpha1"]);
  expect(plain.filter(({ kind }) => kind === "APIService")).toEqual([]);
});

test("schemas have no field that only our own API server reads", () => {
  const text = JSON.stringify(install().filter(({ kind }) => kind === "CustomResourceDefinition"));

  expect(text).not.toMatch(/x-flotilla-|x-kubernetes-patch-/);
});

test("customizations keep the short forms that a webhook converts", () => {
  const [version] = versionsOf(install(), "resourceinterpretercustomizations.config.karmada.io");

  expect(version?.schema.openAPIV3Schema).toMatchObject({
    properties: {
      spec: {
        properties: {
          customizations: {
            "x-kubernetes-preserve-unknown-fields": true,
            properties: { replicaResource: { "x-kubernetes-preserve-unknown-fields": true } },
          },
        },
      },
    },
  });
});

test("kinds whose versions differ are converted by the webhooks, others are not", () => {
  const strategy = (name: string): unknown =>
    (named(install(), "CustomResourceDefinition", name)["spec"] as { conversion: { strategy: string } }).conversion
      .strategy;

  expect(strategy("clonesets.apps.kruise.io")).toBe("Webhook");
  expect(strategy("resourcebindings.work.karmada.io")).toBe("Webhook");
  expect(strategy("propagationpolicies.policy.karmada.io")).toBe("None");
});

test("webhooks have the names of the upstream webhooks, and are asked about objects, not about their status", () => {
  const webhooks = webhooksOf(install(), "ValidatingWebhookConfiguration");
  const policies = webhooks.find(({ name }) => name === "propagationpolicy.karmada.io");

  expect(policies?.rules).toEqual([
    {
      apiGroups: ["policy.karmada.io"],
      apiVersions: ["v1alpha1"],
      resources: ["propagationpolicies"],
      operations: ["CREATE", "UPDATE"],
      scope: "*",
    },
  ]);
  expect(new Set(webhooks.map(({ name }) => name)).size).toBe(webhooks.length);
});

test("only a webhook that is limited to agents or to members' namespaces covers kinds of other projects", () => {
  const wide = webhooksOf(install(), "ValidatingWebhookConfiguration").filter(({ rules }) =>
    rules.some(({ resources }) => resources.includes("*/*") || resources.includes("namespaces")),
  );

  expect(wide.map(({ name, matchConditions }) => [name, matchConditions?.length])).toEqual([
    ["agents.admission.flotilla.dev", 1],
    ["namespaces.admission.flotilla.dev", 1],
  ]);
});

test("without OpenKruise, its kinds are neither defined nor checked", () => {
  const text = JSON.stringify(install({ projects: [] }).filter(({ kind }) => !kind.includes("Role")));

  expect(text).not.toContain("kruise.io");
});

test("the webhooks may write only their certificate and its authority", () => {
  const rules = named(install(), "ClusterRole", "flotilla-webhooks")["rules"] as {
    verbs: string[];
    resources?: string[];
  }[];
  const writes = rules.filter(({ verbs }) =>
    verbs.some((verb) => ["create", "update", "patch", "delete", "*"].includes(verb)),
  );

  expect(writes.map(({ resources }) => resources)).toEqual([
    ["subjectaccessreviews"],
    ["events"],
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    ["customresourcedefinitions"],
    ["apiservices"],
  ]);
});

test("where the programs run elsewhere, there are no pods, and the Service names the other host", () => {
  const manifests = install({ image: undefined, address: { host: "hub.example.com", port: 9443 } });
  const webhooks = webhooksOf(manifests, "MutatingWebhookConfiguration");

  expect(manifests.filter(({ kind }) => kind === "Deployment" || kind === "PodDisruptionBudget")).toEqual([]);
  expect(named(manifests, "Service", "flotilla-webhooks")["spec"]).toEqual({
    type: "ExternalName",
    externalName: "hub.example.com",
  });
  expect(new Set(webhooks.map(({ clientConfig }) => clientConfig.service.port))).toEqual(new Set([9443]));
});

test("pods run without root and with a read-only root, and their disruption is limited", () => {
  const manifests = install();
  const pods = manifests
    .filter(({ kind }) => kind === "Deployment")
    .map(({ spec }) => (spec as { template: { spec: JsonObject } }).template.spec);

  expect(pods).toHaveLength(2);
  for (const pod of pods)
    expect(pod).toMatchObject({
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    });
  expect(manifests.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ metadata }) => metadata.name)).toEqual([
    "flotilla-webhooks",
    "flotilla-controllers",
  ]);
});
