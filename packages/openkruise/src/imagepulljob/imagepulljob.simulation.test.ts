/** ImagePullJobs and ImageListPullJobs on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { Namespace, Node, Pod, Secret } from "@flotilla/kubernetes";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { ImageListPullJob } from "../imagelistpulljob/imagelistpulljob-kind.ts";
import { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const makeJob = (spec: Partial<ImagePullJob["spec"]> = {}): ImagePullJob => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "ImagePullJob",
  metadata: { name: "pull", namespace: NAMESPACE },
  spec: { image: "nginx:1.25", ...spec } as ImagePullJob["spec"],
});

async function startMember(): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 3, gates: { ImagePullJobGate: true } });
  await member.pass(2000);
}

async function start(spec?: Partial<ImagePullJob["spec"]>): Promise<void> {
  await startMember();
  await member.client.create(ImagePullJob, MEMBER, makeJob(spec));
}

const statusOf = async (): Promise<ImagePullJob["status"]> =>
  (await member.get(ImagePullJob, "pull")).status as ImagePullJob["status"];

const nodeImages = async () => (await member.client.list(NodeImage, { cluster: MEMBER })).items;
const listed = async (): Promise<string[]> =>
  (await nodeImages()).flatMap(({ spec }) =>
    Object.entries(spec?.images ?? {}).flatMap(([name, { tags }]) => tags.map(({ tag }) => `${name}:${tag}`)),
  );

test("every node has a NodeImage with the labels of the node", async () => {
  await startMember();

  const nodes = await member.list(Node);

  expect((await nodeImages()).map(({ metadata }) => [metadata.name, metadata.labels])).toEqual(
    nodes.map(({ metadata }) => [metadata.name, metadata.labels]),
  );
});

test("pulls the image to all nodes, one after the other, and completes", async () => {
  await start();

  await member.pass(500);
  expect(await listed()).toEqual(["nginx:1.25"]);
  await member.pass(15_000);

  expect(await statusOf()).toMatchObject({
    desired: 3,
    succeeded: 3,
    failed: 0,
    active: 0,
    message: "job has completed",
  });
  expect((await statusOf())?.completionTime).toBeDefined();
});

test("as many nodes as the parallelism pull at a time", async () => {
  await start({ parallelism: 2 });

  await member.pass(500);

  expect(await listed()).toHaveLength(2);
  expect(await statusOf()).toMatchObject({ active: 2, message: "job is running, progress 0.0%" });
});

test("an image that cannot be pulled fails on every node after its attempts", async () => {
  await start({ image: "nginx:broken", parallelism: 3 });

  await member.pass(30_000);

  expect(await statusOf()).toMatchObject({ desired: 3, succeeded: 0, failed: 3 });
  expect((await statusOf())?.failedNodes).toHaveLength(3);
});

test("only nodes with pods of the pod selector pull", async () => {
  await startMember();
  await member.client.create(Pod, MEMBER, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: NAMESPACE, labels: { app: "web" } },
    spec: { containers: [{ name: "main", image: "web:1" }] },
  });
  await member.pass(5000);

  await member.client.create(ImagePullJob, MEMBER, makeJob({ podSelector: { matchLabels: { app: "web" } } }));
  await member.pass(10_000);

  expect(await statusOf()).toMatchObject({ desired: 1, succeeded: 1 });
});

test("a job that never completes pulls to nodes that join later", async () => {
  await start({ completionPolicy: { type: "Never" }, parallelism: 5 });
  await member.pass(10_000);
  const [node] = await member.list(Node);
  const { resourceVersion: _, uid: __, ...metadata } = node?.metadata ?? { name: "" };

  await member.client.create(Node, MEMBER, { ...node, metadata: { ...metadata, name: "late" } } as Node);
  await member.pass(10_000);

  expect(await statusOf()).toMatchObject({ desired: 4, succeeded: 4 });
  expect((await statusOf())?.completionTime).toBeUndefined();
});

test("a job that exceeds its deadline ends, and the nodes that are left count as failed", async () => {
  await start({
    image: "nginx:broken",
    pullPolicy: { timeoutSeconds: 1 },
    completionPolicy: { type: "Always", activeDeadlineSeconds: 2 },
  });

  await member.pass(10_000);

  expect(await statusOf()).toMatchObject({ failed: 3, message: "job exceeds activeDeadlineSeconds" });
});

test("a finished job is deleted after its time to live, and its tags leave the nodes", async () => {
  await start({ parallelism: 3, completionPolicy: { type: "Always", ttlSecondsAfterFinished: 60 } });
  await member.pass(10_000);
  expect(await listed()).toHaveLength(3);

  await member.pass(70_000);

  expect((await member.client.list(ImagePullJob, { cluster: MEMBER })).items).toEqual([]);
  expect(await listed()).toEqual([]);
});

test("Secrets are copied for the daemons while the job runs", async () => {
  await startMember();
  await member.client.create(Secret, MEMBER, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "registry", namespace: NAMESPACE },
    data: { user: "dQ==" },
  });
  const copies = async () =>
    (await member.client.list(Secret, { cluster: MEMBER, namespace: "kruise-daemon-config" })).items.map(
      ({ data }) => data,
    );

  await member.client.create(ImagePullJob, MEMBER, makeJob({ pullSecrets: ["registry"] }));
  await member.pass(500);
  expect(await copies()).toEqual([{ user: "dQ==" }]);
  await member.pass(20_000);

  expect(await copies()).toEqual([]);
  expect(
    (await member.client.list(Namespace, { cluster: MEMBER })).items.map(({ metadata }) => metadata.name),
  ).toContain("kruise-daemon-config");
});

test("the copy of a Secret follows its changes while the job runs", async () => {
  await startMember();
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "registry", namespace: NAMESPACE } };
  await member.client.create(Secret, MEMBER, { ...secret, data: { user: "dQ==" } });
  await member.client.create(
    ImagePullJob,
    MEMBER,
    makeJob({ pullSecrets: ["registry"], completionPolicy: { type: "Never" } }),
  );
  await member.pass(20_000);

  const key = { cluster: MEMBER, namespace: NAMESPACE, name: "registry" };
  await member.client.patch(Secret, key, { data: { user: "dg==" } }, { type: "merge" });
  await member.pass(1000);

  const { items } = await member.client.list(Secret, { cluster: MEMBER, namespace: "kruise-daemon-config" });
  expect(items.map(({ data }) => data)).toEqual([{ user: "dg==" }]);
});

test("a finished job and its nodes write nothing", async () => {
  await start({ parallelism: 3 });
  await member.pass(10_000);
  member.writes.reset();

  await member.pass(120_000);

  expect(member.writes.total({ resource: "nodeimages" }) + member.writes.total({ resource: "imagepulljobs" })).toBe(0);
});

test("a lost node is reported as failed after ten minutes", async () => {
  await startMember();
  const [node] = await member.list(Node);
  await member.client.patch(
    Node,
    { cluster: MEMBER, name: node?.metadata.name ?? "" },
    { metadata: { annotations: { "simulation.flotilla.dev/fault": "lost" } } },
    { type: "merge" },
  );
  await member.pass(1000);

  await member.client.create(ImagePullJob, MEMBER, makeJob({ parallelism: 3 }));
  await member.pass(11 * 60_000);

  expect(await statusOf()).toMatchObject({ desired: 3, succeeded: 2, failed: 1, failedNodes: [node?.metadata.name] });
});

test("an ImageListPullJob pulls every image with an ImagePullJob of its own", async () => {
  await startMember();
  const list = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "ImageListPullJob",
    metadata: { name: "list", namespace: NAMESPACE },
    spec: { images: ["nginx:1", "redis:broken"], parallelism: 3, completionPolicy: { type: "Always" } },
  };

  await member.client.create(ImageListPullJob, MEMBER, list);
  await member.pass(30_000);

  const { status } = await member.get(ImageListPullJob, "list");
  expect(status).toMatchObject({ desired: 2, completed: 2, succeeded: 1, active: 0 });
  expect(status?.failedImageStatuses).toMatchObject([{ name: "redis:broken" }]);
  expect(status?.completionTime).toBeDefined();
});

test("an image that leaves an ImageListPullJob takes its ImagePullJob along", async () => {
  await startMember();
  await member.client.create(ImageListPullJob, MEMBER, {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "ImageListPullJob",
    metadata: { name: "list", namespace: NAMESPACE },
    spec: { images: ["nginx:1", "redis:2"], completionPolicy: { type: "Never" } },
  });
  await member.pass(20_000);

  await member.change(ImageListPullJob, "list", (job) => ({ ...job, spec: { ...job.spec, images: ["redis:2"] } }));
  await member.pass(5000);

  const left = (await member.client.list(ImagePullJob, { cluster: MEMBER })).items.map(({ spec }) => spec.image);
  expect(left).toEqual(["redis:2"]);
});
