/**
 * The safety rules for users, each challenged by a case that could break it. (Further coverage: `failover.test.ts`,
 * `drift-away.test.ts`, `safety-stale-view.test.ts`, `adoption.test.ts`, `release.test.ts`, and the planners' own
 * tests.)
 */
import { afterEach, describe, expect, test } from "vitest";
import { Cluster, ClusterPropagationPolicy, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { ClusterRole, Deployment, Namespace } from "@flotilla/kubernetes";
import { copy } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const MEMBERS = ["member1", "member2"];
const WEB = { namespace: "shop", name: "web" };
const RBAC = "rbac.authorization.k8s.io/v1";

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(policy?: PropagationPolicy, nodes = 0): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  if (!policy) return;
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
}
const on = (cluster: string): Promise<DeepReadonly<Deployment> | undefined> =>
  find(fleet.client, Deployment, { cluster, ...WEB });

describe("an unobservable member keeps its workloads", () => {
  const policies: Record<string, PropagationPolicy> = {
    "a duplicated workload": makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .duplicates(...MEMBERS)
      .build(),
    "a workload divided by weight": makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .weights({ member1: 1, member2: 1 })
      .build(),
    "a workload divided by available replicas": makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .with(
        ({ spec }) =>
          (spec.placement = {
            replicaScheduling: {
              replicaSchedulingType: "Divided",
              replicaDivisionPreference: "Weighted",
              weightPreference: { dynamicWeight: "AvailableReplicas" },
            },
          }),
      )
      .build(),
  };
  for (const [what, policy] of Object.entries(policies)) {
    test(`although it reports nothing and is tainted: ${what}`, async () => {
      await start(policy, 1);
      const before = await on("member1");
      const blind = copy(await fleet.client.get(Cluster, { cluster: "hub", name: "member1" }));
      const lost = {
        conditions: [
          { type: "Ready", status: "Unknown", reason: "Test", message: "", lastTransitionTime: "2024-05-01T12:00:00Z" },
        ],
      };
      await fleet.client.patch(
        Cluster,
        { cluster: "hub", name: "member1" },
        { spec: { taints: [{ key: "cluster.karmada.io/unreachable", effect: "NoSchedule" }] } },
        { type: "merge" },
      );
      await fleet.client.updateStatus(Cluster, "hub", {
        ...blind,
        metadata: { ...blind.metadata, resourceVersion: "" },
        status: lost,
      } as Cluster);
      await fleet.settle();

      await fleet.client.patch(
        Deployment,
        { cluster: "hub", ...WEB },
        { metadata: { labels: { touched: "yes" } } },
        { type: "merge" },
      );
      await fleet.settle();

      expect(
        (
          await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" })
        ).spec.clusters?.map(({ name }) => name),
      ).toContain("member1");
      expect((await on("member1"))?.metadata.uid).toBe(before?.metadata.uid);
    });
  }
});

describe("an object that Flotilla did not create is not touched without consent", () => {
  const theirs = (metadata: object): Deployment =>
    makeDeployment("shop/web")
      .replicas(7)
      .with((object) => Object.assign(object.metadata, metadata))
      .build();
  const disguises: Record<string, object> = {
    plain: {},
    "with Karmada's label on it": { labels: { "karmada.io/managed": "true" } },
    "with the annotations of another Work": {
      labels: { "karmada.io/managed": "true" },
      annotations: { "work.karmada.io/namespace": "karmada-es-member1", "work.karmada.io/name": "other" },
    },
    "with the annotations of another control plane's Work of that name": {
      labels: { "karmada.io/managed": "true" },
      annotations: { "work.karmada.io/namespace": "karmada-es-elsewhere", "work.karmada.io/name": "web-56d6c779bb" },
    },
    "released by another Work": { annotations: { "flotilla.dev/released-from": "karmada-es-member1/other" } },
  };
  for (const [disguise, metadata] of Object.entries(disguises)) {
    test(`nor deleted with the template: ${disguise}`, async () => {
      await start();
      await fleet.run(SETTLED_MS);
      await fleet.client.create(Deployment, "member1", theirs(metadata));
      const before = await on("member1");
      await fleet.client.create(
        PropagationPolicy,
        "hub",
        makePolicy("shop/all")
          .selects("apps/v1", "Deployment")
          .duplicates(...MEMBERS)
          .build(),
      );
      await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
      await fleet.run(SETTLED_MS);
      expect((await on("member1"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
      const works = (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items.filter(
        ({ metadata: { name } }) => name.startsWith("web-"),
      );
      expect(works[0]?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "Applied", status: "False" }),
      );

      await fleet.client.delete(Deployment, { cluster: "hub", ...WEB });
      await fleet.run(SETTLED_MS);

      expect((await on("member1"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
      expect(await on("member2")).toBeUndefined();
    });
  }

  test("a cluster-scoped object that Flotilla did not create is not touched either", async () => {
    await start();
    await fleet.client.create(ClusterRole, "member1", {
      apiVersion: RBAC,
      kind: "ClusterRole",
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    });
    await fleet.client.create(ClusterPropagationPolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterPropagationPolicy",
      metadata: { name: "roles" },
      spec: { resourceSelectors: [{ apiVersion: RBAC, kind: "ClusterRole", name: "reader" }], placement: {} },
    });
    await fleet.client.create(ClusterRole, "hub", {
      apiVersion: RBAC,
      kind: "ClusterRole",
      metadata: { name: "reader" },
      rules: [],
    });
    await fleet.run(SETTLED_MS);
    await fleet.client.delete(ClusterRole, { cluster: "hub", name: "reader" });
    await fleet.run(SETTLED_MS);

    expect((await fleet.client.get(ClusterRole, { cluster: "member1", name: "reader" })).rules).toHaveLength(1);
    expect(await find(fleet.client, ClusterRole, { cluster: "member2", name: "reader" })).toBeUndefined();
  });
});

test("unknown counts as unavailable: a copy is not deleted while its replacement reports nothing or an unknown status", async () => {
  await start(
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment")
      .with(({ spec }) =>
        Object.assign(spec, {
          failover: { cluster: {} },
          placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] },
        }),
      )
      .build(),
  );
  const [from = ""] = (
    (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" })).spec
      .clusters ?? []
  ).map(({ name }) => name);
  const deployment = copy(await fleet.client.get(Deployment, { cluster: from, ...WEB }));
  await fleet.client.updateStatus(Deployment, from, {
    ...deployment,
    status: {
      observedGeneration: deployment.metadata.generation,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    },
  });
  await fleet.run(SETTLED_MS);

  await fleet.client.patch(
    Cluster,
    { cluster: "hub", name: from },
    { spec: { taints: [{ key: "drain", effect: "NoExecute" }] } },
    { type: "merge" },
  );
  await fleet.run(2 * 3_600_000);

  expect((await on(from))?.spec.replicas).toBe(4);
});
