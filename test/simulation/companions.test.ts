/** What concerns the pods of a workload reaches its members with it: SidecarSets, budgets, spreads and probes. */
import { afterEach, expect, test } from "vitest";
import { CloneSet, SidecarSet } from "@flotilla/openkruise";
import { ConfigMap, Namespace, Pod } from "@flotilla/kubernetes";
import { createInterpreter, planFleet } from "@flotilla/flotilla";
import { PropagationPolicy } from "@flotilla/karmada";
import { readHub } from "../../packages/cli/src/explain/read-snapshot.ts";
import { PodUnavailableBudget } from "../../packages/openkruise/src/podunavailablebudget/podunavailablebudget-kind.ts";
import type { Transport } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const MEMBERS = ["member1", "member2"] as const;

let fleet: TestFleet;
afterEach(() => fleet.stop());

const sidecarSet: SidecarSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "SidecarSet",
  metadata: { name: "proxies" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    containers: [{ name: "proxy", image: "proxy:1", envFrom: [{ configMapRef: { name: "proxy" } }] }],
  },
};
const budget: PodUnavailableBudget = {
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "web", namespace: "shop" },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 3 },
};

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes: 2, ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .weights({ member1: 2, member2: 1 })
    .with(({ spec }) => (spec.propagateDeps = true));
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
}
const podsOn = async (cluster: string): Promise<string[][]> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.map(({ spec }) =>
    spec.containers.map(({ name }) => name),
  );

test("a SidecarSet with its ConfigMap and a budget follow the workload whose pods they select", async () => {
  await start();
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "proxy", namespace: "shop" },
    data: {},
  });
  await fleet.client.create(SidecarSet, "hub", sidecarSet);
  await fleet.client.create(SidecarSet, "hub", {
    ...sidecarSet,
    metadata: { name: "others" },
    spec: { ...sidecarSet.spec, selector: { matchLabels: { app: "other" } } },
  });
  await fleet.client.create(PodUnavailableBudget, "hub", budget);
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(3).build());
  await fleet.run(30_000);

  const parts: unknown[] = [];
  for (const cluster of MEMBERS) {
    const sets = (await fleet.client.list(SidecarSet, { cluster })).items.map(({ metadata: { name } }) => name);
    expect(sets).toEqual(["proxies"]);
    expect(await fleet.client.get(ConfigMap, { cluster, namespace: "shop", name: "proxy" })).toBeDefined();
    const { spec } = await fleet.client.get(PodUnavailableBudget, { cluster, namespace: "shop", name: "web" });
    parts.push(spec.maxUnavailable);
  }
  expect(parts).toEqual([2, 1]);
  expect(await Promise.all(MEMBERS.map(podsOn))).toEqual([
    [
      ["proxy", "web"],
      ["proxy", "web"],
    ],
    [["proxy", "web"]],
  ]);
});

test("a budget that appears later follows, and leaves when it is no longer about the pods", async () => {
  await start();
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(3).build());
  await fleet.run(10_000);

  await fleet.client.create(PodUnavailableBudget, "hub", budget);
  await fleet.run(10_000);
  const budgets = async (): Promise<number> =>
    (await fleet.client.list(PodUnavailableBudget, { cluster: "member1", namespace: "shop" })).items.length;
  expect(await budgets()).toBe(1);

  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);

  await fleet.client.delete(CloneSet, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(10_000);
  expect(await budgets()).toBe(0);
});

test("a plan keeps the companions of a workload", async () => {
  await start();
  await fleet.client.create(PodUnavailableBudget, "hub", budget);
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(3).build());
  await fleet.run(10_000);

  const { snapshot } = await readHub(fleet.client, [], new AbortController().signal);
  const { works } = await planFleet(snapshot, { interpreter: createInterpreter(), nowMs: fleet.clock.now() });

  const budgets = works.filter(({ spec }) => spec.workload?.manifests?.[0]?.["kind"] === "PodUnavailableBudget");
  expect(budgets.map(({ metadata }) => metadata.namespace)).toEqual(["karmada-es-member1", "karmada-es-member2"]);
});

/** The hub fails the first discovery requests of a group and version. */
function failingDiscovery(
  path: string,
  times: number,
): { wrap: (transport: Transport) => Transport; failed(): number } {
  let failed = 0;
  const wrap = (transport: Transport): Transport => ({
    ...transport,
    async raw(request, signal) {
      const response = await transport.raw(request, signal);
      if (request.cluster !== "hub" || request.path !== path || failed >= times) return response;
      failed++;
      return { ...response, status: 503 };
    },
  });
  return { wrap, failed: () => failed };
}

const groupVersions = ["policy.kruise.io/v1beta1", "apps.kruise.io/v1beta1", "apps.kruise.io/v1alpha1"];
test.each(groupVersions)(
  "companions stay on the members when a restarted hub fails to discover %s",
  async (version) => {
    const engine = createLastingEngine();
    await start({ engine });
    await fleet.client.create(SidecarSet, "hub", sidecarSet);
    await fleet.client.create(PodUnavailableBudget, "hub", budget);
    await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(3).build());
    await fleet.run(30_000);
    const uids = (): Promise<(string | undefined)[]> =>
      Promise.all(
        MEMBERS.flatMap((cluster) => [
          fleet.client.get(PodUnavailableBudget, { cluster, namespace: "shop", name: "web" }),
          fleet.client.get(SidecarSet, { cluster, name: "proxies" }),
        ]).map(async (object) => (await object).metadata.uid),
      );
    const before = await uids();
    await fleet.stop();

    const discovery = failingDiscovery(`/apis/${version}`, 2);
    fleet = await startTestFleet({ members: MEMBERS, nodes: 2, engine, wrap: discovery.wrap });
    await fleet.run(60_000);

    expect(discovery.failed()).toBe(2);
    expect(await uids()).toEqual(before);
    // A reference may name another version of the same object: the one that was discovered first.
    expect(fleet.writes().filter(({ resource }) => resource !== "resourcebindings.work.karmada.io")).toEqual([]);
  },
);
