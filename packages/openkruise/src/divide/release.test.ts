import { expect, test } from "vitest";
import { digestOf } from "./release.ts";

test("the digest of a release does not depend on the order of keys, and stays the same for stored stages", () => {
  const container = { name: "main", image: "web:1", ports: [], env: [{ name: "A", value: "ü" }] };
  const labels = { b: "2", a: "1" };

  const digests = [
    digestOf({ spec: { containers: [container], hostNetwork: false, x: undefined }, metadata: { labels } }),
    digestOf({ metadata: { labels }, spec: { x: undefined, hostNetwork: false, containers: [container] } }),
  ];

  expect(digests).toEqual(["39565c564bacb35f", "39565c564bacb35f"]);
});
