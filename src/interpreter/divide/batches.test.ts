import { expect, test } from "vitest";
import { batchTargets } from "./batches.ts";

test.each([
  { replicas: 1, want: [1, 1, 1] },
  { replicas: 2, want: [1, 2, 2] },
  { replicas: 3, want: [1, 2, 3] },
  { replicas: 4, want: [1, 2, 4] },
  { replicas: 5, want: [1, 2, 5] },
  { replicas: 7, want: [1, 3, 7] },
  { replicas: 10, want: [1, 3, 10] },
  { replicas: 13, want: [2, 4, 13] },
  { replicas: 100, want: [10, 30, 100] },
  { replicas: 0, want: [0, 0, 0] },
])("batches of 1:2:7 update $want of $replicas pods", ({ replicas, want }) => {
  expect(batchTargets([1, 2, 7], replicas)).toEqual(want);
});

test("batches of 1, 2, 2, 2 and 3 over ten pods keep their sizes", () => {
  expect(batchTargets([1, 2, 2, 2, 3], 10)).toEqual([1, 3, 5, 7, 10]);
});
