import { describe, expect, test } from "vitest";
import { UnreachableError } from "@flotilla/client";
import type { Delivery, RemovePolicy } from "../delivery/delivery.ts";
import { internalError } from "@flotilla/apimachinery";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { createLeavingDelivery, leaveModeOf } from "./leaving-delivery.ts";
import type { LeaveMode } from "./leaving-delivery.ts";

const REF = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const DELETE: RemovePolicy = { mode: "delete" };
const signal = new AbortController().signal;

function createMember(failure?: Error): { delivery: Delivery; removed: string[] } {
  const removed: string[] = [];
  const delivery: Delivery = {
    apply: () => Promise.resolve({ result: "absent" }),
    kindOf: () => Promise.reject(new Error("not asked for")),
    async disown({ name }, { mode }) {
      if (failure) throw failure;
      removed.push(`${mode} ${name}`);
      return "gone";
    },
    observe: () => ({
      get: () => undefined,
      resourceOf: () => undefined,
      isFresh: () => true,
      onChange: () => {},
      close: () => {},
    }),
    async remove({ name }, { mode }) {
      if (failure) throw failure;
      removed.push(`${mode} ${name}`);
      return "gone";
    },
  };
  return { delivery, removed };
}

describe("removing an object", () => {
  const cases: Record<string, { leaveMode: LeaveMode; ref?: typeof REF; want: string[] }> = {
    "deletes it on a member that is not leaving": { leaveMode: "stays", want: ["delete web"] },
    "leaves it running on a leaving member": { leaveMode: "release", want: ["release web"] },
    "deletes it on a purged member": { leaveMode: "purge", want: ["delete web"] },
    "does nothing on a member that leaves by force": { leaveMode: "abandon", want: [] },
    "deletes the hub's own RBAC even where everything else stays": {
      leaveMode: "release",
      ref: {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        namespace: "",
        name: "karmada-impersonator",
      },
      want: ["delete karmada-impersonator"],
    },
  };
  for (const [behaviour, { leaveMode, ref = REF, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { delivery, removed } = createMember();

      await createLeavingDelivery(delivery, "paris", () => leaveMode).remove(ref, DELETE, signal);

      expect(removed).toEqual(want);
    });
  }

  test("succeeds when a leaving member does not answer", async () => {
    const { delivery } = createMember(new UnreachableError("no route"));

    await expect(createLeavingDelivery(delivery, "paris", () => "release").remove(REF, DELETE, signal)).resolves.toBe(
      "gone",
    );
    await expect(createLeavingDelivery(undefined, "paris", () => "release").remove(REF, DELETE, signal)).resolves.toBe(
      "gone",
    );
  });

  test("fails when a purged member does not answer, or rejects the request", async () => {
    const { delivery } = createMember(internalError("broken"));

    await expect(createLeavingDelivery(delivery, "paris", () => "release").remove(REF, DELETE, signal)).rejects.toThrow(
      "broken",
    );
    await expect(createLeavingDelivery(undefined, "paris", () => "purge").remove(REF, DELETE, signal)).rejects.toThrow(
      "no connection to cluster paris",
    );
  });
});

test("annotations specify how a member leaves, and force takes precedence", () => {
  const cluster = makeCluster("paris");
  const leaving = (annotations: Record<string, string>): LeaveMode =>
    leaveModeOf({
      ...cluster,
      metadata: { ...cluster.metadata, deletionTimestamp: "2024-05-01T12:00:00Z", annotations },
    });

  expect(leaveModeOf(cluster)).toBe("stays");
  expect(leaving({})).toBe("release");
  expect(leaving({ "flotilla.dev/purge": "true" })).toBe("purge");
  expect(leaving({ "flotilla.dev/purge": "true", "flotilla.dev/force-unjoin": "true" })).toBe("abandon");
});
