import { expect, test } from "vitest";
import { ConfigMap } from "../configmap/configmap-kind.ts";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { Client, WatchEvent, WatchOptions } from "@flotilla/client";
import { createWatchSource } from "./watch-source.ts";

const event = (type: "ADDED" | "DELETED", name: string): WatchEvent<ConfigMap> => ({
  type,
  cluster: "paris",
  object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" } },
});
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A client whose watches deliver the given events, and then end or fail. */
function watching(...watches: (WatchEvent<ConfigMap>[] | Error)[]): { client: Client; opened: WatchOptions[] } {
  const opened: WatchOptions[] = [];
  const watch = async function* (_kind: unknown, options: WatchOptions): AsyncGenerator<WatchEvent<ConfigMap>[]> {
    opened.push(options);
    const next = watches.shift();
    if (next instanceof Error) throw next;
    if (next) yield next;
    else await new Promise((resolve) => options.signal.addEventListener("abort", resolve, { once: true }));
  };
  return { client: { watch } as unknown as Client, opened };
}

test("reopens a watch that fails or ends, and enqueues the keys that may have been missed", async () => {
  const clock = createFakeClock();
  const { client, opened } = watching([event("ADDED", "a"), event("DELETED", "b")], new Error("too old"));
  const keys: string[] = [];
  const stopping = new AbortController();
  const source = createWatchSource<ConfigMap, string>({
    client,
    clock,
    log: silentLog,
    kind: ConfigMap,
    fieldSelector: "metadata.name=a",
    map: ({ cluster, object, deleted }) => [`${deleted ? "-" : "+"}${cluster}/${object.metadata.name}`],
    afterGap: () => ["everything"],
  });

  source.start((key) => keys.push(key), stopping.signal);
  await turn();
  expect(keys).toEqual(["+paris/a", "-paris/b"]);

  clock.advance(500);
  await turn();
  clock.advance(500);
  await turn();
  expect(keys.slice(2)).toEqual(["everything", "everything"]);
  expect(opened.map(({ cluster, fieldSelector }) => `${cluster} ${fieldSelector ?? ""}`)).toEqual(
    Array.from({ length: 3 }, () => "* metadata.name=a"),
  );

  stopping.abort();
  await turn();
  clock.advance(5_000);
  await turn();
  expect(opened).toHaveLength(3);
});
