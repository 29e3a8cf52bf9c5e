/**
 * A webhook on one member rejects requests: the member keeps its objects, the hub reports the webhook's message, and
 * the other member is not affected.
 */
import { afterEach, expect, test } from "vitest";
import { ClusterPropagationPolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import { ClusterRole, Deployment, Event, Namespace } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { deniedByWebhook, findCondition } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const HOUR_MS = 3_600_000;
const MEMBERS = ["member1", "member2"];
const RBAC = "rbac.authorization.k8s.io/v1";
const NO = 'admission webhook "check.example.com" denied the request: not on Fridays';

let fleet: TestFleet;
afterEach(() => fleet.stop());
/** Verbs that member1's webhook rejects. */
const denied = new Set<string>();
let asked = 0;

async function start(): Promise<void> {
  denied.clear();
  const isConcerned = (resource: string): boolean => ["deployments", "clusterroles"].includes(resource);
  const wrap = (transport: Transport, part: string): Transport => ({
    ...transport,
    send(request, signal) {
      if (
        part !== "execute" ||
        request.path.cluster !== "member1" ||
        !isConcerned(request.path.resource) ||
        !denied.has(request.verb)
      )
        return transport.send(request, signal);
      asked++;
      return Promise.resolve().then(() => Promise.reject(deniedByWebhook("check.example.com", 403, "not on Fridays")));
    },
  });
  fleet = await startTestFleet({ members: MEMBERS, wrap });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .duplicates(...MEMBERS)
      .build(),
  );
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: { resourceSelectors: [{ apiVersion: RBAC, kind: "ClusterRole", name: "reader" }], placement: {} },
  });
}
async function apply(): Promise<void> {
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: RBAC,
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);
}
const onMember = async (cluster: string): Promise<[number | undefined, number | undefined]> => {
  const role = await find(fleet.client, ClusterRole, { cluster, name: "reader" });
  return [
    (await find(fleet.client, Deployment, { cluster, namespace: "shop", name: "web" }))?.spec.replicas,
    role && (role.rules?.length ?? 0),
  ];
};
const works = async (): Promise<DeepReadonly<Work>[]> =>
  (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items.filter(({ metadata }) =>
    /^(web|reader)-/.test(metadata.name),
  );
const problems = async (): Promise<(string | undefined)[]> =>
  (await works())
    .map(({ status }) => findCondition(status?.conditions ?? [], "Applied"))
    .map((condition) => (condition?.status === "False" ? condition.message : undefined));
async function expectSilence(): Promise<void> {
  fleet.resetWrites();
  await fleet.run(HOUR_MS);
  expect(fleet.writes()).toEqual([]);
}

test("a rejected create is retried rarely, and succeeds when it is allowed", async () => {
  await start();
  denied.add("create");
  asked = 0;
  await apply();
  expect([await onMember("member1"), await onMember("member2")]).toEqual([
    [undefined, undefined],
    [2, 0],
  ]);
  expect(await problems()).toEqual([expect.stringContaining(NO), expect.stringContaining(NO)]);

  await fleet.run(3 * HOUR_MS);
  // Two Works; after the first minutes each is tried every five.
  expect(asked).toBeLessThan(2 * (3 * 12 + 12));

  denied.clear();
  await fleet.run(10 * 60_000);
  expect(await onMember("member1")).toEqual([2, 0]);
  expect(await problems()).toEqual([undefined, undefined]);
  await expectSilence();
});

test("a rejected update leaves the copy unchanged, and is applied when it is allowed", async () => {
  await start();
  await apply();
  for (const verb of ["update", "patch"]) denied.add(verb);
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { replicas: 5 } },
    { type: "merge" },
  );
  await fleet.client.patch(
    ClusterRole,
    { cluster: "hub", name: "reader" },
    { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    { type: "merge" },
  );
  await fleet.run(HOUR_MS);
  expect([await onMember("member1"), await onMember("member2")]).toEqual([
    [2, 0],
    [5, 1],
  ]);
  expect(await problems()).toEqual([expect.stringContaining(NO), expect.stringContaining(NO)]);

  denied.clear();
  await fleet.run(10 * 60_000);
  expect(await onMember("member1")).toEqual([5, 1]);
  await expectSilence();
});

test("a copy whose deletion is rejected stays with its Work, which reports why, until it is allowed", async () => {
  await start();
  await apply();
  denied.add("delete");
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.client.delete(ClusterRole, { cluster: "hub", name: "reader" });
  await fleet.run(HOUR_MS);
  expect([await onMember("member1"), await onMember("member2")]).toEqual([
    [2, 0],
    [undefined, undefined],
  ]);
  expect(await problems()).toEqual([expect.stringContaining(NO), expect.stringContaining(NO)]);
  const reported = (await fleet.client.list(Event, { cluster: "hub", namespace: "karmada-es-member1" })).items.filter(
    ({ reason }) => reason === "SyncFailed",
  );
  expect(reported.length).toBeGreaterThan(0);

  denied.clear();
  await fleet.run(HOUR_MS);
  expect(await onMember("member1")).toEqual([undefined, undefined]);
  expect(await works()).toEqual([]);
  await expectSilence();
});
