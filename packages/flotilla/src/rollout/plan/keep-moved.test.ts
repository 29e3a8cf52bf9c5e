import { expect, test } from "vitest";
import { planReleaseStep } from "./plan-release-step.ts";
import { makeEntry, makeMember, makeRelease } from "./test-release.ts";
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import type { Entry } from "./release.ts";
import type { ObservedMember } from "./release-state.ts";

const waves = [
  { name: "canary", pods: 3 },
  { name: "all", before: [{ approval: {} as never }] },
];
const updated = makeEntry("oslo", {
  revision: "web-2",
  wave: "canary",
  target: 3,
  replicas: 3,
  updated: 3,
  ready: 3,
  state: "Updated",
  step: "web-2@all#1.0",
});
const other = makeEntry("paris", { replicas: 3 });

function step(members: ObservedMember[], clusters: Entry[], approvals: string[] = []) {
  const { input } = makeRelease({ members, strategy: { waves, order: "Ordered" }, spec: { approvals } });
  const status = { phase: "Progressing", wave: "all", waveIndex: 1, waveState: "Before", clusters };
  const planned = planReleaseStep({
    ...input,
    rollout: { ...input.rollout, status: status as unknown as FleetRolloutStatus },
  });
  return planned.status;
}
const oslo = (more: Partial<ObservedMember>): ObservedMember =>
  makeMember("oslo", { size: 4, updated: 3, ready: 3, available: 3, ...more });

test("a member that a counted wave has filled, and that gets more pods, keeps as many pods of the release", () => {
  const { clusters, waitingFor } = step([oslo({}), makeMember("paris", { size: 5 })], [updated, other]);

  expect(clusters?.[0]).toMatchObject({
    revision: "web-2",
    target: 3,
    kept: 3,
    replicas: 4,
    state: "Updated",
    step: "web-2@3~#1.1",
  });
  expect(waitingFor).toBe("approval of all");
});

test("a member of which only some pods may have the release follows its partition when it gets more", () => {
  const partly = { ...updated, target: 2, updated: 2, ready: 2, step: "web-2@2#1.0" };

  const { clusters } = step([oslo({ updated: 2, ready: 2 }), makeMember("paris", { size: 5 })], [partly, other]);

  expect(clusters?.[0]).not.toHaveProperty("kept");
  expect(clusters?.[0]).toMatchObject({ target: 3, step: "web-2@3#1.1" });
});

test("what a member no longer has is not given to it again with its pods", () => {
  const shrunk = step([oslo({ size: 2, updated: 2, ready: 2 }), makeMember("paris", { size: 3 })], [updated, other]);

  expect(shrunk.clusters?.map(({ name, target }) => [name, target])).toEqual([
    ["oslo", 2],
    ["paris", 1],
  ]);
});

test("the next wave gives all pods of the member the release", () => {
  const kept = { ...updated, filled: true, kept: 3, replicas: 4, step: "web-2@3~#1.1" };

  const { clusters } = step([oslo({}), makeMember("paris", { size: 5 })], [kept, other], ["all"]);

  expect(clusters?.[0]).toMatchObject({ revision: "web-2", step: "web-2@all#1.1" });
  expect(clusters?.[0]).not.toHaveProperty("kept");
});
