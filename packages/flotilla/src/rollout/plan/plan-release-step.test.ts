import { describe, expect, test } from "vitest";
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { planReleaseStep } from "./plan-release-step.ts";
import type { ObservedMember } from "./release-state.ts";
import { ago, makeEntry, makeMember, makeRelease } from "./test-release.ts";
import type { TestRelease } from "./test-release.ts";

const waves = [
  { name: "canary", clusters: { names: ["oslo"] } },
  { name: "half", clusters: { names: ["paris"] }, before: [{ approval: {} }] },
];
const running: Partial<FleetRolloutStatus> = {
  waveIndex: 0,
  wave: "canary",
  waveState: "Open",
  startedAt: ago(7_200),
  waveStartedAt: ago(7_200),
};
const full = { maxUnavailable: 0 };

describe("the next step of a release", () => {
  const cases: Record<
    string,
    {
      members: ObservedMember[];
      release?: TestRelease;
      clusters?: FleetRolloutStatus["clusters"];
      want: { phase: string; waitingFor?: string; steps: Record<string, string | undefined>; events: string[] };
    }
  > = {
    "begins with the first wave": {
      members: [makeMember("oslo"), makeMember("paris")],
      release: { status: { phase: undefined } },
      want: {
        phase: "Progressing",
        waitingFor: "pods on oslo",
        steps: { oslo: "web-2@all#1.0", paris: undefined },
        events: ["ReleaseStarted", "WaveStarted"],
      },
    },
    "waits for the members of its first wave that cannot be reached": {
      members: [makeMember("oslo", { isReachable: false }), makeMember("paris")],
      release: { status: { phase: undefined } },
      want: {
        phase: "Progressing",
        waitingFor: "oslo to be reachable",
        steps: { oslo: "web-1@all#1.0", paris: undefined },
        events: ["ReleaseStarted", "WaveStarted"],
      },
    },
    "records what runs already when nothing ran before": {
      members: [makeMember("oslo")],
      release: { status: { phase: undefined }, spec: { previous: undefined } },
      want: { phase: "Succeeded", steps: { oslo: "web-2@all#1.0" }, events: [] },
    },
    "leaves a later member with what an unfinished release gave it, paused as it was": {
      members: [makeMember("oslo"), makeMember("paris")],
      release: {
        status: { phase: undefined },
        input: {
          inherited: [
            makeEntry("oslo", { revision: "web-1b", paused: true, step: "web-1b@all!#2.0" }),
            makeEntry("paris", { revision: "web-1b", target: 3, paused: true, step: "web-1b@3!#2.0" }),
          ],
        },
      },
      want: {
        phase: "Progressing",
        waitingFor: "pods on oslo",
        steps: { oslo: "web-2@all#1.0", paris: "web-1b@3!#2.0" },
        events: ["ReleaseStarted", "WaveStarted"],
      },
    },
    "has succeeded when its template is set back to what all members have": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris", { updated: 10, ready: 10 })],
      release: {
        status: { phase: undefined },
        input: { same: new Set(["web-1"]), inherited: [makeEntry("oslo", { state: "RolledBack" })] },
      },
      want: {
        phase: "Succeeded",
        steps: { oslo: "web-2@all#1.0", paris: "web-2@all#1.0" },
        events: ["ReleaseStarted", "ReleaseSucceeded"],
      },
    },
    "counts a member that has its template already, and continues with the others": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris")],
      release: {
        status: { phase: undefined },
        input: {
          same: new Set(["web-1b"]),
          inherited: [makeEntry("oslo", { revision: "web-1b" }), makeEntry("paris")],
        },
      },
      want: {
        phase: "Progressing",
        waitingFor: "approval of half",
        steps: { oslo: "web-2@all#1.1", paris: undefined },
        events: ["ReleaseStarted", "WaveStarted", "WaveComplete"],
      },
    },
    "reports a member that joins a wave that has started, and updates it": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris"), makeMember("rome")],
      release: {
        status: {
          ...running,
          plan: [
            { name: "canary", updated: 10, clusters: ["oslo"] },
            { name: "half", updated: 30, clusters: ["paris", "rome"] },
          ],
        },
        strategy: { waves: [{ name: "canary", clusters: { names: ["oslo", "rome"] } }, { name: "half" }] },
      },
      clusters: [
        makeEntry("oslo", { revision: "web-2", state: "Updating", wave: "canary" }),
        makeEntry("paris"),
        makeEntry("rome"),
      ],
      want: {
        phase: "Progressing",
        waitingFor: "pods on rome",
        steps: { oslo: undefined, paris: undefined, rome: "web-2@all#1.0" },
        events: ["WaveJoined"],
      },
    },
    "waits for the approval of the next wave": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris")],
      release: { status: running },
      clusters: [makeEntry("oslo", { revision: "web-2", state: "Updating" }), makeEntry("paris")],
      want: {
        phase: "Progressing",
        waitingFor: "approval of half",
        steps: { oslo: undefined, paris: undefined },
        events: ["WaveComplete"],
      },
    },
    "waits for the budget and does not fail when a member that waits with it is scaled": {
      members: [makeMember("oslo", { isAcknowledged: false }), makeMember("paris")],
      release: { status: running, strategy: full },
      clusters: [makeEntry("oslo"), makeEntry("paris")],
      want: {
        phase: "Progressing",
        waitingFor: "the budget",
        steps: { oslo: undefined, paris: undefined },
        events: [],
      },
    },
    "fails when a member of the open wave does not take its copy until the deadline": {
      members: [makeMember("oslo", { isAcknowledged: false }), makeMember("paris")],
      release: { status: running, strategy: full },
      clusters: [makeEntry("oslo", { progressTime: ago(600) }), makeEntry("paris")],
      want: {
        phase: "Paused",
        waitingFor: "a decision after: oslo has made no progress for 10 min: 0 of 10 pods are updated and available",
        steps: { oslo: undefined, paris: undefined },
        events: ["ProgressDeadlineExceeded", "Paused"],
      },
    },
    "gives a member that is behind its whole deadline when the release is resumed": {
      members: [makeMember("oslo", { isAcknowledged: false }), makeMember("paris")],
      release: { status: { ...running, phase: "Paused" }, strategy: full },
      clusters: [makeEntry("oslo", { progressTime: ago(7_200) }), makeEntry("paris")],
      want: {
        phase: "Progressing",
        waitingFor: "the budget",
        steps: { oslo: undefined, paris: undefined },
        events: ["Resumed"],
      },
    },
    "pauses members in the middle of their update": {
      members: [makeMember("oslo", { updated: 2, available: 8 }), makeMember("paris")],
      release: { status: running, spec: { paused: true } },
      clusters: [
        makeEntry("oslo", { revision: "web-2", state: "Updating", step: "web-2@all", progressTime: ago(5) }),
        makeEntry("paris"),
      ],
      want: {
        phase: "Paused",
        waitingFor: "resume",
        steps: { oslo: "web-2@all!#1.0", paris: undefined },
        events: ["Paused"],
      },
    },
    "returns what was reached when it is aborted": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris")],
      release: { status: running, spec: { abort: true } },
      clusters: [makeEntry("oslo", { revision: "web-2", state: "Updated", wave: "canary" }), makeEntry("paris")],
      want: {
        phase: "RollingBack",
        waitingFor: "oslo to return",
        steps: { oslo: "web-1@all#1.0", paris: undefined },
        events: ["Aborted", "RollingBack"],
      },
    },
    "names the member that a rollback cannot reach": {
      members: [makeMember("oslo", { isReachable: false }), makeMember("paris")],
      release: { status: { ...running, phase: "RollingBack" } },
      clusters: [
        makeEntry("oslo", { state: "RollingBack", returned: 2, progressTime: ago(60), wave: "canary" }),
        makeEntry("paris"),
      ],
      want: {
        phase: "RollingBack",
        waitingFor: "oslo to be reachable",
        steps: { oslo: undefined, paris: undefined },
        events: [],
      },
    },
    "ends when a newer release takes over": {
      members: [makeMember("oslo"), makeMember("paris")],
      release: { status: running, input: { newer: "web-3" } },
      clusters: [makeEntry("oslo"), makeEntry("paris")],
      want: { phase: "Superseded", steps: { oslo: undefined, paris: undefined }, events: ["Superseded"] },
    },
    "soaks from now on when the clock was set back by an hour": {
      members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris")],
      release: {
        status: { ...running, waveState: "After", waveDoneAt: ago(-3_600) },
        strategy: {
          waves: [{ name: "canary", clusters: { names: ["oslo"] }, after: [{ soak: "1m" }] }, { name: "rest" }],
        },
      },
      clusters: [
        makeEntry("oslo", { revision: "web-2", updated: 10, ready: 10, state: "Updated", wave: "canary" }),
        makeEntry("paris"),
      ],
      want: {
        phase: "Progressing",
        waitingFor: "soak after canary: soaks until 2026-05-01T12:01:00Z",
        steps: { oslo: undefined, paris: undefined },
        events: [],
      },
    },
    "succeeds with members that have no pods": {
      members: [makeMember("oslo", { size: 0 }), makeMember("paris", { size: 0 })],
      release: { status: running, spec: { approvals: ["half"] } },
      clusters: [
        makeEntry("oslo", { revision: "web-2", replicas: 0, state: "Updated" }),
        makeEntry("paris", { revision: "web-2", replicas: 0, state: "Updated" }),
      ],
      want: {
        phase: "Succeeded",
        steps: { oslo: undefined, paris: undefined },
        events: ["WaveComplete", "WaveStarted", "WaveComplete", "ReleaseSucceeded"],
      },
    },
  };
  for (const [behaviour, { members, release = {}, clusters, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { input } = makeRelease({ ...release, members, strategy: { waves, ...release.strategy } });
      const status = {
        updated: 0,
        ready: 0,
        total: 0,
        unavailable: 0,
        phase: "Progressing",
        clusters,
        ...release.status,
      };

      const planned = planReleaseStep({
        ...input,
        rollout: { ...input.rollout, status: status as FleetRolloutStatus },
      });

      const { phase, waitingFor, clusters: entries = [] } = planned.status;
      const steps = Object.fromEntries(entries.map(({ name, step }) => [name, step]));
      expect({ phase, waitingFor, steps, events: planned.events.map(({ reason }) => reason) }).toEqual(want);
    });
});

test("a release that had failed keeps its cause when it is aborted, and says when that was", () => {
  const failure = { reason: "PodsFailing", message: "api is broken", wave: "canary", time: ago(60), retry: 0 };
  const { input } = makeRelease({
    members: [makeMember("oslo", { updated: 10, ready: 10 }), makeMember("paris")],
    strategy: { waves },
    spec: { abort: true },
  });
  const entries = [makeEntry("oslo", { revision: "web-2", state: "Updated", wave: "canary" }), makeEntry("paris")];
  const before = { ...running, phase: "Paused", failure, clusters: entries } as unknown as FleetRolloutStatus;

  const { status } = planReleaseStep({ ...input, rollout: { ...input.rollout, status: before } });

  expect(status).toMatchObject({ phase: "RollingBack", failure: { ...failure, abortedAt: ago(0) } });
  expect(status.conditions?.find(({ type }) => type === "Failed")).toMatchObject({
    reason: "PodsFailing",
    message: `api is broken; aborted at ${ago(0)}`,
  });
});

test("a member that waits because others use the budget says which", () => {
  const { input } = makeRelease({
    members: [makeMember("oslo", { isReachable: false }), makeMember("paris")],
    strategy: { waves: [{ name: "all" }], maxUnavailable: 5 },
  });
  const before = { ...running, wave: "all", phase: "Progressing", clusters: [makeEntry("oslo"), makeEntry("paris")] };

  const { status } = planReleaseStep({ ...input, rollout: { ...input.rollout, status: before as FleetRolloutStatus } });

  expect(status.clusters?.map(({ name, state, message }) => [name, state, message])).toEqual([
    ["oslo", "Unreachable", "cannot be reached"],
    ["paris", "Waiting", "waits for the budget: 10 pods of oslo, which cannot be reached, count as unavailable"],
  ]);
});
