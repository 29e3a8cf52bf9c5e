import { afterEach, expect, test } from "vitest";
import { makePod, startTestMember } from "../../testing/simulation/index.ts";
import type { TestMember } from "../../testing/simulation/index.ts";

let member: TestMember | undefined;
afterEach(async () => {
  await member?.stop();
  member = undefined;
});

const HOW: Record<string, { isElsewhere: boolean; write: object }> = {
  "in this process by an update": { isElsewhere: false, write: { resource: "pods", verb: "update", subresource: "" } },
  "elsewhere by a Binding": {
    isElsewhere: true,
    write: { resource: "/api/v1/namespaces/shop/pods/web/binding", verb: "create" },
  },
};
for (const [way, { isElsewhere, write }] of Object.entries(HOW)) {
  test(`a pod is told its node ${way}, and gets the labels of the place`, async () => {
    member = await startTestMember({ isElsewhere });

    await member.create(makePod("web"));
    await member.pass(1_000);

    const { spec, status, metadata } = await member.pod("web");
    expect([spec.nodeName, status?.phase, metadata.labels?.["topology.kubernetes.io/zone"]]).toEqual([
      "node-000",
      "Running",
      "a",
    ]);
    expect(member.writes.total(write)).toBe(1);
  });
}
