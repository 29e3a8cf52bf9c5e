import * as fc from "fast-check";
import { optional, selector, share, word, testRoundTrip } from "../api/test-round-trip.ts";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";

testRoundTrip(
  PodUnavailableBudget,
  fc.record({
    spec: optional({ selector, maxUnavailable: share }),
    metadata: fc.record({
      annotations: optional({
        team: word,
        "kruise.io/pub-protect-operations": fc.constantFrom("DELETE", "DELETE,EVICT", "nonsense"),
        "pub.kruise.io/protect-total-replicas": fc.constantFrom("3", "many"),
      }),
    }),
  }),
);
