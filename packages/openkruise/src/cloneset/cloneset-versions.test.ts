import * as fc from "fast-check";
import type { JsonObject } from "@flotilla/base";
import { count, labels, optional, word, cloneSetSpec, testRoundTrip } from "../api/test-round-trip.ts";
import { CloneSet } from "./cloneset-kind.ts";

testRoundTrip(
  CloneSet,
  optional({
    spec: cloneSetSpec,
    metadata: optional({
      labels,
      annotations: optional({ team: word, "apps.kruise.io/image-predownload-timeout-seconds": count.map(String) }),
    }),
    status: fc.record({ replicas: count }),
  }).map((object) => withoutPreDownload(object as JsonObject)),
);

/** Under OnDelete there is no image pre-download, and a set without a spec has no strategy to store it. */
function withoutPreDownload(object: JsonObject): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  const strategy = ((object["spec"] ?? {}) as JsonObject)["updateStrategy"] as JsonObject | undefined;
  return strategy && strategy["type"] !== "OnDelete" ? object : rest;
}
