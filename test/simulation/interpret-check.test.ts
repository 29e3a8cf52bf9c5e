/** `flotilla interpret --check --against-hub` runs rules on the objects of a hub and on their copies on members. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { forbidden } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { cloneSet, definition, object, policy, rules } from "./health-manifests.ts";
import { startHealthFleet } from "./health-fleet.ts";
import type { HealthFleet } from "./health-fleet.ts";
import { runCommand } from "./run-command.ts";

let world: HealthFleet;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "interpret-"));
  world = await startHealthFleet({ members: ["m1", "m2"] });
});
afterEach(async () => {
  await world.fleet.stop();
  rmSync(folder, { recursive: true });
});

const check = (...customizations: unknown[]): Promise<string> => {
  const file = join(folder, "rules.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: customizations }));
  return world.run("interpret", "-f", file, "--check", "--against-hub");
};
const replicas = "function GetReplicas(o) return o.spec.replicas, nil end";

test("a rule that fails on the real object does not pass, and the object is named", async () => {
  for (const cluster of ["hub", "m1", "m2"]) await world.create(cluster, definition("Widget"));
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    object("example.com/v1", "Widget", "shop", "web", { spec: { replicas: 2 } }),
    policy("shop", "Widget", { apiVersion: "example.com/v1", clusters: ["m1", "m2"] }),
  );
  await world.fleet.run(20_000);

  const sound = await check(
    rules("Widget", {
      replicaResource: replicas,
      healthInterpretation: "function InterpretHealth(o) return o.spec.replicas == 2 end",
    }),
  );
  const broken = check(
    rules("Widget", { healthInterpretation: "function InterpretHealth(o) return o.status.ready end" }),
  );

  expect(sound).toContain(
    [
      "TRIED ON:",
      "    Widget shop/web of the hub: PASS InterpretReplica",
      "    Widget shop/web on m1: PASS InterpretHealth",
      "    Widget shop/web on m2: PASS InterpretHealth",
    ].join("\n"),
  );
  await expect(broken).rejects.toThrow(/1 of 1 did not pass\nInterpretHealth on Widget shop\/web on m1: /);
});

test("bindings that may not be read are a note, and the members are listed once", async () => {
  for (const cluster of ["hub", "m1", "m2"]) await world.create(cluster, definition("Widget"));
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    ...["a", "b"].map((name) => object("example.com/v1", "Widget", "shop", name, { spec: { replicas: 2 } })),
    policy("shop", "Widget", { apiVersion: "example.com/v1", clusters: ["m1", "m2"] }),
  );
  await world.fleet.run(20_000);
  const file = join(folder, "rules.json");
  writeFileSync(
    file,
    JSON.stringify(
      rules("Widget", {
        replicaResource: replicas,
        healthInterpretation: "function InterpretHealth(o) return o.spec.replicas == 2 end",
      }),
    ),
  );
  const { client, clock } = world.fleet;
  const lists: string[] = [];
  const counting: Client = {
    ...client,
    list(kind, options) {
      lists.push(kind.kind);
      return client.list(kind, options);
    },
  };
  const refused: Client = {
    ...client,
    get: (kind, key, options) =>
      kind.kind === "ResourceBinding"
        ? Promise.reject(forbidden({ group: "work.karmada.io", resource: "resourcebindings" }, "a", "no"))
        : client.get(kind, key, options),
  };
  const argv = ["-f", file, "--check", "--against-hub"] as const;

  const full = await runCommand({ client: counting, clock }, "interpret", ...argv);
  const partial = await runCommand({ client: refused, clock }, "interpret", ...argv);

  expect(full.text).toContain("Widget shop/b on m2: PASS InterpretHealth");
  expect(lists.filter((kind) => kind === "Cluster")).toHaveLength(1);
  expect(partial.text).toContain("Widget shop/a of the hub: PASS InterpretReplica");
  expect(partial.text).toContain("NOT TRIED ON ANY OBJECT: InterpretHealth of widget");
  expect(
    partial.text.match(/copies of Widget in example\.com\/v1: you are not allowed to read bindings/g),
  ).toHaveLength(1);
});

test("a copy is read in the version that its member serves", async () => {
  const cloneSets = { cluster: "m1", name: "clonesets.apps.kruise.io" };
  const { client } = world.fleet;
  const { spec } = await client.get(CustomResourceDefinition, cloneSets);
  const versions = spec.versions.map((version) => ({ ...version, served: version.name === "v1beta1" }));
  await client.patch(CustomResourceDefinition, cloneSets, { spec: { versions: versions as never } }, { type: "merge" });
  await world.create("hub", object("v1", "Namespace", "", "shop"));
  await world.fleet.run(20_000);
  await world.create("hub", cloneSet("shop"), policy("shop", "CloneSet", { apiVersion: "apps.kruise.io/v1alpha1" }));
  await world.fleet.run(20_000);

  const text = await check(
    rules(
      "CloneSet",
      { healthInterpretation: "function InterpretHealth(o) return o.spec.replicas == 2 end" },
      "apps.kruise.io/v1alpha1",
    ),
  );

  expect(text).toContain("CloneSet shop/web on m1: no customization targets CloneSet in apps.kruise.io/v1beta1");
});

test("a rule for which the hub has no object is not said to have been tried", async () => {
  await world.create("hub", definition("Widget"));

  const text = await check(rules("Widget", { replicaResource: replicas }));

  expect(text).toMatch(/InterpretReplica: +PASS/);
  expect(text).not.toContain("TRIED ON:");
  expect(text).toContain("the hub has no Widget in example.com/v1");
});
