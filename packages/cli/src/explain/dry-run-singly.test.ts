import { HUB } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { ConfigMap, Namespace, Service } from "@flotilla/kubernetes";
import { expect, test } from "vitest";
import { createDryRunClient } from "./dry-run-client.ts";

interface Asked {
  method: string;
  path: string;
}

/** An API server that has the namespace `default`, and tries one request at a time. */
function kubernetes(): { asked: Asked[]; hub: Parameters<typeof createDryRunClient>[0] } {
  const asked: Asked[] = [];
  return {
    asked,
    hub: {
      raw({ method, path, body }) {
        asked.push({ method, path });
        const answer = (status: number, object: JsonObject, headers: Record<string, string> = {}) =>
          Promise.resolve({ status, headers, body: text(JSON.stringify(object)) });
        if (path === "/dry-run") return answer(404, { message: "404 page not found" });
        const isStored = !path.includes("/namespaces/new");
        if (method === "GET" || !isStored)
          return answer(404, {
            kind: "Status",
            status: "Failure",
            reason: "NotFound",
            code: 404,
            message: "not found",
          });
        const sent = JSON.parse(Buffer.from(body ?? "").toString()) as JsonObject;
        return answer(201, { ...sent, defaulted: true }, { warning: '299 - "be careful"' });
      },
    },
  };
}

async function* text(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

const configMap = (namespace: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace },
});

test("each request is tried with dryRun=All, with the warnings of the server, and nothing is sent again", async () => {
  const { asked, hub } = kubernetes();
  const warnings: string[] = [];
  const client = createDryRunClient(hub, new AbortController().signal, (_, warning) => void warnings.push(warning));

  const created = await client.create(ConfigMap, HUB, configMap("default"));
  const read = await client.get(ConfigMap, { cluster: HUB, namespace: "default", name: "settings" });

  expect(created).toMatchObject({ defaulted: true });
  expect(read).toEqual(created);
  expect(warnings).toEqual(["be careful"]);
  expect(asked.map(({ method, path }) => `${method} ${path.replace(/\?.*dryRun/, "?dryRun")}`)).toEqual([
    "POST /dry-run",
    "POST /api/v1/namespaces/default/configmaps?dryRun=All",
  ]);
});

test("an object in a namespace that would be created before it is taken as it was sent", async () => {
  const { hub } = kubernetes();
  const client = createDryRunClient(hub, new AbortController().signal);

  await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "new" } });
  const created = await client.create(ConfigMap, HUB, configMap("new"));

  expect(created).toEqual(configMap("new"));
});

test("a patch of an object that was tried changes what came of it, not what is stored", async () => {
  const { asked, hub } = kubernetes();
  const client = createDryRunClient(hub, new AbortController().signal);
  const ports = (...numbers: number[]) => numbers.map((port) => ({ port }));

  await client.create(Service, HUB, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { ports: ports(80) },
  });
  const key = { cluster: HUB, namespace: "default", name: "web" };
  const patched = await client.patch(Service, key, { spec: { ports: ports(81) } }, { type: "strategic" });

  expect(patched).toMatchObject({ spec: { ports: ports(81, 80) } });
  expect(asked.at(-1)?.method).toBe("PUT");
});

test("an object in a namespace that is missing is rejected", async () => {
  const { hub } = kubernetes();
  const client = createDryRunClient(hub, new AbortController().signal);

  await expect(client.create(ConfigMap, HUB, configMap("new"))).rejects.toThrow("not found");
});
