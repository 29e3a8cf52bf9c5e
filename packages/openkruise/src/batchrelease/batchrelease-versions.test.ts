import * as fc from "fast-check";
import { count, share, word, testRoundTrip } from "../api/test-round-trip.ts";
import { BatchRelease } from "./batchrelease-kind.ts";

testRoundTrip(
  BatchRelease,
  fc.record({
    metadata: fc.constant({ annotations: { "rollouts.kruise.io/rolling-style": "partition" } }),
    spec: fc.record({
      targetReference: fc.record({ workloadRef: fc.record({ apiVersion: word, kind: word, name: word }) }),
      releasePlan: fc.record({
        batches: fc.array(fc.record({ canaryReplicas: share }), { maxLength: 3 }),
        batchPartition: count,
        rollingStyle: fc.constant("Partition"),
      }),
    }),
    status: fc.record({ phase: word, canaryStatus: fc.record({ currentBatch: count }) }),
  }),
);
