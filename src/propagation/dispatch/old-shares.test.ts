import { expect, test } from "vitest";
import type { ResourceBinding } from "../../api/index.ts";
import { InterpretError } from "../../interpreter/index.ts";
import { makeBinding, makeDeployment, makeWork } from "../../testing/index.ts";
import { createPatience, newlyAsked, oldShares, PATIENCE_MS } from "./old-shares.ts";

const template = makeDeployment("shop/web").replicas(6).build();
type Spec = ResourceBinding["spec"];

const divided: Spec["placement"] = { replicaScheduling: { replicaSchedulingType: "Divided" } };
const duplicated: Spec["placement"] = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };

const cases: Record<string, { spec: Partial<Spec>; asked?: number; want: string | undefined }> = {
  "agree when the shares add up": {
    spec: {
      placement: divided,
      replicas: 6,
      clusters: [
        { name: "paris", replicas: 4 },
        { name: "oslo", replicas: 2 },
      ],
    },
    want: undefined,
  },
  "agree when every member has all replicas": {
    spec: {
      placement: duplicated,
      replicas: 6,
      clusters: [
        { name: "paris", replicas: 6 },
        { name: "oslo", replicas: 6 },
      ],
    },
    want: undefined,
  },
  "are old when match has counted more than schedule has divided": {
    spec: { placement: divided, replicas: 12, clusters: [{ name: "paris", replicas: 6 }] },
    want: "12, 12, 6",
  },
  "are old when one of several members does not have all replicas yet": {
    spec: {
      placement: duplicated,
      replicas: 12,
      clusters: [
        { name: "paris", replicas: 12 },
        { name: "oslo", replicas: 6 },
      ],
    },
    want: "12, 12, 6",
  },
  "are old when the template asks for more than match has counted": {
    spec: { placement: divided, replicas: 6, clusters: [{ name: "paris", replicas: 6 }] },
    asked: 12,
    want: "12, 6, 6",
  },
  "are never old where there are none yet": {
    spec: { placement: divided, replicas: 6, clusters: [] },
    asked: 12,
    want: undefined,
  },
  "are never old of what has no replicas": {
    spec: { placement: divided, clusters: [{ name: "paris" }] },
    want: undefined,
  },
  "are never old where nobody may schedule": {
    spec: {
      placement: divided,
      replicas: 12,
      clusters: [{ name: "paris", replicas: 6 }],
      suspension: { scheduling: true },
    },
    asked: 12,
    want: undefined,
  },
  "are never old of what goes as a whole": {
    spec: { placement: divided, components: [{ name: "jobmanager", replicas: 1 }], clusters: [{ name: "paris" }] },
    asked: 3,
    want: undefined,
  },
};
for (const [behaviour, { spec, asked, want }] of Object.entries(cases)) {
  test(`shares ${behaviour}`, () => {
    const binding = makeBinding(template)
      .with((draft) => Object.assign(draft.spec, { replicas: undefined, ...spec }))
      .build();

    expect(oldShares(binding, asked)).toBe(want);
  });
}

test("a template is asked for its replicas only when a Work is of another generation", async () => {
  const changed = { ...template, metadata: { ...template.metadata, generation: 2 } };
  const workOf = (generation: string) => {
    const work = makeWork("paris", "web").build();
    work.spec = {
      workload: {
        manifests: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            metadata: { name: "web", annotations: { "resourcetemplate.karmada.io/generation": generation } },
          },
        ],
      },
    };
    return work;
  };
  const counts = { replicas: async () => ({ replicas: 6 }) };
  const fails = { replicas: () => Promise.reject(new InterpretError("no such field")) };

  expect(await newlyAsked(changed, [workOf("2")], counts)).toBeUndefined();
  expect(await newlyAsked(changed, [workOf("2"), workOf("1")], counts)).toBe(6);
  expect(await newlyAsked(changed, [workOf("1")], fails)).toBeUndefined();
});

test("old shares are waited for once, for a second", () => {
  const patience = createPatience();

  expect(patience.waitMs("web", "12, 6, 6", 0)).toBe(PATIENCE_MS);
  expect(patience.waitMs("web", "12, 6, 6", 400)).toBe(600);
  expect(patience.waitMs("web", "12, 6, 6", 1000)).toBe(0);
  expect(patience.waitMs("web", "12, 6, 6", 90_000)).toBe(0);
  expect(patience.waitMs("web", "12, 12, 6", 90_000)).toBe(PATIENCE_MS);
  expect(patience.waitMs("web", undefined, 90_001)).toBe(0);
});
