/** Pre-download of images on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { ControllerRevision } from "@flotilla/kubernetes";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { ImagePullJob } from "../imagepulljob/imagepulljob-kind.ts";
import { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { kruiseKinds } from "../openkruise.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const GATES = { PreDownloadImageForInPlaceUpdate: true };

async function start(replicas: number, partition: number, gates: Record<string, boolean> = GATES): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, gates });
  await member.pass(60_000);
  const made = makeWebCloneSet(replicas, { podUpdatePolicy: "InPlaceIfPossible", partition });
  await member.client.create(CloneSet, MEMBER, {
    ...made,
    metadata: { ...made.metadata, annotations: { "apps.kruise.io/image-predownload-parallelism": "2" } },
  });
  await member.pass(10_000);
}

const setImage = (image: string): Promise<void> =>
  member.edit((spec) => ({ ...spec, template: makeWebTemplate(image) }));
const labelsOfNewest = async (): Promise<Record<string, string> | undefined> =>
  (await member.list(ControllerRevision)).toSorted((a, b) => a.revision - b.revision).at(-1)?.metadata.labels;

test("pulls a new image to the nodes of the pods that are not updated yet, and removes the job after the rollout", async () => {
  await start(5, 4);

  await setImage("web:2");
  await member.pass(60_000);
  const [job] = await member.list(ImagePullJob);

  expect(job?.spec).toMatchObject({
    image: "web:2",
    parallelism: 2,
    podSelector: {
      matchLabels: { app: "web" },
      matchExpressions: [{ key: "controller-revision-hash", operator: "NotIn" }],
    },
    pullPolicy: { backoffLimit: 1, timeoutSeconds: 300 },
  });
  expect(job?.status).toMatchObject({ succeeded: 3, failed: 0 });
  expect((await member.list(NodeImage)).map(({ status }) => status?.succeeded)).toEqual([1, 1, 1]);
  expect(await labelsOfNewest()).toMatchObject({ "apps.kruise.io/pre-predownload-created": "true" });

  await member.edit((spec) => ({
    ...spec,
    updateStrategy: { ...spec.updateStrategy, rollingUpdate: { ...spec.updateStrategy?.rollingUpdate, partition: 0 } },
  }));
  await member.pass(60_000);

  expect(await member.list(ImagePullJob)).toEqual([]);
});

test("pulls nothing for three pods, which do not wait for each other", async () => {
  await start(3, 2);

  await setImage("web:2");
  await member.pass(10_000);

  expect(await member.list(ImagePullJob)).toEqual([]);
  expect(await labelsOfNewest()).toMatchObject({ "apps.kruise.io/image-predownload-ignored": "true" });
});

test("is off by default", async () => {
  await start(5, 4, {});

  await setImage("web:2");
  await member.pass(10_000);

  expect(await member.list(ImagePullJob)).toEqual([]);
});
