import { defined } from "@flotilla/base";
import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import type { Client, ListOptions } from "./client.ts";
import { eachObject } from "./each-object.ts";

const ConfigMap = dynamicKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});

/** A server with seven objects that returns no more than the requested limit. */
function serve(): { client: Pick<Client, "list">; asked: ListOptions[] } {
  const objects = Array.from({ length: 7 }, (_, index) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `c${index}` },
  }));
  const asked: ListOptions[] = [];
  const list = async (_kind: unknown, options: ListOptions): Promise<unknown> => {
    asked.push(options);
    const [from, limit] = [Number(options.continue ?? 0), options.limit ?? objects.length];
    return {
      resourceVersion: "1",
      items: objects.slice(from, from + limit),
      ...defined({ continue: from + limit < objects.length ? String(from + limit) : undefined }),
    };
  };
  return { client: { list } as unknown as Pick<Client, "list">, asked };
}

test("all pages are read with the options of the first request", async () => {
  const { client, asked } = serve();

  const names = (
    await Array.fromAsync(eachObject(client, ConfigMap, { cluster: "hub", namespace: "shop", limit: 3 }))
  ).map(({ metadata }) => metadata.name);

  expect(names).toEqual(["c0", "c1", "c2", "c3", "c4", "c5", "c6"]);
  expect(asked).toEqual([
    { cluster: "hub", namespace: "shop", limit: 3 },
    { cluster: "hub", namespace: "shop", limit: 3, continue: "3" },
    { cluster: "hub", namespace: "shop", limit: 3, continue: "6" },
  ]);
});

test("no further page is read when the caller stops iterating", async () => {
  const { client, asked } = serve();

  for await (const { metadata } of eachObject(client, ConfigMap, { cluster: "hub", limit: 3 }))
    if (metadata.name === "c1") break;

  expect(asked).toHaveLength(1);
});
