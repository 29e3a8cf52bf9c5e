import { expect, test } from "vitest";
import { afflictedMembers, causesOf, lookAtPods } from "./look-at-pods.ts";
import type { CopyReport, LookOptions } from "./look-at-pods.ts";

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

test("names what pods report before a warning that may be over", () => {
  const pods: CopyReport = {
    copy: { ...copy, cluster: "paris" },
    problems: [
      {
        reason: "ImagePullBackOff",
        detail: "image web:2",
        does: "wait",
        isCertain: true,
        pod: "web-1",
        createdMs: 0,
        outdated: [],
        count: 1,
      },
    ],
  };

  const causes = causesOf([warned("FailedCreate: the server is busy"), pods], true);

  expect(causes).toEqual([expect.stringContaining("ImagePullBackOff"), "oslo: FailedCreate: the server is busy"]);
});

test("says of a member without a Cluster that the hub has no access to it", async () => {
  const signal = new AbortController().signal;
  const clock = { after: () => ({ cancel() {} }), now: () => 0 } as unknown as LookOptions["clock"];

  const { unseen } = await lookAtPods([copy], { client: {} as LookOptions["client"], clock, signal, places: [] });

  expect(unseen).toEqual(["the pods on oslo: the hub has no access to it, because it has no Cluster"]);
});
