/** Objects that are garbage-collected after a timeout. */
import { expect, test } from "vitest";
import { Job } from "../job/job-kind.ts";
import { Node } from "../node/node-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createJobController } from "../job/job-controller.ts";
import { createJobOrphanController } from "../job/job-orphans-controller.ts";
import { createFinishedJobController } from "../job/finished-jobs-controller.ts";
import { createPodGarbageController } from "../pod/pod-garbage-controller.ts";

async function startMember(nodes: number): Promise<TestMember> {
  const member = await startTestMember({
    nodes,
    controllers(deps) {
      indexByController(deps.informers);
      return [
        createJobController(deps),
        createJobOrphanController(deps),
        createFinishedJobController(deps),
        createPodGarbageController(deps),
      ];
    },
  });
  return endsWithTest(member);
}

const spec = { containers: [{ name: "main", image: "x:1" }] };

test("deletes a finished Job with its pods after ttlSecondsAfterFinished", async () => {
  const member = await startMember(0);
  await member.client.create(Job, MEMBER, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "pi", namespace: NAMESPACE },
    spec: { ttlSecondsAfterFinished: 60, template: { spec: { ...spec, restartPolicy: "Never" } } },
  });
  await member.pass(1_000);
  const [pod] = member.pods();
  if (!pod) throw new Error("a pod runs");
  await member.finish(pod, 0);

  await member.pass(50_000);
  const before = await member.list(Job);
  await member.pass(30_000);

  expect(before).toHaveLength(1);
  expect(await member.list(Job)).toEqual([]);
  expect(member.pods()).toEqual([]);
});

test("deletes a pod whose node was deleted after a while, and no other pod", async () => {
  const member = await startMember(2);
  for (const name of ["a", "b"])
    await member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: NAMESPACE },
      spec,
    });
  await member.pass(10_000);
  const [first, second] = member.pods();
  const phases: (string | undefined)[] = [];
  member.informers.of(Pod).subscribe(({ object, deleted }) => deleted && phases.push(object.status?.phase));

  await member.client.delete(Node, { cluster: MEMBER, name: first?.spec.nodeName ?? "" });
  await member.pass(30_000);
  const early = member.pods().length;
  await member.pass(20_000);

  expect(early).toBe(2);
  expect(member.pods().map(({ metadata }) => metadata.name)).toEqual([second?.metadata.name]);
  expect(phases).toEqual(["Failed"]);
});
