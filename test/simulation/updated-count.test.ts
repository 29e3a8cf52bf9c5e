/** The number of updated pods on the hub while a partition is lowered step by step: members follow one after another. */
import { expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import { PropagationPolicy } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { AdvancedDaemonSet, AdvancedStatefulSet, CloneSet } from "@flotilla/openkruise";
import { makePolicy } from "@flotilla/testing/builders.ts";
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
