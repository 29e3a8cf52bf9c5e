/**
 * A release with a failover in it, reconstructed from the audit log alone: who changed what, what the controllers decided
 * from it, and which state they left.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { CLUSTER_NAME_KEY } from "@flotilla/apimachinery";
import { createAuditor, readAuditPolicy } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { Decision } from "@flotilla/flotilla";
import { Cluster, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
  # What users do with policies and workloads, with what they sent.
  - level: Request
    verbs: [create, update, patch, delete]
    resources: [{ group: apps.kruise.io }, { group: policy.karmada.io }, { group: cluster.karmada.io }]
    omitStages: [RequestReceived]
`;
const web = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet | undefined;
let folder: string | undefined;
afterEach(async () => {
  await fleet?.stop();
  fleet = undefined;
  if (folder) rmSync(folder, { recursive: true });
  folder = undefined;
});

type Line = { decision?: Decision; event?: JsonObject };

test("a release with a failover in it is reconstructed from the log alone", async () => {
  const lines: string[] = [];
  const clock = createFakeClock();
  const auditor = createAuditor({
    clusterAnnotation: CLUSTER_NAME_KEY,
    policy: readAuditPolicy(POLICY, "policy"),
    backends: [{ name: "log", write: ({ text }) => void lines.push(text), close: async () => {} }],
    clock,
    random: createSeededRandom(1),
  });
  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], nodes: 3, clock, auditor });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 1, member2: 1, member3: 1 })
      .with(({ spec }) => {
        spec.failover = { cluster: { purgeMode: "Gracefully" } };
      })
      .build(),
  );
  const update = { type: "RollingUpdate" as const, rollingUpdate: { partition: 0, maxUnavailable: "50%" } };
  await fleet.client.create(
    CloneSet,
    "hub",
    makeCloneSet("shop/web")
      .replicas(9)
      .with(({ spec }) => {
        spec.updateStrategy = update;
      })
      .build(),
  );
  await fleet.run(60_000);
  // The release: three pods of the fleet run the new image, and a member is lost in the middle of it.
  const release = (partition: number) =>
    fleet?.client.patch(
      CloneSet,
      web,
      {
        spec: {
          template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
          updateStrategy: { rollingUpdate: { partition } },
        },
      },
      { type: "merge" },
    );
  await release(6);
  await fleet.run(60_000);
  const taints = [{ key: "outage", effect: "NoExecute" as const }];
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member3" }, { spec: { taints } }, { type: "merge" });
  await fleet.run(5 * 60_000);
  await release(0);
  await fleet.run(120_000);

  const log = lines.map(readLine);
  const decisions = log.flatMap(({ decision }) => (decision?.object.name === "web" ? [decision] : []));
  expect(decisions.map(({ type, cause }) => `${type}: ${cause.reason}`)).toEqual(
    expect.arrayContaining([
      "Placed: FirstPlacement",
      "Dispatched: TemplateChanged",
      "EvictionStarted: TaintUntolerated",
      "Moved: TaintUntolerated",
      "EvictionEnded: Replaced",
    ]),
  );

  // Where the pods were placed, from the placements in order: the state after the last is the binding's.
  const placements = decisions.filter(({ type }) => ["Placed", "Moved", "Divided"].includes(type));
  expect(placements[0]?.after).toEqual({ member1: 3, member2: 3, member3: 3 });
  expect(placements.slice(1).map(({ before }) => before)).toEqual(placements.slice(0, -1).map(({ after }) => after));
  const binding = await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" });
  expect(placements.at(-1)?.after).toEqual(
    Object.fromEntries((binding.spec.clusters ?? []).map(({ name, replicas }) => [name, replicas])),
  );
  expect(Object.keys(placements.at(-1)?.after as JsonObject)).toEqual(["member1", "member2"]);

  // What moved the pods: the decision names the eviction, and the eviction the taint that a user set before it.
  const moved = decisions.find(({ type }) => type === "Moved");
  expect(moved).toMatchObject({
    actor: { controller: "schedule", user: "system:flotilla:decisions" },
    clusters: expect.arrayContaining(["member3"]) as unknown,
    before: { member1: 3, member2: 3, member3: 3 },
  });
  const evicted = decisions.find(({ type }) => type === "EvictionStarted");
  expect(evicted?.clusters).toEqual(["member3"]);
  const tainted = log.find(
    ({ event }) =>
      resourceOf(event) === '["clusters","member3"]' &&
      verbOf(event) === "patch" &&
      userOf(event) === "system:flotilla:system",
  );
  expect(order(log, tainted, evicted, moved)).toBe("in order");

  // Each step of the release: the partition of every member, rebuilt from the changes, is that of its Work.
  const partitions = new Map<string, unknown>();
  for (const { after } of decisions.filter(({ type }) => type === "Dispatched" || type === "RolloutStep"))
    for (const [member, fields] of Object.entries(after as JsonObject)) {
      if (fields === null) partitions.delete(member);
      else if (isObject(fields))
        for (const [path, value] of Object.entries(fields))
          if (path === "spec.updateStrategy.rollingUpdate.partition" || path === "spec.updateStrategy.partition")
            partitions.set(member, value);
    }
  const works = (await fleet.client.list(Work, { cluster: "hub" })).items.filter(({ metadata }) =>
    metadata.name.startsWith("web-"),
  );
  const actual = works.map(({ metadata, spec }) => [
    metadata.namespace?.slice("karmada-es-".length),
    partitionOf(spec.workload?.manifests?.[0]),
  ]);
  expect(actual).toHaveLength(2);
  expect(Object.fromEntries(partitions)).toEqual(Object.fromEntries(actual));
});

test("decisions survive a restart in their file, and are served by the API", async () => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-decisions-"));
  const decisionsFile = join(folder, "decisions.jsonl");
  const engine = createLastingEngine();
  fleet = await startTestFleet({ members: ["member1"], engine, decisionsFile });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").build(),
  );
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").build());
  await fleet.run(10_000);
  const placed = (decisions: readonly { type: string; object: { name: string } }[]): unknown[] =>
    decisions.filter(({ type, object }) => type === "Placed" && object.name === "web");
  const before = (await fleet.client.list(Decision, { cluster: "hub" })).items;
  expect(placed(before)).toHaveLength(1);
  await fleet.stop();

  fleet = await startTestFleet({ members: ["member1"], engine, decisionsFile });
  const after = (await fleet.client.list(Decision, { cluster: "hub" })).items;

  expect(placed(after)).toEqual(placed(before));
  expect(readFileSync(decisionsFile, "utf8")).toContain('"type":"Placed"');
});

function readLine(text: string): Line {
  const value = JSON.parse(text) as JsonObject;
  return value.kind === "Decision" ? { decision: value as unknown as Decision } : { event: value };
}
const objectRef = (event: JsonObject | undefined): JsonObject => (isObject(event?.objectRef) ? event.objectRef : {});
const resourceOf = (event: JsonObject | undefined): string =>
  JSON.stringify([objectRef(event).resource, objectRef(event).name]);
const verbOf = (event: JsonObject | undefined): unknown => event?.verb;
const userOf = (event: JsonObject | undefined): unknown => (isObject(event?.user) ? event.user.username : undefined);
const partitionOf = (manifest: unknown): unknown => {
  const spec = (
    manifest as { spec?: { updateStrategy?: { partition?: unknown; rollingUpdate?: { partition?: unknown } } } }
  ).spec;
  return spec?.updateStrategy?.rollingUpdate?.partition ?? spec?.updateStrategy?.partition;
};

/** Whether a request and two decisions are in the log in this order. */
function order(log: readonly Line[], request: Line | undefined, ...decisions: (Decision | undefined)[]): string {
  const places = [
    request ? log.indexOf(request) : -1,
    ...decisions.map((decision) => log.findIndex((line) => line.decision?.metadata.name === decision?.metadata.name)),
  ];
  return places.includes(-1)
    ? `missing: ${places.join(", ")}`
    : places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0))
      ? "in order"
      : places.join(", ");
}
