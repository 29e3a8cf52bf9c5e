import { expect, test } from "vitest";
import { ConfigMap } from "@flotilla/kubernetes";
import type { Admission } from "@flotilla/apimachinery";
import { forbidden } from "@flotilla/apimachinery";
import { createTestServer } from "../test-server.ts";

test("all reservations of a rejected write are released, even when releasing one of them fails", async () => {
  const given: string[] = [];
  const take = (reserve: NonNullable<Admission<ConfigMap>["reserve"]>): Admission<ConfigMap> => ({
    name: "Taking",
    for: ConfigMap,
    on: ["CREATE"],
    reserve,
  });
  const admissions = [
    take(async () => ({
      async release() {
        given.push("first");
        throw new Error("the budget cannot be written");
      },
    })),
    take(async () => ({ release: async () => void given.push("second") })),
    take(async () => {
      throw forbidden({ group: "", resource: "configmaps" }, "c", "there is no room");
    }),
  ];
  const { request } = await createTestServer({
    admissions,
    profiles: { hub: { builtIns: [ConfigMap], customs: [], objects: [] } },
  });

  const { status } = await request("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } });

  expect(status).toBeGreaterThanOrEqual(400);
  expect(given).toEqual(["first", "second"]);
});

test("a step with nothing to take returns nothing, and the steps after it still take", async () => {
  const calls: string[] = [];
  const step = (reserve: NonNullable<Admission<ConfigMap>["reserve"]>): Admission<ConfigMap> => ({
    name: "Taking",
    for: ConfigMap,
    on: ["CREATE"],
    reserve,
  });
  const admissions = [
    step(() => void calls.push("nothing at once")),
    step(async () => {
      calls.push("nothing later");
      return undefined;
    }),
    step(() => void calls.push("nothing at once again")),
    step(async () => {
      throw forbidden({ group: "", resource: "configmaps" }, "c", "there is no room");
    }),
  ].map((each, index) => ({ ...each, name: `Taking ${index}` }));
  const { request } = await createTestServer({
    admissions,
    profiles: { hub: { builtIns: [ConfigMap], customs: [], objects: [] } },
  });

  const { status } = await request("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } });

  expect(status).toBe(403);
  expect(calls).toEqual(["nothing at once", "nothing later", "nothing at once again"]);
});
