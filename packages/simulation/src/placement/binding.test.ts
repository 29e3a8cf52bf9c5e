import { afterEach, expect, test } from "vitest";
import { makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import type { TestMember } from "@flotilla/testing/simulation/member.ts";

let member: TestMember | undefined;
afterEach(async () => {
  await member?.stop();
  member = undefined;
});

test("binds a pod with one Binding, and the pod has the topology labels of its node", async () => {
  member = await startTestMember();

  await member.create(makePod("web"));
  await member.pass(1_000);

  const { spec, status, metadata } = await member.pod("web");
  expect([spec.nodeName, status?.phase, metadata.labels?.["topology.kubernetes.io/zone"]]).toEqual([
    "node-000",
    "Running",
    "a",
  ]);
  expect(member.writes.total({ resource: "pods", verb: "create", subresource: "binding" })).toBe(1);
});
