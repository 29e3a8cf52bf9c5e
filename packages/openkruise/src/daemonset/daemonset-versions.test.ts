import * as fc from "fast-check";
import { count, optional, selector, share, template, word, testRoundTrip } from "../api/test-round-trip.ts";
import { AdvancedDaemonSet } from "./daemonset-kind.ts";

const daemonSetSpec = optional({
  selector,
  template,
  burstReplicas: share,
  updateStrategy: fc.record({
    type: fc.constant("RollingUpdate"),
    rollingUpdate: fc.record({
      rollingUpdateType: fc.constantFrom("Standard", "InPlaceIfPossible"),
      maxUnavailable: share,
      partition: share,
    }),
  }),
});

testRoundTrip(
  AdvancedDaemonSet,
  optional({
    spec: daemonSetSpec,
    metadata: fc.constantFrom(
      { annotations: { "daemonset.kruise.io/progressive-create-pod": "true" } },
      { annotations: { a: "b" } },
    ),
    status: fc.record({ numberReady: count, daemonSetHash: word }),
  }),
);
