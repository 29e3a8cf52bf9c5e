/** Advanced StatefulSets on a simulated member with a fake clock, as users see them. */
import { afterEach, describe, expect, test } from "vitest";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import { PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import { kruiseKinds } from "../openkruise.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember, KruiseMemberOptions } from "@flotilla/testing/member/kruise-member.ts";

type Spec = AdvancedStatefulSet["spec"];
type Rolling = NonNullable<NonNullable<Spec["updateStrategy"]>["rollingUpdate"]>;
type ReadonlyPod = DeepReadonly<Pod>;

let member: KruiseMember;
afterEach(() => member.stop());

const template = (image: string) => ({
  metadata: { labels: { app: "db" } },
  spec: { containers: [{ name: "main", image }], readinessGates: [{ conditionType: "InPlaceUpdateReady" }] },
});

function makeSet(replicas: number, rollingUpdate: Rolling = {}, spec: Partial<Spec> = {}): AdvancedStatefulSet {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: NAMESPACE },
    spec: {
      replicas,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: template("db:1"),
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
      ...spec,
    },
  };
}

async function start(set: AdvancedStatefulSet, options: KruiseMemberOptions = {}): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, ...options });
  await member.client.create(AdvancedStatefulSet, MEMBER, set);
  await member.pass(60_000);
}
const edit = (change: (spec: DeepReadonly<Spec>) => DeepReadonly<Spec>): Promise<unknown> =>
  member.change(AdvancedStatefulSet, "db", (set) => ({ ...set, spec: change(set.spec) }));
const setImage = (image: string): Promise<unknown> => edit((spec) => ({ ...spec, template: template(image) }));
const status = async (): Promise<DeepReadonly<AdvancedStatefulSet>["status"]> =>
  (await member.get(AdvancedStatefulSet, "db")).status;

const names = (): string[] => member.pods().map(({ metadata }) => metadata.name);
const images = (): (string | undefined)[] => member.pods().map(({ spec }) => spec.containers[0]?.image);
const stateOf = ({ metadata }: ReadonlyPod): string | undefined => metadata.labels?.["lifecycle.apps.kruise.io/state"];
const withLabel =
  (key: string, value: string | undefined) =>
  (pod: ReadonlyPod): ReadonlyPod => {
    const { [key]: _old, ...labels } = pod.metadata.labels ?? {};
    return {
      ...pod,
      metadata: { ...pod.metadata, labels: value === undefined ? labels : { ...labels, [key]: value } },
    };
  };
const parallel = { podManagementPolicy: "Parallel" } as const;

describe("A new set", () => {
  test("creates its pods one after the other, Normal and ready, with three writes each", async () => {
    await start(makeSet(3));

    const [first] = member.pods();
    expect(names()).toEqual(["db-0", "db-1", "db-2"]);
    expect(member.pods().map(stateOf)).toEqual(["Normal", "Normal", "Normal"]);
    expect(first?.metadata.labels).toMatchObject({
      app: "db",
      "statefulset.kubernetes.io/pod-name": "db-0",
      "apps.kubernetes.io/pod-index": "0",
    });
    expect(first?.spec).toMatchObject({ hostname: "db-0", subdomain: "db" });
    expect(member.writes.total({ resource: "pods" })).toBe(9);
    expect(await status()).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      updatedReadyReplicas: 3,
      updatedAvailableReplicas: 3,
      labelSelector: "app=db",
    });
    expect(member.events).toContain(
      "StatefulSet/db Normal SuccessfulCreate: create Pod db-0 in StatefulSet db successful",
    );
  });

  test("skips reserved ordinals, single ones and ranges", async () => {
    await start(makeSet(3, {}, { ...parallel, reserveOrdinals: [0, "2-3"] }));

    expect(names()).toEqual(["db-1", "db-4", "db-5"]);
  });

  test("starts at ordinals.start with the feature gate", async () => {
    await start(makeSet(2, {}, { ordinals: { start: 5 } }), { gates: { StatefulSetStartOrdinal: true } });

    expect(names()).toEqual(["db-5", "db-6"]);
  });

  test("creates no more pods at a time than scaleStrategy.maxUnavailable", async () => {
    await start(makeSet(4, {}, { ...parallel, scaleStrategy: { maxUnavailable: 2 } }), { times: { startMs: 90_000 } });
    const early = names();

    await member.pass(300_000);

    expect(early).toEqual(["db-0", "db-1"]);
    expect(names()).toEqual(["db-0", "db-1", "db-2", "db-3"]);
  });

  test("writes nothing once it has converged", async () => {
    await start(makeSet(3));
    member.writes.reset();

    await member.pass(3_600_000);

    expect(member.writes.counts()).toEqual([]);
  });
});

describe("A reserved ordinal", () => {
  test("A reserved ordinal in use deletes its pod, and another is added at the end", async () => {
    await start(makeSet(3, {}, parallel));

    await edit((spec) => ({ ...spec, reserveOrdinals: [1] }));
    await member.pass(60_000);

    expect(names()).toEqual(["db-0", "db-2", "db-3"]);
  });
});

describe("An update", () => {
  test("An update of the image happens in place: same pods, one restart", async () => {
    await start(makeSet(3, { podUpdatePolicy: "InPlaceIfPossible" }));
    const before = member.pods().map(({ metadata }) => metadata.uid);

    await setImage("db:2");
    await member.pass(120_000);

    expect(images()).toEqual(["db:2", "db:2", "db:2"]);
    expect(member.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(member.pods().map((pod) => pod.status?.containerStatuses?.[0]?.restartCount)).toEqual([1, 1, 1]);
    expect(member.pods().map(stateOf)).toEqual(["Normal", "Normal", "Normal"]);
    const now = await status();
    expect(now).toMatchObject({ updatedReplicas: 3, readyReplicas: 3, currentReplicas: 3 });
    expect(now?.currentRevision).toBe(now?.updateRevision);
    expect(member.events.filter((event) => event.includes("SuccessfulUpdatePodInPlace"))).toHaveLength(3);
  });

  test("replaces pods from the highest ordinal down and keeps the old pods of the partition", async () => {
    await start(makeSet(4, { partition: 2 }));

    await setImage("db:2");
    await member.pass(120_000);

    expect(images()).toEqual(["db:1", "db:1", "db:2", "db:2"]);
    expect(await status()).toMatchObject({ updatedReplicas: 2, currentReplicas: 2, availableReplicas: 4 });
  });

  test("counts pods, not ordinals, when ordinals are reserved", async () => {
    await start(makeSet(3, { partition: 2 }, { ...parallel, reserveOrdinals: [1, 3] }));

    await setImage("db:2");
    await member.pass(120_000);

    expect(names()).toEqual(["db-0", "db-2", "db-4"]);
    expect(images()).toEqual(["db:1", "db:1", "db:2"]);
  });

  test("follows the priority strategy when it is unordered", async () => {
    const unorderedUpdate = {
      priorityStrategy: { weightPriority: [{ weight: 50, matchSelector: { matchLabels: { first: "yes" } } }] },
    };
    await start(makeSet(4, { partition: 3, unorderedUpdate }, parallel));
    await member.editPod("db-1", withLabel("first", "yes"));
    await member.pass(10_000);

    await setImage("db:2");
    await member.pass(120_000);

    expect(images()).toEqual(["db:1", "db:2", "db:1", "db:1"]);
  });

  test("does nothing while it is paused", async () => {
    await start(makeSet(2, { paused: true }));

    await setImage("db:2");
    await member.pass(120_000);

    expect(images()).toEqual(["db:1", "db:1"]);
  });

  test("An update with OnDelete waits for users to delete pods", async () => {
    await start({ ...makeSet(2), spec: { ...makeSet(2).spec, updateStrategy: { type: "OnDelete" } } });

    await setImage("db:2");
    await member.pass(60_000);
    const before = images();
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "db-0" });
    await member.pass(120_000);

    expect(before).toEqual(["db:1", "db:1"]);
    expect(images()).toEqual(["db:2", "db:1"]);
  });

  test("waits minReadySeconds before the next pod is updated", async () => {
    await start(makeSet(3, { podUpdatePolicy: "InPlaceIfPossible", minReadySeconds: 60 }));
    await member.pass(600_000);

    await setImage("db:2");
    await member.pass(50_000);
    const early = images();
    await member.pass(600_000);

    expect(early).toEqual(["db:1", "db:1", "db:2"]);
    expect(images()).toEqual(["db:2", "db:2", "db:2"]);
  });

  test("delays the container changes for a grace period while the pod is unready", async () => {
    await start(
      makeSet(1, { podUpdatePolicy: "InPlaceIfPossible", inPlaceUpdateStrategy: { gracePeriodSeconds: 30 } }),
    );

    await setImage("db:2");
    await member.pass(20_000);
    const early = { images: images(), ready: (await status())?.readyReplicas };
    await member.pass(60_000);

    expect(early).toEqual({ images: ["db:1"], ready: 0 });
    expect(images()).toEqual(["db:2"]);
    expect(await status()).toMatchObject({ readyReplicas: 1 });
  });

  test("An update that breaks every pod stops at the budget and can be corrected", async () => {
    await start(makeSet(2, {}, parallel));
    await edit((spec) => ({
      ...spec,
      template: {
        ...template("db:2"),
        metadata: { labels: { app: "db" }, annotations: { "simulation.flotilla.dev/fault": "never-ready" } },
      },
    }));
    await member.pass(120_000);
    const broken = images();

    await setImage("db:3");
    await member.pass(240_000);

    expect(broken).toEqual(["db:1", "db:2"]);
    expect(images()).toEqual(["db:3", "db:3"]);
    expect(await status()).toMatchObject({ readyReplicas: 2 });
  });
});

describe("A lifecycle hook", () => {
  test("A lifecycle hook before the update blocks the update until it is removed", async () => {
    const lifecycle = { inPlaceUpdate: { labelsHandler: { hold: "yes" } } };
    await start(
      makeSet(
        1,
        { podUpdatePolicy: "InPlaceIfPossible" },
        { ...parallel, lifecycle, template: { ...template("db:1"), metadata: { labels: { app: "db", hold: "yes" } } } },
      ),
    );

    await edit((spec) => ({
      ...spec,
      template: { ...template("db:2"), metadata: { labels: { app: "db", hold: "yes" } } },
    }));
    await member.pass(60_000);
    const held = [images(), member.pods().map(stateOf)];
    await member.editPod("db-0", withLabel("hold", undefined));
    await member.pass(60_000);
    const updated = [images(), member.pods().map(stateOf)];
    await member.editPod("db-0", withLabel("hold", "yes"));
    await member.pass(60_000);

    expect(held).toEqual([["db:1"], ["PreparingUpdate"]]);
    expect(updated).toEqual([["db:2"], ["Updated"]]);
    expect(member.pods().map(stateOf)).toEqual(["Normal"]);
  });

  test("A lifecycle hook before the deletion blocks a scale-down until it is removed", async () => {
    const lifecycle = { preDelete: { labelsHandler: { hold: "yes" } } };
    await start(
      makeSet(
        2,
        {},
        { lifecycle, template: { ...template("db:1"), metadata: { labels: { app: "db", hold: "yes" } } } },
      ),
    );

    await edit((spec) => ({ ...spec, replicas: 1 }));
    await member.pass(60_000);
    const held = member.pods().map(stateOf);
    await member.editPod("db-1", withLabel("hold", undefined));
    await member.pass(60_000);

    expect(held).toEqual(["Normal", "PreparingDelete"]);
    expect(names()).toEqual(["db-0"]);
  });
});

describe("A set that was deleted without its pods", () => {
  test("adopts its pods when it is recreated and changes none", async () => {
    await start(makeSet(2));
    const before = member.pods().map(({ metadata }) => metadata.uid);
    const { status: old } = await member.get(AdvancedStatefulSet, "db");

    await member.client.delete(
      AdvancedStatefulSet,
      { cluster: MEMBER, namespace: NAMESPACE, name: "db" },
      { propagationPolicy: "Orphan" },
    );
    await member.pass(60_000);
    await member.client.create(AdvancedStatefulSet, MEMBER, makeSet(2));
    await member.pass(60_000);

    expect(member.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(await status()).toMatchObject({
      updateRevision: old?.updateRevision,
      updatedReplicas: 2,
      collisionCount: 0,
    });
  });
});

describe("A pod that is marked for deletion", () => {
  test("is replaced under its own name, regardless of the partition", async () => {
    await start(makeSet(3, { partition: 3 }, parallel));
    const before = member.pods().map(({ metadata }) => metadata.uid);

    await member.editPod("db-1", withLabel("apps.kruise.io/specified-delete", "true"));
    await member.pass(60_000);

    const after = member.pods().map(({ metadata }) => metadata.uid);
    expect(names()).toEqual(["db-0", "db-1", "db-2"]);
    expect(after.map((uid, index) => uid === before[index])).toEqual([true, false, true]);
  });
});

describe("Claims", () => {
  const claim = (storage: string) =>
    ({
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
    }) as unknown as PersistentVolumeClaim;
  const claims = async (): Promise<readonly DeepReadonly<PersistentVolumeClaim>[]> =>
    (await member.list(PersistentVolumeClaim)).filter(({ metadata }) => !metadata.deletionTimestamp);
  const claimNames = async (): Promise<string[]> => (await claims()).map(({ metadata }) => metadata.name);
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "flotilla.dev/simulated",
    allowVolumeExpansion: true,
  };

  test("are created for each pod and outlive it", async () => {
    await start(makeSet(2, {}, { volumeClaimTemplates: [claim("1Gi")] }), { objects: [storageClass] });
    const before = await claimNames();

    await edit((spec) => ({ ...spec, replicas: 1 }));
    await member.pass(60_000);

    expect(before).toEqual(["data-db-0", "data-db-1"]);
    expect(names()).toEqual(["db-0"]);
    expect(await claimNames()).toEqual(["data-db-0", "data-db-1"]);
    expect((await status())?.volumeClaims).toEqual([
      { volumeClaimName: "data", compatibleReplicas: 1, compatibleReadyReplicas: 1 },
    ]);
  });

  test("are deleted with the pods of a scale-down if the policy requires it", async () => {
    await start(
      makeSet(
        2,
        {},
        {
          volumeClaimTemplates: [claim("1Gi")],
          persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
        },
      ),
      { objects: [storageClass] },
    );
    const owners = (await claims())[0]?.metadata.ownerReferences?.map(({ kind }) => kind);

    await edit((spec) => ({ ...spec, replicas: 1 }));
    await member.pass(60_000);

    expect(owners).toEqual(["StatefulSet"]);
    expect(await claimNames()).toEqual(["data-db-0"]);
  });

  test("Claims that are terminating block the pod that would use them, and the status reports it", async () => {
    const held = {
      ...claim("1Gi"),
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data-db-0", namespace: NAMESPACE, finalizers: ["example.com/hold"] },
    };
    member = await startKruiseMember({ customs: kruiseKinds, objects: [storageClass] });
    await member.client.create(PersistentVolumeClaim, MEMBER, held);
    await member.client.delete(PersistentVolumeClaim, { cluster: MEMBER, namespace: NAMESPACE, name: "data-db-0" });
    await member.client.create(AdvancedStatefulSet, MEMBER, makeSet(1, {}, { volumeClaimTemplates: [claim("1Gi")] }));
    await member.pass(10_000);
    const blocked = await status();

    await member.change(PersistentVolumeClaim, "data-db-0", (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [] },
    }));
    await member.pass(60_000);

    expect(blocked?.conditions).toMatchObject([
      {
        type: "FailedCreatePod",
        status: "True",
        message: "StatefulPodControl failed to create Pod error: pvc data-db-0 is to be deleted",
      },
    ]);
    expect(await status()).toMatchObject({ readyReplicas: 1 });
    expect((await status())?.conditions).toBeUndefined();
  });

  test("are expanded with an update if the strategy requires it, before their pods", async () => {
    await start(
      makeSet(
        2,
        {},
        { volumeClaimTemplates: [claim("1Gi")], volumeClaimUpdateStrategy: { type: "OnPodRollingUpdate" } },
      ),
      { objects: [storageClass], gates: { StatefulSetAutoResizePVCGate: true } },
    );

    await edit((spec) => ({ ...spec, volumeClaimTemplates: [claim("2Gi")], template: template("db:2") }));
    await member.pass(240_000);

    expect((await claims()).map(({ status: now }) => now?.capacity?.["storage"])).toEqual(["2Gi", "2Gi"]);
    expect(images()).toEqual(["db:2", "db:2"]);
    expect((await status())?.volumeClaims).toEqual([
      { volumeClaimName: "data", compatibleReplicas: 2, compatibleReadyReplicas: 2 },
    ]);
    expect(member.events).toContain(
      "StatefulSet/db Normal SuccessfulResize: resize Claim data-db-1 Pod db-1 in StatefulSet db success",
    );
  });
});
