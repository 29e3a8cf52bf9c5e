/** The hub stops while a stage is busy, and restarts: pending work is finished, once. The same for members. */
import { expect, test } from "vitest";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { ClusterRole, Deployment, Namespace } from "@flotilla/kubernetes";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const HOUR_MS = 3_600_000;
const MEMBERS = ["member1", "member2"];
const role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "reader" },
  rules: [],
};

/** A store that outlives the process, and a component of the hub that gets no responses while it is stuck. */
function makeHub(): { open(): Promise<TestFleet>; stuck: Set<string> } {
  const engine = createLastingEngine();
  const stuck = new Set<string>();
  const wrap = (transport: Transport, part: string): Transport => ({
    ...transport,
    send: (request, signal) =>
      stuck.has(part) || stuck.has(`${part} on ${request.path.cluster}`)
        ? Promise.resolve().then(() => Promise.reject(new UnreachableError(`${part} gets no answer`)))
        : transport.send(request, signal),
  });
  return { open: () => startTestFleet({ members: MEMBERS, engine, wrap }), stuck };
}

async function applyAll({ client }: TestFleet): Promise<void> {
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
  );
  await client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: { resourceSelectors: [{ apiVersion: role.apiVersion, kind: role.kind, name: "reader" }], placement: {} },
  });
  await client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await client.create(ClusterRole, "hub", role);
}

for (const part of ["match", "schedule", "dispatch", "execute", "status", "aggregate"]) {
  test(`a hub that stops while ${part} gets no response finishes the work after its restart`, async () => {
    const { open, stuck } = makeHub();
    let fleet = await open();
    stuck.add(part);
    await applyAll(fleet);
    await fleet.run(SETTLED_MS);
    await fleet.stop();

    stuck.clear();
    fleet = await open();
    await fleet.run(10 * SETTLED_MS);

    for (const member of MEMBERS) {
      expect(
        (await fleet.client.get(Deployment, { cluster: member, namespace: "shop", name: "web" })).spec.replicas,
      ).toBe(2);
      expect((await fleet.client.get(ClusterRole, { cluster: member, name: "reader" })).metadata.labels).toMatchObject({
        "karmada.io/managed": "true",
      });
    }
    const bindings = [
      await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" }),
      await fleet.client.get(ClusterResourceBinding, { cluster: "hub", name: "reader-clusterrole" }),
    ];
    for (const { status } of bindings)
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "FullyApplied", status: "True" }));
    fleet.resetWrites();
    await fleet.run(HOUR_MS / 60);
    expect(fleet.writes()).toEqual([]);
    await fleet.stop();
  });
}

test("a template deleted while a member is unreachable is deleted there when the member is back, and leaves nothing on the hub", async () => {
  const { open, stuck } = makeHub();
  const fleet = await open();
  await applyAll(fleet);
  await fleet.run(SETTLED_MS);
  const ours = async (): Promise<string[]> =>
    (await fleet.client.list(Work, { cluster: "hub" })).items
      .filter(({ metadata }) => !metadata.labels?.["flotilla.dev/namespace"])
      .map(({ metadata }) => metadata.namespace ?? "");

  stuck.add("execute on member1");
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.client.delete(ClusterRole, { cluster: "hub", name: "reader" });
  await fleet.run(3 * HOUR_MS);
  expect(await ours()).toEqual(["karmada-es-member1", "karmada-es-member1"]);
  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toHaveLength(1);

  stuck.clear();
  await fleet.run(HOUR_MS);

  expect(await ours()).toEqual([]);
  expect((await fleet.client.list(Deployment, { cluster: "member1" })).items).toEqual([]);
  expect(
    (await fleet.client.list(ClusterRole, { cluster: "member1" })).items.map(({ metadata }) => metadata.name),
  ).not.toContain("reader");
  await fleet.stop();
});
