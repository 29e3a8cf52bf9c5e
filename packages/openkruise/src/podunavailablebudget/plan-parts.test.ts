import { expect, test } from "vitest";
import { inProportion, planAvailable, planUnavailable } from "./plan-parts.ts";
import type { MemberPods } from "./plan-parts.ts";

const member = (size: number | undefined, rest: Partial<MemberPods> = {}): MemberPods => ({
  size,
  unavailable: 0,
  isUpdating: false,
  inEffect: undefined,
  ...rest,
});

const proportions: Record<string, { amount: number; sizes: (number | undefined)[]; want: number[] }> = {
  "in proportion to the pods": { amount: 4, sizes: [5, 3, 2], want: [2, 1, 1] },
  "exactly, although it is smaller than the number of members": { amount: 1, sizes: [5, 3, 2], want: [1, 0, 0] },
  "also above the number of pods": { amount: 10, sizes: [2, 2], want: [5, 5] },
  "evenly while no member has reported pods": { amount: 3, sizes: [undefined, undefined], want: [2, 1] },
  "not to a member that has not reported, beside others": { amount: 2, sizes: [4, undefined], want: [2, 0] },
};
for (const [behaviour, { amount, sizes, want }] of Object.entries(proportions)) {
  test(`an amount is divided ${behaviour}`, () => {
    expect(
      inProportion(
        amount,
        sizes.map((size) => ({ size })),
      ),
    ).toEqual(want);
  });
}

const unavailable: Record<string, { budget: number; members: MemberPods[]; want: number[] }> = {
  "is given in full to new members": { budget: 2, members: [member(5), member(5)], want: [1, 1] },
  "does not grow on one member before the other has released its part": {
    budget: 2,
    members: [member(0, { inEffect: 2 }), member(5, { inEffect: 0 })],
    want: [0, 0],
  },
  "grows when the other has released it": {
    budget: 2,
    members: [member(0, { inEffect: 0 }), member(5, { inEffect: 0 })],
    want: [0, 2],
  },
  "shrinks at once when the budget shrinks": {
    budget: 1,
    members: [member(5, { inEffect: 2 }), member(5, { inEffect: 2 })],
    want: [1, 0],
  },
  "is given to the member that updates": {
    budget: 1,
    members: [member(5, { inEffect: 0 }), member(3, { inEffect: 0, isUpdating: true })],
    want: [0, 1],
  },
  "is where pods are unavailable already": {
    budget: 1,
    members: [member(5, { inEffect: 0 }), member(3, { unavailable: 1, inEffect: 1 })],
    want: [0, 1],
  },
  "stays with the first of several members that update": {
    budget: 1,
    members: [member(5, { inEffect: 1, isUpdating: true }), member(3, { inEffect: 0, isUpdating: true })],
    want: [1, 0],
  },
  "counts unavailable pods beyond the budget": {
    budget: 2,
    members: [member(5, { unavailable: 4, inEffect: 4 }), member(5, { inEffect: 1 })],
    want: [2, 0],
  },
  "counts on a member that it leaves until it is gone": {
    budget: 2,
    members: [member(5, { inEffect: 1, isLeaving: true }), member(5, { inEffect: 1 })],
    want: [0, 1],
  },
};
for (const [behaviour, { budget, members, want }] of Object.entries(unavailable)) {
  test(`a part of maxUnavailable ${behaviour}`, () => {
    expect(planUnavailable(budget, members)).toEqual(want);
  });
}

const available: Record<string, { budget: number; members: MemberPods[]; want: number[] }> = {
  "is exact in sum": { budget: 5, members: [member(3), member(3)], want: [2, 3] },
  "is above the pods when the budget is": { budget: 8, members: [member(3), member(3)], want: [4, 4] },
  "is guaranteed elsewhere before it shrinks": {
    budget: 4,
    members: [member(0, { inEffect: 4 }), member(6, { inEffect: 0 })],
    want: [4, 4],
  },
  "shrinks once it is guaranteed elsewhere": {
    budget: 4,
    members: [member(0, { inEffect: 4 }), member(6, { inEffect: 4 })],
    want: [0, 4],
  },
  "leaves room to the member that updates": {
    budget: 5,
    members: [member(3), member(3, { isUpdating: true })],
    want: [3, 2],
  },
};
for (const [behaviour, { budget, members, want }] of Object.entries(available)) {
  test(`a part of minAvailable ${behaviour}`, () => {
    expect(planAvailable(budget, members)).toEqual(want);
  });
}

test("a budget of any size is planned without a step for each pod", () => {
  const parts = planUnavailable(2 ** 31 - 1, [member(5), member(5, { unavailable: 2 ** 30 }), member(2 ** 31)]);

  expect(parts.reduce((sum, part) => sum + part)).toBe(2 ** 31 - 1);
});
