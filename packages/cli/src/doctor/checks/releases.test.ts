import { expect, test } from "vitest";
import type { FleetDisruptionBudget, RolloutStrategy } from "@flotilla/flotilla";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { releasesCheck } from "./releases.ts";

const NOW = { nowMs: Date.parse("2024-05-01T12:00:00Z"), stuckAfterMs: 60_000 };
const strategy = (name: string, waves: object[]): RolloutStrategy =>
  ({
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { namespace: "shop", name },
    spec: { selector: { matchLabels: { app: "web" } }, waves },
  }) as unknown as RolloutStrategy;
const budget = (status: object): FleetDisruptionBudget => ({
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "FleetDisruptionBudget",
  metadata: { namespace: "shop", name: "all" },
  spec: { selector: {}, maxUnavailable: 1 },
  status: { expected: 10, available: 10, allowed: 1, limit: 1, ...status },
});
const WEB = { names: ["CloneSet web"], ownPartition: [] };
type Facts = Parameters<typeof releasesCheck.judge>[0];
const facts = (given: Partial<Facts>): Facts => ({
  reports: [],
  active: 0,
  strategies: [],
  budgets: [],
  clusters: [makeCluster("paris"), makeCluster("oslo")],
  selected: new Map(),
  missingSecrets: new Set(),
  unrecorded: [],
  unseen: [],
  ...given,
});
const findings = (given: Partial<Facts>): string[] =>
  releasesCheck.judge(facts(given), NOW).findings.map(({ severity, about, seen }) => `${severity}: ${about}: ${seen}`);
const ofStrategy = (waves: object[], given: Partial<Facts> = {}): string[] =>
  findings({
    strategies: [strategy("a", waves)],
    selected: new Map([["RolloutStrategy shop/a", WEB]]),
    ...given,
  });

test("a sound strategy has no finding", () => {
  expect(ofStrategy([{ name: "all", clusters: { names: ["oslo"] }, before: [{ approval: {} }] }])).toEqual([]);
});

test("a strategy that selects nothing, and two that select the same template, are warnings", () => {
  expect(
    findings({
      strategies: [strategy("a", []), strategy("b", []), strategy("c", [])],
      selected: new Map([
        ["RolloutStrategy shop/a", WEB],
        ["RolloutStrategy shop/b", WEB],
        ["RolloutStrategy shop/c", { names: [], ownPartition: [] }],
      ]),
    }),
  ).toEqual([
    "warning: RolloutStrategy shop/b: It selects CloneSet web as RolloutStrategy a does, which applies: it is the first by name.",
    "warning: RolloutStrategy shop/c: It selects no template that is propagated from its namespace, so it leads no release.",
  ]);
});

test("a template whose own partition leads its release is named", () => {
  const own = { names: ["CloneSet web"], ownPartition: ["CloneSet web"] };

  expect(ofStrategy([], { selected: new Map([["RolloutStrategy shop/a", own]]) })).toEqual([
    "warning: RolloutStrategy shop/a: It selects CloneSet web, whose own partition leads the release, so its waves do not apply there.",
  ]);
});

const gates: Record<string, { wave: object; given?: Partial<Facts>; want: string }> = {
  "a wave that selects no member": {
    wave: { clusters: { matchLabels: { tier: "canary" } } },
    want: "warning: RolloutStrategy shop/a: Its wave one selects no member, so it updates nothing.",
  },
  "a window that never opens": {
    wave: { before: [{ window: { days: [], start: "09:00", end: "17:00", timeZone: "UTC" } }] },
    want: "warning: RolloutStrategy shop/a: The window of the gate before wave one never opens.",
  },
  "a Secret that does not exist": {
    wave: { after: [{ metric: { server: "http://p", query: "up", bearerToken: { name: "token" } } }] },
    given: { missingSecrets: new Set(["shop/token"]) },
    want: "problem: RolloutStrategy shop/a: Secret token of the gate after wave one does not exist, so the gate never opens.",
  },
  "a Job on a cluster that is not a member": {
    wave: { before: [{ job: { template: {}, cluster: "rome" } }] },
    want: "problem: RolloutStrategy shop/a: The Job of the gate before wave one runs on rome, which is not a member.",
  },
  "images on members without ImagePullJobs": {
    wave: { clusters: { names: ["oslo"] }, before: [{ images: {} }] },
    given: {
      clusters: [
        {
          ...makeCluster("oslo"),
          status: {
            apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
          },
        },
      ],
    },
    want: "problem: RolloutStrategy shop/a: The images of the gate before wave one cannot be pulled before: oslo does not serve ImagePullJobs of OpenKruise.",
  },
};
for (const [behaviour, { wave, given, want }] of Object.entries(gates)) {
  test(`${behaviour} is named`, () => {
    expect(ofStrategy([{ name: "one", ...wave }], given)).toEqual([want]);
  });
}

const BUDGET = "FleetDisruptionBudget shop/all";

test("a budget that allows nothing, or selects nothing, is a warning", () => {
  const selected = new Map([[BUDGET, WEB]]);

  expect(findings({ budgets: [budget({ limit: 0, allowed: 0 })], selected })).toEqual([
    `warning: ${BUDGET}: It allows none of 10 pods to be unavailable, so no release of its workloads can make progress.`,
  ]);
  expect(findings({ budgets: [budget({})], selected: new Map([[BUDGET, { names: [], ownPartition: [] }]]) })).toEqual([
    `warning: ${BUDGET}: It selects no template that is propagated from its namespace, so it limits nothing.`,
  ]);
  expect(findings({ budgets: [budget({})], selected })).toEqual([]);
});

test("a budget that blocks a release is named with who draws from it", () => {
  const waiting = {
    state: "stuck" as const,
    what: "release web-2 has made no progress",
    try: "raise the budget",
    release: "web-2",
    target: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
    budget: "all",
  };
  const full = budget({ available: 9, allowed: 0, claims: [{ holder: "FleetRollout cart-3", pods: 1 }] });

  expect(findings({ reports: [waiting], budgets: [full], selected: new Map([[BUDGET, WEB]]) })).toEqual([
    "problem: Deployment shop/web: release web-2 has made no progress",
    `problem: ${BUDGET}: It blocks web-2: 1 of 10 pods are unavailable or cannot be observed, 1 may be, and FleetRollout cart-3 draws 1.`,
  ]);
});
