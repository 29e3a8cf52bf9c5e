/**
 * Objects that name others which the hub uses as an administrator: the Secrets of a Cluster, the logical cluster of its
 * name, the Service of an interpreter webhook. Ann may write Clusters and webhooks and nothing else, so she may name
 * nothing that she cannot use herself.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterRole, ClusterRoleBinding, Secret } from "@flotilla/kubernetes";
import { Cluster, ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import type { JsonObject } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { LogicalCluster } from "@flotilla/apiserver";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const RBAC = "rbac.authorization.k8s.io";
const EVIL = "https://203.0.113.7:6443";
const SECRETS = { namespace: "karmada-cluster" };

let fleet: TestFleet;
let ann: Client;
beforeAll(async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  const { client, hub } = fleet;
  ann = createClient({
    transport: hub.server.transport({ name: "ann", groups: ["system:authenticated"] }),
    fieldManager: "ann",
  });
  await client.create(ClusterRole, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: "ann" },
    rules: [
      { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["*"] },
      { apiGroups: ["config.karmada.io"], resources: ["*"], verbs: ["*"] },
      { apiGroups: [""], resources: ["services"], resourceNames: ["anns"], verbs: ["get"] },
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["anns", "paris"], verbs: ["get"] },
    ],
  });
  await client.create(ClusterRoleBinding, "hub", {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "ann" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "ann" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "ann" }],
  });
  for (const name of ["anns", "oslo", "paris"])
    await client.create(Secret, "hub", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...SECRETS, name },
      stringData: { token: `token of ${name}` },
    });
  for (const name of ["oslo", "paris"])
    await client.create(Cluster, "hub", makeCluster(name, { secretRef: { ...SECRETS, name } }));
  await client.create(LogicalCluster, "hub", {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "LogicalCluster",
    metadata: { name: "workspace" },
    spec: { profile: "member-bare" },
  });
});
afterAll(() => fleet.stop());

function makeCluster(name: string, spec: object): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push", apiEndpoint: `https://${name}.example.com:6443`, ...spec },
  };
}

describe("a user who may write Clusters", () => {
  const rejected: Record<string, { cluster: Cluster; message: string }> = {
    "name a Secret that they cannot read": {
      cluster: makeCluster("thief", { apiEndpoint: EVIL, secretRef: { ...SECRETS, name: "oslo" } }),
      message:
        'spec.secretRef: Forbidden: user "ann" cannot get secrets "oslo" in the namespace "karmada-cluster", and so cannot have the hub use it',
    },
    "name a Secret that they cannot read for impersonation": {
      cluster: makeCluster("thief", {
        secretRef: { ...SECRETS, name: "anns" },
        impersonatorSecretRef: { ...SECRETS, name: "oslo" },
      }),
      message: 'spec.impersonatorSecretRef: Forbidden: user "ann" cannot get secrets "oslo"',
    },
    "name the Secret of another Cluster": {
      cluster: makeCluster("thief", { apiEndpoint: EVIL, secretRef: { ...SECRETS, name: "paris" } }),
      message: 'has the credentials of the Cluster "paris"; each Cluster needs a Secret of its own',
    },
    "join a logical cluster that they do not administer": {
      cluster: makeCluster("workspace", { apiEndpoint: "" }),
      message: 'metadata.name: Forbidden: user "ann" cannot create logicalclusters.flotilla.dev/kubeconfig "workspace"',
    },
    "join the hub itself": {
      cluster: makeCluster("hub", {}),
      message: 'metadata.name: Forbidden: user "ann" cannot create logicalclusters.flotilla.dev/kubeconfig "hub"',
    },
  };
  for (const [what, { cluster, message }] of Object.entries(rejected)) {
    test(`cannot ${what}`, async () => {
      await expect(ann.create(Cluster, "hub", cluster, { dryRun: true })).rejects.toThrow(message);
    });
  }

  const redirections: Record<string, JsonObject> = {
    "another address": { apiEndpoint: EVIL },
    "a proxy": { proxyURL: EVIL },
    "no verification of the server": { insecureSkipTLSVerification: true },
  };
  for (const [what, spec] of Object.entries(redirections)) {
    test(`cannot send credentials that they cannot read to ${what}`, async () => {
      await expect(
        ann.patch(Cluster, { cluster: "hub", name: "oslo" }, { spec }, { type: "merge", dryRun: true }),
      ).rejects.toThrow('user "ann" cannot get secrets "oslo"');
    });
  }

  test("can join a cluster with a Secret that they can read, and change everything but its destination", async () => {
    await ann.create(Cluster, "hub", makeCluster("lyon", { secretRef: { ...SECRETS, name: "anns" } }), {
      dryRun: true,
    });
    const labelled = await ann.patch(
      Cluster,
      { cluster: "hub", name: "oslo" },
      { metadata: { labels: { zone: "north" } }, spec: { taints: [{ key: "a", effect: "NoSchedule" }] } },
      { type: "merge" },
    );

    expect(labelled.metadata.labels).toMatchObject({ zone: "north" });
  });
});

test("a user who may write interpreter webhooks cannot have the hub call a Service that they cannot read", async () => {
  const calling = (name: string): ResourceInterpreterWebhookConfiguration => ({
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterWebhookConfiguration",
    metadata: { name: "hooks" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig: { service: { namespace: "default", name } },
        interpreterContextVersions: ["v1alpha1"],
        rules: [{ operations: ["InterpretHealth"], apiGroups: ["apps"], apiVersions: ["v1"], kinds: ["Deployment"] }],
      },
    ],
  });

  await expect(
    ann.create(ResourceInterpreterWebhookConfiguration, "hub", calling("kubernetes"), { dryRun: true }),
  ).rejects.toThrow('webhooks[0].clientConfig.service: Forbidden: user "ann" cannot get services "kubernetes"');
  await ann.create(ResourceInterpreterWebhookConfiguration, "hub", calling("anns"), { dryRun: true });
});
