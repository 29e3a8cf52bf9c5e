import { describe, expect, test } from "vitest";
import { observe } from "./observe-entries.ts";
import type { Entry } from "./release.ts";
import type { ObservedMember } from "./release-state.ts";
import { ago, makeEntry, makeMember, makeRelease } from "./test-release.ts";

const NOW = "2026-05-01T12:00:00Z";
const own = { revision: "web-2", state: "Updating", progressTime: ago(60) } as const;

describe("a member of a release", () => {
  const cases: Record<string, { before: Partial<Entry>; member: Partial<ObservedMember>; want: Partial<Entry> }> = {
    "waits while it has the earlier revision": { before: {}, member: { updated: 10, ready: 10 }, want: {} },
    "makes progress when more of its pods are updated": {
      before: { ...own, updated: 2 },
      member: { updated: 3, ready: 1 },
      want: { ...own, updated: 3, ready: 1, progressTime: NOW },
    },
    "makes no progress when its counts stay": {
      before: { ...own, updated: 3, ready: 1 },
      member: { updated: 3, ready: 1 },
      want: { ...own, updated: 3, ready: 1 },
    },
    "makes no progress when an updated pod becomes unavailable": {
      before: { ...own, updated: 3, ready: 3 },
      member: { updated: 3, ready: 2 },
      want: { ...own, updated: 3, ready: 2 },
    },
    "keeps its counts while its report is about an earlier copy": {
      before: { ...own, updated: 3, ready: 3 },
      member: { isAcknowledged: false, updated: 10, ready: 10 },
      want: { ...own, updated: 3, ready: 3 },
    },
    "is updated when its target is reached": {
      before: { ...own, target: 4, updated: 3, ready: 3 },
      member: { updated: 4, ready: 4 },
      want: { revision: "web-2", state: "Updated", target: 4, updated: 4, ready: 4, progressTime: NOW },
    },
    "stays paused when its target is reached: only the release continues it": {
      before: { ...own, target: 4, updated: 3, ready: 3, paused: true },
      member: { updated: 4, ready: 4 },
      want: { revision: "web-2", state: "Updated", target: 4, updated: 4, ready: 4, progressTime: NOW, paused: true },
    },
    "is updated at once without pods": {
      before: { ...own, replicas: 0 },
      member: { size: 0 },
      want: { ...own, replicas: 0, state: "Updated" },
    },
    "is unhealthy when an updated pod is lost after it was complete": {
      before: { ...own, state: "Updated", updated: 10, ready: 10 },
      member: { updated: 10, ready: 9 },
      want: { ...own, state: "Unhealthy", updated: 10, ready: 9, unhealthySince: NOW },
    },
    "stays unhealthy since the first loss": {
      before: { ...own, state: "Unhealthy", updated: 10, ready: 9, unhealthySince: ago(10) },
      member: { updated: 10, ready: 8 },
      want: { ...own, state: "Unhealthy", updated: 10, ready: 8, unhealthySince: ago(10) },
    },
    "has its whole deadline again when it gets more replicas": {
      before: { ...own, state: "Updated", updated: 10, ready: 10 },
      member: { size: 15, updated: 10, ready: 10 },
      want: { ...own, replicas: 15, updated: 10, ready: 10, progressTime: NOW },
    },
    "is unreachable since it was lost, and keeps its counts": {
      before: { ...own, updated: 3, ready: 3 },
      member: { isReachable: false, updated: 10, ready: 10 },
      want: {
        ...own,
        state: "Unreachable",
        updated: 3,
        ready: 3,
        unreachableSince: NOW,
        message: "cannot be reached",
      },
    },
    "stays skipped while it cannot be reached": {
      before: { state: "Skipped", unreachableSince: ago(900) },
      member: { isReachable: false },
      want: { state: "Skipped", unreachableSince: ago(900), message: "cannot be reached" },
    },
    "waits again when it is back": {
      before: { state: "Skipped", unreachableSince: ago(900), message: "cannot be reached" },
      member: {},
      want: { state: "Waiting" },
    },
    "says why it rejects its copy": {
      before: own,
      member: { isAcknowledged: false, problem: "x".repeat(600) },
      want: { ...own, message: "x".repeat(512) },
    },
    "is behind since its report was first about an earlier copy": {
      before: {},
      member: { isAcknowledged: false },
      want: { progressTime: NOW },
    },
    "stays behind since then": {
      before: { progressTime: ago(30) },
      member: { isAcknowledged: false },
      want: { progressTime: ago(30) },
    },
    "is behind only since it is back": {
      before: { state: "Unreachable", unreachableSince: ago(900), progressTime: ago(1_800) },
      member: { isAcknowledged: false },
      want: { progressTime: NOW },
    },
    "is no longer behind when its report is about its copy": {
      before: { progressTime: ago(30) },
      member: {},
      want: {},
    },
    "rolls back as its pods return": {
      before: { state: "RollingBack", returned: 2, progressTime: ago(60) },
      member: { updated: 5, ready: 4 },
      want: { state: "RollingBack", returned: 4, progressTime: NOW },
    },
    "is rolled back when all its pods have returned": {
      before: { state: "RollingBack", returned: 9, progressTime: ago(60) },
      member: { updated: 10, ready: 10 },
      want: { state: "RolledBack", returned: 10 },
    },
    "still rolls back when it was lost meanwhile": {
      before: { state: "Unreachable", returned: 2, progressTime: ago(60), unreachableSince: ago(30) },
      member: { isAcknowledged: false, updated: 10, ready: 10 },
      want: { state: "RollingBack", returned: 2, progressTime: ago(60) },
    },
  };
  for (const [behaviour, { before, member, want }] of Object.entries(cases))
    test(behaviour, () => {
      const release = makeRelease({
        members: [makeMember("oslo", member)],
        status: { clusters: [makeEntry("oslo", before)] },
      });

      observe(release);

      expect(release.entries).toEqual([makeEntry("oslo", want)]);
      expect(release.events).toEqual([]);
    });
});

test("members of a new release have the earlier revision", () => {
  const release = makeRelease({ members: [makeMember("oslo"), makeMember("paris", { size: 0 })] });

  observe(release);

  expect(release.entries).toEqual([makeEntry("oslo"), makeEntry("paris", { replicas: 0 })]);
});

test("members of a new release keep what an unfinished one has assigned", () => {
  const release = makeRelease({
    members: [makeMember("oslo")],
    input: { inherited: [makeEntry("oslo", { revision: "web-1b", target: 3, maxUnavailable: 1, step: "web-1b@3+1" })] },
  });

  observe(release);

  expect(release.entries).toEqual([
    makeEntry("oslo", { revision: "web-1b", target: 3, maxUnavailable: 1, step: "web-1b@3+1" }),
  ]);
});

test("a member that joins starts with the earlier revision, and one that leaves is dropped", () => {
  const release = makeRelease({ members: [makeMember("paris")], status: { clusters: [makeEntry("oslo", own)] } });

  observe(release);

  expect(release.entries).toEqual([makeEntry("paris")]);
  expect(release.events.map(({ message }) => message)).toEqual([
    "paris joined during the release and starts with web-1",
    "oslo left during the release",
  ]);
});

test("a member that joins after the release starts with its revision", () => {
  const release = makeRelease({
    members: [makeMember("oslo", { updated: 10, ready: 10 })],
    status: { phase: "Succeeded", clusters: [] },
  });

  observe(release);

  expect(release.entries).toEqual([
    makeEntry("oslo", { revision: "web-2", state: "Updated", updated: 10, ready: 10, progressTime: NOW }),
  ]);
});

test("members that join or leave after the release are not said to do so during it", () => {
  const release = makeRelease({
    members: [makeMember("paris", { updated: 10, ready: 10 })],
    status: { phase: "Succeeded", clusters: [makeEntry("oslo", own)] },
  });

  observe(release);

  expect(release.events.map(({ message }) => message)).toEqual([
    "paris joined after the release and starts with web-2",
    "oslo left after the release",
  ]);
});
