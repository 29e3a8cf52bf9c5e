import * as fc from "fast-check";
import { count, optional, share, template, word, testRoundTrip } from "../api/test-round-trip.ts";
import { BroadcastJob } from "./broadcastjob-kind.ts";

testRoundTrip(
  BroadcastJob,
  optional({
    spec: optional({ parallelism: share, template, paused: fc.boolean() }),
    status: fc.record({ active: count, phase: word }),
  }),
);
