/** A plan of changed members: what leaves them, and what it does not show. Applying it does the same. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import { Cluster, PropagationPolicy } from "@flotilla/karmada";
import type { PropagationPolicy as Policy } from "@flotilla/karmada";
import { ConfigMap, Deployment, Job, Namespace } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";

const MEMBERS = ["member1", "member2"];
let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(change: (spec: Policy["spec"]) => void): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes: 1 });
  const { client } = fleet;
  for (const name of MEMBERS)
    await client.patch(
      Cluster,
      { cluster: "hub", name },
      { metadata: { labels: { tier: "front" } } },
      { type: "merge" },
    );
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } });
  const policy = makePolicy("lab/p")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.placement = {
        clusterAffinity: { labelSelector: { matchLabels: { tier: "front" } } },
        replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
      };
      spec.propagateDeps = true;
      change(spec);
    })
    .build();
  await client.create(PropagationPolicy, "hub", policy);
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lab", name: "settings" },
    data: { colour: "blue" },
  });
  const deployment = makeDeployment("lab/w")
    .replicas(4)
    .with(({ spec }) => {
      const [container] = spec.template.spec?.containers ?? [];
      if (container) container.envFrom = [{ configMapRef: { name: "settings" } }];
    });
  await client.create(Deployment, "hub", deployment.build());
  await fleet.run(30_000);
}

/** The plan of a change of member2; then the change itself, and the replicas on the members after a while. */
async function planAndApply(
  spec: object,
  labels: object = { tier: "front" },
): Promise<{ code: number; text: string; after: unknown[] }> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-plan-"));
  try {
    const file = join(folder, "member2.json");
    const head = { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster" };
    const manifest = { ...head, metadata: { name: "member2", labels }, spec: { syncMode: "Push", ...spec } };
    await writeFile(file, JSON.stringify(manifest));
    const planned = await runCommand(fleet, "plan", "-f", file);
    const change = { metadata: { labels }, spec } as unknown as Json;
    await fleet.client.patch(Cluster, { cluster: "hub", name: "member2" }, change, { type: "merge" });
    await fleet.run(120_000);
    return { ...planned, after: await copies() };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The replicas of the Deployment on each member, with its ConfigMap. */
const copies = (): Promise<unknown[]> =>
  Promise.all(
    MEMBERS.map(async (cluster) => {
      const deployment = await find(fleet.client, Deployment, { cluster, namespace: "lab", name: "w" });
      const settings = await find(fleet.client, ConfigMap, { cluster, namespace: "lab", name: "settings" });
      return [deployment?.spec?.replicas, ...(settings ? ["settings"] : [])];
    }),
  );

const TAINTED = { taints: [{ key: "maint", value: "yes", effect: "NoExecute" }] };
const CAUSE = "the cluster has the taint maint=yes:NoExecute, which the policy does not tolerate";

test.each([
  ["Directly", "the copy is deleted at once, also if no other member fits"],
  ["Gracefully", "the copy is deleted when its replacement is healthy"],
] as const)("shows what a taint moves, purged %s, with its dependencies", async (purgeMode, ending) => {
  await start((spec) => (spec.failover = { cluster: { purgeMode } }));

  const { code, text, after } = await planAndApply(TAINTED);

  expect(code).toBe(1);
  expect(text).toContain("member1\n  ~ Deployment lab/w\n      spec.replicas: 2 → 4\n");
  expect(text).toContain(`member2\n  - ConfigMap lab/settings\n  - Deployment lab/w (${CAUSE}; ${ending})\n`);
  expect(after).toEqual([[4, "settings"], [undefined]]);
});

test.each([
  ["Directly", "the copy is deleted at once, also if no other member fits; what is left runs elsewhere"],
  ["Gracefully", "the copy is deleted at once; what is left runs elsewhere"],
] as const)("says that a Job that a taint moves, purged %s, is deleted at once", async (purgeMode, ending) => {
  await start((spec) => {
    spec.failover = { cluster: { purgeMode } };
    spec.resourceSelectors = [{ apiVersion: "batch/v1", kind: "Job" }];
  });
  const template = {
    metadata: { annotations: { "sim/run": "3000" } },
    spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "seed:1" }] },
  };
  await fleet.client.create(Job, "hub", {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "seed", namespace: "lab" },
    spec: { completions: 4, parallelism: 4, template },
  });
  await fleet.run(10_000);

  const { text } = await planAndApply(TAINTED);

  expect(text).toContain(`  - Job lab/seed (${CAUSE}; ${ending})\n`);
  const left = await find(fleet.client, Job, { cluster: "member2", namespace: "lab", name: "seed" });
  expect(left).toBeUndefined();
});

test("shows that a copy is deleted without a replacement, if its policy purges directly", async () => {
  await start((spec) => {
    spec.failover = { cluster: { purgeMode: "Directly" } };
    spec.placement = { clusterAffinity: { clusterNames: ["member2"] } };
  });

  const { text, after } = await planAndApply(TAINTED);

  expect(text).toContain(`1 change on 1 cluster:`);
  expect(text).toContain(
    `member2\n  - Deployment lab/w (${CAUSE}; the copy is deleted at once, also if no other member fits)\n`,
  );
  expect(text).not.toContain("running copies stay");
  expect(after).toEqual([[undefined], [undefined, "settings"]]);
});

test("says that a copy stays while no other member fits", async () => {
  await start((spec) => {
    spec.failover = { cluster: { purgeMode: "Gracefully" } };
    spec.placement = { clusterAffinity: { clusterNames: ["member2"] } };
  });

  const { text, after } = await planAndApply(TAINTED);

  expect(text).toContain("none on any member");
  expect(text).toContain("Evict from cluster member2 failed: no other cluster fits");
  expect(after).toEqual([[undefined], [4, "settings"]]);
});

test("shows no change where no policy has failover.cluster", async () => {
  await start(() => {});

  const { code, text, after } = await planAndApply(TAINTED);

  expect(code).toBe(0);
  expect(text).toContain("none on any member");
  expect(text).toContain(
    "Deployment lab/w: it stays on member2, because its policy has no failover.cluster, unless the hub was started with --enable-no-execute-taint-eviction",
  );
  expect(after).toEqual([
    [2, "settings"],
    [2, "settings"],
  ]);
});

test("says what leaves when a toleration ends", async () => {
  await start((spec) => {
    const toleration = { key: "maint", operator: "Exists", effect: "NoExecute", tolerationSeconds: 600 } as const;
    spec.failover = { cluster: { purgeMode: "Directly" } };
    if (spec.placement) spec.placement.clusterTolerations = [toleration];
  });

  const { text, after } = await planAndApply(TAINTED);
  await fleet.run(600_000);

  expect(text).toContain(
    "Deployment lab/w: the plan does not cover that it leaves a member in 10m, when the toleration of its taint ends",
  );
  expect(text).not.toContain("none on any member");
  expect([after, await copies()]).toEqual([
    [
      [2, "settings"],
      [2, "settings"],
    ],
    [[4, "settings"], [undefined]],
  ]);
});

test("shows no change for a label that the placement no longer selects: running copies stay", async () => {
  await start(() => {});

  const { text, after } = await planAndApply({}, { tier: "back" });

  expect(text).toContain("none on any member");
  expect(after).toEqual([
    [2, "settings"],
    [2, "settings"],
  ]);
});
