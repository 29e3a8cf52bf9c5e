import { describe, expect, test } from "vitest";
import { planFailure } from "./plan-failure.ts";
import { ago, makeEntry, makeMember, makeRelease } from "./test-release.ts";
import type { TestRelease } from "./test-release.ts";

const plan = [
  { name: "canary", updated: 10, clusters: ["oslo"] },
  { name: "half", updated: 20, clusters: ["paris"] },
];
const updating = { revision: "web-2", state: "Updating", wave: "canary" } as const;
const unhealthy = {
  revision: "web-2",
  state: "Unhealthy",
  wave: "canary",
  updated: 10,
  ready: 8,
  unhealthySince: ago(15),
} as const;

describe("a release", () => {
  const cases: Record<
    string,
    { release: TestRelease; want?: { reason: string; message: string; cluster: string }; wakes?: number[] }
  > = {
    "without members does not fail": { release: {} },
    "does not fail while its member makes progress": {
      release: { entries: [makeEntry("oslo", { ...updating, progressTime: ago(599) })] },
      wakes: [1_000],
    },
    "fails when a member has made no progress until the deadline": {
      release: { entries: [makeEntry("oslo", { ...updating, progressTime: ago(600), target: 4, ready: 3 })] },
      want: {
        reason: "ProgressDeadlineExceeded",
        message: "oslo has made no progress for 10 min: 3 of 4 pods are updated and available",
        cluster: "oslo",
      },
    },
    "names the deadline exactly when it fails": {
      release: {
        entries: [makeEntry("oslo", { ...updating, progressTime: ago(150), message: "image not found" })],
        strategy: { failure: { progressDeadline: "2m30s" } },
      },
      want: {
        reason: "ProgressDeadlineExceeded",
        message: "oslo has made no progress for 2 min 30 s: 0 of 10 pods are updated and available (image not found)",
        cluster: "oslo",
      },
    },
    "waits longer when the clock has jumped back since the last progress": {
      release: { entries: [makeEntry("oslo", { ...updating, progressTime: ago(-3_600) })] },
      wakes: [4_200_000],
    },
    "does not fail because of a member that waits for its turn": {
      release: { entries: [makeEntry("oslo")], status: { waveStartedAt: ago(7_200) } },
    },
    "fails when a member of its wave never takes its first copy": {
      release: {
        entries: [makeEntry("oslo", { progressTime: ago(600) })],
        members: [makeMember("oslo", { isAcknowledged: false })],
        status: { waveStartedAt: ago(7_200) },
      },
      want: {
        reason: "ProgressDeadlineExceeded",
        message: "oslo has made no progress for 10 min: 0 of 10 pods are updated and available",
        cluster: "oslo",
      },
    },
    "gives a member that has just fallen behind its whole deadline, although its wave started long ago": {
      release: {
        entries: [makeEntry("oslo", { progressTime: ago(1) })],
        members: [makeMember("oslo", { isAcknowledged: false })],
        status: { waveStartedAt: ago(7_200) },
      },
      wakes: [599_000],
    },
    "does not fail because of a member of a wave that has not started": {
      release: {
        entries: [makeEntry("paris", { progressTime: ago(7_200) })],
        members: [makeMember("paris", { isAcknowledged: false })],
        status: { waveIndex: 1, waveState: "Before", waveStartedAt: ago(7_200) },
      },
    },
    "fails when pods of the revision cannot start": {
      release: {
        entries: [makeEntry("oslo", updating)],
        members: [makeMember("oslo", { trouble: { pods: 1, message: "pod web-x: CrashLoopBackOff" } })],
      },
      want: {
        reason: "PodsFailing",
        message: "1 updated pod is unhealthy, 0 are tolerated: oslo: pod web-x: CrashLoopBackOff",
        cluster: "oslo",
      },
    },
    "does not judge pods of a copy that the member has not taken yet": {
      release: {
        entries: [makeEntry("oslo", { ...updating, progressTime: ago(0) })],
        members: [
          makeMember("oslo", { isAcknowledged: false, trouble: { pods: 1, message: "pod web-x: CrashLoopBackOff" } }),
        ],
      },
      wakes: [600_000],
    },
    "does not judge pods of a member that cannot be reached": {
      release: {
        entries: [makeEntry("oslo", { ...updating, state: "Unreachable", unreachableSince: ago(0) })],
        members: [
          makeMember("oslo", { isReachable: false, trouble: { pods: 1, message: "pod web-x: CrashLoopBackOff" } }),
        ],
      },
      wakes: [600_000],
    },
    "tolerates unhealthy pods up to a percentage, rounded down": {
      release: {
        entries: [makeEntry("oslo", { ...unhealthy, ready: 9 }), makeEntry("paris", { replicas: 5 })],
        strategy: { failure: { maxUnhealthy: "10%" } },
      },
    },
    "fails when the rounded percentage is exceeded": {
      release: {
        entries: [makeEntry("oslo", unhealthy), makeEntry("paris", { replicas: 9 })],
        strategy: { failure: { maxUnhealthy: "10%" } },
      },
      want: {
        reason: "PodsUnhealthy",
        message: "2 updated pods are unhealthy, 1 is tolerated: oslo: 2 of 10 updated pods are not available",
        cluster: "oslo",
      },
    },
    "gives a pod that was available time to return": {
      release: { entries: [makeEntry("oslo", { ...unhealthy, unhealthySince: ago(5) })] },
      wakes: [10_000],
    },
    "adds up unhealthy pods over its members": {
      release: {
        entries: [makeEntry("oslo", unhealthy), makeEntry("paris", { ...unhealthy, ready: 9 })],
        strategy: { failure: { maxUnhealthy: 2 } },
      },
      want: {
        reason: "PodsUnhealthy",
        message:
          "3 updated pods are unhealthy, 2 are tolerated: oslo: 2 of 10 updated pods are not available; paris: 1 of 10 updated pods are not available",
        cluster: "oslo",
      },
    },
    "fails when a member cannot be reached until the deadline": {
      release: { entries: [makeEntry("oslo", { ...updating, state: "Unreachable", unreachableSince: ago(600) })] },
      want: {
        reason: "MemberUnreachable",
        message: "oslo has not been reachable for 10 min",
        cluster: "oslo",
      },
    },
    "waits for a member that cannot be reached with onUnreachable Wait": {
      release: {
        entries: [makeEntry("oslo", { ...updating, state: "Unreachable", unreachableSince: ago(86_400) })],
        strategy: { failure: { onUnreachable: "Wait" } },
      },
    },
    "waits with a member that is away while its wave is not approved": {
      release: {
        entries: [makeEntry("paris", { state: "Unreachable", unreachableSince: ago(86_400) })],
        status: { waveIndex: 1, waveState: "Before", waveStartedAt: ago(86_400) },
      },
    },
    "gives a member that is away its whole deadline from when its wave opens": {
      release: {
        entries: [makeEntry("paris", { state: "Unreachable", unreachableSince: ago(86_400) })],
        status: { waveIndex: 1, waveState: "Open", waveStartedAt: ago(10) },
      },
      wakes: [590_000],
    },
    "fails when a member of the open wave stays away": {
      release: {
        entries: [makeEntry("paris", { state: "Unreachable", unreachableSince: ago(86_400) })],
        status: { waveIndex: 1, waveState: "Open", waveStartedAt: ago(600) },
      },
      want: {
        reason: "MemberUnreachable",
        message: "paris has not been reachable for 10 min",
        cluster: "paris",
      },
    },
    "does not fail because of an unreachable member of a later wave": {
      release: { entries: [makeEntry("paris", { state: "Unreachable", unreachableSince: ago(86_400) })] },
    },
  };
  for (const [behaviour, { release: given, want, wakes = [] }] of Object.entries(cases))
    test(behaviour, () => {
      const release = makeRelease({
        ...given,
        status: { plan, waveIndex: 0, waveState: "Open", waveStartedAt: ago(0), ...given.status },
      });

      const failure = planFailure(release);

      expect(failure && { reason: failure.reason, message: failure.message, cluster: failure.cluster }).toEqual(want);
      expect(release.wakes).toEqual(wakes);
    });
});

test("onUnreachable Skip leaves a member out after the deadline, and says so once", () => {
  const skipping = { failure: { onUnreachable: "Skip" as const } };
  const away = (seconds: number) =>
    makeRelease({
      entries: [makeEntry("oslo", { ...updating, state: "Unreachable", unreachableSince: ago(seconds) })],
      strategy: skipping,
    });
  const [early, late] = [away(599), away(600)];

  expect([planFailure(early), planFailure(late), planFailure(late)]).toEqual([undefined, undefined, undefined]);

  expect(early.entries[0]?.state).toBe("Unreachable");
  expect(early.wakes).toEqual([1_000]);
  expect(late.entries[0]?.state).toBe("Skipped");
  expect(late.events.map(({ reason }) => reason)).toEqual(["MemberSkipped"]);
});

test("a member that is lost after its wave fails the release in that wave, not in the one that waits for approval", () => {
  const release = makeRelease({
    entries: [makeEntry("oslo", { ...updating, state: "Unreachable", unreachableSince: ago(600) })],
    status: { plan, wave: "half", waveIndex: 1, waveState: "Before", waveStartedAt: ago(900) },
  });

  expect(planFailure(release)).toMatchObject({ reason: "MemberUnreachable", wave: "canary", cluster: "oslo" });
});

test("onUnreachable Skip leaves no member out of a wave that has not opened", () => {
  const release = makeRelease({
    entries: [makeEntry("paris", { state: "Unreachable", unreachableSince: ago(86_400) })],
    strategy: { failure: { onUnreachable: "Skip" } },
    status: { plan, waveIndex: 1, waveState: "Before", waveStartedAt: ago(86_400) },
  });

  planFailure(release);

  expect([release.entries[0]?.state, release.events]).toEqual(["Unreachable", []]);
});
