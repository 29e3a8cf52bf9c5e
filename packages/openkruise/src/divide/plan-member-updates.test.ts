import { array, assert, boolean, nat, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { planMemberUpdates, type RolloutMember } from "./plan-member-updates.ts";
import { sumOf } from "./split-partition.ts";

/** A member that runs and reports what was requested. */
const at = (
  updated: number,
  size: number,
  change: Partial<RolloutMember> & { replicas?: number; peak?: number; isBackward?: boolean } = {},
): RolloutMember => {
  const { replicas = size, peak, isBackward = false, ...rest } = change;
  const was = { digest: "", partition: 0, updated, replicas, isBackward, peak };
  return {
    size,
    was,
    seen: updated,
    pods: size,
    isAcknowledged: true,
    isThrough: false,
    isHeld: false,
    isPinned: false,
    isJoining: false,
    canGoBack: true,
    hasFailedBack: false,
    ...rest,
  };
};
const plan = (
  members: readonly RolloutMember[],
  demanded: number,
  leaving: Parameters<typeof planMemberUpdates>[1] = [],
): string[] =>
  planMemberUpdates(members, leaving, demanded, "spread").map(
    ({ updated, isBackward }) => `${updated}${isBackward ? " back" : ""}`,
  );

describe("a rollout", () => {
  const cases: Record<
    string,
    { members: RolloutMember[]; demanded: number; leaving?: Parameters<typeof planMemberUpdates>[1]; want: string[] }
  > = {
    "raises each member in proportion to its size": {
      members: [at(0, 3), at(0, 3), at(0, 4)],
      demanded: 5,
      want: ["2", "1", "2"],
    },
    "rolls back when the partition was raised, and raises no member": {
      members: [at(2, 3), at(1, 3), at(2, 4)],
      demanded: 2,
      want: ["1 back", "0 back", "1 back"],
    },
    "lets a shrinking member delete the excess pods itself": {
      members: [at(2, 2, { replicas: 3 }), at(1, 3)],
      demanded: 2,
      want: ["1", "1"],
    },
    "leaves a backward member unchanged while no more pods are requested": {
      members: [at(1, 3, { isBackward: true }), at(0, 3)],
      demanded: 1,
      want: ["1 back", "0"],
    },
    "moves forward again when more pods are requested": {
      members: [at(1, 3, { isBackward: true }), at(1, 3)],
      demanded: 5,
      want: ["3", "2"],
    },
    "delays that until the member has all its pods": {
      members: [at(1, 3, { isBackward: true, pods: 2 }), at(1, 3)],
      demanded: 3,
      want: ["1 back", "2"],
    },
    "counts the pods of a held member and compensates elsewhere": {
      members: [at(1, 4, { isHeld: true }), at(1, 3), at(1, 3)],
      demanded: 6,
      want: ["1", "3", "2"],
    },
    "lowers a held member only when no other member can be lowered": {
      members: [at(3, 4, { isHeld: true }), at(1, 3)],
      demanded: 2,
      want: ["2 back", "0 back"],
    },
    "raises only by free pods while another member may still run its earlier pods": {
      members: [at(0, 1, { seen: 2, replicas: 3 }), at(1, 4)],
      demanded: 3,
      want: ["1", "1"],
    },
    "counts requested pods that a member has not acknowledged": {
      members: [at(0, 1, { peak: 2, isAcknowledged: false }), at(1, 4)],
      demanded: 3,
      want: ["1", "1"],
    },
    "counts leaving members as long as their copies exist": {
      members: [at(1, 5), at(1, 5)],
      demanded: 5,
      leaving: [at(2, 0)],
      want: ["2", "1"],
    },
    "counts the reports of leaving members if they refer to the current copy": {
      members: [at(1, 10, { replicas: 5, isBackward: true })],
      demanded: 1,
      leaving: [at(0, 0, { peak: 1 })],
      want: ["1 back"],
    },
    "starts old pods on a member that had completed the release": {
      members: [at(3, 5, { replicas: 3, isThrough: true }), at(0, 3)],
      demanded: 3,
      want: ["3 back", "0"],
    },
    "starts old pods also where most of the new ones get the release": {
      members: [at(5, 7, { replicas: 5, pods: 5, isThrough: true }), at(5, 5)],
      demanded: 11,
      want: ["6 back", "5"],
    },
    "starts old pods on a member that was scaled to zero during the release": {
      members: [
        at(0, 5, { replicas: 0, pods: 0, isThrough: true }),
        at(0, 5, { replicas: 0, pods: 0, isThrough: true }),
      ],
      demanded: 9,
      want: ["5", "4 back"],
    },
    "keeps a growing member backward until it has all its pods": {
      members: [at(6, 7, { isBackward: true, seen: 5, pods: 6 }), at(5, 5)],
      demanded: 11,
      want: ["6 back", "5"],
    },
    "leaves a member that had completed the release forward until it has the pods requested": {
      members: [at(4, 5, { isThrough: true, seen: 3 }), at(4, 5, { isThrough: true, isAcknowledged: false, seen: 2 })],
      demanded: 8,
      want: ["4", "4"],
    },
    "writes it backward when it has them": {
      members: [at(4, 5, { isThrough: true }), at(4, 5, { isThrough: true, seen: 5 })],
      demanded: 8,
      want: ["4 back", "4 back"],
    },
    "creates a new member from the previous template": {
      members: [at(2, 3), { ...at(0, 3), isJoining: true }],
      demanded: 2,
      want: ["2", "0 back"],
    },
    "leaves a member alone when an override sets its partition": {
      members: [at(3, 3, { isPinned: true }), at(0, 3)],
      demanded: 1,
      want: ["1", "0"],
    },
    "without pods to keep back moves forward everywhere": {
      members: [at(1, 3, { isBackward: true }), at(0, 3, { isHeld: true })],
      demanded: 6,
      want: ["3", "3"],
    },
  };
  for (const [behaviour, { members, demanded, leaving, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(plan(members, demanded, leaving)).toEqual(want);
    });
  }

  test("never requests more than demanded, and exactly that once every member has reached its stage", () => {
    const member = record({
      size: nat(20),
      updated: nat(20),
      isHeld: boolean(),
      isBackward: boolean(),
      isAcknowledged: boolean(),
    });
    assert(
      property(array(member, { minLength: 1, maxLength: 6 }), nat(100), (drawn, percent) => {
        const members = drawn.map(({ size, updated, ...flags }) => at(Math.min(size, updated), size, flags));
        const demanded = Math.floor((sumOf(members.map(({ size }) => size)) * percent) / 100);

        const counts = planMemberUpdates(members, [], demanded, "spread").map(({ updated }) => updated);

        const before = sumOf(members.map(({ was }) => was?.updated ?? 0));
        expect(sumOf(counts)).toBeLessThanOrEqual(demanded);
        const isExact = before >= demanded || members.every(({ isHeld, isAcknowledged }) => !isHeld && isAcknowledged);
        expect(sumOf(counts)).toBeGreaterThanOrEqual(isExact ? demanded : 0);
        for (const [index, count] of counts.entries()) expect(count).toBeLessThanOrEqual(members[index]?.size ?? 0);
      }),
      { seed: 3, numRuns: 2_000 },
    );
  });
});
