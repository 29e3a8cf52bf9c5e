/** Topological order of tasks, including large graphs. */
import { expect, test } from "vitest";
import { taskOrder } from "./task-order.ts";

test("tasks come after their dependencies", () => {
  expect(
    taskOrder(
      new Map([
        ["d", ["b", "c"]],
        ["b", ["a", "a", "elsewhere"]],
        ["c", ["a"]],
        ["a", []],
      ]),
    ),
  ).toEqual(["a", "b", "c", "d"]);
});

test("a dependency cycle has no order", () => {
  expect(
    taskOrder(
      new Map([
        ["a", ["b"]],
        ["b", ["a"]],
        ["c", []],
      ]),
    ),
  ).toBeUndefined();
  expect(taskOrder(new Map([["a", ["a"]]]))).toBeUndefined();
});
