import { describe, expect, test } from "vitest";
import type { ReleaseInput } from "./release-state.ts";
import { bookedIn, roomOf, share } from "./share-budget.ts";
import { makeEntry, makeMember, makeRelease } from "./test-release.ts";
import type { TestRelease } from "./test-release.ts";

const twenty = [makeEntry("oslo"), makeEntry("paris")];

describe("the room of a release", () => {
  const cases: Record<string, { release: TestRelease; want: number | undefined }> = {
    "is unlimited without a budget": { release: { entries: twenty }, want: undefined },
    "is a number of pods": { release: { entries: twenty, strategy: { maxUnavailable: 3 } }, want: 3 },
    "is a percentage of all pods, rounded up": {
      release: { entries: twenty, strategy: { maxUnavailable: "12%" } },
      want: 3,
    },
    "is none for 0%": { release: { entries: twenty, strategy: { maxUnavailable: "0%" } }, want: 0 },
    "is none without pods": { release: { entries: [], strategy: { maxUnavailable: "50%" } }, want: 0 },
    "is the smaller one of the strategy's budget and the FleetDisruptionBudget's": {
      release: {
        entries: twenty,
        strategy: { maxUnavailable: 5 },
        input: { allowance: { pods: 2, name: "shop" } },
      },
      want: 2,
    },
    "is that of the FleetDisruptionBudget alone where the strategy has none": {
      release: { entries: twenty, input: { allowance: { pods: 0, name: "shop" } } },
      want: 0,
    },
    "loses pods that are unavailable": {
      release: {
        entries: twenty,
        members: [makeMember("oslo", { available: 8 }), makeMember("paris")],
        strategy: { maxUnavailable: 5 },
      },
      want: 3,
    },
    "loses all pods of a member that cannot be reached, whatever it reported last": {
      release: {
        entries: twenty,
        members: [makeMember("oslo", { isReachable: false }), makeMember("paris")],
        strategy: { maxUnavailable: 12 },
      },
      want: 2,
    },
    "loses all pods of a member that nothing is known of": {
      release: { entries: twenty, members: [makeMember("paris")], strategy: { maxUnavailable: 12 } },
      want: 2,
    },
    "loses what a member was given and has not finished": {
      release: {
        entries: [makeEntry("oslo", { state: "Updating", booked: 4 }), makeEntry("paris")],
        strategy: { maxUnavailable: 5 },
      },
      want: 1,
    },
    "gets back what a member has finished": {
      release: {
        entries: [makeEntry("oslo", { state: "Updated", booked: 4 }), makeEntry("paris")],
        strategy: { maxUnavailable: 5 },
      },
      want: 5,
    },
    "does not count more pods than a member should run as spare ones": {
      release: {
        entries: twenty,
        members: [makeMember("oslo", { available: 15 }), makeMember("paris", { available: 7 })],
        strategy: { maxUnavailable: 5 },
      },
      want: 2,
    },
    "is below zero when more is unavailable than the budget": {
      release: {
        entries: twenty,
        members: [makeMember("oslo", { available: 0 }), makeMember("paris")],
        strategy: { maxUnavailable: 5 },
      },
      want: -5,
    },
  };
  for (const [behaviour, { release, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(roomOf(makeRelease(release))).toBe(want);
    });
});

describe("a budget is divided", () => {
  const cases: Record<
    string,
    {
      release: TestRelease;
      takesDown?: ReleaseInput["updates"]["takesDown"];
      /** By default, each member wants all of its pods. */
      need?: number;
      want: Record<string, number | undefined>;
      booked: number;
    }
  > = {
    "evenly over the members that want to change": {
      release: { entries: [makeEntry("oslo"), makeEntry("paris")], strategy: { maxUnavailable: 4 } },
      want: { oslo: 2, paris: 2 },
      booked: 4,
    },
    "in their order where it does not divide": {
      release: {
        entries: [makeEntry("oslo"), makeEntry("paris"), makeEntry("rome")],
        strategy: { maxUnavailable: 4 },
      },
      want: { oslo: 2, paris: 1, rome: 1 },
      booked: 4,
    },
    "so that those who come too late wait": {
      release: {
        entries: [makeEntry("oslo"), makeEntry("paris"), makeEntry("rome")],
        strategy: { maxUnavailable: 2 },
      },
      want: { oslo: 1, paris: 1 },
      booked: 2,
    },
    "to no member when it is used up": {
      release: { entries: [makeEntry("oslo")], strategy: { maxUnavailable: 0 } },
      want: {},
      booked: 0,
    },
    "with no more than a member needs": {
      release: { entries: [makeEntry("oslo"), makeEntry("paris")], strategy: { maxUnavailable: 8 } },
      need: 3,
      want: { oslo: 3, paris: 3 },
      booked: 6,
    },
    "so that the pods of a member that are unavailable anyway cost nothing": {
      release: {
        entries: [makeEntry("oslo")],
        members: [makeMember("oslo", { available: 7 })],
        strategy: { maxUnavailable: 3 },
      },
      want: { oslo: 3 },
      booked: 3,
    },
    "without a number where the release has no budget": {
      release: { entries: [makeEntry("oslo"), makeEntry("paris")] },
      want: { oslo: undefined, paris: undefined },
      booked: 0,
    },
    "without a number for kinds without pods": {
      release: { entries: [makeEntry("oslo", { replicas: 1 })], strategy: { maxUnavailable: 0 } },
      takesDown: "none",
      want: { oslo: undefined },
      booked: 0,
    },
    "whole members at a time where a member updates all at once": {
      release: { entries: [makeEntry("oslo"), makeEntry("paris")], strategy: { maxUnavailable: 15 } },
      takesDown: "all",
      want: { oslo: undefined },
      booked: 10,
    },
    "by one pod where a member takes down one": {
      release: { entries: [makeEntry("oslo"), makeEntry("paris")], strategy: { maxUnavailable: 5 } },
      takesDown: "one",
      want: { oslo: undefined, paris: undefined },
      booked: 2,
    },
    "and a member without pods changes although nothing is free": {
      release: { entries: [makeEntry("oslo", { replicas: 0 })], strategy: { maxUnavailable: 0 } },
      want: { oslo: 1 },
      booked: 0,
    },
    "and a member that cannot be reached gets nothing beyond the budget": {
      release: {
        entries: [makeEntry("oslo"), makeEntry("paris")],
        members: [makeMember("oslo", { isReachable: false }), makeMember("paris")],
        strategy: { maxUnavailable: 4 },
      },
      want: { oslo: 4 },
      booked: 10,
    },
  };
  for (const [behaviour, { release: given, takesDown = "budget", need, want, booked }] of Object.entries(cases))
    test(behaviour, () => {
      const entries = (given.entries ?? []).map((entry) => ({ ...entry }));
      const release = makeRelease({ ...given, entries, input: { updates: { hasPartition: true, takesDown } } });
      const tokens: Record<string, number | undefined> = {};

      share(
        release,
        entries,
        (entry) => need ?? entry.replicas,
        (entry, token) => {
          tokens[entry.name] = token;
          entry.state = "Updating";
        },
      );

      expect(tokens).toEqual(want);
      expect(bookedIn(release)).toBe(booked);
    });
});
