/**
 * How an agent stores its credentials on a member: in a namespace that is created if permitted, and with an error
 * otherwise.
 */
import { expect, test } from "vitest";
import { createSecretStore } from "@flotilla/flotilla";
import { ClusterRole, ClusterRoleBinding, Namespace, Secret } from "@flotilla/kubernetes";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { createClient, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const { signal } = new AbortController();
const SECRETS: PolicyRule = { apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch"] };
const NAMESPACES: PolicyRule = { apiGroups: [""], resources: ["namespaces"], verbs: ["create"] };
const credentials = {
  address: { name: "hub", server: "https://hub.example.com", ca: "", proxyUrl: "", others: [] },
  cluster: "paris",
  agent: "a",
  cert: "CERT",
  key: "KEY",
};

async function start(
  ...rules: PolicyRule[]
): Promise<{ fleet: TestFleet; store: ReturnType<typeof createSecretStore> }> {
  const fleet = endsWithTest(await startTestFleet({ members: ["paris"] }));
  const metadata = { name: "agent" };
  await fleet.client.create(ClusterRole, "paris", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata,
    rules,
  });
  await fleet.client.create(ClusterRoleBinding, "paris", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "agent" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "agent" }],
  });
  await fleet.settle();
  const client: Client = createClient({
    transport: fleet.hub.server.transport({ name: "agent", groups: ["system:authenticated"] }),
    fieldManager: "agent",
  });
  return { fleet, store: createSecretStore({ client, cluster: "paris", namespace: "agents" }) };
}

test("the namespace is created if it is missing, and nothing is stored before there are credentials", async () => {
  const { fleet, store } = await start(SECRETS, NAMESPACES);

  await store.prepare(signal);

  expect(await find(fleet.client, Namespace, { cluster: "paris", name: "agents" })).toBeDefined();
  expect((await fleet.client.list(Secret, { cluster: "paris", namespace: "agents" })).items).toEqual([]);
  await store.save(credentials, signal);
  await store.prepare(signal);
  expect(await store.load(signal)).toEqual(credentials);
});

test("without permission to create the namespace the error has a remedy", async () => {
  const { store } = await start(SECRETS);

  await expect(store.prepare(signal)).rejects.toThrow(
    "cluster paris has no namespace agents, and this agent may not create it; run 'kubectl create namespace agents' there",
  );
});

test("without permission to write Secrets in the namespace the error is reported before a certificate is requested", async () => {
  const { fleet, store } = await start(NAMESPACES);
  await fleet.client.create(Namespace, "paris", { apiVersion: "v1", kind: "Namespace", metadata: { name: "agents" } });

  await expect(store.prepare(signal)).rejects.toThrow(
    "this agent may not store its credentials in namespace agents of cluster paris; allow its service account " +
      "to write Secrets there, or set a directory with --state DIR",
  );
});
