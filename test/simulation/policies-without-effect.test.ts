/**
 * Parts of policies that do nothing are valid, and often a mistake. Each is named in four places: as a warning when the
 * policy is applied, by `flotilla why` of an object, by `flotilla lint --against-hub`, and by `flotilla doctor`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { runCommand } from "./run-command.ts";
import { readAll, startHealthFleet } from "./health-fleet.ts";
import type { HealthFleet, Manifest } from "./health-fleet.ts";

const SETTLED_MS = 20_000;
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
const labelled = (matchLabels: JsonObject): JsonObject => ({ ...deployments, labelSelector: { matchLabels } });
const m1 = { clusterAffinity: { clusterNames: ["m1"] } };

const policy = (namespace: string, name: string, resourceSelectors: JsonObject[], spec: JsonObject = {}): Manifest => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { namespace, name },
  spec: { resourceSelectors, placement: m1, ...spec },
});

/** With two labels. */
const web = (namespace: string): Manifest => ({
  ...deployments,
  metadata: { namespace, name: "web", labels: { app: "web", tier: "front" } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});

interface Case {
  /** Exists before, next to the Deployment `web`. */
  before?(namespace: string): Manifest[];
  /** The policy without effect. */
  policy(namespace: string): Manifest;
  /** Happens after the policy was applied for the first time. */
  next?(health: HealthFleet): Promise<void>;
  /** What each place says. */
  warns: RegExp;
  why: RegExp;
  lints: RegExp;
  finds: RegExp;
}

const CASES: Record<string, Case> = {
  "spread constraints that static weights ignore": {
    policy: (namespace) =>
      policy(namespace, "all", [deployments], {
        placement: {
          clusterAffinity: { clusterNames: ["m1", "m2"] },
          spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1 }],
          replicaScheduling: {
            replicaSchedulingType: "Divided",
            replicaDivisionPreference: "Weighted",
            weightPreference: { staticWeightList: [{ targetCluster: { clusterNames: ["m1"] }, weight: 1 }] },
          },
        },
      }),
    warns: /spec\.placement\.spreadConstraints: spread constraints are ignored .* static weights/,
    why: /the policy's spread constraints are ignored .* static weights/,
    lints: /ignored-spread spread constraints are ignored/,
    finds: /spread constraints are ignored/,
  },
  "a taint that moves nothing, because the policy has no failover": {
    policy: (namespace) => policy(namespace, "all", [deployments], { placement: clusterOf("tainted") }),
    next: (health) => health.patch("hub", member("tainted"), { spec: { taints: [GPU] } }),
    warns: /spec\.failover: tainted has the taint gpu=broken:NoExecute, and 1 object of this policy stays there/,
    why: /tainted has the taint gpu=broken:NoExecute, and it stays there, because the policy has no failover\.cluster/,
    lints: /taints-move-nothing tainted has the taint gpu=broken:NoExecute, and 1 object/,
    finds: /taint gpu:NoExecute.*only workloads whose policy has failover\.cluster leave it/,
  },
  "a cluster that has left": {
    policy: (namespace) =>
      policy(namespace, "all", [deployments], { placement: { clusterAffinity: { clusterNames: ["m1", "gone"] } } }),
    warns: /no joined cluster is named gone/,
    why: /the policy names gone, which is not a member of the fleet/,
    lints: /unknown-member no joined cluster is named gone/,
    finds: /names gone, which is not a member/,
  },
  "a misspelt kind": {
    policy: (namespace) => policy(namespace, "all", [{ ...deployments, kind: "Deploymnt" }]),
    warns: /does not serve Deploymnt in apps\/v1 \(did you mean 'Deployment'\?\)/,
    why: /PropagationPolicy \S+ selects Deploymnt in apps\/v1, and this is Deployment in apps\/v1/,
    lints: /unknown-kind the hub does not serve Deploymnt/,
    finds: /does not serve Deploymnt in apps\/v1 \(did you mean 'Deployment'\?\)/,
  },
  "two policies that select the same objects with equal rank": {
    before: (namespace) => [policy(namespace, "all", [deployments])],
    policy: (namespace) => policy(namespace, "more", [deployments]),
    warns: /PropagationPolicy all also selects the same objects with the same priority/,
    why: /PropagationPolicy more selects it, too, by kind with the same priority, and has no effect on it/,
    lints: /policies-tie PropagationPolicy all also selects the same objects with the same priority/,
    finds: /all selects the same objects with the same priority/,
  },
  "two policies of equal rank that select an object by different labels": {
    before: (namespace) => [policy(namespace, "by-app", [labelled({ app: "web" })])],
    policy: (namespace) => policy(namespace, "by-tier", [labelled({ tier: "front" })]),
    warns: /PropagationPolicy by-app also selects Deployment web with the same priority/,
    why: /PropagationPolicy by-tier selects it, too, by labels with the same priority, and has no effect on it/,
    lints: /policies-tie PropagationPolicy by-app also selects Deployment web with the same priority/,
    finds: /by-app selects Deployment web, too, with the same priority/,
  },
};

const SOUND: Record<string, (namespace: string) => Manifest[]> = {
  "different labels that no object has both of": (namespace) => [
    policy(namespace, "by-app", [labelled({ app: "web" })]),
    policy(namespace, "by-tier", [labelled({ tier: "back" })]),
  ],
  "a name and a kind": (namespace) => [
    policy(namespace, "all", [deployments]),
    policy(namespace, "web", [{ ...deployments, name: "web" }]),
  ],
  "another priority": (namespace) => [
    policy(namespace, "all", [deployments]),
    policy(namespace, "more", [deployments], { priority: 1 }),
  ],
};

const GPU = { key: "gpu", value: "broken", effect: "NoExecute" };
const clusterOf = (name: string): JsonObject => ({ clusterAffinity: { clusterNames: [name] } });
const member = (name: string): Manifest => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
});

let health: HealthFleet;
let user: Client;
let folder: string;
/** By case. */
const warned = new Map<string, string[]>();
const all = [...Object.keys(CASES), ...Object.keys(SOUND)];
const namespaceOf = (name: string): string => `n${all.indexOf(name)}`;

/** As kubectl creates it. */
async function apply(object: Manifest): Promise<string[]> {
  const { namespace } = object.metadata as { namespace?: string };
  const plural = `${object.kind.toLowerCase().replace(/y$/, "ie")}s`;
  const path = `/apis/${object.apiVersion}/namespaces/${namespace ?? ""}/${plural}`;
  const { name } = object.metadata;
  const { headers, status } = await user.raw(
    {
      method: "PATCH",
      cluster: "hub",
      path: `${path}/${name}?fieldManager=kubectl&force=true`,
      headers: { "content-type": "application/apply-patch+yaml", accept: "application/json" },
      body: new TextEncoder().encode(JSON.stringify(object)),
    },
    new AbortController().signal,
  );
  expect(status).toBeLessThan(300);
  return [headers["warning"] ?? []].flat();
}

beforeAll(async () => {
  health = await startHealthFleet({ members: ["m1", "m2", "tainted"], nodes: 1 });
  const { fleet } = health;
  user = createClient({
    transport: fleet.hub.server.transport({ name: "ann", groups: ["system:masters", "system:authenticated"] }),
    fieldManager: "kubectl",
  });
  folder = mkdtempSync(join(tmpdir(), "flotilla-policies-"));
  for (const name of all) {
    const namespace = namespaceOf(name);
    await health.create("hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, web(namespace));
  }
  for (const [name, each] of Object.entries(CASES)) {
    const namespace = namespaceOf(name);
    for (const object of each.before?.(namespace) ?? []) await apply(object);
    await fleet.run(SETTLED_MS);
    warned.set(name, await apply(each.policy(namespace)));
    await fleet.run(SETTLED_MS);
    if (!each.next) continue;
    await each.next(health);
    await fleet.run(SETTLED_MS);
    // It is applied again, with a change.
    const changed = each.policy(namespace);
    warned.set(name, await apply({ ...changed, metadata: { ...changed.metadata, labels: { again: "yes" } } }));
  }
  for (const [name, objects] of Object.entries(SOUND))
    warned.set(name, (await Promise.all(objects(namespaceOf(name)).map(apply))).flat());
  await fleet.run(SETTLED_MS);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await health.fleet.stop();
});

async function lint(objects: readonly Manifest[]): Promise<string> {
  const file = join(folder, "policies.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const { text } = await runCommand(
    { client: user, clock: health.fleet.clock },
    "lint",
    "-f",
    file,
    "--against-hub",
    "-o",
    "json",
  );
  const { findings } = JSON.parse(text) as { findings: { rule: string; message: string }[] };
  return findings.map(({ rule, message }) => `${rule} ${message}`).join("\n");
}

async function doctor(namespace: string, about: RegExp): Promise<string> {
  const { findings } = await health.doctor();
  return findings
    .filter((finding) => finding.about.includes(` ${namespace}/`) || about.test(finding.about))
    .map(({ seen }) => seen)
    .join("\n");
}

const why = async (namespace: string): Promise<string> =>
  readAll(await health.run("why", "deployment/web", "-n", namespace));

describe("is named in all four places:", () => {
  for (const [name, each] of Object.entries(CASES))
    test(name, async () => {
      const namespace = namespaceOf(name);

      expect(warned.get(name)?.join("\n")).toMatch(each.warns);
      expect(await why(namespace)).toMatch(each.why);
      expect(await lint([each.policy(namespace)])).toMatch(each.lints);
      expect(await doctor(namespace, /^member tainted$/)).toMatch(each.finds);
    });
});

describe("two policies do not compete if they have", () => {
  for (const [name, objects] of Object.entries(SOUND))
    test(name, async () => {
      const namespace = namespaceOf(name);

      expect(warned.get(name)).toEqual([]);
      expect(await why(namespace)).not.toContain("with the same priority");
      expect(await lint(objects(namespace))).not.toContain("policies-tie");
      expect(await doctor(namespace, /^$/)).not.toContain("with the same priority");
    });
});
