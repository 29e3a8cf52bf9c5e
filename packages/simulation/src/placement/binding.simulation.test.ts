import { afterEach, expect, test } from "vitest";
import { makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import type { TestMember } from "@flotilla/testing/simulation/member.ts";

let member: TestMember | undefined;
afterEach(async () => {
  await member?.stop();
  member = undefined;
});

const HOW: Record<string, { isElsewhere: boolean; write: object }> = {
  "with an update in this process": {
    isElsewhere: false,
    write: { resource: "pods", verb: "update", subresource: "" },
  },
  "with a Binding elsewhere": {
    isElsewhere: true,
    write: { resource: "/api/v1/namespaces/shop/pods/web/binding", verb: "create" },
  },
};
for (const [way, { isElsewhere, write }] of Object.entries(HOW)) {
  test(`binds a pod ${way}, and sets its topology labels`, async () => {
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
