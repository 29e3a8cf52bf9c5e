import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createInterpreter } from "@flotilla/flotilla";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { mergeCopies } from "./merge-copies.ts";
import type { Copy, Merged } from "./merge-copies.ts";

const interpreter = createInterpreter();
const make = (kind: string, spec: object): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind,
    metadata: { namespace: "shop", name: "web" },
    spec,
  }) as unknown as KubernetesObject;
const merge = (objects: KubernetesObject[], scope?: "cluster"): Promise<Merged> =>
  mergeCopies(
    objects.map((object, index) => ({ cluster: `member${index + 1}`, object })) as unknown as [Copy],
    interpreter,
    scope,
  );
const specOf = ({ template }: Merged): unknown => (template as { spec?: unknown }).spec;

const rolling = (more: object): object => ({ updateStrategy: { rollingUpdate: more } });
const cases: Record<string, { objects: KubernetesObject[]; scope?: "cluster"; want: object }> = {
  "one member's object becomes the template": {
    objects: [make("CloneSet", { replicas: 6, ...rolling({ partition: 9 }) })],
    want: { replicas: 6, ...rolling({ partition: 9 }) },
  },
  "replicas, partitions and budgets are summed": {
    objects: [
      make("CloneSet", { replicas: 6, ...rolling({ partition: 3, maxUnavailable: 2 }) }),
      make("CloneSet", { replicas: 4, ...rolling({ partition: 2, maxUnavailable: 1 }) }),
    ],
    want: { replicas: 10, ...rolling({ partition: 5, maxUnavailable: 3 }) },
  },
  "a partition counts at most the pods its member has": {
    objects: [
      make("CloneSet", { replicas: 6, ...rolling({ partition: 100 }) }),
      make("CloneSet", { replicas: 4, ...rolling({ partition: 0 }) }),
    ],
    want: { replicas: 10, ...rolling({ partition: 6 }) },
  },
  "percentages are kept": {
    objects: [
      make("CloneSet", { replicas: 6, ...rolling({ partition: "50%" }) }),
      make("CloneSet", { replicas: 4, ...rolling({ partition: "50%" }) }),
    ],
    want: { replicas: 10, ...rolling({ partition: "50%" }) },
  },
  "with cluster scope only replicas are summed": {
    objects: [
      make("CloneSet", { replicas: 6, ...rolling({ partition: 3 }) }),
      make("CloneSet", { replicas: 4, ...rolling({ partition: 3 }) }),
    ],
    scope: "cluster",
    want: { replicas: 10, ...rolling({ partition: 3 }) },
  },
  "ordinals that every member reserves are reserved": {
    objects: [
      make("StatefulSet", { replicas: 3, reserveOrdinals: [7] }),
      make("StatefulSet", { replicas: 2, reserveOrdinals: ["0-2", 7] }),
    ],
    want: { replicas: 5, reserveOrdinals: [7] },
  },
  "ordinals that another member runs are not reserved": {
    objects: [make("StatefulSet", { replicas: 2, reserveOrdinals: ["0-2"] }), make("StatefulSet", { replicas: 3 })],
    want: { replicas: 5 },
  },
  "an ordered set updates one pod at a time, on any number of members": {
    objects: [
      make("StatefulSet", { replicas: 2, ...rolling({ maxUnavailable: 1 }) }),
      make("StatefulSet", { replicas: 3, ...rolling({ maxUnavailable: 1 }) }),
    ],
    want: { replicas: 5, ...rolling({ maxUnavailable: 1 }) },
  },
};
for (const [behaviour, { objects, scope, want }] of Object.entries(cases)) {
  test(behaviour, async () => {
    expect(specOf(await merge(objects, scope))).toEqual(want);
  });
}

test("the budgets of a kind that is not divided stay per member", async () => {
  const deployment = (replicas: number): KubernetesObject =>
    makeDeployment("shop/web")
      .replicas(replicas)
      .with(({ spec }) => (spec.strategy = { rollingUpdate: { maxUnavailable: 1 } }))
      .build();

  const merged = await merge([deployment(2), deployment(3)]);

  expect(specOf(merged)).toMatchObject({ replicas: 5, strategy: { rollingUpdate: { maxUnavailable: 1 } } });
  expect([...(merged.replicas ?? [])]).toEqual([
    ["member1", 2],
    ["member2", 3],
  ]);
});

test("an object without replicas is taken from the first member", async () => {
  const merged = await merge([
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings" },
      data: { colour: "blue" },
    } as KubernetesObject,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings" },
      data: { colour: "red" },
    } as KubernetesObject,
  ]);

  expect(merged).toEqual({
    template: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { colour: "blue" } },
  });
});
