import { expect, test } from "vitest";
import type { CachedEntry } from "../store/cache.ts";
import { ConfigMap } from "@flotilla/kubernetes";
import { required } from "@flotilla/base";
import { createResources } from "../resources/resources.ts";
import { listItems } from "./list-items.ts";
import type { ListItems } from "./list-items.ts";

const { storage: served } = required(createResources([ConfigMap])[0], "the resource");

function makeEntries(count: number, revision = 1): CachedEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `/core/configmaps/hub/default/map-${index}`,
    revision: revision + index,
    value: Buffer.from(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"map-${index}"}}`),
  }));
}

const textOf = (items: ListItems | undefined): string => Buffer.concat(items?.chunks ?? []).toString();
/** The results of the same list request, repeated. */
const ask = (entries: readonly CachedEntry[], times: number): ListItems[] =>
  Array.from({ length: times }, () => listItems([...entries], served));

test("items are joined and terminated, each with its revision", () => {
  const items = listItems(makeEntries(2, 7), served);

  expect(textOf(items)).toBe(
    '{"metadata":{"resourceVersion":"7","name":"map-0"}},{"metadata":{"resourceVersion":"8","name":"map-1"}}]}',
  );
});

test("a repeatedly requested list is written twice and then reused", () => {
  const [first, second, third] = ask(makeEntries(100), 3);

  expect(first?.chunks).not.toBe(second?.chunks);
  expect(third?.chunks).toBe(second?.chunks);
  expect(textOf(third)).toBe(textOf(first));
});

test("retained chunks are not released for reuse", () => {
  const [first, second, third] = ask(makeEntries(100), 3);

  expect(first?.release).toBeDefined();
  expect(second?.release).toBeUndefined();
  expect(third?.release).toBeUndefined();
});

test("a list in which one entry was replaced is written again", () => {
  const entries = makeEntries(100);
  ask(entries, 3);
  const changed = entries.map((entry, index) => (index === 50 ? { ...entry, revision: 999 } : entry));

  const items = listItems(changed, served);

  expect(textOf(items)).toContain('"resourceVersion":"999"');
});

test("short lists are written each time", () => {
  const [, second, third] = ask(makeEntries(3), 3);

  expect(third?.chunks).not.toBe(second?.chunks);
});
