import { expect, test } from "vitest";
import { afflictedMembers, causesOf } from "./look-at-pods.ts";
import type { CopyReport } from "./look-at-pods.ts";

const copy = { cluster: "oslo", apiVersion: "apps/v1", kind: "ReplicaSet", namespace: "shop", name: "web" };
const QUOTA = 'FailedCreate: Error creating: pods "web-1" is forbidden: exceeded quota: small, requested: pods=1';
const warned = (warning: string): CopyReport => ({ copy, problems: [], warning });

test("pods that a quota forbids are a problem at once", () => {
  expect(causesOf([warned(QUOTA)], false)).toEqual([`oslo: ${QUOTA}`]);
  expect(afflictedMembers([warned(QUOTA)], false)).toEqual(["oslo"]);
});

test("another warning counts when the workload has had enough time", () => {
  const slow = warned("FailedCreate: Error creating: the server is currently unable to handle the request");

  expect(causesOf([slow], false)).toEqual([]);
  expect(afflictedMembers([slow], false)).toEqual([]);
  expect(causesOf([slow], true)).toHaveLength(1);
});
