import { beforeAll, expect, test } from "vitest";
import { parseYaml } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createTestServer, type TestServer } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** More than are rendered whole, and more than one part. */
const OBJECTS = 1_100;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

let server: TestServer;
beforeAll(async () => {
  server = await createTestServer();
  for (let index = 0; index < OBJECTS; index++)
    await server.request("POST", CONFIG_MAPS, { metadata: { name: `c${index}` }, data: { a: "- b: [] # c" } });
});

/** All of it in one response, and the same in pages, which are short enough to be rendered whole. */
async function listed(
  accept: string,
  parse: (text: string) => JsonObject,
): Promise<[JsonObject, unknown[], unknown[]]> {
  const whole = parse((await server.request("GET", CONFIG_MAPS, undefined, { accept })).text);
  const paged: unknown[] = [];
  let token = "";
  do {
    const { text } = await server.request("GET", `${CONFIG_MAPS}?limit=100&continue=${token}`, undefined, { accept });
    const page = parse(text);
    paged.push(...itemsOf(page));
    token = (page.metadata as { continue?: string }).continue ?? "";
  } while (token !== "");
  return [whole, itemsOf(whole), paged];
}
const itemsOf = ({ items, rows }: JsonObject): unknown[] => (items ?? rows) as unknown[];
const json = (text: string): JsonObject => JSON.parse(text) as JsonObject;

test.each([
  ["YAML", "application/yaml", (text: string) => parseYaml(text) as JsonObject, "ConfigMapList"],
  ["a table", TABLE, json, "Table"],
  ["metadata", METADATA, json, "PartialObjectMetadataList"],
  ["JSON", "application/json", json, "ConfigMapList"],
])("a long list as %s has the same items as its pages", async (_what, accept, parse, kind) => {
  const [whole, items, paged] = await listed(accept, parse);

  expect(whole.kind).toBe(kind);
  expect((whole.metadata as JsonObject).resourceVersion).toMatch(/^\d+$/);
  expect(items).toHaveLength(OBJECTS);
  expect(items).toEqual(paged);
});

test("other requests are answered between two parts of a list as YAML", async () => {
  let answered = 0;
  const list = server.request("GET", CONFIG_MAPS, undefined, { accept: "application/yaml" });
  const others = (async () => {
    for (let round = 0; round < 3; round++) {
      await server.request("GET", `${CONFIG_MAPS}/c0`);
      await new Promise((resolve) => void setImmediate(resolve));
      answered++;
    }
    return "others";
  })();

  const first = await Promise.race([list.then(() => "list"), others]);

  expect(first).toBe("others");
  expect(answered).toBe(3);
  await list;
});
