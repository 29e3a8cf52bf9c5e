/** Pods that a ResourceQuota of a member forbids: waiting does not create them. */
import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace, ResourceQuota } from "@flotilla/kubernetes";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

const SECOND_MS = 1_000;
const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const service = { replicas: 3, selector: { matchLabels: labels }, template };

interface Workload {
  group: string;
  version: string;
  kind: string;
  spec: object;
}

/** A fleet whose member has room for one pod of the workload. */
async function start({ group, version, kind, spec }: Workload, runMs: number): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1"], nodes: 3 }));
  const { client } = fleet;
  const apiVersion = `${group}/${version}`;
  const where = { name: "shop", namespace: "shop" };
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects(apiVersion, kind).weights({ member1: 1 }).build(),
  );
  await fleet.run(3 * SECOND_MS);
  await client.create(ResourceQuota, "member1", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: where,
    spec: { hard: { pods: "1" } },
  });
  await fleet.run(3 * SECOND_MS);
  const served = dynamicKind({ group, version, kind, plural: `${kind.toLowerCase()}s`, scope: "Namespaced" });
  await client.create(served, "hub", { apiVersion, kind, metadata: { ...where, name: "web" }, spec } as never);
  await fleet.run(runMs);
  return fleet;
}

const services: Workload[] = [
  { group: "apps", version: "v1", kind: "Deployment", spec: service },
  { group: "apps", version: "v1", kind: "StatefulSet", spec: { ...service, serviceName: "web" } },
  { group: "apps", version: "v1", kind: "DaemonSet", spec: { selector: service.selector, template } },
  { group: "apps.kruise.io", version: "v1alpha1", kind: "CloneSet", spec: service },
  { group: "apps.kruise.io", version: "v1beta1", kind: "StatefulSet", spec: { ...service, serviceName: "web" } },
  { group: "apps.kruise.io", version: "v1alpha1", kind: "DaemonSet", spec: { selector: service.selector, template } },
];

test.each(services)(
  "pods of a $kind ($group) are named by status, why and doctor in the first minute",
  async (workload) => {
    const fleet = await start(workload, 15 * SECOND_MS);
    const { kind, group } = workload;

    for (const [name, ...args] of [
      ["status"],
      ["why", `${kind.toLowerCase()}s.${group}/web`, "-n", "shop"],
      ["doctor"],
    ] as [string, ...string[]][])
      expect((await runCommand(fleet, name, ...args)).text, name).toContain("exceeded quota: shop, requested: pods=1");
  },
);

test("warnings that a Job overcame are not reported when it is complete", async () => {
  const pods = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };
  const job = { group: "batch", version: "v1", kind: "Job", spec: { parallelism: 3, completions: 3, template: pods } };
  const fleet = await start(job, 30 * SECOND_MS);

  const { text } = await runCommand(fleet, "why", "job/web", "-n", "shop");

  expect(text).toContain("3 succeeded");
  expect(text).not.toContain("exceeded quota");
});
