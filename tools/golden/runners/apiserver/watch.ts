/** A watch that a scenario keeps open: buffers its events until the scenario reads them. */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { reduce } from "./reduce.ts";
import type { Step } from "./scenario.ts";

export interface OpenWatch {
  take(step: Step): Promise<{ events: Json[]; closed?: boolean }>;
  close(): void;
}

const EVENTS_MS = 6000;
const CLOSE_MS = 20_000;
const POLL_MS = 10;

export function openWatch(response: IncomingMessage): OpenWatch {
  let events: Json[] = [];
  let closed = false;
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") events.push(reduce(JSON.parse(line) as Json, undefined));
  });
  for (const end of ["end", "close", "error"]) {
    response.on(end, () => {
      closed = true;
    });
  }

  return {
    async take({ events: wanted = Infinity, quietMs, untilClosed = false, withinMs, bookmarks = false }) {
      const visible = (): Json[] => (bookmarks ? events : events.filter((event) => !isPlainBookmark(event)));
      const deadline = Date.now() + (withinMs ?? (untilClosed ? CLOSE_MS : EVENTS_MS));
      const isDone = (): boolean => closed || Date.now() >= deadline || (!untilClosed && visible().length >= wanted);
      if (quietMs !== undefined) await sleep(quietMs);
      else while (!isDone()) await sleep(POLL_MS);
      const all = visible();
      const taken = quietMs !== undefined || untilClosed ? all : all.slice(0, wanted);
      events = all.slice(taken.length);
      return { events: taken, closed: untilClosed ? closed : undefined };
    },
    close: () => response.destroy(),
  };
}

/** The server sends bookmarks at any time; only the one that ends the initial events is compared. */
function isPlainBookmark(event: Json): boolean {
  if (!isObject(event) || event.type !== "BOOKMARK" || !isObject(event.object) || !isObject(event.object.metadata))
    return false;
  const { annotations } = event.object.metadata;
  return !isObject(annotations) || annotations["k8s.io/initial-events-end"] === undefined;
}
