import { expect, test } from "vitest";
import type { FlowControl, FlowRequest } from "../flowcontrol/flow-control.ts";
import { inTurn } from "./in-turn.ts";
import { newObservation } from "./observed-request.ts";

type Options = Parameters<typeof inTurn>[0];

test("work that only waits for its turn leaves its seat early, and once", async () => {
  let leaves = 0;
  const seat = { schemaUid: "s", levelUid: "l", leave: () => void leaves++ };
  const deps = { isController: () => false, clusters: { get: () => ({}) } } as unknown as Options["deps"];
  const flow = { enter: () => seat } as unknown as FlowControl;
  const seen = newObservation({ method: "GET" } as Parameters<typeof newObservation>[0]);
  const request = { user: { name: "ann", groups: [] } } as unknown as FlowRequest;
  let whileWaiting = 0;

  await inTurn({ deps, flow }, "hub", seen, request, async () => {
    seen.leaveSeat?.();
    whileWaiting = leaves;
  });

  expect(whileWaiting).toBe(1);
  expect(leaves).toBe(1);
});
