/**
 * Nothing is removed based on a stale view: the hub receives no events of one kind for a quarter of an hour, while
 * users change objects. Workloads keep running, and missed changes are applied afterwards.
 */
import { afterEach, expect, test } from "vitest";
import { ClusterPropagationPolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { find, UnreachableError } from "@flotilla/client";
import type { Transport, TransportWatchEvent } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const LONG_MS = 15 * 60_000;
const MEMBERS = ["member1", "member2"];
const RBAC = "rbac.authorization.k8s.io/v1";

let fleet: TestFleet;
afterEach(() => fleet.stop());

/** Resources whose events the hub does not receive. */
const hidden = new Set<string>();

function wrap(transport: Transport): Transport {
  async function* watch(...[request, signal]: Parameters<Transport["watch"]>): AsyncIterable<TransportWatchEvent[]> {
    const { cluster, resource } = request.path;
    const fail = (): void => {
      if (cluster === "hub" && hidden.has(resource)) throw new UnreachableError(`nothing is heard of ${resource}`);
    };
    fail();
    for await (const batch of transport.watch(request, signal)) {
      fail(); // The event is lost with the connection.
      yield batch;
    }
  }
  return { ...transport, watch };
}

async function start(): Promise<void> {
  hidden.clear();
  fleet = await startTestFleet({ members: MEMBERS, wrap });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
  });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .weights({ member1: 1, member2: 1 })
      .with(({ spec }) => (spec.propagateDeps = true))
      .build(),
  );
  await client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: { resourceSelectors: [{ apiVersion: RBAC, kind: "ClusterRole", name: "reader" }], placement: {} },
  });
  await client.create(
    Deployment,
    "hub",
    makeDeployment("shop/web")
      .replicas(4)
      .with(
        ({ spec }) =>
          (spec.template.spec = {
            containers: [{ name: "web", image: "web:1", envFrom: [{ configMapRef: { name: "settings" } }] }],
          }),
      )
      .build(),
  );
  await client.create(ClusterRole, "hub", {
    apiVersion: RBAC,
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);
  expect(await missing()).toEqual([]);
}

/** The objects that members lost. */
async function missing(): Promise<string[]> {
  const { client } = fleet;
  const lacks = await Promise.all(
    MEMBERS.flatMap((cluster) => [
      find(client, Deployment, { cluster, namespace: "shop", name: "web" }).then((found) =>
        found ? [] : [`web on ${cluster}`],
      ),
      find(client, ConfigMap, { cluster, namespace: "shop", name: "settings" }).then((found) =>
        found ? [] : [`settings on ${cluster}`],
      ),
      find(client, ClusterRole, { cluster, name: "reader" }).then((found) => (found ? [] : [`reader on ${cluster}`])),
      find(client, Namespace, { cluster, name: "shop" }).then((found) => (found ? [] : [`shop on ${cluster}`])),
    ]),
  );
  return lacks.flat();
}
const worksGoing = async (): Promise<string[]> =>
  (await fleet.client.list(Work, { cluster: "hub" })).items
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);

for (const resource of [
  "deployments",
  "configmaps",
  "clusterroles",
  "namespaces",
  "propagationpolicies",
  "clusterpropagationpolicies",
  "resourcebindings",
  "clusterresourcebindings",
  "works",
  "clusters",
  "overridepolicies",
]) {
  test(`a time without events of ${resource} removes nothing, and changes meanwhile arrive`, async () => {
    await start();
    hidden.add(resource);
    await fleet.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 8 } },
      { type: "merge" },
    );
    await fleet.client.patch(
      PropagationPolicy,
      { cluster: "hub", namespace: "shop", name: "all" },
      { metadata: { annotations: { "flotilla.dev/drift": "report" } } },
      { type: "merge" },
    );
    await fleet.client.patch(
      ClusterRole,
      { cluster: "hub", name: "reader" },
      { metadata: { labels: { touched: "yes" } } },
      { type: "merge" },
    );
    await fleet.run(LONG_MS);
    expect([await missing(), await worksGoing()]).toEqual([[], []]);

    hidden.clear();
    await fleet.run(5 * 60_000);
    expect([await missing(), await worksGoing()]).toEqual([[], []]);
    for (const cluster of MEMBERS) {
      expect((await fleet.client.get(Deployment, { cluster, namespace: "shop", name: "web" })).spec.replicas).toBe(4);
      expect((await fleet.client.get(ClusterRole, { cluster, name: "reader" })).metadata.labels).toMatchObject({
        touched: "yes",
      });
    }
    fleet.resetWrites();
    await fleet.run(LONG_MS);
    expect(fleet.writes()).toEqual([]);
  });
}
