import { expect, test } from "vitest";
import type { Pod as PodType } from "@flotilla/apimachinery/facts/core-v1.ts";
import { ephemeralContainersPart } from "./pod-ephemeral.ts";
import { rules } from "./pod-rules.ts";
import { review } from "../../../apimachinery/src/kind/test-review.ts";

const debug = { name: "debug", image: "busybox", targetContainerName: "c" };
const make = (ephemeralContainers: object[] = [], metadata: object = {}): PodType => {
  const { object } = review(rules, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", ...metadata },
    spec: {
      nodeName: "n",
      containers: [{ name: "c", image: "i:1" }],
      ephemeralContainers: ephemeralContainers as never,
    },
  });
  return object;
};
const problemsOf = (old: PodType, ephemeralContainers: object[]): string[] =>
  review(
    rules,
    { ...old, spec: { ...old.spec, ephemeralContainers: ephemeralContainers as never } },
    { old, subresource: "ephemeralcontainers" },
  ).problems;

test("only the ephemeral containers of the sent pod are used", () => {
  const taken = ephemeralContainersPart.take(
    { nodeName: "other", containers: [], ephemeralContainers: [debug] },
    { nodeName: "n", containers: [{ name: "c" }] },
  );

  expect(taken).toEqual({ nodeName: "n", containers: [{ name: "c" }], ephemeralContainers: [debug] });
});

test("an ephemeral container may be added", () => {
  expect(problemsOf(make(), [debug])).toEqual([]);
  expect(problemsOf(make([debug]), [debug, { name: "more", image: "i" }])).toEqual([]);
});

test("an existing ephemeral container may neither be removed nor changed", () => {
  expect(problemsOf(make([debug]), [])).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  ]);
  expect(problemsOf(make([debug]), [{ ...debug, tty: true }])).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed; changed: `tty`',
  ]);
});

test("an ephemeral container needs a unique name and an existing target container", () => {
  expect(
    problemsOf(make(), [
      { name: "c", image: "i" },
      { name: "d", image: "i", targetContainerName: "none" },
    ]),
  ).toEqual([
    'spec.ephemeralContainers[0].name: Duplicate value: "c"',
    'spec.ephemeralContainers[1].targetContainerName: Not found: "none"',
  ]);
});

test("a mirror pod cannot have ephemeral containers", () => {
  const mirror = make([], { annotations: { "kubernetes.io/config.mirror": "x" } });

  expect(problemsOf(mirror, [debug])).toEqual(["[]: Forbidden: static pods do not support ephemeral containers"]);
});
