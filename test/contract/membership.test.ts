/**
 * A member outside the hub's process, without a network: two fleets with their own clocks; a cluster of one has joined
 * the other with the credentials that a join creates.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterTaintPolicy,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import {
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  Event,
  Namespace,
  Secret,
  ServiceAccount,
} from "@flotilla/kubernetes";
import { dynamicKind, unauthorized } from "@flotilla/apimachinery";
import { createSigningKey } from "@flotilla/apiserver";
import type { DeepReadonly } from "@flotilla/base";
import { find, UnreachableError } from "@flotilla/client";
import type { CredentialSource, Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const FAR = "far";
const THERE = "member1";
const TOKEN = "first-token";
const USER = {
  name: "system:serviceaccount:karmada-cluster:karmada-far",
  groups: ["system:masters", "system:authenticated"],
};
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The connection between the two, which can be cut, and a member that accepts the current token. */
function createWire(): {
  connect(cluster: string, address: unknown, credentials: CredentialSource): Promise<Transport>;
  member?: TestFleet;
  token: string;
  accepts(token: string): boolean;
  isCut: boolean;
  opened: number;
  closed: number;
} {
  const wire = {
    member: undefined as TestFleet | undefined,
    token: TOKEN,
    accepts: (_token: string): boolean => false,
    isCut: false,
    opened: 0,
    closed: 0,
    async connect(_cluster: string, _address: unknown, credentials: CredentialSource): Promise<Transport> {
      wire.opened++;
      const inner = wire.member?.hub.server.transport(USER) as Transport;
      const isLetIn = async (): Promise<boolean> => {
        if (wire.isCut) throw new UnreachableError("the wire is cut");
        const { token = "" } = await credentials.current();
        return token === wire.token || wire.accepts(token);
      };
      const enter = async (): Promise<void> => {
        if (!(await isLetIn())) throw unauthorized();
      };
      const there = <T extends { path: { cluster: string } }>(request: T): T => ({
        ...request,
        path: { ...request.path, cluster: THERE },
      });
      return {
        async send(request, signal) {
          await enter();
          return inner.send(there(request), signal);
        },
        async *watch(request, signal) {
          await enter();
          yield* inner.watch(there(request), signal);
        },
        async raw(request, signal) {
          // Raw requests get raw responses.
          if (!(await isLetIn())) return { status: 401, headers: {}, body: (async function* () {})() };
          return inner.raw({ ...request, cluster: THERE }, signal);
        },
        async close() {
          wire.closed++;
        },
      };
    },
  };
  return wire;
}

/** Created once, before any test starts. */
const signingKey = Promise.resolve(await createSigningKey());
let wire: ReturnType<typeof createWire>;
let member: TestFleet;
let hub: TestFleet;

/** Advances both clocks. */
async function run(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
    await hub.run(Math.min(leftMs, 1_000));
    await member.run(Math.min(leftMs, 1_000));
  }
  await hub.settle();
}

const clusterNow = (): Promise<DeepReadonly<Cluster>> => hub.client.get(Cluster, { cluster: "hub", name: FAR });
const readyNow = async (): Promise<object | undefined> =>
  (await clusterNow()).status?.conditions?.find(({ type }) => type === "Ready");
const taintsNow = async (): Promise<string[]> =>
  ((await clusterNow()).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
const deploymentThere = (): Promise<DeepReadonly<Deployment> | undefined> =>
  find(member.client, Deployment, { cluster: THERE, namespace: "shop", name: "web" });

async function join(): Promise<void> {
  await hub.client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "karmada-cluster", name: FAR },
    data: { token: base64(TOKEN), caBundle: base64("") },
  });
  await hub.client.create(Cluster, "hub", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: FAR },
    spec: {
      syncMode: "Push",
      id: "far-id",
      apiEndpoint: "https://far.example.com",
      secretRef: { namespace: "karmada-cluster", name: FAR },
    },
  });
  await run(2_000);
}

async function propagate(weights: Record<string, number> = { [FAR]: 1 }): Promise<void> {
  await hub.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await hub.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights(weights).build(),
  );
  await hub.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await run(5_000);
}

beforeEach(async () => {
  wire = createWire();
  member = await startTestFleet({ signingKey: () => signingKey, members: [THERE], nodes: 2 });
  wire.member = member;
  hub = await startTestFleet({ members: ["near"], connectMember: (...how) => wire.connect(...how) });
});
afterEach(async () => {
  await hub.stop();
  await member.stop();
});

describe("a cluster that joins", () => {
  test("becomes ready, without taints, with its version, kinds, nodes and resources, and with a namespace for its Works", async () => {
    await join();

    const { metadata, status } = await clusterNow();
    expect(metadata.finalizers).toEqual(["karmada.io/cluster-controller"]);
    expect(await readyNow()).toMatchObject({ status: "True", reason: "ClusterReady" });
    expect(await taintsNow()).toEqual([]);
    expect(status).toMatchObject({
      kubernetesVersion: expect.stringMatching(/^v1\./) as string,
      nodeSummary: { totalNum: 2, readyNum: 2 },
      resourceSummary: { allocatable: { cpu: "64" } },
    });
    expect(
      status?.apiEnablements?.find(({ groupVersion }) => groupVersion === "apps.kruise.io/v1alpha1")?.resources,
    ).toContainEqual({ name: "clonesets", kind: "CloneSet" });
    expect((await hub.client.get(Namespace, { cluster: "hub", name: "karmada-es-far" })).metadata.labels).toMatchObject(
      { "karmada.io/system": "true" },
    );
  });

  test("causes no writes while nothing changes, however often its status is collected", async () => {
    await join();
    await run(60_000);
    hub.resetWrites();

    await run(120_000);

    expect(hub.writes()).toEqual([]);
  });

  test("runs propagated workloads, and the hub shows their status", async () => {
    await join();

    await propagate();

    expect(await deploymentThere()).toMatchObject({ spec: { replicas: 2 }, status: { readyReplicas: 2 } });
    expect((await hub.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" })).status).toMatchObject(
      { readyReplicas: 2 },
    );
  });

  test("serves a kind as soon as the hub has propagated its CRD, and receives pending objects of it", async () => {
    await join();
    const Widget = dynamicKind({
      group: "example.dev",
      version: "v1",
      kind: "Widget",
      plural: "widgets",
      scope: "Namespaced",
    });
    const versions = [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ];
    await hub.client.create(CustomResourceDefinition, "hub", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.dev" },
      spec: { group: "example.dev", scope: "Namespaced", names: { plural: "widgets", kind: "Widget" }, versions },
    });
    await hub.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await hub.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("example.dev/v1", "Widget").duplicates(FAR).build(),
    );
    await hub.client.create(Widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { namespace: "shop", name: "a" },
    });
    await run(12_000);

    const placement = { clusterAffinity: { clusterNames: [FAR] } };
    await hub.client.create(ClusterPropagationPolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterPropagationPolicy",
      metadata: { name: "widgets" },
      spec: {
        resourceSelectors: [
          { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: "widgets.example.dev" },
        ],
        placement,
      },
    });
    await run(3_000);

    expect(await find(member.client, Widget, { cluster: THERE, namespace: "shop", name: "a" })).toBeDefined();
  });

  test("reports the usage of its pods within a period", async () => {
    await join();
    await propagate();

    await run(10_000);

    expect((await clusterNow()).status?.resourceSummary?.allocated?.["pods"]).toBeDefined();
  });
});

describe("a member whose credentials", () => {
  test("are missing is not ready, naming the missing ones", async () => {
    await hub.client.create(Cluster, "hub", {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: FAR },
      spec: {
        syncMode: "Push",
        apiEndpoint: "https://far.example.com",
        secretRef: { namespace: "karmada-cluster", name: FAR },
      },
    });
    await run(2_000);

    expect(await readyNow()).toMatchObject({
      status: "False",
      reason: "StatusCollectionFailed",
      message: "failed to create a ClusterClient: secret karmada-cluster/far of cluster far does not exist",
    });
    expect(await taintsNow()).toEqual(["cluster.karmada.io/not-ready:NoSchedule"]);
  });

  test("are replaced in their Secret is reached with the new ones, over the same connection", async () => {
    await join();
    await propagate();
    const { opened } = wire;

    wire.token = "second-token";
    await hub.client.patch(
      Secret,
      { cluster: "hub", namespace: "karmada-cluster", name: FAR },
      { data: { token: base64("second-token") } },
      { type: "merge" },
    );
    await hub.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 3 } },
      { type: "merge" },
    );
    await run(60_000);

    expect(await deploymentThere()).toMatchObject({ spec: { replicas: 3 } });
    expect(await readyNow()).toMatchObject({ status: "True" });
    expect(wire.opened).toBe(opened);
  });

  test("expire has them renewed in time, with a request that uses the old ones", async () => {
    const account = { namespace: "karmada-cluster", name: "karmada-far" };
    await member.client.create(Namespace, THERE, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: account.namespace },
    });
    await member.client.create(ServiceAccount, THERE, { apiVersion: "v1", kind: "ServiceAccount", metadata: account });
    const nowSeconds = Math.floor(hub.clock.now() / 1000);
    const claims = {
      sub: `system:serviceaccount:${account.namespace}:${account.name}`,
      iat: nowSeconds,
      exp: nowSeconds + 1000,
    };
    const old = `header.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`;
    wire.accepts = (token) => token.split(".").length === 3;
    await join();
    const tokenNow = async (): Promise<string> =>
      Buffer.from(
        (await hub.client.get(Secret, { cluster: "hub", namespace: "karmada-cluster", name: FAR })).data?.["token"] ??
          "",
        "base64",
      ).toString();

    await hub.client.patch(
      Secret,
      { cluster: "hub", namespace: "karmada-cluster", name: FAR },
      { data: { token: base64(old) } },
      { type: "merge" },
    );
    await run(590_000);
    const before = await tokenNow();
    await run(20_000);
    const renewed = await tokenNow();

    expect(before).toBe(old);
    expect(JSON.parse(Buffer.from(renewed.split(".")[1] ?? "", "base64url").toString())).toMatchObject({
      sub: claims.sub,
    });
    expect(renewed).not.toBe(old);
    expect(await readyNow()).toMatchObject({ status: "True" });
  });

  test("expire and cannot be renewed is reported on its Cluster in advance", async () => {
    const nowSeconds = Math.floor(hub.clock.now() / 1000);
    const claims = { sub: "system:serviceaccount:karmada-cluster:removed", iat: nowSeconds, exp: nowSeconds + 1000 };
    wire.accepts = (token) => token.split(".").length === 3;
    await join();

    await hub.client.patch(
      Secret,
      { cluster: "hub", namespace: "karmada-cluster", name: FAR },
      { data: { token: base64(`header.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`) } },
      { type: "merge" },
    );
    await run(620_000);

    const reported = (await hub.client.list(Event, { cluster: "hub" })).items.filter(
      ({ reason }) => reason === "TokenRenewalFailed",
    );
    expect(reported).toMatchObject([
      {
        involvedObject: { kind: "Cluster", name: FAR },
        message: expect.stringMatching(
          /^renewing the token of karmada-cluster\/removed on cluster far: the member returned 404.*the current token is valid until \d{4}-.*Z$/,
        ) as string,
      },
    ]);
  });

  test("are rejected reports it on the Cluster and the Work, with a remedy, and causes no writes while it lasts", async () => {
    await join();
    await propagate();

    wire.token = "another-token";
    await hub.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 3 } },
      { type: "merge" },
    );
    await run(120_000);
    const { items } = await hub.client.list(Work, { cluster: "hub", namespace: "karmada-es-far" });
    const applied = items
      .find(({ metadata }) => metadata.name.startsWith("web-"))
      ?.status?.conditions?.find(({ type }) => type === "Applied");
    hub.resetWrites();
    await run(300_000);

    expect(await readyNow()).toMatchObject({
      status: "False",
      reason: "ClusterNotReady",
      message: expect.stringContaining("rejects the hub's token") as string,
    });
    expect(applied).toMatchObject({
      status: "False",
      message: expect.stringContaining(
        "cluster far rejects the hub's token (401); run 'flotilla join far --cluster-kubeconfig FILE' to issue a new one",
      ) as string,
    });
    expect(hub.writes().filter(({ part }) => part !== "events")).toEqual([]);
  });

  test("point to another address is reached there, and its status is collected again", async () => {
    await join();
    await propagate();

    await hub.client.patch(
      Cluster,
      { cluster: "hub", name: FAR },
      { spec: { apiEndpoint: "https://elsewhere.example.com" } },
      { type: "merge" },
    );
    await hub.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 3 } },
      { type: "merge" },
    );
    await run(10_000);

    expect(await deploymentThere()).toMatchObject({ spec: { replicas: 3 } });
    expect((await hub.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" })).status).toMatchObject(
      { readyReplicas: 3 },
    );
    expect(wire.closed).toBe(2);
  });
});

describe("an unreachable member", () => {
  test("stays ready until the failure threshold, then is tainted, and keeps its workloads", async () => {
    await join();
    await propagate();

    wire.isCut = true;
    await run(25_000);
    const within = await readyNow();
    await run(30_000);

    expect(within).toMatchObject({ status: "True" });
    expect(await readyNow()).toMatchObject({ status: "False", reason: "ClusterNotReachable" });
    expect(await taintsNow()).toEqual(["cluster.karmada.io/not-ready:NoSchedule"]);
    expect(await deploymentThere()).toBeDefined();
  });

  test("becomes ready only after the success threshold, and receives pending changes", async () => {
    await join();
    await propagate();
    wire.isCut = true;
    await run(60_000);
    await hub.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 4 } },
      { type: "merge" },
    );
    await run(10_000);

    wire.isCut = false;
    await run(15_000);
    const soon = await readyNow();
    await run(60_000);

    expect(soon).toMatchObject({ status: "False" });
    expect(await readyNow()).toMatchObject({ status: "True" });
    expect(await taintsNow()).toEqual([]);
    expect(await deploymentThere()).toMatchObject({ spec: { replicas: 4 } });
  });

  test("causes no writes for pending works, once reported", async () => {
    await join();
    await propagate();
    wire.isCut = true;
    await hub.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 4 } },
      { type: "merge" },
    );
    await run(120_000);
    hub.resetWrites();

    await run(300_000);

    expect(hub.writes().filter(({ part }) => part !== "events")).toEqual([]);
  });

  test("causes three writes to its Cluster and two to its ManagedCluster for the outage and none while it lasts", async () => {
    await join();
    await run(60_000);
    hub.resetWrites();

    wire.isCut = true;
    await run(120_000);

    const writes = hub.writes().filter(({ part }) => part !== "events");
    expect(writes.map(({ part, resource, count }) => `${count} × ${part} ${resource}`).sort()).toEqual([
      "1 × lifecycle clusters.cluster.karmada.io",
      "1 × registration managedclusters.cluster.open-cluster-management.io",
      "1 × registration managedclusters.cluster.open-cluster-management.io",
      // First that it does not respond, then that it is not ready.
      "2 × membership clusters.cluster.karmada.io",
    ]);
  });
});

describe("a member that leaves", () => {
  const isGone = async (): Promise<boolean> =>
    (await find(hub.client, Cluster, { cluster: "hub", name: FAR })) === undefined &&
    (await find(hub.client, Namespace, { cluster: "hub", name: "karmada-es-far" })) === undefined;
  const leave = async (annotations: Record<string, string> = {}): Promise<void> => {
    await hub.client.patch(Cluster, { cluster: "hub", name: FAR }, { metadata: { annotations } }, { type: "merge" });
    await hub.client.delete(Cluster, { cluster: "hub", name: FAR });
  };

  test("keeps its workloads, without our labels, and is removed from the hub", async () => {
    await join();
    await propagate();
    const { uid } = (await deploymentThere())?.metadata ?? {};

    await leave();
    await run(40_000);

    expect(await isGone()).toBe(true);
    expect((await deploymentThere())?.metadata).toMatchObject({ uid });
    expect((await deploymentThere())?.metadata.labels ?? {}).not.toHaveProperty(["karmada.io/managed"]);
    expect((await hub.client.list(Work, { cluster: "hub", namespace: "karmada-es-far" })).items).toEqual([]);
    expect(wire.closed).toBe(2);
  });

  test("loses the hub's objects when it is purged", async () => {
    await join();
    await propagate();

    await leave({ "flotilla.dev/purge": "true" });
    await run(40_000);

    expect(await isGone()).toBe(true);
    expect(await deploymentThere()).toBeUndefined();
  });

  test("is removed even if it does not respond", async () => {
    await join();
    await propagate();
    wire.isCut = true;

    await leave();
    await run(60_000);

    expect(await isGone()).toBe(true);
    expect(await deploymentThere()).toBeDefined();
  });

  test("waits for a response when it is purged, reports it, and is removed when forced", async () => {
    await join();
    await propagate();
    wire.isCut = true;
    await run(60_000);

    await leave({ "flotilla.dev/purge": "true" });
    await run(30_000);
    const waiting = (await clusterNow()).status?.conditions?.find(({ type }) => type === "Unjoining");
    await hub.client.patch(
      Cluster,
      { cluster: "hub", name: FAR },
      { metadata: { annotations: { "flotilla.dev/force-unjoin": "true" } } },
      { type: "merge" },
    );
    await run(60_000);

    expect(waiting).toMatchObject({
      status: "True",
      reason: "MemberUnreachable",
      message: expect.stringContaining("flotilla unjoin far --force") as string,
    });
    expect(await isGone()).toBe(true);
    expect(await deploymentThere()).toBeDefined();
  });

  test("is removed from bindings that fit elsewhere", async () => {
    await join();
    await propagate({ [FAR]: 1, near: 1 });

    await leave();
    await run(40_000);

    const { items } = await hub.client.list(ResourceBinding, { cluster: "hub" });
    expect(items.flatMap(({ spec }) => (spec.clusters ?? []).map(({ name }) => name))).toEqual(["near"]);
  });
});

test("a ClusterTaintPolicy adds its taints when its conditions match, and removes them", async () => {
  await join();
  await hub.client.create(ClusterTaintPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "quarantine" },
    spec: {
      targetClusters: { clusterNames: [FAR] },
      addOnConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
      removeOnConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["True"] }],
      taints: [{ key: "quarantine", effect: "NoSchedule" }],
    },
  });

  wire.isCut = true;
  await run(60_000);
  const away = await taintsNow();
  wire.isCut = false;
  await run(60_000);

  expect(away.sort()).toEqual(["cluster.karmada.io/not-ready:NoSchedule", "quarantine:NoSchedule"]);
  expect(await taintsNow()).toEqual([]);
});

test("a member with an impersonator account gets the users that the hub may impersonate, and loses them when it leaves", async () => {
  await hub.client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "karmada-cluster", name: "far-impersonator" },
    data: { token: base64(TOKEN) },
  });
  await join();
  await hub.client.patch(
    Cluster,
    { cluster: "hub", name: FAR },
    { spec: { impersonatorSecretRef: { namespace: "karmada-cluster", name: "far-impersonator" } } },
    { type: "merge" },
  );
  await run(2_000);

  const role = await member.client.get(ClusterRole, { cluster: THERE, name: "karmada-impersonator" });
  await hub.client.delete(Cluster, { cluster: "hub", name: FAR });
  await run(40_000);

  expect(role.rules).toContainEqual({
    verbs: ["impersonate"],
    apiGroups: [""],
    resources: ["users"],
    resourceNames: expect.arrayContaining(["admin"]) as string[],
  });
  expect(await find(member.client, ClusterRole, { cluster: THERE, name: "karmada-impersonator" })).toBeUndefined();
});
