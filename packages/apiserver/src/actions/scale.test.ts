import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { MERGE, createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const SCALE = `${DEPLOYMENTS}/web/scale`;
const APPLY = { "content-type": "application/apply-patch+yaml" };

const deployment = (replicas: number): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});
const scale = (replicas: number): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "web" },
  spec: { replicas },
});

/** The owners of the replicas, as `manager operation subresource`. */
async function ownersOfReplicas({ request }: TestServer): Promise<string[]> {
  const { body } = await request("GET", `${DEPLOYMENTS}/web`);
  const entries = (body.metadata as JsonObject).managedFields as {
    manager: string;
    operation: string;
    subresource?: string;
    fieldsV1: { "f:spec"?: JsonObject };
  }[];
  return entries
    .filter(({ fieldsV1 }) => fieldsV1["f:spec"]?.["f:replicas"])
    .map(({ manager, operation, subresource = "" }) => `${manager} ${operation} ${subresource}`.trim());
}

describe("scaling", () => {
  test("takes ownership of the replicas from their owner", async () => {
    const server = await createTestServer();
    await server.request("POST", `${DEPLOYMENTS}?fieldManager=me`, deployment(1));

    const { body } = await server.request("PATCH", `${SCALE}?fieldManager=hpa`, { spec: { replicas: 4 } }, MERGE);

    expect(body).toMatchObject({ kind: "Scale", spec: { replicas: 4 } });
    expect(await ownersOfReplicas(server)).toEqual(["hpa Update scale"]);
  });

  test("scaling to the current value changes no owner", async () => {
    const server = await createTestServer();
    await server.request("POST", `${DEPLOYMENTS}?fieldManager=me`, deployment(4));

    await server.request("PUT", `${SCALE}?fieldManager=hpa`, scale(4));

    expect(await ownersOfReplicas(server)).toEqual(["me Update"]);
  });

  test("scaling to zero leaves no owner", async () => {
    const server = await createTestServer();
    await server.request("POST", DEPLOYMENTS, deployment(1));

    await server.request("PATCH", SCALE, { spec: { replicas: 0 } }, MERGE);

    expect(await ownersOfReplicas(server)).toEqual([]);
  });

  test("scaling with apply conflicts with another owner, unless it is forced", async () => {
    const server = await createTestServer();
    await server.request("PATCH", `${DEPLOYMENTS}/web?fieldManager=me`, deployment(1), APPLY);

    const refused = await server.request("PATCH", `${SCALE}?fieldManager=hpa`, scale(3), APPLY);
    const forced = await server.request("PATCH", `${SCALE}?fieldManager=hpa&force=true`, scale(3), APPLY);

    expect([refused.status, refused.body.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
    ]);
    expect(forced.body).toMatchObject({ spec: { replicas: 3 } });
    expect(await ownersOfReplicas(server)).toEqual(["hpa Apply scale"]);
  });

  const failures: Record<string, { body: JsonObject; query?: string; want: [number, string] }> = {
    "rejects a negative number": {
      body: scale(-1),
      want: [
        422,
        'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ],
    },
    "rejects another kind": {
      body: { ...scale(1), kind: "Deployment" },
      want: [400, 'no kind "Deployment" is registered for version "autoscaling/v1"'],
    },
    "rejects another name": {
      body: { ...scale(1), metadata: { name: "other" } },
      want: [400, "does not match the name on the URL (web)"],
    },
    "rejects an unknown field with strict validation": {
      body: { ...scale(1), foo: 1 },
      query: "?fieldValidation=Strict",
      want: [400, 'strict decoding error: unknown field "foo"'],
    },
    "rejects a value that is not a number": {
      body: { ...scale(1), spec: { replicas: "x" } },
      want: [400, "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32"],
    },
  };
  for (const [behaviour, { body, query = "", want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      await request("POST", DEPLOYMENTS, deployment(1));

      const answer = await request("PUT", `${SCALE}${query}`, body);

      expect([answer.status, answer.body.message]).toEqual([want[0], expect.stringContaining(want[1])]);
    });
  }
});
