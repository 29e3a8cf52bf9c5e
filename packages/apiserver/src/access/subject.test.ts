import { defined, omitEmpty } from "@flotilla/base";
import { beforeEach, describe, expect, test } from "vitest";
import { bootstrapRbac, kubernetesKinds } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import { ANN } from "./test-access.ts";

const SAYINGS = "/apis/oracle.example.com/v1/namespaces/default/sayings";
/** Describes a ConfigMap of the same name, or an object of a kind that is not served. */
const Saying: Kind = {
  group: "oracle.example.com",
  kind: "Saying",
  plural: "sayings",
  scope: "Namespaced",
  storageVersion: "v1",
  versions: { v1: { schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true }, columns: [] } },
  subresources: {},
  verbs: ["get"],
  builtIn: true,
  hasGeneration: false,
  source: {
    get: (_cluster, namespace, name) => ({
      apiVersion: "oracle.example.com/v1",
      kind: "Saying",
      metadata: { name, ...defined({ namespace }) },
      text: "it will rain",
    }),
    list: () => [],
    about: ({ metadata }) => {
      const { name } = metadata as { name: string };
      return name === "lost"
        ? { apiVersion: "gone.example.com/v1", kind: "Gone", name }
        : { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name };
    },
  },
};

let server: TestServer["server"];
beforeEach(async () => {
  const rule = (group: string, resource: string, names: string[]): JsonObject => ({
    apiGroups: [group],
    resources: [resource],
    verbs: ["get"],
    ...omitEmpty({ resourceNames: names }),
  });
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { namespace: "default", name: "ann" } };
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    { ...rbac, kind: "Role", rules: [rule("oracle.example.com", "sayings", []), rule("", "configmaps", ["seen"])] },
    {
      ...rbac,
      kind: "RoleBinding",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "ann" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
    },
    ...bootstrapRbac(),
  ];
  ({ server } = await createTestServer({
    profiles: { hub: { builtIns: [...kubernetesKinds, Saying], customs: [], objects } },
    clusters: { hub: "hub" },
  }));
});

async function read(name: string): Promise<[number, unknown]> {
  const { status, body } = await server.handle({
    method: "GET",
    path: `${SAYINGS}/${name}`,
    query: new URLSearchParams(),
    headers: {},
    body: new Uint8Array(),
    user: ANN,
    signal: new AbortController().signal,
  });
  const answer = JSON.parse(Buffer.concat([body].flat() as Uint8Array[]).toString()) as JsonObject;
  return [status, answer["text"] ?? answer["message"]];
}

describe("an object that describes another", () => {
  test("can be read by users who may read that object", async () => {
    expect(await read("seen")).toEqual([200, "it will rain"]);
  });

  test("is forbidden to others, with the error for that object", async () => {
    expect(await read("hidden")).toEqual([
      403,
      'configmaps "hidden" is forbidden: User "ann" cannot get resource "configmaps" in API group "" in the namespace "default"',
    ]);
  });

  test("is not found when the kind of that object is not served", async () => {
    expect(await read("lost")).toEqual([404, 'sayings.oracle.example.com "lost" not found']);
  });
});
