import * as fc from "fast-check";
import { count, optional, share, word, testRoundTrip } from "../api/test-round-trip.ts";
import { Rollout } from "./rollout-kind.ts";

testRoundTrip(
  Rollout,
  fc.record({
    metadata: fc.record({
      annotations: fc.record(
        {
          "rollouts.kruise.io/rolling-style": fc.constantFrom("partition", "canary", "Canary"),
          "rollouts.kruise.io/trafficrouting": word,
        },
        { requiredKeys: ["rollouts.kruise.io/rolling-style"] },
      ),
    }),
    spec: fc.record({
      objectRef: fc.record({ workloadRef: fc.record({ apiVersion: word, kind: word, name: word }) }),
      disabled: fc.boolean(),
      strategy: fc.record({
        paused: fc.boolean(),
        canary: fc.record({
          failureThreshold: share,
          steps: fc.array(
            fc.record(
              { replicas: share, weight: fc.nat(100), pause: optional({ duration: count }) },
              { requiredKeys: ["replicas"] },
            ),
            { maxLength: 3 },
          ),
        }),
      }),
    }),
    status: fc.record({ phase: word, canaryStatus: fc.record({ currentStepIndex: count, currentStepState: word }) }),
  }),
);
