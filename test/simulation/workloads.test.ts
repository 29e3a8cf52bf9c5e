/** Workloads on a simulated member: from the applied object to running pods, with a fake clock. */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet, createKruiseAdmissions } from "@flotilla/openkruise";
import { kindAdmissions, createWorkloadControllers } from "@flotilla/server";
import { ControllerRevision, Deployment, kubernetesKinds, Pod, ReplicaSet } from "@flotilla/kubernetes";
import { createApiServer, createCache, createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { createInformers, createManager } from "@flotilla/controller-runtime";
import { createSimulation } from "@flotilla/simulation";
import { countWrites } from "@flotilla/testing/count-writes.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { FLOTILLA_GROUP, flotillaUser } from "@flotilla/flotilla";

const CLUSTER = "member1";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const USER = flotillaUser("test");
const profiles = {
  member: {
    builtIns: kubernetesKinds,
    customs: [CloneSet],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }],
  },
};

async function startMember(options: { nodes?: number } = {}) {
  const clock = createFakeClock();
  const cache = await createCache(createMemoryEngine());
  const admissions = [
    ...kindAdmissions,
    ...createKruiseAdmissions({ appliesTo: () => true, nowMs: () => clock.now() }),
  ];
  const server = await createApiServer({
    controllerGroup: FLOTILLA_GROUP,
    cache,
    clock,
    random: createSeededRandom(3),
    log: silentLog,
    admissions,
    profiles,
    freeze: true,
  });
  await server.addCluster(CLUSTER, "member");
  const counter = countWrites(server.transport(USER));
  const controllerClient = createClient({ transport: counter.transport, fieldManager: "controllers" });
  const client = createClient({ transport: server.transport(USER), fieldManager: "user" });
  const informers = createInformers({
    client: controllerClient,
    clock,
    log: silentLog,
    scope: { cluster: "*", where: (cluster) => cluster !== "hub" },
    random: createSeededRandom(1),
  });
  const simulation = createSimulation({ client: controllerClient, informers, clock });
  const manager = createManager({ client: controllerClient, informers, clock, log: silentLog });
  manager.add(
    ...createWorkloadControllers({ client: controllerClient, informers, clock, random: createSeededRandom(2) }),
    ...simulation.controllers,
  );
  await simulation.ensureNodes(CLUSTER, options.nodes ?? 3);
  const stopping = new AbortController();
  manager.start(stopping.signal);
  stops.push(async () => {
    await manager.stop();
    informers.close();
    await server.close();
  });

  const podList = informers.of(Pod);
  const member = {
    client,
    clock,
    /** Writes of the controllers, including failed attempts. */
    writes: counter,
    /** Advances the clock and runs everything that is due. */
    async pass(ms: number): Promise<void> {
      const until = clock.now() + ms;
      for (;;) {
        await reconcileUntilQuiet({ managers: [manager], server });
        const due = clock.nextDue();
        if (due === undefined || due > until) break;
        clock.advance(Math.max(0, due - clock.now()));
      }
      clock.advance(until - clock.now());
    },
    pods: (): DeepReadonly<Pod>[] =>
      podList.list({ cluster: CLUSTER }).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    readyPods: (): DeepReadonly<Pod>[] => member.pods().filter(isReady),
    /** Calls back on every pod change, with all current pods. */
    onPodChange: (look: (pods: DeepReadonly<Pod>[]) => void): void => void podList.subscribe(() => look(member.pods())),
    deployment: () => client.get(Deployment, { cluster: CLUSTER, namespace: "shop", name: "web" }),
    cloneSet: () => client.get(CloneSet, { cluster: CLUSTER, namespace: "shop", name: "web" }),
    async changeDeployment(
      change: (spec: DeepReadonly<Deployment["spec"]>) => DeepReadonly<Deployment["spec"]>,
    ): Promise<void> {
      const current = await member.deployment();
      await client.update(Deployment, CLUSTER, { ...current, spec: change(current.spec) });
    },
    async changeCloneSet(
      change: (spec: DeepReadonly<CloneSet["spec"]>) => DeepReadonly<CloneSet["spec"]>,
    ): Promise<void> {
      const current = await member.cloneSet();
      await client.update(CloneSet, CLUSTER, { ...current, spec: change(current.spec) });
    },
  };
  return member;
}

const isReady = ({ metadata, status }: DeepReadonly<Pod>): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false);
const imageOf = ({ spec }: DeepReadonly<Pod>): string => spec.containers[0]?.image ?? "";

const metadata = { name: "web", namespace: "shop" };
const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image }] },
});
const selector = { matchLabels: { app: "web" } };

function makeDeployment(replicas: number, spec: Partial<Deployment["spec"]> = {}): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { replicas, selector, template: template("web:1"), ...spec },
  };
}

function makeCloneSet(
  replicas: number,
  rollingUpdate: NonNullable<CloneSet["spec"]["updateStrategy"]>["rollingUpdate"] = {},
): CloneSet {
  const updateStrategy = { type: "RollingUpdate" as const, rollingUpdate };
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata,
    spec: { replicas, selector, template: template("web:1"), updateStrategy },
  };
}

describe("Deployment", () => {
  test("Deployment of three becomes ready, with each pod on its own node", async () => {
    const member = await startMember();

    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);

    const { status } = await member.deployment();
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
    expect(status?.conditions?.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`)).toEqual([
      "Available True MinimumReplicasAvailable",
      "Progressing True NewReplicaSetAvailable",
    ]);
    expect(new Set(member.pods().map(({ spec }) => spec.nodeName))).toEqual(
      new Set(["node-000", "node-001", "node-002"]),
    );
  });

  test("costs three writes per pod, and six more whatever its size", async () => {
    const member = await startMember();

    await member.client.create(Deployment, CLUSTER, makeDeployment(20));
    await member.pass(10_000);

    expect(member.writes.total({ resource: "pods" })).toBe(60);
    expect(member.writes.total({ resource: "replicasets.apps" })).toBe(3);
    expect(member.writes.total({ resource: "deployments.apps" })).toBe(3);
  });

  test("follows its replicas up and down", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);

    await member.changeDeployment((spec) => ({ ...spec, replicas: 7 }));
    await member.pass(10_000);
    const grown = member.readyPods().length;
    await member.changeDeployment((spec) => ({ ...spec, replicas: 2 }));
    await member.pass(10_000);

    expect([grown, member.pods().length, member.readyPods().length]).toEqual([7, 2, 2]);
    expect((await member.deployment()).status).toMatchObject({ replicas: 2, availableReplicas: 2 });
  });

  test("rolls out a new image within its budget and surge", async () => {
    const member = await startMember();
    await member.client.create(
      Deployment,
      CLUSTER,
      makeDeployment(4, { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    );
    await member.pass(10_000);
    const ready: number[] = [];
    const total: number[] = [];
    member.onPodChange((pods) => {
      ready.push(pods.filter(isReady).length);
      total.push(pods.filter(({ metadata: { deletionTimestamp } }) => !deletionTimestamp).length);
    });
    const seenBefore = ready.length;

    await member.changeDeployment((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(60_000);

    expect(member.readyPods().map(imageOf)).toEqual(["web:2", "web:2", "web:2", "web:2"]);
    expect(Math.min(...ready.slice(seenBefore))).toBe(3);
    expect(Math.max(...total.slice(seenBefore))).toBeLessThanOrEqual(5);
    const { metadata: meta, status } = await member.deployment();
    expect(meta.annotations?.["deployment.kubernetes.io/revision"]).toBe("2");
    expect(status).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
  });

  test("stops rolling out an image that cannot be pulled, and stays available", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(4, { progressDeadlineSeconds: 60 }));
    await member.pass(10_000);

    await member.changeDeployment((spec) => ({ ...spec, template: template("web:broken") }));
    await member.pass(120_000);

    expect(member.readyPods().map(imageOf)).toEqual(["web:1", "web:1", "web:1"]);
    const broken = member.pods().find((pod) => imageOf(pod) === "web:broken");
    expect(broken?.status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe("ImagePullBackOff");
    const progressing = (await member.deployment()).status?.conditions?.find(({ type }) => type === "Progressing");
    expect(progressing).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
  });

  test("Deployment with Recreate runs no new pod beside an old one", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3, { strategy: { type: "Recreate" } }));
    await member.pass(10_000);
    let mixed = false;
    member.onPodChange((pods) => (mixed ||= new Set(pods.map(imageOf)).size > 1));

    await member.changeDeployment((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(30_000);

    expect(mixed).toBe(false);
    expect(member.readyPods().map(imageOf)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("reuses the ReplicaSet of a previous template", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(2));
    await member.pass(10_000);
    for (const image of ["web:2", "web:1"]) {
      await member.changeDeployment((spec) => ({ ...spec, template: template(image) }));
      await member.pass(30_000);
    }

    const { items } = await member.client.list(ReplicaSet, { cluster: CLUSTER });

    const sets = items.map(
      ({ spec, metadata: { annotations } }) =>
        `${spec.template?.spec?.containers[0]?.image} x${spec.replicas} revision ${annotations?.["deployment.kubernetes.io/revision"]}`,
    );
    expect(new Set(sets)).toEqual(new Set(["web:1 x2 revision 3", "web:2 x0 revision 2"]));
  });

  test("replaces a deleted pod", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);
    const victim = member.pods()[0]?.metadata.name ?? "";

    await member.client.delete(Pod, { cluster: CLUSTER, namespace: "shop", name: victim });
    await member.pass(10_000);

    expect(member.readyPods()).toHaveLength(3);
    expect(member.readyPods().map(({ metadata: { name } }) => name)).not.toContain(victim);
  });

  test("does nothing while it is paused, and continues when it is resumed", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(2));
    await member.pass(10_000);

    await member.changeDeployment((spec) => ({ ...spec, paused: true, template: template("web:2") }));
    await member.pass(30_000);
    const whilePaused = member.readyPods().map(imageOf);
    await member.changeDeployment((spec) => ({ ...spec, paused: false }));
    await member.pass(30_000);

    expect(whilePaused).toEqual(["web:1", "web:1"]);
    expect(member.readyPods().map(imageOf)).toEqual(["web:2", "web:2"]);
  });
});

describe("Orphans", () => {
  test("Orphans of a ReplicaSet are adopted by its successor", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);
    const before = member.pods().map(({ metadata }) => metadata.uid);
    const [set] = (await member.client.list(ReplicaSet, { cluster: CLUSTER, namespace: "shop" })).items;

    await member.client.delete(
      ReplicaSet,
      { cluster: CLUSTER, namespace: "shop", name: set?.metadata.name ?? "" },
      { propagationPolicy: "Orphan" },
    );
    await member.pass(10_000);

    expect(member.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(member.pods().map(({ metadata }) => metadata.ownerReferences?.length)).toEqual([1, 1, 1]);
  });

  test("Orphans of a Deployment are adopted by its successor", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);
    const before = member.pods().map(({ metadata }) => metadata.uid);

    await member.client.delete(
      Deployment,
      { cluster: CLUSTER, namespace: "shop", name: "web" },
      { propagationPolicy: "Orphan" },
    );
    await member.pass(10_000);
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(10_000);

    expect(member.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect((await member.deployment()).status).toMatchObject({ replicas: 3, readyReplicas: 3 });
  });
});

describe("CloneSet", () => {
  test("updates four pods in place: the same pods, new containers", async () => {
    const member = await startMember();
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(4, { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: 1 }),
    );
    await member.pass(10_000);
    const before = member.readyPods().map(({ metadata: { name, uid } }) => `${name} ${uid}`);

    await member.changeCloneSet((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(60_000);

    const after = member.readyPods();
    expect(before).toHaveLength(4);
    expect(after.map(({ metadata: { name, uid } }) => `${name} ${uid}`)).toEqual(before);
    expect(
      after
        .map(({ status }) => status?.containerStatuses?.[0])
        .map((status) => `${status?.image} ${status?.restartCount}`),
    ).toEqual(["web:2 1", "web:2 1", "web:2 1", "web:2 1"]);
    expect((await member.cloneSet()).status).toMatchObject({
      replicas: 4,
      updatedReplicas: 4,
      updatedReadyReplicas: 4,
      availableReplicas: 4,
    });
  });

  test("never has more pods unavailable than allowed during an in-place update", async () => {
    const member = await startMember();
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(4, { podUpdatePolicy: "InPlaceOnly", maxUnavailable: 1 }),
    );
    await member.pass(10_000);
    const ready: number[] = [];
    member.onPodChange((pods) => ready.push(pods.filter(isReady).length));

    await member.changeCloneSet((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(60_000);

    expect(Math.min(...ready.slice(4))).toBe(3);
    expect(member.readyPods().map(imageOf)).toEqual(["web:2", "web:2", "web:2", "web:2"]);
  });

  test("stops at a partition of 50%, and continues when it is removed", async () => {
    const member = await startMember();
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(4, { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: 2, partition: "50%" }),
    );
    await member.pass(10_000);

    await member.changeCloneSet((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(60_000);
    const halfway = member.readyPods().map(imageOf).toSorted();
    const { status } = await member.cloneSet();
    await member.changeCloneSet((spec) => ({
      ...spec,
      updateStrategy: { rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: 2, partition: 0 } },
    }));
    await member.pass(60_000);

    expect(halfway).toEqual(["web:1", "web:1", "web:2", "web:2"]);
    expect(status).toMatchObject({ updatedReplicas: 2, expectedUpdatedReplicas: 2 });
    expect(status?.currentRevision).not.toBe(status?.updateRevision);
    expect(member.readyPods().map(imageOf)).toEqual(["web:2", "web:2", "web:2", "web:2"]);
  });

  test("recreates pods when more than the image changed", async () => {
    const member = await startMember();
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(3, { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: 1 }),
    );
    await member.pass(10_000);
    const before = new Set(member.pods().map(({ metadata: { uid } }) => uid));

    await member.changeCloneSet((spec) => ({
      ...spec,
      template: {
        ...template("web:1"),
        spec: { containers: [{ name: "main", image: "web:1", env: [{ name: "MODE", value: "new" }] }] },
      },
    }));
    await member.pass(60_000);

    expect(member.readyPods()).toHaveLength(3);
    expect(member.readyPods().filter(({ metadata: { uid } }) => before.has(uid))).toEqual([]);
  });

  test("reports an update that a budget blocks", async () => {
    const member = await startMember();
    const slow = makeCloneSet(2, { maxUnavailable: 1 });
    await member.client.create(CloneSet, CLUSTER, { ...slow, spec: { ...slow.spec, minReadySeconds: 3_600 } });
    await member.pass(60_000);

    await member.changeCloneSet((spec) => ({ ...spec, template: template("web:2") }));
    await member.pass(60_000);

    const { status } = await member.cloneSet();
    expect(status).toMatchObject({ observedGeneration: 2, readyReplicas: 2, availableReplicas: 0, updatedReplicas: 0 });
    expect(status?.updateRevision).not.toBe(status?.currentRevision);
  });

  test("reports why it is blocked when InPlaceOnly is not possible", async () => {
    const member = await startMember();
    const rolling = { maxUnavailable: 1, paused: true };
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(2, { ...rolling, podUpdatePolicy: "InPlaceIfPossible" }),
    );
    await member.pass(10_000);

    // With InPlaceOnly such a template would be rejected, so the policy is set afterwards.
    await member.changeCloneSet((spec) => ({
      ...spec,
      template: {
        ...template("web:1"),
        spec: { containers: [{ name: "main", image: "web:1", env: [{ name: "MODE", value: "new" }] }] },
      },
    }));
    await member.changeCloneSet((spec) => ({
      ...spec,
      updateStrategy: { rollingUpdate: { ...rolling, paused: false, podUpdatePolicy: "InPlaceOnly" } },
    }));
    await member.pass(60_000);

    const { status } = await member.cloneSet();
    expect(status?.conditions?.find(({ type }) => type === "FailedUpdate")?.message).toMatch(
      /InPlaceOnly but can not update in-place/,
    );
    expect(member.readyPods()).toHaveLength(2);
  });

  test("deletes the pods in podsToDelete, and removes their names", async () => {
    const member = await startMember();
    await member.client.create(CloneSet, CLUSTER, makeCloneSet(3));
    await member.pass(10_000);
    const [victim = "", ...others] = member.pods().map(({ metadata: { name } }) => name);

    await member.changeCloneSet((spec) => ({ ...spec, replicas: 2, scaleStrategy: { podsToDelete: [victim] } }));
    await member.pass(10_000);

    expect(member.pods().map(({ metadata: { name } }) => name)).toEqual(others);
    expect((await member.cloneSet()).spec.scaleStrategy).toEqual({});
  });

  test("returns to an old revision under its old name", async () => {
    const member = await startMember();
    await member.client.create(
      CloneSet,
      CLUSTER,
      makeCloneSet(2, { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: 1 }),
    );
    await member.pass(10_000);
    const first = (await member.cloneSet()).status?.updateRevision;
    for (const image of ["web:2", "web:1"]) {
      await member.changeCloneSet((spec) => ({ ...spec, template: template(image) }));
      await member.pass(30_000);
    }

    const { items } = await member.client.list(ControllerRevision, { cluster: CLUSTER });

    expect((await member.cloneSet()).status).toMatchObject({ updateRevision: first, currentRevision: first });
    expect(items.find(({ metadata: { name } }) => name === first)?.revision).toBe(3);
    expect(items).toHaveLength(2);
  });

  test("costs three writes per pod: create, placement, status", async () => {
    const member = await startMember();

    await member.client.create(CloneSet, CLUSTER, makeCloneSet(20));
    await member.pass(10_000);

    expect(member.readyPods()).toHaveLength(20);
    expect(member.writes.total({ resource: "pods" })).toBe(60);
  });
});

describe("A converged member", () => {
  test("writes nothing for five minutes", async () => {
    const member = await startMember();
    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.client.create(CloneSet, CLUSTER, makeCloneSet(3));
    await member.pass(30_000);
    member.writes.reset();

    await member.pass(5 * 60_000);

    expect(member.writes.counts()).toEqual([]);
    expect(member.readyPods()).toHaveLength(6);
  });

  test("A converged member without nodes stores pods and writes nothing about them", async () => {
    const member = await startMember({ nodes: 0 });

    await member.client.create(Deployment, CLUSTER, makeDeployment(3));
    await member.pass(60_000);

    expect(member.writes.counts().filter(({ resource }) => resource === "pods")).toEqual([
      { cluster: CLUSTER, resource: "pods", verb: "create", subresource: "", count: 3 },
    ]);
  });
});
