/** Enhanced liveness probes on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { makeWebCloneSet, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER } from "@flotilla/testing/member/member.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const livenessProbe = { exec: { command: ["true"] } };

async function start(gate: boolean, annotations: Record<string, string>): Promise<void> {
  member = await startKruiseMember({ gates: { EnhancedLivenessProbe: gate } });
  const template = {
    metadata: { labels: { app: "web" }, annotations },
    spec: { containers: [{ name: "main", image: "web:1", livenessProbe }] },
  };
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(1, {}, { template }));
  await member.pass(5000);
}

const ASKED = { "apps.kruise.io/using-enhanced-liveness": "true" };
const hasProbe = (): boolean[] => member.pods().map(({ spec }) => spec.containers[0]?.livenessProbe !== undefined);

test("the liveness probes of a pod that asks for it are kept in an annotation", async () => {
  await start(true, ASKED);

  const [pod] = member.pods();

  expect(hasProbe()).toEqual([false]);
  expect(JSON.parse(pod?.metadata.annotations?.["apps.kruise.io/container-probe-context"] ?? "")).toMatchObject([
    { name: "main", livenessProbe },
  ]);
});

test("other pods keep their probes, and all without the gate", async () => {
  await start(true, {});
  const others = hasProbe();
  await member.stop();
  await start(false, ASKED);

  expect([others, hasProbe()]).toEqual([[true], [true]]);
});
