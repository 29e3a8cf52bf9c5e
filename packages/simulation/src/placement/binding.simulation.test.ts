import { afterEach, expect, test } from "vitest";
import { bindByUpdate } from "./binding.ts";
import { bindByBinding } from "@flotilla/testing/simulation/bind-by-binding.ts";
import { makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import type { TestMember } from "@flotilla/testing/simulation/member.ts";

let member: TestMember | undefined;
afterEach(async () => {
  await member?.stop();
  member = undefined;
});

const HOW: Record<string, { bind: typeof bindByUpdate; write: object }> = {
  "with an update": {
    bind: bindByUpdate,
    write: { resource: "pods", verb: "update", subresource: "" },
  },
  "with a Binding": {
    bind: bindByBinding,
    write: { resource: "/api/v1/namespaces/shop/pods/web/binding", verb: "create" },
  },
};
for (const [way, { bind, write }] of Object.entries(HOW)) {
  test(`binds a pod ${way}, and sets its topology labels`, async () => {
    member = await startTestMember({ bind });

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
