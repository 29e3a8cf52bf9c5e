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
