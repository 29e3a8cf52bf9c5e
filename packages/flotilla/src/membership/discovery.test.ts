import { describe, expect, test } from "vitest";
import type { Client, RawRequest } from "@flotilla/client";
import { createDiscovery } from "./discovery.ts";

interface Page {
  status?: number;
  etag?: string;
  json: unknown;
}

/** A cluster that returns these pages, and 304 for a matching ETag. */
function createCluster(pages: Record<string, Page>): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const raw = async ({ path, headers }: RawRequest): ReturnType<Client["raw"]> => {
    const { status = 200, etag = "", json } = pages[path] ?? { status: 404, json: {} };
    const isKnown = etag !== "" && headers?.["if-none-match"] === etag;
    asked.push(`${path} ${isKnown ? 304 : status}`);
    const text = isKnown ? "" : JSON.stringify(json);
    return {
      status: isKnown ? 304 : status,
      headers: etag === "" ? {} : { etag },
      body: (async function* () {
        yield Buffer.from(text);
      })(),
    };
  };
  return { client: { raw } as unknown as Client, asked };
}

const signal = new AbortController().signal;
const aggregated = (group: string, version: string, resources: object[], freshness = "Current"): object => ({
  metadata: group === "" ? {} : { name: group },
  versions: [{ version, freshness, resources }],
});
const PODS = { resource: "pods", responseKind: { kind: "Pod" } };
const MAPS = { resource: "configmaps", responseKind: { kind: "ConfigMap" } };

describe("discovery of a cluster", () => {
  test("reads two documents, sorted and without subresources", async () => {
    const { client } = createCluster({
      "/api": { json: { items: [aggregated("", "v1", [PODS, MAPS])] } },
      "/apis": {
        json: {
          items: [aggregated("apps", "v1", [{ resource: "deployments", responseKind: { kind: "Deployment" } }])],
        },
      },
    });

    expect(await createDiscovery(client, "far").read(signal)).toEqual({
      isComplete: true,
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
        {
          groupVersion: "v1",
          resources: [
            { name: "configmaps", kind: "ConfigMap" },
            { name: "pods", kind: "Pod" },
          ],
        },
      ],
    });
  });

  test("is not transferred again while unchanged", async () => {
    const { client, asked } = createCluster({
      "/api": { etag: '"a"', json: { items: [aggregated("", "v1", [PODS])] } },
      "/apis": { etag: '"b"', json: { items: [] } },
    });
    const discovery = createDiscovery(client, "far");
    const first = await discovery.read(signal);

    expect(await discovery.read(signal)).toEqual(first);
    expect(asked).toEqual(["/api 200", "/apis 200", "/api 304", "/apis 304"]);
  });

  test("is incomplete when a part is stale", async () => {
    const { client } = createCluster({
      "/api": { json: { items: [aggregated("", "v1", [PODS])] } },
      "/apis": { json: { items: [aggregated("metrics.k8s.io", "v1beta1", [], "Stale")] } },
    });

    expect(await createDiscovery(client, "far").read(signal)).toMatchObject({ isComplete: false });
  });

  test("queries group by group on older servers, and an unavailable group hides no other", async () => {
    const { client } = createCluster({
      "/api": { json: { versions: ["v1"] } },
      "/api/v1": {
        json: {
          resources: [
            { name: "pods", kind: "Pod" },
            { name: "pods/log", kind: "Pod" },
          ],
        },
      },
      "/apis": {
        json: {
          groups: [
            { versions: [{ groupVersion: "apps/v1" }] },
            { versions: [{ groupVersion: "metrics.k8s.io/v1beta1" }] },
          ],
        },
      },
      "/apis/apps/v1": { json: { resources: [{ name: "deployments", kind: "Deployment" }] } },
      "/apis/metrics.k8s.io/v1beta1": { status: 503, json: {} },
    });

    expect(await createDiscovery(client, "far").read(signal)).toEqual({
      isComplete: false,
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
        { groupVersion: "v1", resources: [{ name: "pods", kind: "Pod" }] },
      ],
    });
  });

  test("tolerates malformed answers", async () => {
    const { client } = createCluster({
      "/api": {
        json: { items: [null, { versions: [{ version: 7 }, { version: "v1", resources: [{ resource: {} }, "x"] }] }] },
      },
      "/apis": { json: ["?"] },
    });

    expect(await createDiscovery(client, "far").read(signal)).toEqual({
      isComplete: true,
      apiEnablements: [{ groupVersion: "v1", resources: [] }],
    });
  });
});
