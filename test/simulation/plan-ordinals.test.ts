/** A plan of new weights says that the ordinals of an Advanced StatefulSet move in steps. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { AdvancedStatefulSet } from "@flotilla/openkruise";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const policy = (weights: Record<string, number>) =>
  makePolicy("shop/db").selects("apps.kruise.io/v1beta1", "StatefulSet").weights(weights).build();

test("names the ordinals that leave a member first", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(PropagationPolicy, "hub", policy({ member1: 3, member2: 1 }));
  await client.create(AdvancedStatefulSet, "hub", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    metadata: { namespace: "shop", name: "db" },
    spec: {
      replicas: 4,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "db", image: "db:1" }] } },
    },
  });
  await fleet.run(60_000);
  const folder = await mkdtemp(join(tmpdir(), "flotilla-plan-"));
  try {
    const file = join(folder, "policy.json");
    await writeFile(file, JSON.stringify(policy({ member1: 1, member2: 1 })));

    const { text } = await runCommand(fleet, "plan", "-f", file);

    expect(text).toContain(
      "StatefulSet shop/db: the first step ends the pods with the ordinals 2 on member1; when they are gone, they " +
        "start again as 2 on member2",
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
