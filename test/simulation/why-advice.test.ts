/** The commands that `flotilla why` advises are about the member that has the problem, and show something there. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace, ResourceQuota } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

test("each cause has a command for its own member, which shows the events of the workload where it has no pods", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(5_000);
  for (const [member, name] of [
    ["member1", "small"],
    ["member2", "tiny"],
  ] as const)
    await fleet.client.create(ResourceQuota, member, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { namespace: "shop", name },
      spec: { hard: { pods: "0" } },
    });
  await fleet.run(5_000);
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(4).build());
  await fleet.run(120_000);

  const { text } = await runCommand(fleet, "why", "cloneset/web", "-n", "shop");

  const adviceFor = (quota: string): string =>
    text.split("\n").find((_, index, lines) => lines[index - 1]?.includes(`exceeded quota: ${quota}`)) ?? text;
  for (const [quota, member] of [
    ["small", "member1"],
    ["tiny", "member2"],
  ] as const) {
    const command = `flotilla describe cloneset.apps.kruise.io/web -n shop --clusters ${member}`;
    expect(adviceFor(quota)).toContain(`'${command}' shows its events there`);
    const described = await runCommand(fleet, "describe", ...command.split(" ").slice(2));
    expect(described.text).toContain(`exceeded quota: ${quota}`);
  }
});
