import { describe, expect, test } from "vitest";
import { rollBack } from "./plan-rollback.ts";
import { ago, makeEntry, makeMember, makeRelease } from "./test-release.ts";
import type { TestRelease } from "./test-release.ts";

const plan = [
  { name: "canary", updated: 10, clusters: ["oslo"] },
  { name: "half", updated: 30, clusters: ["paris", "rome"] },
];
const updated = { revision: "web-2", updated: 10, ready: 10, state: "Updated" } as const;
const returning = { state: "RollingBack", returned: 0, progressTime: ago(5) } as const;

describe("a rollback", () => {
  const cases: Record<
    string,
    { release: TestRelease; want: Record<string, string>; phase?: string; wakes?: number[]; event?: string }
  > = {
    "returns the members of the last wave first, the last of them first": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...updated, wave: "half" }),
          makeEntry("rome", { ...updated, wave: "half" }),
        ],
        strategy: { maxUnavailable: 1 },
      },
      want: { oslo: "web-2 Updated", paris: "web-2 Updated", rome: "web-1 RollingBack" },
    },
    "returns members that an earlier release left unfinished, after all others": {
      release: {
        entries: [
          makeEntry("oslo", { state: "RolledBack", wave: "canary" }),
          makeEntry("paris", { revision: "web-1b", target: 3, paused: true }),
        ],
      },
      want: { oslo: "web-1 RolledBack", paris: "web-1 RollingBack" },
    },
    "returns all members of a wave at once without a budget": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...updated, wave: "half" }),
          makeEntry("rome", { ...updated, wave: "half" }),
        ],
      },
      want: { oslo: "web-2 Updated", paris: "web-1 RollingBack", rome: "web-1 RollingBack" },
    },
    "waits until the last wave is back": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...returning, wave: "half" }),
        ],
      },
      want: { oslo: "web-2 Updated", paris: "web-1 RollingBack" },
      wakes: [595_000],
    },
    "returns an earlier wave when the pods of the later one are replaced but not available yet": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...returning, wave: "half" }),
        ],
        members: [makeMember("oslo"), makeMember("paris", { updated: 10, available: 4 })],
      },
      want: { oslo: "web-1 RollingBack", paris: "web-1 RollingBack" },
      wakes: [595_000],
    },
    "does not wait for a member of a later wave that makes no progress": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...returning, progressTime: ago(600), wave: "half" }),
        ],
      },
      want: { oslo: "web-1 RollingBack", paris: "web-1 RollingBack" },
    },
    "does not wait for a member of a later wave that cannot be reached": {
      release: {
        entries: [
          makeEntry("oslo", { ...updated, wave: "canary" }),
          makeEntry("paris", { ...returning, state: "Unreachable", wave: "half" }),
        ],
      },
      want: { oslo: "web-1 RollingBack", paris: "web-1 Unreachable" },
      wakes: [595_000],
    },
    "returns nothing while it is paused": {
      release: { entries: [makeEntry("oslo", { ...updated, wave: "canary" })], spec: { paused: true } },
      want: { oslo: "web-2 Updated" },
    },
    "returns nothing while the disruption budget is used up": {
      release: {
        entries: [makeEntry("oslo", { ...updated, wave: "canary" })],
        input: { allowance: { pods: 0, name: "shop" } },
      },
      want: { oslo: "web-2 Updated" },
    },
    "returns a member without pods at once": {
      release: {
        entries: [makeEntry("oslo", { ...updated, replicas: 0, updated: 0, ready: 0, wave: "canary" })],
        input: { allowance: { pods: 0, name: "shop" } },
      },
      want: { oslo: "web-1 RollingBack" },
    },
    "assigns the earlier revision to a member that cannot be reached, and waits for it": {
      release: {
        entries: [makeEntry("oslo", { ...updated, state: "Unreachable", unreachableSince: ago(900), wave: "canary" })],
        members: [makeMember("oslo", { isReachable: false })],
      },
      want: { oslo: "web-1 Unreachable" },
    },
    "waits until the deadline for a member that is lost meanwhile": {
      release: {
        entries: [
          makeEntry("oslo", { ...returning, state: "Unreachable", unreachableSince: ago(2), wave: "canary" }),
          makeEntry("paris", { state: "RolledBack", wave: "half" }),
        ],
      },
      want: { oslo: "web-1 Unreachable", paris: "web-1 RolledBack" },
      wakes: [595_000],
    },
    "has failed when a member cannot be reached until the deadline": {
      release: {
        entries: [
          makeEntry("oslo", {
            ...returning,
            state: "Unreachable",
            progressTime: ago(600),
            message: "cannot be reached",
            wave: "canary",
          }),
        ],
      },
      want: { oslo: "web-1 Unreachable" },
      phase: "Failed",
      event: "members are not back on web-1: oslo (cannot be reached); they get it as soon as they take it",
    },
    "waits for a member without pods that cannot be reached, because it may still have the release": {
      release: {
        entries: [makeEntry("oslo", { ...returning, state: "Unreachable", replicas: 0, wave: "canary" })],
      },
      want: { oslo: "web-1 Unreachable" },
      wakes: [595_000],
    },
    "has ended when a member without pods is lost that was back": {
      release: {
        entries: [makeEntry("oslo", { state: "Unreachable", returned: 0, replicas: 0, wave: "canary" })],
      },
      want: { oslo: "web-1 Unreachable" },
      phase: "RolledBack",
      event: "the release is rolled back to web-1",
    },
    "has ended when a member is lost that was back": {
      release: {
        entries: [makeEntry("oslo", { state: "Unreachable", returned: 10, wave: "canary" })],
      },
      want: { oslo: "web-1 Unreachable" },
      phase: "RolledBack",
      event: "the release is rolled back to web-1",
    },
    "has ended when every member is back": {
      release: {
        entries: [makeEntry("oslo", { state: "RolledBack", wave: "canary" }), makeEntry("paris")],
      },
      want: { oslo: "web-1 RolledBack", paris: "web-1 Waiting" },
      phase: "RolledBack",
      event: "the release is rolled back to web-1",
    },
    "has failed when the members that are left make no progress": {
      release: {
        entries: [
          makeEntry("oslo", { ...returning, progressTime: ago(600), message: "image not found", wave: "canary" }),
          makeEntry("paris", { state: "RolledBack", wave: "half" }),
        ],
      },
      want: { oslo: "web-1 RollingBack", paris: "web-1 RolledBack" },
      phase: "Failed",
      event: "members are not back on web-1: oslo (image not found); they get it as soon as they take it",
    },
    "does not wait for a member that the release never reached": {
      release: {
        entries: [
          makeEntry("oslo", { state: "RolledBack", wave: "canary" }),
          makeEntry("rome", { state: "Unreachable" }),
        ],
      },
      want: { oslo: "web-1 RolledBack", rome: "web-1 Unreachable" },
      phase: "RolledBack",
      event: "the release is rolled back to web-1",
    },
    "of a release that has no earlier revision changes nothing": {
      release: { entries: [makeEntry("oslo", { ...updated })], spec: { previous: undefined } },
      want: { oslo: "web-2 Updated" },
    },
  };
  for (const [behaviour, { release: given, want, phase = "RollingBack", wakes = [], event }] of Object.entries(cases))
    test(behaviour, () => {
      const release = makeRelease({ ...given, status: { phase: "RollingBack", plan } });

      rollBack(release);

      expect(
        Object.fromEntries(release.entries.map(({ name, revision, state }) => [name, `${revision} ${state}`])),
      ).toEqual(want);
      expect(release.status.phase).toBe(phase);
      expect(release.wakes).toEqual(wakes);
      expect(release.events.map(({ message }) => message)).toEqual(event === undefined ? [] : [event]);
    });
});

test("a member that returns has the earlier revision whole, within its part of the budget", () => {
  const release = makeRelease({
    entries: [
      makeEntry("oslo", { ...updated, target: 4, paused: true, unhealthySince: ago(20), booked: 1, wave: "canary" }),
    ],
    status: { phase: "RollingBack", plan },
    strategy: { maxUnavailable: 3 },
  });

  rollBack(release);

  expect(release.entries).toEqual([
    makeEntry("oslo", {
      wave: "canary",
      state: "RollingBack",
      returned: 0,
      maxUnavailable: 3,
      booked: 3,
      progressTime: "2026-05-01T12:00:00Z",
    }),
  ]);
});
