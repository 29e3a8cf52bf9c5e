/** `flotilla why` and `flotilla plan` against a running hub: their output and exit codes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import { ClusterRole, Deployment } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
let fleet: TestFleet;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "explain-"));
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("default/all").selects("apps/v1", "Deployment", "web").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(4).build());
  await fleet.client.create(Deployment, "hub", makeDeployment("default/lone").build());
  await fleet.run(SETTLED_MS);
});
afterEach(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true });
});

const run = (name: string, ...argv: string[]): ReturnType<typeof runCommand> => runCommand(fleet, name, ...argv);
function write(object: unknown): string {
  const file = join(folder, "input.json");
  writeFileSync(file, JSON.stringify(object));
  return file;
}

test("a resource is named as in kubectl", async () => {
  const [{ text }, ...others] = [
    await run("why", "deployment/web"),
    await run("why", "deploy", "web"),
    await run("why", "deployments.apps/web", "-n", "default"),
  ] as const;

  expect(text).toContain("PropagationPolicy default/all (priority 0, selects it by name)");
  expect(text).toContain("member1: 2 replicas, applied");
  expect(others.map((other) => other.text)).toEqual([text, text]);
});

test("a resource that no policy selects is explained too", async () => {
  const { text } = await run("why", "deployment/lone");

  expect(text).toContain("no policy selects it, so it is not propagated");
  expect(text).toContain("not PropagationPolicy default/all (priority 0): it selects other objects of this kind");
});

test("a cluster-scoped resource is explained too", async () => {
  const selects = makePolicy("x/roles")
    .selects("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")
    .duplicates("member2")
    .build();
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    ...selects,
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
  });
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);

  const { text } = await run("why", "clusterrole/reader");

  expect(text).toContain("ClusterPropagationPolicy roles");
  expect(text).toMatch(/member2: applied/);
});

test("a missing object and an unknown type are reported", async () => {
  await expect(run("why", "deployment/gone")).rejects.toThrow(
    "Deployment gone in namespace default not found on the hub",
  );
  await expect(run("why", "spaceship/gone")).rejects.toThrow("the hub does not serve the resource type 'spaceship'");
  await expect(run("why", "deployment")).rejects.toThrow("specify one resource");
  await expect(run("plan")).rejects.toThrow("specify what would change");
});

test("a plan exits with 1 if something would change, and with 0 otherwise", async () => {
  const changed = await run("plan", "-f", write(makeDeployment("default/web").replicas(6).build()));
  const same = await run("plan", "-f", write(makeDeployment("default/web").replicas(4).build()));

  expect([changed.code, same.code]).toEqual([1, 0]);
  expect(changed.text).toContain("spec.replicas: 2 → 3");
  expect(same.text).toBe("Nothing would change on the hub or on any member.\n");
});

test("both print JSON on request", async () => {
  const why = JSON.parse((await run("why", "deployment/web", "-o", "json")).text) as { kind: string };
  const plan = JSON.parse((await run("plan", "--without-cluster", "member2", "-o", "json")).text) as {
    changes: { cluster: string; action: string }[];
  };

  expect(why.kind).toBe("Explanation");
  expect(plan.changes.map(({ cluster, action }) => [cluster, action])).toEqual([
    ["member1", "update"],
    ["member2", "delete"],
  ]);
});
