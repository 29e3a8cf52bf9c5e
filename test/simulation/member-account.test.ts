import { expect, test } from "vitest";
import { ClusterRole, ClusterRoleBinding, Namespace, Secret, ServiceAccount } from "@flotilla/kubernetes";
import { createFakeClock } from "@flotilla/base";
import { createClient, find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { createAccounts, planRules, removeAccounts } from "../../packages/cli/src/membership/member-account.ts";

const signal = new AbortController().signal;
const REQUEST = {
  cluster: "member1",
  namespace: "karmada-cluster",
  permissions: "scoped",
  tokenSeconds: 3600,
} as const;

test("a scoped hub reads and writes objects, and may exceed its rights in one role only", () => {
  const verbs = planRules("scoped").flatMap((rule) => rule.verbs);

  expect(verbs).not.toContain("*");
  expect(verbs).not.toContain("impersonate");
  expect(planRules("scoped").filter((rule) => rule.verbs.includes("escalate"))).toEqual([
    {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterroles"],
      resourceNames: ["karmada-impersonator"],
      verbs: ["escalate", "bind"],
    },
  ]);
});

test("an admin hub has the rights that karmadactl grants", () => {
  expect(planRules("admin")).toEqual([
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["get"] },
  ]);
});

test("accounts are created once, with karmadactl's names, are updated on repetition, and are removed completely", async () => {
  const fleet = await startTestFleet({ members: ["member1"] });
  const client = createClient({
    transport: fleet.hub.server.transport({ name: "admin", groups: ["system:masters", "system:authenticated"] }),
    fieldManager: "test",
  });
  const clock = createFakeClock();
  const role = { cluster: "member1", name: "karmada-controller-manager:karmada-member1" };

  const first = await createAccounts(client, REQUEST, clock, signal);
  const again = await createAccounts(client, { ...REQUEST, permissions: "admin" }, clock, signal);
  const { rules } = await client.get(ClusterRole, role);
  const account = await find(client, ServiceAccount, {
    cluster: "member1",
    namespace: "karmada-cluster",
    name: "karmada-member1",
  });
  const notes = await removeAccounts(client, REQUEST, signal);
  await fleet.settle();

  expect(first.token.split(".")).toHaveLength(3);
  expect(again.impersonatorToken).not.toBe(again.token);
  expect(rules).toEqual(planRules("admin"));
  expect(account?.metadata.labels).toEqual({ "karmada.io/system": "true" });
  expect(notes).toEqual([]);
  expect(await find(client, ClusterRole, role)).toBeUndefined();
  expect(await find(client, ClusterRoleBinding, role)).toBeUndefined();
  expect(
    await find(client, Secret, { cluster: "member1", namespace: "karmada-cluster", name: "karmada-member1" }),
  ).toBeUndefined();
  expect(await find(client, Namespace, { cluster: "member1", name: "karmada-cluster" })).toBeUndefined();
  await fleet.stop();
});

test("objects that another hub needs stay", async () => {
  const fleet = await startTestFleet({ members: ["member1"] });
  const client = createClient({
    transport: fleet.hub.server.transport({ name: "admin", groups: ["system:masters"] }),
    fieldManager: "test",
  });
  await createAccounts(client, REQUEST, createFakeClock(), signal);
  await client.create(ServiceAccount, "member1", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "karmada-elsewhere", namespace: "karmada-cluster" },
  });

  const notes = await removeAccounts(client, REQUEST, signal);

  expect(notes).toEqual([
    "the namespace karmada-cluster stays on the member: karmada-elsewhere of other hubs is in it",
  ]);
  expect(
    (await client.get(Namespace, { cluster: "member1", name: "karmada-cluster" })).metadata.deletionTimestamp,
  ).toBeUndefined();
  await fleet.stop();
});
