import { expect, test } from "vitest";
import type { TemplatePlan } from "@flotilla/flotilla";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { releasesIn } from "./planned-releases.ts";

const planOf = (clusters: string[]): TemplatePlan =>
  ({
    template: makeDeployment("shop/web").build(),
    release: {
      spec: { strategyName: "careful", strategy: { waves: [{ name: "first" }], failure: { action: "Pause" } } },
      status: {
        total: 0,
        clusters: clusters.map((name) => ({ name })),
        plan: [{ name: "first", updated: 0, clusters }],
      },
    },
  }) as unknown as TemplatePlan;

test("a release of a workload that is on no member changes nothing", () => {
  expect(releasesIn([planOf([])])).toEqual([]);
});

test("a release of a workload without pods changes its members", () => {
  expect(releasesIn([planOf(["member1"])])).toMatchObject([{ resource: "Deployment shop/web", total: 0 }]);
});
