/** The lifecycle of claims and volumes of a simulated member. */
import { describe, expect, test } from "vitest";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import type { StorageClass } from "@flotilla/kubernetes";
import {
  MEMBER,
  NAMESPACE,
  conditionsOf,
  isReady,
  makePod,
  startTestMember,
} from "@flotilla/testing/simulation/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember, TestMemberOptions } from "@flotilla/testing/simulation/member.ts";

async function start(options: TestMemberOptions = {}): Promise<TestMember> {
  const member = await startTestMember(options);
  return endsWithTest(member);
}
const makeClaim = (
  name: string,
  spec: Partial<NonNullable<PersistentVolumeClaim["spec"]>> = {},
): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: NAMESPACE },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const makeVolume = (name: string, storage: string, spec: object = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage },
    hostPath: { path: `/data/${name}` },
    storageClassName: "manual",
    ...spec,
  },
});
const makeClass = (name: string, rest: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner: "example.com/disks",
  ...rest,
});
const uses = (claimName: string) => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });
const claim = (member: TestMember, name: string) => member.get(PersistentVolumeClaim, name);
const volumes = async (member: TestMember) => (await member.client.list(PersistentVolume, { cluster: MEMBER })).items;

describe("a claim", () => {
  test("a claim without a class gets a volume of the default class, in the requested size", async () => {
    const member = await start();

    await member.create(makeClaim("data"));

    const bound = await claim(member, "data");
    expect(bound).toMatchObject({
      spec: { storageClassName: "standard", volumeName: `pvc-${bound.metadata.uid}` },
      status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] },
    });
    expect(await volumes(member)).toMatchObject([
      {
        spec: { claimRef: { name: "data", uid: bound.metadata.uid }, persistentVolumeReclaimPolicy: "Delete" },
        status: { phase: "Bound" },
      },
    ]);
    member.writes.reset();
    await member.pass(3_600_000);
    expect(member.writes.total()).toBe(0);
  });

  test("binds to the smallest volume that is large enough", async () => {
    const member = await start();

    await member.create(
      makeVolume("large", "10Gi"),
      makeVolume("fitting", "2Gi"),
      makeVolume("small", "512Mi"),
      makeClaim("data", { storageClassName: "manual" }),
    );

    expect((await claim(member, "data")).spec?.volumeName).toBe("fitting");
    expect((await volumes(member)).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)).toEqual([
      "fitting Bound",
      "large Available",
      "small Available",
    ]);
  });

  test("waits for a matching volume, and binds to it when it appears", async () => {
    const member = await start();
    await member.create(makeClaim("data", { storageClassName: "manual" }));
    const before = (await claim(member, "data")).status?.phase;

    await member.create(makeVolume("late", "1Gi"));

    expect([before, (await claim(member, "data")).status?.phase]).toEqual(["Pending", "Bound"]);
  });

  test("binds to the volume whose claimRef already names it", async () => {
    const member = await start({ nodes: 1 });
    await member.create(makeClaim("data", { storageClassName: "manual" }));
    const { metadata } = await claim(member, "data");

    await member.create(
      makeVolume("other", "1Gi", { storageClassName: "else" }),
      makeVolume("own", "1Gi", { claimRef: { namespace: NAMESPACE, name: "data", uid: metadata.uid } }),
    );

    expect((await claim(member, "data")).spec?.volumeName).toBe("own");
  });

  test("is expanded when it requests more storage", async () => {
    const member = await start();
    await member.create(makeClaim("data"));

    await member.change(PersistentVolumeClaim, "data", (object) => ({
      ...object,
      spec: { ...object.spec, resources: { requests: { storage: "5Gi" } } },
    }));

    expect((await claim(member, "data")).status?.capacity).toEqual({ storage: "5Gi" });
    expect((await volumes(member))[0]?.spec?.capacity).toEqual({ storage: "5Gi" });
  });

  test("deletes its volume with it, unless the reclaim policy is Retain", async () => {
    const member = await start();
    await member.create(
      makeVolume("kept", "1Gi"),
      makeClaim("manual", { storageClassName: "manual" }),
      makeClaim("data"),
    );

    for (const name of ["manual", "data"]) await member.delete(PersistentVolumeClaim, name);
    await member.settle();

    expect((await volumes(member)).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)).toEqual([
      "kept Released",
    ]);
  });

  test("is protected while a pod uses it", async () => {
    const member = await start();
    await member.create(makeClaim("data"), makePod("a", uses("data")));

    await member.delete(PersistentVolumeClaim, "data");
    await member.settle();
    const held = (await claim(member, "data")).metadata.deletionTimestamp !== undefined;
    await member.delete(Pod, "a");
    await member.settle();

    expect(held).toBe(true);
    await expect(claim(member, "data")).rejects.toThrow("not found");
  });

  test("is protected while a pod that has finished exists", async () => {
    const member = await start();
    await member.create(makeClaim("data"), makePod("a", uses("data")));
    const pod = await member.pod("a");
    await member.client.updateStatus(Pod, MEMBER, { ...pod, status: { ...pod.status, phase: "Succeeded" } });

    await member.delete(PersistentVolumeClaim, "data");
    await member.settle();
    const held = (await claim(member, "data")).metadata.deletionTimestamp !== undefined;
    await member.delete(Pod, "a");
    await member.settle();

    expect(held).toBe(true);
    await expect(claim(member, "data")).rejects.toThrow("not found");
  });

  test("a claim of a missing class emits an event", async () => {
    const member = await start();

    await member.create(makeClaim("data", { storageClassName: "gold" }));

    expect(member.events).toEqual([
      'PersistentVolumeClaim/data Warning ProvisioningFailed: storageclass.storage.k8s.io "gold" not found',
    ]);
  });
});

describe("a pod", () => {
  test("waits for its claim to exist and to be bound", async () => {
    const member = await start();
    await member.create(makePod("a", uses("data")));
    const before = await member.pod("a");

    await member.create(makeClaim("data"));

    expect(before.status?.conditions?.[0]?.message).toBe(
      '0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    );
    expect(isReady(await member.pod("a"))).toBe(true);
  });

  test("determines the node of a WaitForFirstConsumer claim", async () => {
    const member = await start({ objects: [makeClass("local", { volumeBindingMode: "WaitForFirstConsumer" })] });
    await member.create(makeClaim("data", { storageClassName: "local" }));
    const before = (await claim(member, "data")).status?.phase;

    await member.create(makePod("a", { ...uses("data"), nodeSelector: { "topology.kubernetes.io/zone": "b" } }));

    const bound = await claim(member, "data");
    expect([before, bound.status?.phase, bound.metadata.annotations?.["volume.kubernetes.io/selected-node"]]).toEqual([
      "Pending",
      "Bound",
      "node-001",
    ]);
    expect((await member.pod("a")).spec.nodeName).toBe("node-001");
  });

  test("is placed on the node of its volume", async () => {
    const member = await start();
    const nodeAffinity = {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["node-002"] }] },
        ],
      },
    };
    await member.create(
      makeVolume("there", "1Gi", { nodeAffinity }),
      makeClaim("data", { storageClassName: "manual" }),
    );

    await member.create(
      makePod("a", uses("data")),
      makePod("b", { ...uses("data"), nodeSelector: { "kubernetes.io/hostname": "node-000" } }),
    );

    expect((await member.pod("a")).spec.nodeName).toBe("node-002");
    expect(conditionsOf(await member.pod("b"))["PodScheduled"]).toBe("False Unschedulable");
    expect(member.events.at(-1)).toContain("1 node(s) didn't match PersistentVolume's node affinity");
  });

  test("a pod with an ephemeral volume gets a claim, which is deleted with the pod", async () => {
    const member = await start();
    await member.create(
      makePod("a", {
        volumes: [
          {
            name: "scratch",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            },
          },
        ],
      }),
    );

    const { metadata } = await claim(member, "a-scratch");
    await member.delete(Pod, "a");
    await member.pass(1_000);

    expect(metadata.ownerReferences?.[0]?.name).toBe("a");
    await expect(claim(member, "a-scratch")).rejects.toThrow("not found");
    expect(await volumes(member)).toEqual([]);
  });
});

test("a bound volume is protected until its claim is deleted", async () => {
  const member = await start();
  await member.create(makeClaim("data"));
  const [volume] = await volumes(member);

  await member.delete(PersistentVolume, volume?.metadata.name ?? "");
  await member.settle();
  const held = (await volumes(member)).length;
  await member.delete(PersistentVolumeClaim, "data");
  await member.settle();

  expect([held, (await volumes(member)).length]).toEqual([1, 0]);
});
