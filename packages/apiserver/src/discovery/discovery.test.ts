import { describe, expect, test } from "vitest";
import { ConfigMap, Namespace, Pod } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { textOf } from "../codec/text.ts";
import { PROFILE, createTestServer, makeDefinition } from "../test-server.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A kind that is never stored, with an action. */
const Review: Kind = {
  ...ConfigMap,
  group: "authorization.k8s.io",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  shortNames: [],
  scope: "Cluster",
  verbs: ["create"],
};

async function createServer() {
  const pod: Kind = {
    ...Pod,
    subresources: {
      status: true,
      actions: {
        eviction: { group: "policy", version: "v1", kind: "Eviction" },
        binding: { group: "", version: "v1", kind: "Binding" },
      },
    },
  };
  return createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns.filter((kind) => kind !== Pod), pod, Review] } },
  });
}

async function rows(path: string): Promise<JsonObject[]> {
  const { request } = await createServer();
  return (await request("GET", path)).body.resources as JsonObject[];
}

describe("the resources of a group version", () => {
  test("list their verbs and storage version", async () => {
    const found = (await rows("/api/v1")).find(({ name }) => name === "configmaps");

    expect(found).toEqual({
      name: "configmaps",
      singularName: "configmap",
      namespaced: true,
      kind: "ConfigMap",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      shortNames: ["cm"],
      storageVersionHash: "qFsyl6wFWjQ=",
    });
  });

  test("list the subresources in order, with their kinds", async () => {
    const found = (await rows("/api/v1")).filter(({ name }) => textOf(name ?? "").startsWith("pods/"));

    expect(found.map(({ name, group, kind, verbs }) => [name, group, kind, verbs])).toEqual([
      ["pods/attach", undefined, "PodAttachOptions", ["create", "get"]],
      ["pods/binding", undefined, "Binding", ["create"]],
      ["pods/eviction", "policy", "Eviction", ["create"]],
      ["pods/exec", undefined, "PodExecOptions", ["create", "get"]],
      ["pods/log", undefined, "Pod", ["get"]],
      ["pods/portforward", undefined, "PodPortForwardOptions", ["create", "get"]],
      ["pods/proxy", undefined, "PodProxyOptions", ["create", "delete", "get", "patch", "update"]],
      ["pods/status", undefined, "Pod", ["get", "patch", "update"]],
    ]);
  });

  test("a review is not stored, so it has no storage version", async () => {
    expect(await rows("/apis/authorization.k8s.io/v1")).toEqual([
      {
        name: "subjectaccessreviews",
        singularName: "subjectaccessreview",
        namespaced: false,
        kind: "SubjectAccessReview",
        verbs: ["create"],
      },
    ]);
  });

  test("namespaces do not support deletecollection", async () => {
    const found = (await rows("/api/v1")).find(({ name }) => name === Namespace.plural);

    expect(found?.verbs).not.toContain("deletecollection");
  });
});

describe("aggregated discovery", () => {
  test("uses the requested media type", async () => {
    const { request } = await createServer();

    const { status, headers, body } = await request("GET", "/apis", undefined, {
      accept: `${AGGREGATED},application/json`,
    });

    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": AGGREGATED, vary: "Accept", "cache-control": "public" });
    expect(body.kind).toBe("APIGroupDiscoveryList");
  });

  test("is not sent again to a client with its ETag", async () => {
    const { request } = await createServer();
    const first = await request("GET", "/apis", undefined, { accept: AGGREGATED });

    const again = await request("GET", "/apis", undefined, {
      accept: AGGREGATED,
      "if-none-match": String(first.headers.etag),
    });

    expect([again.status, again.text]).toEqual([304, ""]);
  });

  test("lists Kubernetes' groups in their order, then the others by name", async () => {
    const { request } = await createServer();
    await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());

    const { body } = await request("GET", "/apis", undefined, { accept: AGGREGATED });

    expect((body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual([
      "apps",
      "authorization.k8s.io",
      "apiextensions.k8s.io",
      "example.com",
    ]);
  });

  test("is served at the roots only", async () => {
    const { request } = await createServer();

    expect((await request("GET", "/apis/apps", undefined, { accept: AGGREGATED })).status).toBe(406);
  });
});
