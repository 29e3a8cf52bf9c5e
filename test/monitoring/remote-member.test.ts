/**
 * A member outside the hub's process has the same metrics as simulated ones: two fleets; a cluster of one has joined
 * the other.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { PropagationPolicy } from "@flotilla/karmada";
import type { Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { joinPushMember } from "@flotilla/testing/fleet/join-push-member.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { parseMetrics, valueOf } from "./scrape.ts";
import type { Scrape } from "./scrape.ts";

const FAR = "far";
const THERE = "member1";
const USER = {
  name: "system:serviceaccount:karmada-cluster:karmada-far",
  groups: ["system:masters", "system:authenticated"],
};

let member: TestFleet;
let hub: TestFleet;

async function connect(): Promise<Transport> {
  const inner = member.hub.server.transport(USER);
  return {
    send: (request, signal) => inner.send({ ...request, path: { ...request.path, cluster: THERE } }, signal),
    watch: (request, signal) => inner.watch({ ...request, path: { ...request.path, cluster: THERE } }, signal),
    raw: (request, signal) => inner.raw({ ...request, cluster: THERE }, signal),
    close: async () => {},
  };
}

async function run(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
    await hub.run(1_000);
    await member.run(1_000);
  }
  await hub.settle();
}

async function scrape(path: string): Promise<Scrape> {
  const { body } = await hub.client.raw({ cluster: "hub", method: "GET", path });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return parseMetrics(Buffer.concat(chunks).toString());
}

beforeEach(async () => {
  member = await startTestFleet({ members: [THERE], nodes: 2 });
  hub = await startTestFleet({ members: [], connectMember: connect });
});
afterEach(async () => {
  await hub.stop();
  await member.stop();
});

test("the workloads of a remote member, its OpenKruise and the requests to it are measured", async () => {
  await joinPushMember(hub.client, "hub", FAR);
  await run(35_000);
  await hub.client.create(PropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "default" },
    spec: { resourceSelectors: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }], placement: {} },
  });
  await hub.client.create(CloneSet, "hub", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  });
  await run(20_000);
  // Kinds that no hub controller reads are watched from the first scrape.
  await scrape("/metrics/members");
  await run(2_000);

  const [page, members] = [await scrape("/metrics"), await scrape("/metrics/members")];

  const of = (name: string): number | undefined => valueOf(page, name, { member_cluster: FAR });
  expect([
    of("cluster_ready_state"),
    of("cluster_node_number"),
    of("flotilla_propagation_applied_seconds_count"),
    of("flotilla_propagation_reported_seconds_count"),
  ]).toEqual([1, 2, 1, 1]);
  expect(
    valueOf(page, "create_resource_to_cluster", { kind: "CloneSet", member_cluster: FAR, result: "success" }),
  ).toBe(1);
  expect(
    valueOf(page, "flotilla_member_requests_total", { member_cluster: FAR, verb: "create", code: "201" }),
  ).toBeGreaterThan(0);
  expect(of("flotilla_member_request_duration_seconds_count")).toBeGreaterThan(1);
  expect(of("flotilla_kruise_manager_ready_pods")).toBeGreaterThan(0);
  expect(
    valueOf(members, "kruise_cloneset_status_replicas_ready", {
      member_cluster: FAR,
      namespace: "default",
      cloneset: "web",
    }),
  ).toBe(2);
});
