import { describe, expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, MERGE, PROFILE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

/** Many objects that the server's own controllers write. */
const Parcel = {
  ...dynamicKind({ group: "example.com", version: "v1", kind: "Parcel", plural: "parcels", scope: "Namespaced" }),
  traits: { untrackedByControllers: "root" },
} as const;
const PARCELS = { cluster: "hub", group: "example.com", version: "v1", resource: "parcels", namespace: "default" };
const makeParcel = (name: string): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Parcel",
  metadata: { name },
  spec: { weight: 1 },
});
const startServer = (): Promise<TestServer> =>
  createTestServer({ profiles: { hub: { ...PROFILE, customs: [Parcel] } } });
const managersOf = ({ metadata }: JsonObject): unknown =>
  ((metadata as JsonObject).managedFields as JsonObject[] | undefined)?.map(({ manager }) => manager);

describe("objects of a kind that controllers write without field managers, on the hub", () => {
  test("have no field managers while only the server's own controllers write them", async () => {
    const { transport } = await startServer();
    await transport.send({
      verb: "create",
      path: PARCELS,
      query: { fieldManager: "flotilla-dispatch" },
      body: makeParcel("web"),
    });

    const written = await transport.send({
      verb: "patch",
      path: { ...PARCELS, name: "web", subresource: "status" },
      patchType: "merge",
      query: { fieldManager: "flotilla-status" },
      body: { status: { conditions: [] } },
    });

    expect(managersOf(written)).toBeUndefined();
  });

  test("record the fields that an external client wrote, and all changes from then on", async () => {
    const { transport, request } = await startServer();
    await transport.send({
      verb: "create",
      path: PARCELS,
      query: { fieldManager: "flotilla-dispatch" },
      body: makeParcel("web"),
    });
    const { body: edited } = await request(
      "PATCH",
      "/apis/example.com/v1/namespaces/default/parcels/web?fieldManager=ann",
      { spec: { isSuspended: true } },
      MERGE,
    );

    const written = await transport.send({
      verb: "patch",
      path: { ...PARCELS, name: "web" },
      patchType: "merge",
      query: { fieldManager: "flotilla-dispatch" },
      body: { spec: { isSuspended: false } },
    });

    expect(managersOf(edited)).toEqual(["ann"]);
    expect(managersOf(written)).toEqual(["flotilla-dispatch"]);
  });
});

test("other objects have field managers, whichever client writes them", async () => {
  const { transport } = await startServer();

  const written = await transport.send({
    verb: "create",
    path: { cluster: "hub", group: "", version: "v1", resource: "configmaps", namespace: "default" },
    query: { fieldManager: "flotilla-match" },
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { a: "1" } },
  });

  expect(managersOf(written)).toEqual(["flotilla-match"]);
});

describe("field managers of one object", () => {
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const entry = (index: number): JsonObject => ({
    manager: `m${index}`,
    operation: "Apply",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
  });
  const mapWith = (managers: number): JsonObject => ({
    metadata: { name: "a", managedFields: Array.from({ length: managers }, (_, index) => entry(index)) },
    data: Object.fromEntries(Array.from({ length: managers }, (_, index) => [`k${index}`, "v"])),
  });
  const tooMany = (count: number): object => ({
    code: 422,
    details: {
      causes: [{ field: "metadata.managedFields", message: `Too many: ${count}: must have at most 1000 items` }],
    },
  });

  test("are limited in an object that a client sends", async () => {
    const { request } = await createTestServer();
    await request("POST", MAPS, { ...mapWith(1_001), metadata: { name: "a" } });

    const { body } = await request("PUT", `${MAPS}/a`, mapWith(1_001));

    expect(body).toMatchObject(tooMany(1_001));
  });

  test("are limited when another one applies, and those of the object stay able to", async () => {
    const { request } = await createTestServer();
    await request("POST", MAPS, { ...mapWith(1_000), metadata: { name: "a" } });
    await request("PUT", `${MAPS}/a`, mapWith(1_000));
    const apply = (manager: string): ReturnType<typeof request> =>
      request(
        "PATCH",
        `${MAPS}/a?fieldManager=${manager}&force=true`,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k1: "changed" } },
        { "content-type": "application/apply-patch+yaml" },
      );

    const known = await apply("m1");
    const another = await apply("another");

    expect(known.status).toBe(200);
    expect(another.body).toMatchObject(tooMany(1_001));
  });
});
