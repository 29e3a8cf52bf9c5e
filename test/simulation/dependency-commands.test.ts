/** What commands say about an object that no policy selects, and that workloads take to their members. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { messageOf } from "@flotilla/base";
import { PropagationPolicy } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
});
afterEach(() => fleet.stop());

async function start(clusters = ["member1", "member2"]): Promise<void> {
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment")
      .weights(Object.fromEntries(clusters.map((cluster) => [cluster, 1])))
      .with(({ spec }) => (spec.propagateDeps = true))
      .build(),
  );
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue" },
  });
  await client.create(
    Deployment,
    "hub",
    makeDeployment("shop/web")
      .replicas(4)
      .with(({ spec }) => {
        const [container] = spec.template.spec?.containers ?? [];
        if (container) container.envFrom = [{ configMapRef: { name: "settings" } }];
      })
      .build(),
  );
  await fleet.run(30_000);
}

const flotilla = async (...argv: string[]): Promise<string> => {
  const [name = "", ...rest] = argv;
  return (await runCommand(fleet, name, ...rest, "-n", "shop")).text;
};

test("wait ends when the members of the workload have the dependency", async () => {
  await start();

  expect(await flotilla("wait", "configmap/settings", "--timeout", "10")).toBe(
    "ConfigMap shop/settings is healthy on member1\nConfigMap shop/settings is healthy on member2\n",
  );
});

test("why names the workload that needs the dependency, and describe and delete its members", async () => {
  await start();

  const why = await flotilla("why", "configmap/settings");
  expect(why).toContain(
    "POLICY\n  none of its own: it follows the workloads that need it\n\nNEEDED BY\n  Deployment shop/web: on member1, member2\n",
  );
  expect(why).not.toContain("not scheduled");
  expect(why).toContain("PROBLEMS\n  none");
  expect(await flotilla("describe", "configmap/settings")).toMatch(/member1.*\n.*member2/);
  const deleted = flotilla("delete", "configmap/settings", "--yes");
  await fleet.run(10_000);
  expect(await deleted).toContain("- ConfigMap shop/settings: on the hub and on member1, member2\n");
});

test("wait names the workload that an object follows while that has no member", async () => {
  await start(["nowhere"]);

  const waited = runCommand(fleet, "wait", "configmap/settings", "-n", "shop", "--timeout", "1").catch(messageOf);
  await fleet.run(5_000);

  expect(await waited).toContain(
    "ConfigMap shop/settings on hub: it follows Deployment shop/web, which has no member yet: ",
  );
});
