/**
 * CloneSets on a simulated member with a fake clock: hooks, claims, grace periods and specified deletions as users see
 * them.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "./cloneset-kind.ts";
import { PersistentVolumeClaim, Pod, ResourceQuota } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { CloneSetRolling, KruiseMember, KruiseMemberOptions } from "@flotilla/testing/member/kruise-member.ts";

let member: KruiseMember;
afterEach(() => member.stop());

async function start(cloneSet: CloneSet, options: KruiseMemberOptions = {}): Promise<void> {
  member = await startKruiseMember(options);
  await member.client.create(CloneSet, MEMBER, cloneSet);
  await member.pass(30_000);
}

type ReadonlyPod = DeepReadonly<Pod>;
const names = (): string[] => member.pods().map(({ metadata }) => metadata.name);
const stateOf = ({ metadata }: ReadonlyPod): string => metadata.labels?.["lifecycle.apps.kruise.io/state"] ?? "";
const imageOf = ({ spec }: ReadonlyPod): string => spec.containers[0]?.image ?? "";
const restartsOf = ({ status }: ReadonlyPod): number | undefined => status?.containerStatuses?.[0]?.restartCount;
const conditionOf = ({ status }: ReadonlyPod, type: string): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.status;
const withLabel =
  (key: string, value: string | undefined) =>
  (pod: ReadonlyPod): ReadonlyPod => {
    const { [key]: _old, ...labels } = pod.metadata.labels ?? {};
    return {
      ...pod,
      metadata: { ...pod.metadata, labels: value === undefined ? labels : { ...labels, [key]: value } },
    };
  };
const inPlace: CloneSetRolling = { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: "100%" };
const template = (image: string) => (spec: DeepReadonly<CloneSet["spec"]>) => ({
  ...spec,
  template: makeWebTemplate(image),
});

describe("A new pod", () => {
  test("is Normal and ready, with both gates true, after three writes", async () => {
    await start(makeWebCloneSet(20));

    const pods = member.pods();
    expect(pods.map(stateOf)).toEqual(Array<string>(20).fill("Normal"));
    expect(pods[0]?.spec.readinessGates).toEqual([
      { conditionType: "InPlaceUpdateReady" },
      { conditionType: "KruisePodReady" },
    ]);
    expect(
      pods.map((pod) => ["InPlaceUpdateReady", "KruisePodReady", "Ready"].map((type) => conditionOf(pod, type)).join()),
    ).toEqual(Array<string>(20).fill("True,True,True"));
    expect(member.writes.total({ resource: "pods" })).toBe(60);
  });

  test("carries only the revision hash with the gate for short hashes", async () => {
    await start(makeWebCloneSet(1), { gates: { CloneSetShortHash: true } });

    const { status } = await member.cloneSet();
    expect(`web-${member.pods()[0]?.metadata.labels?.["controller-revision-hash"]}`).toBe(status?.updateRevision);
  });

  test("is not Normal before it has every handler of a preNormal hook", async () => {
    await start(makeWebCloneSet(1, {}, { lifecycle: { preNormal: { labelsHandler: { checked: "yes" } } } }));
    const before = member.pods().map(stateOf);

    await member.editPod(names()[0] ?? "", withLabel("checked", "yes"));
    await member.pass(10_000);

    expect(before).toEqual(["PreparingNormal"]);
    expect(member.pods().map(stateOf)).toEqual(["Normal"]);
    expect((await member.cloneSet()).status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });
});

describe("Volume claims", () => {
  const claims = [
    {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ] as unknown as PersistentVolumeClaim[];
  const claimNames = async (): Promise<string[]> =>
    (await member.list(PersistentVolumeClaim))
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name);

  test("are created per pod, named after it, and mounted in it", async () => {
    await start(makeWebCloneSet(2, {}, { volumeClaimTemplates: claims }));

    const [pod] = member.pods();
    const [claim] = await member.list(PersistentVolumeClaim);
    expect(await claimNames()).toEqual(names().map((name) => `data-${name}`));
    expect(pod?.spec.volumes?.find(({ name }) => name === "data")).toEqual({
      name: "data",
      persistentVolumeClaim: { claimName: `data-${pod?.metadata.name}` },
    });
    expect(claim?.metadata.labels).toEqual({
      app: "web",
      "apps.kruise.io/cloneset-instance-id": pod?.metadata.labels?.["apps.kruise.io/cloneset-instance-id"],
    });
  });

  test("are deleted with the pods on scale-down", async () => {
    await start(makeWebCloneSet(3, {}, { volumeClaimTemplates: claims }));

    await member.edit((spec) => ({ ...spec, replicas: 1 }));
    await member.pass(60_000);

    expect(await claimNames()).toEqual(names().map((name) => `data-${name}`));
    expect(names()).toHaveLength(1);
  });

  test("are reused by the successor of a deleted pod, which gets the same name", async () => {
    await start(makeWebCloneSet(2, {}, { volumeClaimTemplates: claims, scaleStrategy: { enablePVCReuse: true } }));
    const before = names();
    const [victim] = member.pods();

    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: victim?.metadata.name ?? "" });
    await member.pass(120_000);

    expect(names()).toEqual(before);
    expect(member.pods()[0]?.metadata.uid).not.toBe(victim?.metadata.uid);
    expect(await claimNames()).toEqual(before.map((name) => `data-${name}`));
    expect(member.pods().map((pod) => conditionOf(pod, "Ready"))).toEqual(["True", "True"]);
  });

  test("are not reused if reuse is disabled", async () => {
    await start(makeWebCloneSet(2, {}, { volumeClaimTemplates: claims }));
    const [victim = ""] = names();

    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: victim });
    await member.pass(120_000);

    expect(names()).toHaveLength(2);
    expect(names()).not.toContain(victim);
    expect(await claimNames()).toEqual(names().map((name) => `data-${name}`));
  });
});

describe("A preDelete hook", () => {
  const held = makeWebCloneSet(
    3,
    {},
    {
      template: makeWebTemplate("web:1", { labels: { hold: "yes" } }),
      lifecycle: { preDelete: { labelsHandler: { hold: "yes" } } },
    },
  );

  test("blocks the deletion of a pod until its handler is removed", async () => {
    await start(held);

    await member.edit((spec) => ({ ...spec, replicas: 2 }));
    await member.pass(30_000);
    const states = member.pods().map(stateOf).toSorted();
    const leaving = member.pods().find((pod) => stateOf(pod) === "PreparingDelete")?.metadata.name ?? "";
    await member.editPod(leaving, withLabel("hold", undefined));
    await member.pass(30_000);

    expect(states).toEqual(["Normal", "Normal", "PreparingDelete"]);
    expect(names()).not.toContain(leaving);
    expect(names()).toHaveLength(2);
  });

  test("returns a pod to Normal if it is needed again", async () => {
    await start(held);
    const before = names();

    await member.edit((spec) => ({ ...spec, replicas: 2 }));
    await member.pass(30_000);
    await member.edit((spec) => ({ ...spec, replicas: 3 }));
    await member.pass(30_000);

    expect(names()).toEqual(before);
    expect(member.pods().map(stateOf)).toEqual(["Normal", "Normal", "Normal"]);
  });

  test("makes the pod unready if markPodNotReady is set", async () => {
    await start({
      ...held,
      spec: { ...held.spec, lifecycle: { preDelete: { labelsHandler: { hold: "yes" }, markPodNotReady: true } } },
    });

    await member.edit((spec) => ({ ...spec, replicas: 2 }));
    await member.pass(30_000);

    const leaving = member.pods().find((pod) => stateOf(pod) === "PreparingDelete");
    expect(leaving && [conditionOf(leaving, "KruisePodReady"), conditionOf(leaving, "Ready")]).toEqual([
      "False",
      "False",
    ]);
  });
});

describe("An update in place", () => {
  test("keeps every pod, with a new container", async () => {
    await start(makeWebCloneSet(3, inPlace));
    const before = member.pods().map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`);

    await member.edit(template("web:2"));
    await member.pass(60_000);

    expect(member.pods().map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`)).toEqual(before);
    expect(
      member.pods().map((pod) => `${imageOf(pod)} ${restartsOf(pod)} ${stateOf(pod)} ${conditionOf(pod, "Ready")}`),
    ).toEqual(Array<string>(3).fill("web:2 1 Normal True"));
    expect(member.events).toContain(
      `CloneSet/web Normal SuccessfulUpdatePodInPlace: successfully update pod ${names()[0]} in-place(revision ` +
        `${(await member.cloneSet()).status?.updateRevision})`,
    );
  });

  test("costs four writes per pod: unready, new image, restarted, ready", async () => {
    await start(makeWebCloneSet(20, inPlace), { times: { startMs: 0, restartMs: 0 } });
    member.writes.reset();

    await member.edit(template("web:2"));
    await member.pass(60_000);

    expect(member.pods().map((pod) => `${imageOf(pod)} ${stateOf(pod)} ${conditionOf(pod, "Ready")}`)).toEqual(
      Array<string>(20).fill("web:2 Normal True"),
    );
    expect(member.writes.total({ resource: "pods" })).toBe(80);
  });

  test("An update in place that cannot be parsed reports the invalid annotation", async () => {
    await start(makeWebCloneSet(1, inPlace));
    const [name = ""] = names();

    await member.editPod(name, (pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations: { ...pod.metadata.annotations, "apps.kruise.io/inplace-update-grace": "{broken" },
      },
    }));
    await member.pass(30_000);

    const failure = (await member.cloneSet()).status?.conditions?.find(({ type }) => type === "FailedUpdate");
    expect(failure?.message).toContain(
      `reading annotation apps.kruise.io/inplace-update-grace of pod ${NAMESPACE}/${name}; remove it to start afresh`,
    );
  });

  test("An update in place that changes only labels restarts nothing", async () => {
    await start(makeWebCloneSet(2, inPlace));

    await member.edit((spec) => ({
      ...spec,
      template: makeWebTemplate("web:1", { labels: { tier: "front" }, annotations: { note: "new" } }),
    }));
    await member.pass(60_000);

    expect(
      member
        .pods()
        .map(
          (pod) =>
            `${pod.metadata.labels?.["tier"]} ${pod.metadata.annotations?.["note"]} ${restartsOf(pod)} ${stateOf(pod)} ${conditionOf(pod, "Ready")}`,
        ),
    ).toEqual(Array<string>(2).fill("front new 0 Normal True"));
  });

  test("restarts a container whose variable comes from a changed label", async () => {
    const withVariable = (version: string) => {
      const { metadata } = makeWebTemplate("web:1", { labels: { version } });
      const env = [{ name: "VERSION", valueFrom: { fieldRef: { fieldPath: "metadata.labels['version']" } } }];
      return {
        metadata,
        spec: {
          containers: [
            { name: "main", image: "web:1", env },
            { name: "side", image: "side:1" },
          ],
        },
      } as CloneSet["spec"]["template"];
    };
    await start(makeWebCloneSet(1, inPlace, { template: withVariable("1") }));

    await member.edit((spec) => ({ ...spec, template: withVariable("2") }));
    await member.pass(60_000);

    const [pod] = member.pods();
    expect(pod?.metadata.labels?.["version"]).toBe("2");
    expect(pod?.status?.containerStatuses?.map(({ name, restartCount }) => `${name} ${restartCount}`)).toEqual([
      "main 1",
      "side 0",
    ]);
    expect(pod && [stateOf(pod), conditionOf(pod, "Ready")]).toEqual(["Normal", "True"]);
  });

  test("waits for the grace period between unready and the new image", async () => {
    await start(makeWebCloneSet(1, { ...inPlace, inPlaceUpdateStrategy: { gracePeriodSeconds: 20 } }));

    await member.edit(template("web:2"));
    await member.pass(10_000);
    const during = member.pods().map((pod) => `${imageOf(pod)} ${conditionOf(pod, "Ready")} ${stateOf(pod)}`);
    await member.pass(60_000);

    expect(during).toEqual(["web:1 False Updating"]);
    expect(member.pods().map((pod) => `${imageOf(pod)} ${conditionOf(pod, "Ready")} ${stateOf(pod)}`)).toEqual([
      "web:2 True Normal",
    ]);
    expect(member.pods()[0]?.metadata.annotations?.["apps.kruise.io/inplace-update-grace"]).toBeUndefined();
  });

  test("resizes a running container with the feature gate", async () => {
    const sized = (cpu: string): CloneSet["spec"]["template"] => {
      const { metadata } = makeWebTemplate("web:1");
      return {
        metadata: metadata ?? {},
        spec: { containers: [{ name: "main", image: "web:1", resources: { requests: { cpu, memory: "64Mi" } } }] },
      };
    };
    await start(makeWebCloneSet(2, inPlace, { template: sized("100m") }), {
      gates: { InPlaceWorkloadVerticalScaling: true },
    });
    const before = names();

    await member.edit((spec) => ({ ...spec, template: sized("200m") }));
    await member.pass(60_000);

    expect(names()).toEqual(before);
    expect(
      member
        .pods()
        .map(
          (pod) =>
            `${pod.spec.containers[0]?.resources?.requests?.["cpu"]} ${restartsOf(pod)} ${stateOf(pod)} ${conditionOf(pod, "Ready")}`,
        ),
    ).toEqual(Array<string>(2).fill("200m 0 Normal True"));
  });

  test("passes through every state of its lifecycle hook", async () => {
    const lifecycle = { inPlaceUpdate: { labelsHandler: { serving: "yes" }, markPodNotReady: true } };
    await start(
      makeWebCloneSet(1, inPlace, { template: makeWebTemplate("web:1", { labels: { serving: "yes" } }), lifecycle }),
    );
    const [name = ""] = names();
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      await member.pass(30_000);
      seen.push(
        member
          .pods()
          .map((pod) => `${stateOf(pod)} ${imageOf(pod)} ${conditionOf(pod, "Ready")}`)
          .join(),
      );
    };

    await member.edit((spec) => ({ ...spec, template: makeWebTemplate("web:2", { labels: { serving: "yes" } }) }));
    await look();
    await member.editPod(name, withLabel("serving", "no"));
    await look();
    await member.editPod(name, withLabel("serving", "yes"));
    await look();

    expect(seen).toEqual(["PreparingUpdate web:1 False", "Updated web:2 True", "Normal web:2 True"]);
  });

  test("rolls pods back when the partition is raised, with the feature gate", async () => {
    await start(makeWebCloneSet(4, inPlace), { gates: { CloneSetPartitionRollback: true } });
    await member.edit((spec) => ({
      ...template("web:2")(spec),
      updateStrategy: { rollingUpdate: { ...inPlace, partition: 1 } },
    }));
    await member.pass(60_000);
    const before = member.pods().map(imageOf).toSorted();

    await member.edit((spec) => ({ ...spec, updateStrategy: { rollingUpdate: { ...inPlace, partition: 3 } } }));
    await member.pass(60_000);

    expect(before).toEqual(["web:1", "web:2", "web:2", "web:2"]);
    expect(member.pods().map(imageOf).toSorted()).toEqual(["web:1", "web:1", "web:1", "web:2"]);
  });
});

describe("Scaling", () => {
  test("creates no more pods at a time than may be unavailable", async () => {
    member = await startKruiseMember();
    const unready: number[] = [];
    member.informers
      .of(Pod)
      .subscribe(() => unready.push(member.pods().filter((pod) => conditionOf(pod, "Ready") !== "True").length));

    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(6, {}, { scaleStrategy: { maxUnavailable: 2 } }));
    await member.pass(60_000);

    expect(names()).toHaveLength(6);
    expect(Math.max(...unready)).toBe(2);
    expect(member.events.filter((event) => event.includes("ScaleUpLimited"))[0]).toBe(
      "CloneSet/web Warning ScaleUpLimited: scaleUp is limited because of scaleStrategy.maxUnavailable, limit: 2",
    );
  });

  test("replaces the pod that carries the specified-delete label", async () => {
    await start(makeWebCloneSet(3));
    const [victim = "", ...others] = names();

    await member.editPod(victim, withLabel("apps.kruise.io/specified-delete", "true"));
    await member.pass(60_000);

    expect(names()).toEqual(expect.arrayContaining(others));
    expect(names()).not.toContain(victim);
    expect(names()).toHaveLength(3);
  });

  test("releases a pod that no longer matches the selector", async () => {
    await start(makeWebCloneSet(2));
    const [foreign = ""] = names();

    await member.editPod(foreign, withLabel("app", "other"));
    await member.pass(60_000);

    expect(names()).toContain(foreign);
    expect(names()).toHaveLength(3);
    expect((await member.get(Pod, foreign)).metadata.ownerReferences ?? []).toEqual([]);
  });
});

test("reports a rollout that exceeds its progress deadline", async () => {
  await start(makeWebCloneSet(2, { maxUnavailable: 1 }, { progressDeadlineSeconds: 60 }));

  await member.edit(template("web:broken"));
  await member.pass(120_000);

  const { status } = await member.cloneSet();
  expect(status?.conditions?.find(({ type }) => type === "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
  });
});

test("updates a pod with OnDelete when a user deletes it", async () => {
  await start({ ...makeWebCloneSet(2), spec: { ...makeWebCloneSet(2).spec, updateStrategy: { type: "OnDelete" } } });
  await member.edit(template("web:2"));
  await member.pass(30_000);
  const before = member.pods().map(imageOf);

  await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: names()[0] ?? "" });
  await member.pass(60_000);

  expect(before).toEqual(["web:1", "web:1"]);
  expect(member.pods().map(imageOf).toSorted()).toEqual(["web:1", "web:2"]);
});

describe("Pods that the API server rejects", () => {
  test("are retried with backoff, and the status reports it once", async () => {
    member = await startKruiseMember();
    const quota = await member.client.create(ResourceQuota, MEMBER, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "none", namespace: NAMESPACE },
      spec: { hard: { pods: "0" } },
    });
    await member.client.updateStatus(ResourceQuota, MEMBER, {
      ...quota,
      status: { hard: { pods: "0" }, used: { pods: "0" } },
    });
    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(2));
    await member.pass(5_000);
    member.writes.reset();

    await member.pass(120_000);

    expect((await member.cloneSet()).status?.conditions).toMatchObject([
      { type: "FailedScale", status: "True", message: expect.stringContaining("exceeded quota") as string },
    ]);
    expect(member.writes.total({ resource: "clonesets" })).toBe(0);
    expect(member.pods()).toEqual([]);
  });
});
