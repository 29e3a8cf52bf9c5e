import { expect, test } from "vitest";
import { SidecarSet } from "@flotilla/openkruise";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, MERGE, PROFILE } from "@flotilla/testing/api-server.ts";
import type { Answered } from "@flotilla/testing/api-server.ts";

const PATH = "/apis/apps.kruise.io/v1alpha1/sidecarsets";
const APPLY = { "content-type": "application/apply-patch+yaml" };
const set = (namespace: string): JsonObject => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "SidecarSet",
  metadata: { name: "proxy" },
  // Stored, and shown, as a namespaceSelector.
  spec: { namespace, selector: { matchLabels: { app: "web" } }, containers: [{ name: "proxy", image: "proxy:1" }] },
});

for (const [how, query, type] of [
  ["a merge patch", "", MERGE],
  ["server-side apply", "?fieldManager=test&force=true", APPLY],
] as const)
  test(`${how} of a field that is stored as another one writes only what changes`, async () => {
    const { request, clock } = await createTestServer({ profiles: { hub: { ...PROFILE, customs: [SidecarSet] } } });
    const send = (namespace: string): Promise<Answered> =>
      request("PATCH", `${PATH}/proxy${query}`, set(namespace), type);
    await request("POST", PATH, set("default"));
    await send("default");
    const before = await request("GET", `${PATH}/proxy`);
    clock.advance(60_000);

    const again = await send("default");
    const moved = await send("shop");

    expect(again.body).toEqual(before.body);
    expect(moved.body).toMatchObject({
      metadata: { generation: Number((before.body.metadata as JsonObject).generation) + 1 },
      spec: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "shop" } } },
    });
  });
