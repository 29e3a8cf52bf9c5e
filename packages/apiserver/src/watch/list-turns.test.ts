import { expect, test } from "vitest";
import { ListTurns } from "./list-turns.ts";

test("the list with the least left comes first, one part per turn of the event loop", async () => {
  const turns = new ListTurns();
  const order: string[] = [];
  const read = async (name: string, parts: number): Promise<void> => {
    for (let left = parts; left > 0; left--) {
      await turns.next(left);
      order.push(`${name} ${left}`);
    }
  };

  await Promise.all([read("works", 3), read("bindings", 2), read("policies", 1)]);

  expect(order).toEqual(["policies 1", "bindings 2", "bindings 1", "works 3", "works 2", "works 1"]);
});

test("other work runs between two parts", async () => {
  const turns = new ListTurns();
  const order: string[] = [];
  setImmediate(() => order.push("other work"));

  const parts = [turns.next(2).then(() => order.push("first")), turns.next(3).then(() => order.push("second"))];
  setImmediate(() => order.push("more work"));
  await Promise.all(parts);

  expect(order).toEqual(["other work", "first", "more work", "second"]);
});
