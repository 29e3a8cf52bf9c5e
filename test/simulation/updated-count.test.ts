/** The number of updated pods on the hub while a partition is lowered step by step: members follow one after another. */
import { expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import { Cluster, PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { Deployment, Namespace, Pod, StatefulSet } from "@flotilla/kubernetes";
import { AdvancedDaemonSet, AdvancedStatefulSet, CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";

const STEP_MS = 25;
const SETTLED_MS = 20_000;
const MEMBERS = ["member1", "member2", "member3"];
const web = { cluster: "hub", namespace: "shop", name: "web" };

type Workload = KubernetesObject & { status?: Record<string, unknown> };
interface Case {
  kind: Kind;
  replicas?: number;
  partitions: number[];
  counter: string;
}
const cases: Record<string, Case> = {
  CloneSet: { kind: CloneSet, replicas: 10, partitions: [7, 5, 3, 0], counter: "updatedReplicas" },
  "Advanced StatefulSet": {
    kind: AdvancedStatefulSet,
    replicas: 10,
    partitions: [7, 5, 3, 0],
    counter: "updatedReplicas",
  },
  "Advanced DaemonSet": { kind: AdvancedDaemonSet, partitions: [6, 3, 0], counter: "updatedNumberScheduled" },
};
const RULES: Record<string, object | undefined> = {
  "the built-in rule": undefined,
  "the guide's rule": { jsonPath: ".status" },
  "a rule that selects the counters": {
    luaScript: `
function ReflectStatus(observedObj)
  local status = observedObj.status or {}
  return { replicas = status.replicas, updatedReplicas = status.updatedReplicas, updatedReadyReplicas = \
status.updatedReadyReplicas, readyReplicas = status.readyReplicas }
end
`,
  },
};
for (const [name, statusReflection] of Object.entries(RULES))
  test(`the updated pods of a CloneSet are those of the release after it was rolled back by partition, with ${name}`, async () => {
    const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 3 }));
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    if (statusReflection)
      await fleet.client.create(ResourceInterpreterCustomization, "hub", {
        apiVersion: "config.karmada.io/v1alpha1",
        kind: "ResourceInterpreterCustomization",
        metadata: { name: "mine" },
        spec: {
          target: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
          customizations: { statusReflection },
        },
      } as ResourceInterpreterCustomization);
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all")
        .selects("apps.kruise.io/v1alpha1", "CloneSet")
        .weights({ member1: 3, member2: 3, member3: 4 })
        .build(),
    );
    await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(10).build());
    await fleet.run(SETTLED_MS);
    const counts: unknown[] = [];
    const release = async (spec: object): Promise<void> => {
      await fleet.client.patch(CloneSet, web, { spec } as unknown as Json, { type: "merge" });
      await fleet.run(SETTLED_MS);
      const { status } = await fleet.client.get(CloneSet, web);
      counts.push([status?.replicas, status?.updatedReplicas, status?.updatedReadyReplicas]);
    };
    const partition = (value: number): object => ({ updateStrategy: { rollingUpdate: { partition: value } } });

    await release({
      template: { spec: { containers: [{ name: "main", image: "web:2" }] } },
      ...partition(4),
    });
    await release(partition(8));
    await release(partition(10));
    await release(partition(7));
    await release(partition(0));

    const pods = (
      await Promise.all(MEMBERS.map((cluster) => fleet.client.list(Pod, { cluster, namespace: "shop" })))
    ).flatMap(({ items }) => items);
    expect(counts).toEqual([
      [10, 6, 6],
      [10, 2, 2],
      [10, 0, 0],
      [10, 3, 3],
      [10, 10, 10],
    ]);
    expect(pods.filter(({ spec }) => spec.containers[0]?.image === "web:2")).toHaveLength(10);
  });

for (const [name, { kind, replicas, partitions, counter }] of Object.entries(cases))
  test(`the updated pods of a ${name} never become fewer while its partition is lowered`, async () => {
    const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 3 }));
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const { apiVersion } = { apiVersion: `apps.kruise.io/${kind.storageVersion}` };
    const policy = makePolicy("shop/all").selects(apiVersion, kind.kind);
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      (replicas === undefined ? policy : policy.weights({ member1: 3, member2: 3, member3: 4 })).build(),
    );
    const container = (image: string): object => ({ containers: [{ name: "web", image }] });
    await fleet.client.create(kind, "hub", {
      apiVersion,
      kind: kind.kind,
      metadata: { name: "web", namespace: "shop" },
      spec: {
        replicas,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: container("web:1") },
      },
    } as unknown as Workload);
    await fleet.run(SETTLED_MS);
    const patch = (spec: object): Promise<unknown> =>
      fleet.client.patch(kind, web, { spec } as unknown as Json, { type: "merge" });
    const counts: number[] = [];
    const watchFor = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        const updated = Number(((await fleet.client.get(kind, web)) as DeepReadonly<Workload>).status?.[counter] ?? 0);
        if (counts.at(-1) !== updated) counts.push(updated);
        await fleet.run(STEP_MS);
      }
    };
    const [first = 0, ...lower] = partitions;
    await patch({ template: { spec: container("web:2") }, updateStrategy: { rollingUpdate: { partition: first } } });
    await fleet.run(SETTLED_MS);

    for (const partition of lower) {
      await patch({ updateStrategy: { rollingUpdate: { partition } } });
      await watchFor(SETTLED_MS);
    }

    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(replicas ?? 9);
  });

for (const kind of [Deployment, StatefulSet] as Kind[])
  test(`the pods of a ${kind.kind} on an unreachable member are not counted as updated, also after it was scaled`, async () => {
    const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 3 }));
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps/v1", kind.kind).weights({ member1: 1, member2: 1, member3: 1 }).build(),
    );
    const pods = (image: string): object => ({
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image }] },
    });
    await fleet.client.create(kind, "hub", {
      apiVersion: "apps/v1",
      kind: kind.kind,
      metadata: { name: "web", namespace: "shop" },
      spec: { replicas: 6, serviceName: "web", selector: { matchLabels: { app: "web" } }, template: pods("web:1") },
    } as unknown as Workload);
    await fleet.run(SETTLED_MS);
    const counts: unknown[] = [];
    const change = async (spec: object): Promise<void> => {
      await fleet.client.patch(kind, web, { spec } as unknown as Json, { type: "merge" });
      await fleet.run(SETTLED_MS);
      const { status } = (await fleet.client.get(kind, web)) as DeepReadonly<Workload>;
      counts.push([status?.["readyReplicas"], status?.["updatedReplicas"] ?? 0]);
    };
    const cut = (fault: string | null): Promise<unknown> =>
      fleet.client.patch(
        Cluster,
        { cluster: "hub", name: "member3" },
        { metadata: { annotations: { "simulation.flotilla.dev/fault": fault } } },
        { type: "merge" },
      );

    await cut("unreachable");
    await change({ replicas: 9 });
    await change({ template: pods("web:2") });
    await change({ replicas: 12 });
    await cut(null);
    await fleet.run(60_000);
    await change({ replicas: 6 });

    expect(counts).toEqual([
      [8, 8],
      [8, 6],
      [10, 8],
      [6, 6],
    ]);
  });
