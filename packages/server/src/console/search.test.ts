import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { searchFleet } from "./search.ts";
import { createTestHub } from "./test-hub.ts";

const PODS = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy/api/v1/pods";
const podOf = (name: string): JsonObject => ({ metadata: { name, namespace: "shop" }, spec: { containers: [] } });

const cases: Record<string, { answer: JsonObject; status?: number; want: object }> = {
  "finds pods by their names": {
    answer: { items: [podOf("web-1"), podOf("cart-1")] },
    want: { total: 1, notes: [], hits: [expect.objectContaining({ member: "oslo", name: "web-1", by: "name" })] },
  },
  "notes a member that has more pods than are searched": {
    answer: { metadata: { continue: "more" }, items: [] },
    want: { total: 0, notes: ["oslo: only the first 10000 pods were searched"], hits: [] },
  },
  "notes a member that rejects the viewer": {
    answer: { message: "pods is forbidden" },
    status: 403,
    want: { total: 0, notes: ["oslo: pods is forbidden"], hits: [] },
  },
};

describe("a search over members", () => {
  for (const [what, { answer, status, want }] of Object.entries(cases)) {
    test(what, async () => {
      const hub = createTestHub();
      hub.answer(PODS, answer, status);
      const list = async () => ({ items: [{ metadata: { name: "oslo" } }], resourceVersion: "1" });
      const client = { ...hub.client, list } as unknown as Client;

      expect(await searchFleet(client, "web", createFakeClock(), new AbortController().signal)).toEqual(want);
    });
  }
});
