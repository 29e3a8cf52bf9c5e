/**
 * Members disconnected from their hub by an annotation: the hub's status, the member's behaviour, and the reconnect.
 */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster, OverridePolicy, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { Deployment, Event, Lease, Namespace, Pod } from "@flotilla/kubernetes";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { Explanation } from "@flotilla/flotilla";
import { findCondition } from "@flotilla/apimachinery";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeCluster, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const FAULT = "simulation.flotilla.dev/fault";

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 2, ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(MINUTE);
}

const annotate = (name: string, value: string | null): Promise<unknown> =>
  fleet.client.patch(
    Cluster,
    { cluster: "hub", name },
    { metadata: { annotations: { [FAULT]: value } } },
    { type: "merge" },
  );
const ready = async (name: string): Promise<string> => {
  const condition = findCondition(
    (await fleet.client.get(Cluster, { cluster: "hub", name })).status?.conditions ?? [],
    "Ready",
  );
  return `${condition?.status} ${condition?.reason}`;
};
const web = (cluster: string): Promise<DeepReadonly<Deployment> | undefined> =>
  find(fleet.client, Deployment, { cluster, namespace: "shop", name: "web" });
const podsOn = async (cluster: string): Promise<number> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.length;
const problems = async (): Promise<(string | undefined)[]> =>
  (await fleet.client.list(Event, { cluster: "hub" })).items
    .filter(({ reason }) => reason === "InvalidSimulation")
    .map(({ message }) => message);
const reported = async (): Promise<unknown> => (await web("hub"))?.status?.readyReplicas;

test("a disconnected member is not ready after the threshold, keeps running, and is ready again when the annotation is removed", async () => {
  await start();
  await annotate("member2", "unreachable");
  await fleet.run(20 * SECOND);
  const early = await ready("member2");
  await fleet.run(MINUTE);
  const [late, other] = [await ready("member2"), await ready("member1")];

  // Users' actions on the member itself take effect there, and the hub is not notified.
  const [pod] = (await fleet.client.list(Pod, { cluster: "member2", namespace: "shop" })).items;
  await fleet.client.delete(Pod, { cluster: "member2", namespace: "shop", name: pod?.metadata.name ?? "" });
  await fleet.run(MINUTE);
  const meanwhile = await podsOn("member2");
  await annotate("member2", null);
  await fleet.run(2 * MINUTE);

  expect(early).toBe("True ClusterReady");
  expect(late).toBe("False ClusterNotReachable");
  expect(other).toBe("True ClusterReady");
  expect(meanwhile).toBe(2);
  expect(await ready("member2")).toBe("True ClusterReady");
  expect(await reported()).toBe(4);
});

test("changes on both sides during a disconnect arrive when the member reconnects", async () => {
  await start();
  await annotate("member2", "unreachable");
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } },
    { type: "merge" },
  );
  await fleet.run(10 * SECOND);
  const images = async (): Promise<unknown[]> =>
    Promise.all(
      ["member1", "member2"].map(
        async (cluster) =>
          (await web(cluster))?.spec.template.spec?.containers.find(({ name }) => name === "main")?.image,
      ),
    );
  const during = await images();
  const applied = findCondition(
    (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member2" })).items.find(({ metadata }) =>
      metadata.name.startsWith("web-"),
    )?.status?.conditions ?? [],
    "Applied",
  );

  await annotate("member2", null);
  await fleet.run(2 * MINUTE);

  expect(during).toEqual(["web:2", undefined]);
  expect(applied).toMatchObject({
    status: "False",
    message: expect.stringContaining("cut off by its annotation") as string,
  });
  expect(await images()).toEqual(["web:2", "web:2"]);
  expect(await reported()).toBe(4);
});

test("the hub reports the last known state of a disconnected member, and nothing is removed there", async () => {
  await start();
  await annotate("member2", "unreachable");
  await fleet.client.patch(
    Deployment,
    { cluster: "member2", namespace: "shop", name: "web" },
    { metadata: { labels: { touched: "yes" } } },
    { type: "merge" },
  );
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(5 * MINUTE);
  const during = await Promise.all([web("member1"), web("member2")]);

  await annotate("member2", null);
  await fleet.run(5 * MINUTE);

  expect(during[0]).toBeUndefined();
  expect(during[1]?.metadata.labels?.["touched"]).toBe("yes");
  expect(await web("member2")).toBeUndefined();
});

test("requests to its API through the hub are answered as for an unreachable cluster", async () => {
  await start();
  const path = "/apis/cluster.karmada.io/v1alpha1/clusters/member2/proxy/version";
  const before = await fleet.client.raw({ cluster: "hub", method: "GET", path });
  await annotate("member2", "unreachable");
  await fleet.settle();

  const answer = await fleet.client.raw({ cluster: "hub", method: "GET", path });

  expect(before.status).toBe(200);
  expect(answer.status).toBe(503);
});

test("a watch through the hub ends when the member is disconnected", async () => {
  await start();
  const { body } = await fleet.client.raw({
    cluster: "hub",
    method: "GET",
    path: "/apis/cluster.karmada.io/v1alpha1/clusters/member2/proxy/api/v1/namespaces?watch=true",
  });
  const read = (async () => {
    let count = 0;
    for await (const _ of body) count += 1;
    return count;
  })();
  await fleet.settle();

  await annotate("member2", "unreachable");
  await fleet.settle();

  expect(await read).toBeGreaterThan(0);
});

test("the annotation may be set on the ManagedCluster as well", async () => {
  await start();
  await fleet.client.patch(
    ManagedCluster,
    { cluster: "hub", name: "member1" },
    { metadata: { annotations: { [FAULT]: "unreachable" } } },
    { type: "merge" },
  );
  await fleet.run(2 * MINUTE);

  expect(await ready("member1")).toBe("False ClusterNotReachable");
  expect(
    findCondition(
      (await fleet.client.get(ManagedCluster, { cluster: "hub", name: "member1" })).status?.conditions ?? [],
      "ManagedClusterConditionAvailable",
    )?.status,
  ).not.toBe("True");
});

test("a ManifestWork waits for a disconnected member", async () => {
  await start();
  await annotate("member1", "unreachable");
  await fleet.client.create(ManifestWork, "hub", {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "notes", namespace: "member1" },
    spec: { workload: { manifests: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "notes" } }] } },
  });
  await fleet.run(MINUTE);
  const during = await find(fleet.client, Namespace, { cluster: "member1", name: "notes" });

  await annotate("member1", null);
  await fleet.run(2 * MINUTE);

  expect(during).toBeUndefined();
  expect(await find(fleet.client, Namespace, { cluster: "member1", name: "notes" })).toBeDefined();
});

test("the agent of a disconnected pull member loses its hub: the hub gets no reports, and drift on the member is still repaired", async () => {
  await start({ pull: ["member2"] });
  const leaseTime = async (): Promise<string | undefined> =>
    (await fleet.client.get(Lease, { cluster: "hub", namespace: "karmada-cluster", name: "member2" })).spec?.renewTime;
  await annotate("member2", "unreachable");
  await fleet.run(SECOND);
  const renewed = await leaseTime();
  await fleet.client.patch(
    Deployment,
    { cluster: "member2", namespace: "shop", name: "web" },
    { spec: { replicas: 5 } },
    { type: "merge" },
  );
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { replicas: 8 } },
    { type: "merge" },
  );
  await fleet.run(2 * MINUTE);
  const during = {
    ready: await ready("member2"),
    replicas: (await web("member2"))?.spec.replicas,
    lease: await leaseTime(),
    other: (await web("member1"))?.spec.replicas,
  };

  await annotate("member2", null);
  await fleet.run(2 * MINUTE);

  expect(during).toEqual({ ready: "Unknown ClusterStatusUnknown", replicas: 2, lease: renewed, other: 4 });
  expect(await ready("member2")).toBe("True ClusterReady");
  expect((await web("member2"))?.spec.replicas).toBe(4);
  expect(await reported()).toBe(8);
});

test("a hub whose members are all disconnected is still healthy", async () => {
  const members = Array.from({ length: 12 }, (_, index) => `member${index + 1}`);
  fleet = await startTestFleet({ members, pull: "all" });
  for (const member of members) await annotate(member, "unreachable");
  await fleet.run(30 * MINUTE);

  const { status } = await fleet.client.raw({ cluster: "hub", method: "GET", path: "/readyz" });

  expect(status).toBe(200);
});

test("a fleet settles after a reconnect, and then nothing is written", async () => {
  await start();
  await annotate("member2", "unreachable");
  await fleet.run(5 * MINUTE);
  await annotate("member2", null);
  await fleet.run(5 * MINUTE);
  fleet.resetWrites();

  await fleet.run(10 * MINUTE);

  expect(fleet.writes()).toEqual([]);
});

test("a long disconnect causes no writes", async () => {
  await start();
  await annotate("member2", "unreachable");
  await fleet.run(5 * MINUTE);
  fleet.resetWrites();

  await fleet.run(20 * MINUTE);

  expect(fleet.writes()).toEqual([]);
});

test("a hub restarted while a member is disconnected leaves it alone, and continues when it is back", async () => {
  const engine = createLastingEngine();
  await start({ engine });
  await annotate("member2", "unreachable");
  await fleet.run(2 * MINUTE);
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(MINUTE);
  const { clock } = fleet;
  await fleet.stop();

  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 2, engine, clock });
  await fleet.run(5 * MINUTE);
  const during = {
    isCut: fleet.hub.isCut("member2"),
    ready: await ready("member2"),
    copies: [await web("member1"), await web("member2")].map((copy) => copy !== undefined),
  };
  await annotate("member2", null);
  await fleet.run(5 * MINUTE);

  expect(during).toEqual({ isCut: true, ready: "False ClusterNotReachable", copies: [false, true] });
  expect(await ready("member2")).toBe("True ClusterReady");
  expect(await web("member2")).toBeUndefined();
});

test("an invalid annotation value has no effect and is reported once", async () => {
  await start();
  await annotate("member2", "unreachabel");
  await fleet.run(2 * MINUTE);

  expect(await ready("member2")).toBe("True ClusterReady");
  expect(await problems()).toEqual([`annotation ${FAULT}: "unreachabel" is ignored: allowed is unreachable`]);
});

test("a cluster that is not simulated cannot be disconnected, and an event reports it", async () => {
  await start();
  await fleet.client.create(
    Cluster,
    "hub",
    makeCluster("far", ({ metadata }) => (metadata.annotations = { [FAULT]: "unreachable" })),
  );
  await fleet.run(MINUTE);

  expect(await problems()).toEqual([
    `annotation ${FAULT}: "unreachable" is ignored: only simulated members can be cut off`,
  ]);
});

test("replicas are evicted from a failed member as taints and the policy specify, and it keeps its pods until it is back", async () => {
  fleet = await startTestFleet({
    members: ["member1", "member2"],
    nodes: 2,
    failover: { evictionsPerSecond: 10, allowNoExecuteTaintPolicy: true },
  });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/web")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .weights({ member1: 1, member2: 1 })
    .with(({ spec }) => (spec.failover = { cluster: { purgeMode: "Gracefully" } }));
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.client.create(CloneSet, "hub", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  });
  await fleet.run(MINUTE);
  const targets = async (): Promise<unknown> =>
    (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-cloneset" })).spec
      .clusters;
  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { annotations: { [FAULT]: "unreachable" } }, spec: { taints: [{ key: "away", effect: "NoExecute" }] } },
    { type: "merge" },
  );
  await fleet.run(2 * MINUTE);
  const during = { targets: await targets(), pods: await Promise.all([podsOn("member1"), podsOn("member2")]) };

  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { annotations: { [FAULT]: null } }, spec: { taints: [] } },
    { type: "merge" },
  );
  await fleet.run(2 * MINUTE);

  expect(during).toEqual({ targets: [{ name: "member1", replicas: 4 }], pods: [4, 2] });
  expect(await Promise.all([podsOn("member1"), podsOn("member2")])).toEqual([4, 0]);
});

test("a member that is away keeps its numbers in the sum, marked as stale, until it is back or leaves the placement", async () => {
  await start();
  const binding = { cluster: "hub", namespace: "shop", name: "web-deployment" };
  const stale = async (): Promise<string> => {
    const { conditions } = (await fleet.client.get(ResourceBinding, binding)).status ?? {};
    const found = findCondition(conditions ?? [], "Stale");
    return `${found?.status} ${found?.message}`;
  };

  await annotate("member2", "unreachable");
  await fleet.run(MINUTE);
  const away = [await reported(), await stale()];
  await fleet.client.patch(
    Deployment,
    { ...binding, name: "web" },
    { spec: { template: { metadata: { labels: { app: "web", release: "2" } } } } },
    { type: "merge" },
  );
  await fleet.run(MINUTE);
  const changed = [await reported(), await stale()];
  const { members } = await fleet.client.get(Explanation, binding);
  await annotate("member2", null);
  await fleet.run(2 * MINUTE);
  const back = [await reported(), await stale()];
  await annotate("member2", "unreachable");
  await fleet.run(MINUTE);
  await fleet.client.patch(
    PropagationPolicy,
    { ...binding, name: "web" },
    { spec: { placement: { clusterAffinity: { clusterNames: ["member1"] } } } },
    { type: "merge" },
  );
  await fleet.run(MINUTE);

  expect(away).toEqual([4, "True the status has the last numbers of member2 (not ready)"]);
  expect(changed).toEqual(away);
  expect(members.map(({ cluster, stale: isStale }) => [cluster, isStale])).toEqual([
    ["member1", undefined],
    ["member2", true],
  ]);
  expect(back).toEqual([4, "False Every member reports its status"]);
  expect(await stale()).toBe("False Every member reports its status");
  const { aggregatedStatus = [] } = (await fleet.client.get(ResourceBinding, binding)).status ?? {};
  expect(aggregatedStatus.map(({ clusterName }) => clusterName)).toEqual(["member1"]);
});

test("a CloneSet that its members reject keeps their numbers in the sum, which are not stale", async () => {
  await start();
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/sets").selects("apps.kruise.io/v1beta1", "CloneSet").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/set").replicas(4).build());
  await fleet.run(MINUTE);
  const set = { cluster: "hub", namespace: "shop", name: "set" };
  const before = await fleet.client.get(CloneSet, set);

  // No member has this pod, so OpenKruise's webhook rejects the copy everywhere.
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "absent", namespace: "shop" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }],
      overrideRules: [
        {
          overriders: {
            plaintext: [{ path: "/spec/scaleStrategy", operator: "add", value: { podsToDelete: ["set-absent"] } }],
          },
        },
      ],
    },
  });
  await fleet.run(MINUTE);

  const after = await fleet.client.get(CloneSet, set);
  const { conditions } = (await fleet.client.get(ResourceBinding, { ...set, name: "set-cloneset" })).status ?? {};
  expect(before.status).toMatchObject({ replicas: 4, readyReplicas: 4 });
  expect(after.status).toMatchObject({ replicas: 4, readyReplicas: 4 });
  expect(conditions?.map(({ type }) => type)).not.toContain("Stale");
});
