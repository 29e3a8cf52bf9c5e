/** Bindings whose template was deleted without its dependents: the copies stay, and what reads the hub reports it. */
import { expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, Job, Namespace } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { readStatus } from "../../packages/cli/src/status/read-status.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };

async function start(kind: Kind, object: KubernetesObject): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"] }));
  const policy = makePolicy("shop/web").selects(object.apiVersion, object.kind).duplicates("member1", "member2");
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.client.create(kind, "hub", object);
  await fleet.run(SETTLED_MS);
  return fleet;
}

const deployment = (): Deployment => makeDeployment("shop/web").replicas(1).build();
const job: Job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "web", namespace: "shop" },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "web:1" }] } } },
};

async function copies({ client }: TestFleet, kind: Kind): Promise<number> {
  const members = await Promise.all(
    ["member1", "member2"].map((cluster) => client.list(kind, { cluster, namespace: "shop" })),
  );
  return members.flatMap(({ items }) => items).length;
}

const cases = {
  "a Deployment that is deleted with --cascade=orphan": {
    kind: Deployment as unknown as Kind,
    object: deployment() as KubernetesObject,
    options: { propagationPolicy: "Orphan" as const },
    what: "deployment/web",
    binding: "web-deployment",
  },
  "a Job that is deleted by a client that names no propagation policy": {
    kind: Job as unknown as Kind,
    object: job as KubernetesObject,
    options: {},
    what: "job/web",
    binding: "web-job",
  },
};
test.each(Object.entries(cases))(
  "%s stays on its members, and status, doctor, why and delete say so",
  async (_, { kind, object, options, what, binding }) => {
    const fleet = await start(kind, object);
    const run = (name: string, ...argv: string[]) => runCommand(fleet, name, ...argv);

    await fleet.client.delete(kind, web, options);
    await fleet.run(SETTLED_MS);

    expect(await copies(fleet, kind)).toBe(2);
    const removal = `kubectl delete resourcebinding ${binding} -n shop`;
    const { unhealthy, workloads } = await readStatus({ ...fleet, server: "", signal: new AbortController().signal });
    expect(unhealthy.worst).toMatchObject([
      { problem: "binding without a template", name: binding, reason: expect.stringContaining(removal) as string },
    ]);
    expect(workloads).toMatchObject([{ name: "web", applied: "NoTemplate" }]);
    expect((await run("doctor", "--only", "bindings")).text).toContain(removal);
    for (const command of ["why", "delete"])
      await expect(run(command, what, "-n", "shop", ...(command === "delete" ? ["--yes"] : []))).rejects.toThrow(
        /still on member1, member2: .* is not on the hub, and nothing owns its binding.*kubectl delete resourcebinding/s,
      );

    await fleet.client.delete(ResourceBinding, { ...web, name: binding });
    await fleet.run(SETTLED_MS);

    expect(await copies(fleet, kind)).toBe(0);
  },
);

test("a new Deployment of the same name takes the copies over, and nothing is reported any longer", async () => {
  const fleet = await start(Deployment, deployment());
  await fleet.client.delete(Deployment, web, { propagationPolicy: "Orphan" });
  await fleet.run(SETTLED_MS);

  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);

  const { status } = await fleet.client.get(ResourceBinding, { ...web, name: "web-deployment" });
  expect(status?.conditions?.find(({ type }) => type === "TemplateFound")?.status).toBe("True");
  expect(await copies(fleet, Deployment as unknown as Kind)).toBe(2);
});
