import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { InterpretError } from "@flotilla/kubernetes";
import { makeBinding, makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { createSharesWait, newlyAsked, staleShares, STALE_SHARES_WAIT_MS } from "./stale-shares.ts";

const template = makeDeployment("shop/web").replicas(6).build();
type Spec = ResourceBinding["spec"];

const divided: Spec["placement"] = { replicaScheduling: { replicaSchedulingType: "Divided" } };
const duplicated: Spec["placement"] = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };

const cases: Record<string, { spec: Partial<Spec>; asked?: number; want: string | undefined }> = {
  "agree when they add up to the replicas": {
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
  "are stale when match has counted more replicas than schedule has divided": {
    spec: { placement: divided, replicas: 12, clusters: [{ name: "paris", replicas: 6 }] },
    want: "12, 12, 6",
  },
  "are stale when one of several members does not have all replicas yet": {
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
  "are stale when the template requests more replicas than match has counted": {
    spec: { placement: divided, replicas: 6, clusters: [{ name: "paris", replicas: 6 }] },
    asked: 12,
    want: "12, 6, 6",
  },
  "are never stale before the first scheduling": {
    spec: { placement: divided, replicas: 6, clusters: [] },
    asked: 12,
    want: undefined,
  },
  "are never stale without replicas": {
    spec: { placement: divided, clusters: [{ name: "paris" }] },
    want: undefined,
  },
  "are never stale while scheduling is suspended": {
    spec: {
      placement: divided,
      replicas: 12,
      clusters: [{ name: "paris", replicas: 6 }],
      suspension: { scheduling: true },
    },
    asked: 12,
    want: undefined,
  },
  "are never stale for a workload that is placed as a whole": {
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

    expect(staleShares(binding, asked)).toBe(want);
  });
}

test("a template's replicas are computed only when a Work has another generation, or none are counted yet", async () => {
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

  const counted = makeBinding(template)
    .with(({ spec }) => (spec.replicas = 4))
    .build();
  const uncounted = makeBinding(template)
    .with(({ spec }) => (spec.replicas = undefined))
    .build();

  expect(await newlyAsked(counted, changed, [workOf("2")], counts)).toBeUndefined();
  expect(await newlyAsked(counted, changed, [workOf("2"), workOf("1")], counts)).toBe(6);
  expect(await newlyAsked(uncounted, changed, [workOf("2")], counts)).toBe(6);
  expect(await newlyAsked(counted, changed, [workOf("1")], fails)).toBeUndefined();
});

test("stale shares are waited for once, for one second", () => {
  const timeoutMs = createSharesWait();

  expect(timeoutMs.waitMs("web", "12, 6, 6", 0)).toBe(STALE_SHARES_WAIT_MS);
  expect(timeoutMs.waitMs("web", "12, 6, 6", 400)).toBe(600);
  expect(timeoutMs.waitMs("web", "12, 6, 6", 1000)).toBe(0);
  expect(timeoutMs.waitMs("web", "12, 6, 6", 90_000)).toBe(0);
  expect(timeoutMs.waitMs("web", "12, 12, 6", 90_000)).toBe(STALE_SHARES_WAIT_MS);
  expect(timeoutMs.waitMs("web", undefined, 90_001)).toBe(0);
});
