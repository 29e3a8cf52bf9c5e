import { expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { INJECTED_LIST_ANNOTATION, injectedSets } from "./sidecarset-names.ts";

const podWith = (list: string): ReadonlyPod =>
  ({
    metadata: { name: "p", annotations: { [INJECTED_LIST_ANNOTATION]: list } },
    spec: { containers: [] },
  }) as unknown as ReadonlyPod;

test("the sets of a pod are in its annotation", () => {
  expect(injectedSets(podWith("logs,,proxies"))).toEqual(["logs", "proxies"]);
});

test("limits the number of sets in an annotation", () => {
  const list = Array.from({ length: 100_000 }, (_, index) => `s${index}`).join(",");

  expect(injectedSets(podWith(list))).toHaveLength(256);
});
