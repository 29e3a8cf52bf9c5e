import { describe, expect, test } from "vitest";
import type { Rollout } from "@flotilla/openkruise";
import { steered } from "./steer-release.ts";
import { leadsFleet, refusalOf, remarkOn, strategyOfLead } from "./lead-release.ts";
import type { FleetRollout } from "../kinds/fleet-rollout.ts";

type Strategy = Rollout["spec"]["strategy"];

const makeRollout = (strategy: Strategy, more: Partial<Rollout> = {}, kind = "CloneSet"): Rollout => ({
  apiVersion: "rollouts.kruise.io/v1beta1",
  kind: "Rollout",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    workloadRef: { apiVersion: kind === "Deployment" ? "apps/v1" : "apps.kruise.io/v1beta1", kind, name: "web" },
    strategy,
    disabled: false,
  },
  ...more,
});

test("each step is a wave over the pods of the fleet, and its pause a gate after it", () => {
  const { spec } = strategyOfLead(
    makeRollout({
      canary: {
        failureThreshold: "10%",
        steps: [
          { replicas: 1, pause: {} },
          { replicas: "50%", pause: { duration: 60 } },
          { replicas: "80%", pause: { duration: 0 } },
          { replicas: "100%", pause: {} },
        ],
      },
    }),
  );

  expect(spec.waves).toEqual([
    { name: "step-1", pods: 1, after: [{ approval: {} }] },
    { name: "step-2", pods: "50%", after: [{ soak: "60s" }] },
    { name: "step-3", pods: "80%" },
    { name: "step-4", pods: "100%" },
  ]);
  expect(spec.failure).toMatchObject({ action: "Pause", maxUnhealthy: "10%" });
});

test("a last step that leaves pods out waits, and the rest follows it", () => {
  const { spec } = strategyOfLead(makeRollout({ canary: { steps: [{ replicas: "50%", pause: {} }] } }));

  expect(spec.waves).toEqual([{ name: "step-1", pods: "50%", after: [{ approval: {} }] }]);
});

const refusals: Record<string, { rollout: Rollout; want: RegExp | undefined }> = {
  "steps of pods alone": { rollout: makeRollout({ canary: { steps: [{ replicas: 1 }] } }), want: undefined },
  "a share of requests": {
    rollout: makeRollout({ canary: { steps: [{ replicas: 1, traffic: "5%" }] } }),
    want: /^trafficRoutings/,
  },
  "matches of requests": {
    rollout: makeRollout({ canary: { steps: [{ replicas: 1, matches: [{ headers: [] }] }] } }),
    want: /^trafficRoutings/,
  },
  "routes of a service": {
    rollout: makeRollout({ canary: { steps: [{ replicas: 1 }], trafficRoutings: [{ service: "web" }] } }),
    want: /^trafficRoutings/,
  },
  "a TrafficRouting": {
    rollout: makeRollout({ canary: { steps: [{ replicas: 1 }], trafficRoutingRef: "web" } }),
    want: /^trafficRoutings/,
  },
  "blue-green": { rollout: makeRollout({ blueGreen: { steps: [{ replicas: 1 }] } }), want: /^blueGreen/ },
  "a canary beside a Deployment": {
    rollout: makeRollout(
      { canary: { steps: [{ replicas: 1 }], enableExtraWorkloadForCanary: true } },
      {},
      "Deployment",
    ),
    want: /^enableExtraWorkloadForCanary/,
  },
  "a canary beside a CloneSet, which kruise-rollout ignores": {
    rollout: makeRollout({ canary: { steps: [{ replicas: 1 }], enableExtraWorkloadForCanary: true } }),
    want: undefined,
  },
  "more steps than a release has waves": {
    rollout: makeRollout({ canary: { steps: Array.from({ length: 33 }, (_, index) => ({ replicas: index + 1 })) } }),
    want: /^steps/,
  },
};
describe("what cannot be carried out over the fleet", () => {
  test.each(Object.entries(refusals))("%s", (_name, { rollout, want }) => {
    expect(refusalOf(rollout) ?? "").toMatch(want ?? /^$/);
  });
});

test("says that kinds without a partition are updated by whole members", () => {
  const rollout = makeRollout({ canary: { steps: [{ replicas: 1 }] } }, {}, "Deployment");

  expect([remarkOn(rollout, true), remarkOn(rollout, false)]).toEqual([
    undefined,
    "Deployment has no partition that the hub divides: each step updates whole members, as few as reach its pods",
  ]);
});

test.each([
  ["that no policy selects", {}, true],
  ["that a policy selects", { labels: { "propagationpolicy.karmada.io/permanent-id": "1" } }, false],
  ["that is being deleted", { deletionTimestamp: "2026-05-01T12:00:00Z" }, false],
])("a Rollout %s leads the fleet: %s, %s", (_which, metadata, want) => {
  const rollout = makeRollout({ canary: { steps: [] } }, { metadata: { name: "web", namespace: "shop", ...metadata } });

  expect(leadsFleet(rollout)).toBe(want);
});

describe("a release in progress", () => {
  const release = { spec: { rolloutName: "web", paused: false, promotions: ["step-1"] } } as unknown as FleetRollout;
  const canary = { steps: [{ replicas: 1 }] };

  test("is paused while its Rollout is", () => {
    expect(steered(release, makeRollout({ paused: true, canary })).spec.paused).toBe(true);
  });

  test("is completed without waiting when its Rollout is gone or disabled", () => {
    const disabled = makeRollout({ canary });
    disabled.spec.disabled = true;

    expect(steered(release, undefined).spec.promotions).toEqual(["step-1", "*"]);
    expect(steered(release, disabled).spec.promotions).toEqual(["step-1", "*"]);
  });

  test("keeps its gates when its Rollout is given to the members, or it has none", () => {
    const labels = { "clusterpropagationpolicy.karmada.io/permanent-id": "1" };
    const given = makeRollout({ paused: true, canary }, { metadata: { name: "web", namespace: "shop", labels } });
    const own = { spec: { ...release.spec, rolloutName: undefined } } as FleetRollout;

    expect(steered(release, given)).toBe(release);
    expect(steered(own, undefined)).toBe(own);
  });
});
