import * as fc from "fast-check";
import { optional, selector, testRoundTrip } from "../api/test-round-trip.ts";
import { SidecarSet } from "./sidecarset-kind.ts";

testRoundTrip(
  SidecarSet,
  optional({
    spec: optional({ selector, namespaceSelector: selector, containers: fc.constant([{ name: "c", image: "i:1" }]) }),
    metadata: fc.constantFrom(
      { labels: { "apps.kruise.io/sidecarset-custom-version": "v1" } },
      { labels: { a: "b", "apps.kruise.io/sidecarset-custom-version": "v2" } },
      {},
    ),
  }),
);
