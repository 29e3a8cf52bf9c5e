/** Orders of tasks, also of many. */
import { expect, test } from "vitest";
import { taskOrder } from "./task-order.ts";

test("tasks come after what they need", () => {
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

test("tasks that wait for each other have no order", () => {
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
