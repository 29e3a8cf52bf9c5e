import { expect, test } from "vitest";
import type { Pod as PodType } from "../facts/core-v1.ts";
import { ephemeralContainersPart } from "./pod-ephemeral.ts";
import { admissions } from "./pod.ts";
import { review } from "../test-review.ts";

const debug = { name: "debug", image: "busybox", targetContainerName: "c" };
const make = (ephemeralContainers: object[] = [], metadata: object = {}): PodType => {
  const { object } = review(admissions, {
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
    admissions,
    { ...old, spec: { ...old.spec, ephemeralContainers: ephemeralContainers as never } },
    { old, subresource: "ephemeralcontainers" },
  ).problems;

test("only ephemeral containers are taken from what is sent", () => {
  const taken = ephemeralContainersPart.take(
    { nodeName: "other", containers: [], ephemeralContainers: [debug] },
    { nodeName: "n", containers: [{ name: "c" }] },
  );

  expect(taken).toEqual({ nodeName: "n", containers: [{ name: "c" }], ephemeralContainers: [debug] });
});

test("a container may be added", () => {
  expect(problemsOf(make(), [debug])).toEqual([]);
  expect(problemsOf(make([debug]), [debug, { name: "more", image: "i" }])).toEqual([]);
});

test("a container that is there may neither go nor change", () => {
  expect(problemsOf(make([debug]), [])).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  ]);
  expect(problemsOf(make([debug]), [{ ...debug, tty: true }])).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n@@ -27,6 +27,6 @@\n  "SecurityContext": null,\n  "Stdin": false,\n  "StdinOnce": false,\n- "TTY": false,\n+ "TTY": true,\n  "TargetContainerName": "c"\n }\n',
  ]);
});

test("a container has a name of its own, and looks at one that exists", () => {
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

test("a pod that stands for a file on a node has none", () => {
  const mirror = make([], { annotations: { "kubernetes.io/config.mirror": "x" } });

  expect(problemsOf(mirror, [debug])).toEqual(["[]: Forbidden: static pods do not support ephemeral containers"]);
});
