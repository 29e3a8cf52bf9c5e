import * as fc from "fast-check";
import { count, optional, selector, share, template, word, testRoundTrip } from "../api/test-round-trip.ts";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";

testRoundTrip(
  AdvancedStatefulSet,
  optional({
    spec: optional({
      replicas: count,
      selector,
      template,
      serviceName: word,
      updateStrategy: fc.record({
        type: fc.constant("RollingUpdate"),
        rollingUpdate: optional({ partition: count, maxUnavailable: share, paused: fc.boolean() }),
      }),
    }),
    status: fc.record({ replicas: count, currentRevision: word }),
  }),
);
