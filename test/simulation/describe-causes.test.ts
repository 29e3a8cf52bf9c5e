/** `flotilla describe` names what the pods of a workload wait for, of bindings and of ManifestWorks. */
import { afterEach, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { PropagationPolicy } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["member1"], nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(5_000);
}

/** A Deployment whose pods need a Secret that does not exist. */
function withoutSecret(name: string): KubernetesObject {
  const deployment = makeDeployment(`shop/${name}`).replicas(2).build();
  const [container] = deployment.spec.template.spec?.containers ?? [];
  Object.assign(container ?? {}, { envFrom: [{ secretRef: { name: "absent" } }] });
  return deployment;
}

const problemsIn = (text: string): string =>
  text.split("\n\n").find((section) => section.startsWith("PROBLEMS\n")) ?? "no problems";

test("describe names what the pods of an unhealthy Deployment wait for, and nothing once they run", async () => {
  await start();
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", withoutSecret("broken") as Deployment);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/sound").replicas(2).build());
  await fleet.run(120_000);

  const broken = await runCommand(fleet, "describe", "deployment/broken", "-n", "shop");
  const sound = await runCommand(fleet, "describe", "deployment/sound", "-n", "shop");

  expect(problemsIn(broken.text)).toContain("2 pods wait on member1: CreateContainerConfigError");
  expect(problemsIn(sound.text)).toBe("no problems");
});

test("describe names what the pods of a ManifestWork's workload wait for", async () => {
  await start();
  await fleet.client.create(ManifestWork, "hub", {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "mw", namespace: "member1" },
    spec: {
      workload: {
        manifests: [
          { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
          withoutSecret("broken"),
        ] as never,
      },
    },
  });
  await fleet.run(120_000);

  const { text } = await runCommand(fleet, "describe", "manifestwork/mw", "-n", "member1");

  expect(problemsIn(text)).toContain("CreateContainerConfigError");
});
