/** EphemeralJobs on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { makeWebCloneSet, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { EphemeralJob } from "./ephemeraljob-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

async function start(command: string[], spec: Partial<EphemeralJob["spec"]> = {}): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds });
  await member.pass(1000);
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(3));
  await member.pass(10_000);
  const container = {
    name: "debug",
    image: "busybox:1",
    command,
    imagePullPolicy: "IfNotPresent",
    terminationMessagePolicy: "File",
  } as const;
  await member.client.create(EphemeralJob, MEMBER, {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "EphemeralJob",
    metadata: { name: "dump", namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: "web" } }, template: { ephemeralContainers: [container] }, ...spec },
  });
}

const jobOf = () => member.get(EphemeralJob, "dump");
const injected = (): number => member.pods().filter(({ spec }) => spec.ephemeralContainers?.length).length;

test("runs its containers in one pod after the other, and is deleted half an hour after its end", async () => {
  await start(["sh", "-c", "sleep 10; exit 0"]);

  await member.pass(5000);
  const first = injected();
  await member.pass(60_000);
  const { status } = await jobOf();
  await member.pass(1_801_000);

  expect(first).toBe(1);
  expect(status).toMatchObject({ phase: "Succeeded", match: 3, succeeded: 3, failed: 0, running: 0, waiting: 0 });
  expect(status?.conditions?.map(({ type }) => type)).toEqual(["Initialized", "JobSucceeded"]);
  expect(await member.list(EphemeralJob)).toEqual([]);
});

test("takes only as many pods as it asks for, as many at once as it may", async () => {
  await start(["sleep", "30"], { replicas: 2, parallelism: 5 });

  await member.pass(5000);

  expect(injected()).toBe(2);
  expect((await jobOf()).status).toMatchObject({ phase: "Running", match: 2, running: 2 });
});

test("fails when all containers fail", async () => {
  await start(["sh", "-c", "exit 3"], { parallelism: 3 });

  await member.pass(10_000);

  expect((await jobOf()).status).toMatchObject({ phase: "Failed", failed: 3 });
});

test("fails at its deadline", async () => {
  await start(["sleep", "3600"], { activeDeadlineSeconds: 20 });

  await member.pass(30_000);

  const { status } = await jobOf();
  expect(status?.phase).toBe("Failed");
  expect(status?.conditions?.at(-1)).toMatchObject({ type: "JobFailed", reason: "DeadlineExceeded" });
});

test("a paused job adds its containers to no pod", async () => {
  await start(["true"], { paused: true });

  await member.pass(10_000);

  expect(injected()).toBe(0);
  expect((await jobOf()).status?.phase).toBe("Paused");
});

test("the pod keeps running and its job can be deleted", async () => {
  await start(["true"], { parallelism: 3 });
  await member.pass(10_000);

  await member.client.delete(EphemeralJob, { cluster: MEMBER, namespace: NAMESPACE, name: "dump" }, {});
  await member.pass(10_000);

  expect(await member.list(EphemeralJob)).toEqual([]);
  expect(member.pods().map(({ status }) => status?.phase)).toEqual(["Running", "Running", "Running"]);
});
