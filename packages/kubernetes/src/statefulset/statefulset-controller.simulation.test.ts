/** StatefulSets on a simulated member: order, identity, claims and updates. */
import { describe, expect, test } from "vitest";
import { ControllerRevision } from "../controllerrevision/controllerrevision-kind.ts";
import { PersistentVolumeClaim } from "../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { StatefulSet } from "./statefulset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createStatefulSetController } from "./statefulset-controller.ts";

async function startMember(): Promise<TestMember> {
  const member = await startTestMember({
    controllers(deps) {
      indexByController(deps.informers);
      return [createStatefulSetController(deps)];
    },
  });
  return endsWithTest(member);
}

const template = (image: string) => ({
  metadata: { labels: { app: "db" } },
  spec: { containers: [{ name: "main", image }] },
});

function makeSet(spec: Partial<StatefulSet["spec"]> = {}): StatefulSet {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: NAMESPACE },
    spec: {
      replicas: 3,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: template("db:1"),
      ...spec,
    },
  };
}

const isReady = ({ metadata, status }: DeepReadonly<Pod>): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false);
const names = (member: TestMember): string[] => member.pods().map(({ metadata }) => metadata.name);
const images = (member: TestMember): (string | undefined)[] =>
  member.pods().map(({ spec }) => spec.containers[0]?.image);
const statusOf = async (member: TestMember) => (await member.get(StatefulSet, "db")).status;
const scale = (member: TestMember, replicas: number): Promise<unknown> =>
  member.change(StatefulSet, "db", (set) => ({ ...set, spec: { ...set.spec, replicas } }));
const setImage = (member: TestMember, image: string): Promise<unknown> =>
  member.change(StatefulSet, "db", (set) => ({ ...set, spec: { ...set.spec, template: template(image) } }));

describe("A StatefulSet", () => {
  test("creates no pod with another name while its name is taken", async () => {
    const member = await startMember();
    const { spec } = template("other:1");
    await member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "db-0", namespace: NAMESPACE },
      spec,
    });

    await member.client.create(StatefulSet, MEMBER, makeSet({ replicas: 1 }));
    await member.pass(10_000);

    expect(names(member)).toEqual(["db-0"]);
    expect(images(member)).toEqual(["other:1"]);
  });

  test("creates its pods one after the other, each with a stable name", async () => {
    const member = await startMember();
    const seen: string[] = [];
    member.informers.of(Pod).subscribe(({ object, old }) => {
      if (!old) seen.push(`create ${object.metadata.name} beside ${member.pods().filter(isReady).length} ready`);
    });

    await member.client.create(StatefulSet, MEMBER, makeSet());
    await member.pass(20_000);

    expect(seen).toEqual(["create db-0 beside 0 ready", "create db-1 beside 1 ready", "create db-2 beside 2 ready"]);
    const [pod] = member.pods();
    const { updateRevision, ...status } = (await statusOf(member)) ?? {};
    expect(pod?.metadata.labels).toMatchObject({
      app: "db",
      "statefulset.kubernetes.io/pod-name": "db-0",
      "apps.kubernetes.io/pod-index": "0",
      "controller-revision-hash": updateRevision,
    });
    expect(pod?.spec).toMatchObject({ hostname: "db-0", subdomain: "db" });
    expect(status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      currentRevision: updateRevision,
      collisionCount: 0,
    });
    expect(member.events).toContain(
      "StatefulSet/db Normal SuccessfulCreate: Create Pod db-0 in StatefulSet db successful",
    );
  });

  test("A StatefulSet with Parallel creates its pods at once", async () => {
    const member = await startMember();

    await member.client.create(StatefulSet, MEMBER, makeSet({ podManagementPolicy: "Parallel", replicas: 5 }));
    await member.pass(100);

    expect(names(member)).toEqual(["db-0", "db-1", "db-2", "db-3", "db-4"]);
  });

  test("starts at ordinals.start", async () => {
    const member = await startMember();

    await member.client.create(StatefulSet, MEMBER, makeSet({ replicas: 2, ordinals: { start: 7 } }));
    await member.pass(20_000);

    expect(names(member)).toEqual(["db-7", "db-8"]);
  });

  test("scales down from the highest ordinal, one at a time", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet());
    await member.pass(20_000);
    const gone: string[] = [];
    member.informers
      .of(Pod)
      .subscribe(
        ({ object, deleted }) => deleted && gone.push(`${object.metadata.name} of ${member.pods().length + 1}`),
      );

    await scale(member, 1);
    await member.pass(20_000);

    expect(gone).toEqual(["db-2 of 3", "db-1 of 2"]);
    expect(await statusOf(member)).toMatchObject({ replicas: 1, readyReplicas: 1 });
  });

  test("updates from the highest ordinal down to its partition", async () => {
    const member = await startMember();
    await member.client.create(
      StatefulSet,
      MEMBER,
      makeSet({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } }),
    );
    await member.pass(20_000);

    await setImage(member, "db:2");
    await member.pass(30_000);
    const half = images(member);
    const status = await statusOf(member);
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "db-0" });
    await member.pass(10_000);
    const remade = images(member)[0];
    await member.change(StatefulSet, "db", (set) => ({
      ...set,
      spec: { ...set.spec, updateStrategy: { type: "RollingUpdate" as const, rollingUpdate: { partition: 0 } } },
    }));
    await member.pass(30_000);

    expect(half).toEqual(["db:1", "db:2", "db:2"]);
    expect(status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
    expect(status?.currentRevision).not.toBe(status?.updateRevision);
    expect(remade).toBe("db:1");
    expect(images(member)).toEqual(["db:2", "db:2", "db:2"]);
    const after = await statusOf(member);
    expect(after?.currentRevision).toBe(after?.updateRevision);
  });

  test("A StatefulSet with OnDelete updates a pod when a user deletes it", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet({ updateStrategy: { type: "OnDelete" } }));
    await member.pass(20_000);

    await setImage(member, "db:2");
    await member.pass(20_000);
    const before = images(member);
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "db-1" });
    await member.pass(20_000);

    expect(before).toEqual(["db:1", "db:1", "db:1"]);
    expect(images(member)).toEqual(["db:1", "db:2", "db:1"]);
  });

  test("waits for minReadySeconds between its pods", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet({ minReadySeconds: 30 }));

    await member.pass(25_000);
    const early = names(member);
    await member.pass(15_000);

    expect(early).toEqual(["db-0"]);
    expect(names(member)).toEqual(["db-0", "db-1"]);
    expect(await statusOf(member)).toMatchObject({ readyReplicas: 2, availableReplicas: 1 });
  });

  test("replaces a failed pod", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet());
    await member.pass(20_000);
    const [, pod] = member.pods();
    if (!pod) throw new Error("db-1 runs");

    await member.finish(pod, 1);
    await member.pass(20_000);

    expect(names(member)).toEqual(["db-0", "db-1", "db-2"]);
    expect(member.pods()[1]?.metadata.uid).not.toBe(pod.metadata.uid);
    expect(member.pods().every(isReady)).toBe(true);
  });

  test("keeps revisions for rollbacks", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet({ revisionHistoryLimit: 1, replicas: 1 }));
    await member.pass(10_000);
    const first = (await statusOf(member))?.updateRevision;

    for (const image of ["db:2", "db:3", "db:4", "db:3"]) {
      await setImage(member, image);
      await member.pass(20_000);
    }

    const revisions = await member.list(ControllerRevision);
    expect(revisions.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([4, 5]);
    expect(revisions.map(({ metadata }) => metadata.name)).not.toContain(first);
  });

  test("writes nothing once it has converged", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, makeSet());
    await member.pass(30_000);
    member.writes.reset();

    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });

  test("costs three writes per pod", async () => {
    const member = await startMember();

    await member.client.create(StatefulSet, MEMBER, makeSet({ replicas: 10, podManagementPolicy: "Parallel" }));
    await member.pass(30_000);

    expect(member.pods().filter(isReady)).toHaveLength(10);
    expect(member.writes.total({ resource: "pods" })).toBe(30);
  });
});

describe("Claims of a StatefulSet", () => {
  const volumeClaimTemplates = [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } },
    },
  ];
  /** Without a volume controller claims stay unbound, so pods stay pending. */
  const withClaims = (spec: Partial<StatefulSet["spec"]> = {}): StatefulSet =>
    makeSet({ volumeClaimTemplates, podManagementPolicy: "Parallel", replicas: 2, ...spec });
  const claims = async (member: TestMember): Promise<string[]> =>
    (await member.list(PersistentVolumeClaim))
      .map(
        ({ metadata }) =>
          `${metadata.name} ${metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join() ?? ""}`,
      )
      .toSorted();

  test("are created for every pod and outlive it", async () => {
    const member = await startMember();
    await member.client.create(StatefulSet, MEMBER, withClaims());
    await member.pass(5_000);
    const [pod] = member.pods();

    await scale(member, 0);
    await member.pass(20_000);

    expect(pod?.spec.volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "data-db-0" } });
    expect(await claims(member)).toEqual(["data-db-0 ", "data-db-1 "]);
    expect((await member.list(PersistentVolumeClaim))[0]?.metadata.labels).toEqual({ app: "db" });
  });

  test("are owned by the set, or by a pod to be scaled down, with the Delete policy", async () => {
    const member = await startMember();
    await member.client.create(
      StatefulSet,
      MEMBER,
      withClaims({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Delete" } }),
    );
    await member.pass(5_000);
    const before = await claims(member);

    await scale(member, 1);
    await member.pass(20_000);

    expect(before).toEqual(["data-db-0 StatefulSet/db", "data-db-1 StatefulSet/db"]);
    expect(await claims(member)).toEqual(["data-db-0 StatefulSet/db"]);
  });
});
