import { expect, test } from "vitest";
import { deal, FairQueues } from "./fair-queues.ts";
import type { QueuedRequest } from "./fair-queues.ts";

const makeRequest = (flow: string, seats = 1): QueuedRequest => ({
  flow,
  seats,
  sinceMs: 0,
  startMs: 0,
  schemaName: "all",
  distinguisher: flow,
  attributes: { user: { name: flow, groups: [] }, verb: "get", path: "/" },
  dispatch: () => {},
});

test("a hand has distinct queues, and is the same for the same flow", () => {
  const hand = deal("tenant-a/alice", 64, 6);

  expect(new Set(hand).size).toBe(6);
  expect(hand.every((card) => card >= 0 && card < 64)).toBe(true);
  expect(deal("tenant-a/alice", 64, 6)).toEqual(hand);
  expect(deal("tenant-b/alice", 64, 6)).not.toEqual(hand);
});

test("a flow fills its own hand only", () => {
  const queues = new FairQueues({ queues: 64, handSize: 4, queueLengthLimit: 10 });
  const accepted = Array.from({ length: 100 }, () => queues.enqueue(makeRequest("elephant"))).filter(Boolean);

  expect(accepted).toHaveLength(40);
  expect(queues.enqueue(makeRequest("mouse"))).toBe(true);
});

test("flows are served in turn, whatever their number of requests", () => {
  const queues = new FairQueues({ queues: 64, handSize: 1, queueLengthLimit: 100 });
  for (let index = 0; index < 20; index++) queues.enqueue(makeRequest("elephant"));
  for (let index = 0; index < 2; index++) queues.enqueue(makeRequest("mouse"));

  const order: string[] = [];
  for (let request = queues.peek(); request && order.length < 6; request = queues.peek()) {
    queues.remove(request);
    queues.started(request);
    queues.ended(request, 5);
    order.push(request.flow);
  }

  expect(order.filter((flow) => flow === "mouse")).toHaveLength(2);
  expect(order.slice(0, 4).sort()).toEqual(["elephant", "elephant", "mouse", "mouse"]);
});

test("wide requests advance their queue by their width", () => {
  const queues = new FairQueues({ queues: 8, handSize: 1, queueLengthLimit: 100 });
  for (let index = 0; index < 5; index++) queues.enqueue(makeRequest("wide", 10));
  for (let index = 0; index < 10; index++) queues.enqueue(makeRequest("narrow"));

  const order: string[] = [];
  for (let request = queues.peek(); request && order.length < 11; request = queues.peek()) {
    queues.remove(request);
    queues.started(request);
    order.push(request.flow);
  }

  expect(order.filter((flow) => flow === "wide").length).toBeLessThanOrEqual(2);
});
