/** ContainerRecreateRequests on a simulated member, with the daemon of its nodes. */
import { afterEach, expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { makeWebCloneSet, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { ContainerRecreateRequest } from "./containerrecreaterequest-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

async function start(names: readonly string[] = ["main", "side"], hashes?: null): Promise<ReadonlyPod> {
  member = await startKruiseMember(
    hashes === null ? { customs: kruiseKinds, hashes: undefined } : { customs: kruiseKinds },
  );
  await member.pass(1000);
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: names.map((name) => ({ name, image: "web:1" })) },
  };
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(1, {}, { template }));
  await member.pass(10_000);
  return podOf();
}

function podOf(): ReadonlyPod {
  const [pod] = member.pods();
  if (!pod) throw new Error("no pod");
  return pod;
}

const request = (
  name: string,
  pod: ReadonlyPod,
  containers: readonly string[],
  spec: Partial<ContainerRecreateRequest["spec"]> = {},
): Promise<unknown> =>
  member.client.create(ContainerRecreateRequest, MEMBER, {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "ContainerRecreateRequest",
    metadata: { name, namespace: NAMESPACE },
    spec: { podName: pod.metadata.name, containers: containers.map((container) => ({ name: container })), ...spec },
  });
const requestOf = (name: string) => member.get(ContainerRecreateRequest, name);
const restarts = (): Record<string, number> =>
  Object.fromEntries(podOf().status?.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]) ?? []);

test("restarts the named container and leaves the others", async () => {
  const pod = await start();

  await request("one", pod, ["main"]);
  await member.pass(30_000);

  expect(restarts()).toEqual({ main: 1, side: 0 });
  expect(podOf().metadata.uid).toBe(pod.metadata.uid);
  const { metadata, spec, status } = await requestOf("one");
  expect(status).toMatchObject({
    phase: "Completed",
    containerRecreateStates: [{ name: "main", phase: "Succeeded", isKilled: true }],
  });
  expect(metadata.labels).toEqual({
    "crr.apps.kruise.io/node-name": pod.spec.nodeName,
    "crr.apps.kruise.io/pod-uid": pod.metadata.uid,
  });
  expect(spec.strategy).toEqual({ failurePolicy: "Fail", terminationGracePeriodSeconds: 30 });
});

test("restarts one container after the other if it is ordered", async () => {
  const pod = await start();
  const seen: string[] = [];
  member.informers.of(ContainerRecreateRequest).subscribe(({ object }) => {
    const phases = object.status?.containerRecreateStates?.map(({ phase }) => phase).join(" ") ?? "";
    if (phases !== "" && seen.at(-1) !== phases) seen.push(phases);
  });

  await request("all", pod, ["main", "side"], { strategy: { orderedRecreate: true } });
  await member.pass(60_000);

  expect(seen).toEqual(["Recreating Pending", "Succeeded Recreating", "Succeeded Succeeded"]);
  expect(restarts()).toEqual({ main: 1, side: 1 });
});

test("a second request for the pod waits for the first", async () => {
  const pod = await start();
  await request("first", pod, ["main"], { strategy: { minStartedSeconds: 20 } });
  await request("second", pod, ["side"]);

  await member.pass(10_000);
  const waiting = (await requestOf("second")).status?.phase;
  await member.pass(60_000);

  expect(waiting).toBe("Pending");
  expect((await requestOf("second")).status?.phase).toBe("Completed");
  expect(restarts()).toEqual({ main: 1, side: 1 });
});

test("makes the pod unready before its container stops, and ready again", async () => {
  const pod = await start();
  const isReady = (): string | undefined => podOf().status?.conditions?.find(({ type }) => type === "Ready")?.status;

  await request("calm", pod, ["main"], { strategy: { unreadyGracePeriodSeconds: 10 } });
  await member.pass(5000);
  const before = [isReady(), restarts()["main"]];
  await member.pass(60_000);

  expect(before).toEqual(["False", 0]);
  expect([isReady(), restarts()["main"]]).toEqual(["True", 1]);
  expect((await requestOf("calm")).metadata.finalizers).toBeUndefined();
});

test("ends when its pod is gone, and is deleted after its time", async () => {
  const pod = await start();
  await request("late", pod, ["main"], {
    strategy: { minStartedSeconds: 3600 },
    ttlSecondsAfterFinished: 60,
  });
  await member.pass(5000);

  await member.edit((spec) => ({ ...spec, replicas: 0 }));
  await member.pass(40_000);
  const { status } = await requestOf("late");
  await member.pass(120_000);

  expect(status).toMatchObject({ phase: "Completed", message: "pod has gone" });
  expect(await member.list(ContainerRecreateRequest)).toEqual([]);
});

test("a node without a daemon does not answer", async () => {
  const pod = await start(["main"], null);

  await request("lost", pod, ["main"]);
  await member.pass(61_000);

  expect((await requestOf("lost")).status).toMatchObject({
    phase: "Completed",
    message: "daemon has not responded for a long time",
  });
});

test("writes nothing when it is over", async () => {
  const pod = await start();
  await request("one", pod, ["main"]);
  await member.pass(60_000);

  member.writes.reset();
  await member.pass(600_000);

  expect(member.writes.counts()).toEqual([]);
});
