import { expect, test } from "vitest";
import type { FlowControl, FlowRequest } from "../flowcontrol/flow-control.ts";
import { inTurn } from "./in-turn.ts";
import { newObservation } from "./observed-request.ts";

type Options = Parameters<typeof inTurn>[0];

type Result = Promise<number> | number;

test.each<[string, () => Result, unknown]>([
  ["at once", () => 1, 1],
  ["later", () => Promise.resolve(1), 1],
  [
    "by an error at once",
    () => {
      throw new Error("no");
    },
    new Error("no"),
  ],
  ["by an error later", () => Promise.reject(new Error("no")), new Error("no")],
])("work that ends %s leaves its seat", async (_, work, outcome) => {
  const { options, request, seen, hasLeft } = seated();
  let before = true;

  const answered = Promise.try(() =>
    inTurn(options, "hub", seen, request, () => {
      before = hasLeft();
      return work();
    }),
  );

  expect(await answered.catch((error: unknown) => error)).toEqual(outcome);
  expect(before).toBe(false);
  expect(hasLeft()).toBe(true);
});

test("work that only waits for its turn leaves its seat early", async () => {
  const { options, request, seen, hasLeft } = seated();
  let whileWaiting = false;

  await inTurn(options, "hub", seen, request, async () => {
    seen.flow?.leave();
    whileWaiting = hasLeft();
  });

  expect(whileWaiting).toBe(true);
});

function seated() {
  let hasLeft = false;
  const seat = { schemaUid: "s", levelUid: "l", leave: () => void (hasLeft = true) };
  const deps = { isController: () => false, clusters: { get: () => ({}) } } as unknown as Options["deps"];
  const flow = { enter: () => seat } as unknown as FlowControl;
  const seen = newObservation({ method: "GET" } as Parameters<typeof newObservation>[0]);
  const request = { user: { name: "ann", groups: [] } } as unknown as FlowRequest;
  return { options: { deps, flow }, request, seen, hasLeft: () => hasLeft };
}
