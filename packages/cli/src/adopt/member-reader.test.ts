import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { createMemberReader } from "./member-reader.ts";
import type { MemberReader } from "./member-reader.ts";

const kind = dynamicKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
});
const PROXY = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy";

/** A fake hub that returns these responses and records the requests. */
function readerOf(answers: Record<string, { status?: number; body: unknown }>): {
  reader: MemberReader;
  asked: string[];
} {
  const asked: string[] = [];
  const raw = ({ path }: { path: string }) => {
    asked.push(path);
    const { status = 200, body } = answers[path.slice(PROXY.length)] ?? { status: 404, body: {} };
    const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
    return Promise.resolve({
      status,
      headers: {},
      body: (async function* () {
        yield await Promise.resolve(bytes);
      })(),
    });
  };
  return { reader: createMemberReader({ raw }, "oslo", new AbortController().signal), asked };
}

test("an object is read through its Cluster's proxy; a missing one is undefined", async () => {
  const { reader, asked } = readerOf({
    "/apis/apps/v1/namespaces/shop/deployments/web": { body: { kind: "Deployment" } },
  });

  expect(await reader.get(kind, { namespace: "shop", name: "web" })).toEqual({ kind: "Deployment" });
  expect(await reader.get(kind, { namespace: "shop", name: "api" })).toBeUndefined();
  expect(asked[0]).toBe(`${PROXY}/apis/apps/v1/namespaces/shop/deployments/web`);
});

test("a list is read page by page, and its items get apiVersion and kind", async () => {
  const path = "/apis/apps/v1/namespaces/shop/deployments?limit=500&labelSelector=app%3Dweb";
  const { reader } = readerOf({
    [path]: { body: { metadata: { continue: "x" }, items: [{ metadata: { name: "a" } }] } },
    [`${path}&continue=x`]: { body: { metadata: {}, items: [{ metadata: { name: "b" } }] } },
  });

  const items = await reader.list(kind, { namespace: "shop", labelSelector: "app=web" });

  expect(items).toEqual(["a", "b"].map((name) => ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name } })));
});

test("a kind is served only in the versions whose discovery lists it", async () => {
  const { reader } = readerOf({
    "/apis/apps/v1": { body: { resources: [{ name: "deployments" }, { name: "deployments/scale" }] } },
    "/apis/apps/v2": { body: { resources: [{ name: "statefulsets" }] } },
  });

  expect([
    await reader.serves(kind),
    await reader.serves({ ...kind, storageVersion: "v2" }),
    await reader.serves({ ...kind, storageVersion: "v3" }),
  ]).toEqual([true, false, false]);
});

test("a failure quotes the member's message, or the proxy's", async () => {
  const path = "/apis/apps/v1/namespaces/shop/deployments/web";
  const failing = (body: unknown): Promise<unknown> =>
    readerOf({ [path]: { status: 503, body } }).reader.get(kind, { namespace: "shop", name: "web" });

  await expect(failing({ kind: "Status", message: "the member sleeps" })).rejects.toThrow(
    `reading ${path} on oslo through the hub: the member sleeps; run 'flotilla doctor --clusters oslo' for details`,
  );
  await expect(failing("bad gateway")).rejects.toThrow("it answered 503: bad gateway");
});
