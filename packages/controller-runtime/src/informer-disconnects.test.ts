/** Every connection failure, one by one: the server's responses are scripted, event by event. */
import { expect, test } from "vitest";
import { dynamicKind, expired, invalid, pathNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog, type DeepReadonly } from "@flotilla/base";
import {
  UnreachableError,
  type Client,
  type List,
  type ListOptions,
  type WatchEvent,
  type WatchOptions,
} from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createInformers } from "./informers.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
type Event = WatchEvent<KubernetesObject>;

/** `a@5` is the object a at version 5; `a#2@5` is another object of that name. */
function widget(text: string): DeepReadonly<KubernetesObject> {
  const [, name = "", uid = "1", resourceVersion = ""] = /^(\w+)(?:#(\d+))?@(\d+)$/.exec(text) ?? [];
  return {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { name, namespace: "shop", uid: `${name}-${uid}`, resourceVersion },
  };
}
/** `+a@5`, `~a@6`, `-a@7`; `=8` is a bookmark and `|8` the one that ends a list. */
function event(text: string): Event {
  const rest = text.slice(1);
  switch (text[0]) {
    case "=":
      return { type: "BOOKMARK", resourceVersion: rest, initialEventsEnd: false };
    case "|":
      return { type: "BOOKMARK", resourceVersion: rest, initialEventsEnd: true };
    default:
      return {
        type: text[0] === "+" ? "ADDED" : text[0] === "~" ? "MODIFIED" : "DELETED",
        cluster: "hub",
        object: widget(rest),
      };
  }
}

const lost = new UnreachableError("the connection was lost");
const gone = expired("too old resource version");
const unserved = pathNotFound();
const noStreaming = invalid("", "ListOptions", "", [
  { type: "Forbidden", field: "sendInitialEvents", message: "Forbidden: not enabled" },
]);

/** The events of a watch, and its end: by the server, by a failure, or none. */
interface Said {
  events?: string;
  ends: "fine" | "never" | Error;
}
type Page = { items: string; version: string; more?: string } | Error;

interface Case {
  watches: Said[];
  pages?: Page[];
  /** The request of each watch: `list` or the version that it resumes after. */
  asked: string[];
  /** The request of each page. */
  listed?: string[];
  reported: string;
  /** The final cache contents; an empty string means none. */
  known: string;
  synced?: boolean;
  fresh?: boolean;
}

const cases: Record<string, Case> = {
  "the connection is lost before the first event": {
    watches: [{ ends: lost }, { events: "+a@1 |2", ends: "never" }],
    asked: ["list", "list"],
    reported: "+a",
    known: "a@1",
  },
  "the connection is lost in the middle of the initial list": {
    watches: [
      { events: "+a@1 +b@2", ends: lost },
      { events: "+b@2 +c@3 |4", ends: "never" },
    ],
    asked: ["list", "list"],
    reported: "+a +b +c -a",
    known: "b@2 c@3",
  },
  "the server ends the initial list early": {
    watches: [
      { events: "+a@1", ends: "fine" },
      { events: "+a@1 |2", ends: "never" },
    ],
    asked: ["list", "list"],
    reported: "+a",
    known: "a@1",
  },
  "the connection is lost right after the end of the list": {
    watches: [
      { events: "+a@1 |7", ends: lost },
      { events: "~a@8", ends: "never" },
    ],
    asked: ["list", "7"],
    reported: "+a ~a",
    known: "a@8",
  },
  "the connection is lost after a bookmark": {
    watches: [{ events: "+a@1 |2 ~a@3 =90", ends: lost }, { ends: "never" }],
    asked: ["list", "90"],
    reported: "+a ~a",
    known: "a@3",
  },
  "the server ends a watch, as it does every few minutes": {
    watches: [{ events: "+a@1 |2 ~a@3", ends: "fine" }, { events: "-a@4", ends: "fine" }, { ends: "never" }],
    asked: ["list", "3", "4"],
    reported: "+a ~a -a",
    known: "",
  },
  "the server no longer knows the version": {
    watches: [{ events: "+a@1 +b@2 |2", ends: "fine" }, { ends: gone }, { events: "+b@9 |9", ends: "never" }],
    asked: ["list", "2", "list"],
    reported: "+a +b ~b -a",
    known: "b@9",
  },
  "the server was restored from an older backup": {
    watches: [
      { events: "+a@5 +b@6 |9 -b@10", ends: gone },
      { events: "+a@3 +b@2 |8 ~b@9", ends: "never" },
    ],
    asked: ["list", "list"],
    reported: "+a +b -b ~a +b ~b",
    known: "a@3 b@9",
  },
  "the history is compacted in the middle of a watch": {
    watches: [
      { events: "+a@1 |2 ~a@3", ends: gone },
      { events: "+a@3 |9", ends: "never" },
    ],
    asked: ["list", "list"],
    reported: "+a ~a",
    known: "a@3",
  },
  "the history is compacted, and the new list is interrupted too": {
    watches: [
      { events: "+a@1 +b@2 |2", ends: gone },
      { events: "+c@5", ends: lost },
      { events: "+b@2 +c@5 |9", ends: "never" },
    ],
    asked: ["list", "list", "list"],
    reported: "+a +b +c -a",
    known: "b@2 c@5",
  },
  "the server does not stream lists": {
    watches: [{ ends: noStreaming }, { events: "~a@4", ends: lost }, { ends: "never" }],
    pages: [
      { items: "a@1", version: "3", more: "x" },
      { items: "b@2", version: "3" },
    ],
    asked: ["list", "3", "4"],
    listed: ["500", "500 after x"],
    reported: "+a +b ~a",
    known: "a@4 b@2",
  },
  "a list in pages takes longer than the server keeps its history": {
    watches: [{ ends: noStreaming }, { ends: "never" }],
    pages: [{ items: "a@1 b@1", version: "3", more: "x" }, gone, { items: "b@1 c@5", version: "6" }],
    asked: ["list", "6"],
    listed: ["500", "500 after x", "all"],
    reported: "+a +b +c -a",
    known: "b@1 c@5",
  },
  "a page is lost": {
    watches: [{ ends: noStreaming }, { ends: "never" }],
    pages: [
      { items: "a@1", version: "3", more: "x" },
      lost,
      { items: "a@1", version: "4", more: "y" },
      { items: "b@2", version: "4" },
    ],
    asked: ["list", "4"],
    listed: ["500", "500 after x", "500", "500 after y"],
    reported: "+a +b",
    known: "a@1 b@2",
  },
  "events arrive twice": {
    watches: [{ events: "+a@1 |2 ~a@3 ~a@3 -a@4 -a@4 +a#2@5 +a#2@5", ends: "never" }],
    asked: ["list"],
    reported: "+a ~a -a +a",
    known: "a#2@5",
  },
  "an old event arrives after a newer one": {
    watches: [{ events: "+a@1 |2 ~a@5 ~a@3 -a@6 ~a@4", ends: lost }, { ends: "never" }],
    asked: ["list", "6"],
    reported: "+a ~a -a",
    known: "",
  },
  "the kind is no longer served, and returns with other objects": {
    watches: [
      { events: "+a@1 |2", ends: "fine" },
      { ends: unserved },
      { ends: unserved },
      { events: "+b@20 |20", ends: "never" },
    ],
    asked: ["list", "2", "list", "list"],
    reported: "+a +b -a",
    known: "b@20",
  },
  "the kind is no longer served: cached objects stay readable, and are not considered fresh": {
    watches: [{ events: "+a@1 |2", ends: "fine" }, { ends: unserved }, { ends: unserved }],
    asked: ["list", "2", "list"],
    reported: "+a",
    known: "a@1",
    fresh: false,
  },
  "the server is never reached": {
    watches: [{ ends: lost }, { ends: lost }],
    asked: ["list", "list"],
    reported: "",
    known: "",
    synced: false,
    fresh: false,
  },
};

for (const [
  what,
  { watches, pages = [], asked, listed = [], reported, known, synced = true, fresh = true },
] of Object.entries(cases)) {
  test(what, async () => {
    const clock = createFakeClock();
    const script = scripted(watches, pages);
    const informers = createInformers({
      client: script.client,
      clock,
      log: silentLog,
      scope: { cluster: "hub" },
      random: createSeededRandom(1),
    });
    const informer = informers.of(Widget);
    const seen: string[] = [];
    informer.subscribe(
      ({ object, old, deleted }) => void seen.push(`${deleted ? "-" : old ? "~" : "+"}${object.metadata.name}`),
    );

    while (script.left() > 0) {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
      // Every delay is within the longest backoff.
      if (script.left() > 0) clock.advance(30_000);
    }
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));

    expect(script.asked).toEqual(asked);
    expect(script.listed).toEqual(listed);
    expect(seen.join(" ")).toBe(reported);
    expect(informer.list()).toEqual(known === "" ? [] : known.split(" ").map(widget));
    expect({ synced: informer.synced, fresh: informer.fresh }).toEqual({ synced, fresh });
    informers.close();
  });
}

/** A server that replays the script, and then reports that the script has ended. */
function scripted(watches: readonly Said[], pages: readonly Page[]) {
  const saying = watches.values();
  const listing = pages.values();
  let left = watches.length + pages.length;
  const asked: string[] = [];
  const listed: string[] = [];

  async function* watch(options: WatchOptions): AsyncGenerator<Event[]> {
    await new Promise((resolve) => void setImmediate(resolve));
    const { value: said } = saying.next();
    if (!said) throw lost;
    left--;
    asked.push(options.resourceVersion ?? "list");
    // Each in its own batch, as from a remote server.
    for (const text of said.events?.split(" ") ?? []) yield [event(text)];
    if (said.ends instanceof Error) throw said.ends;
    if (said.ends === "never")
      await new Promise((resolve) => options.signal.addEventListener("abort", resolve, { once: true }));
  }
  async function list(options: ListOptions): Promise<List<KubernetesObject>> {
    await new Promise((resolve) => void setImmediate(resolve));
    const { value: page } = listing.next();
    if (!page) throw lost;
    left--;
    listed.push(`${options.limit ?? "all"}${options.continue ? ` after ${options.continue}` : ""}`);
    if (page instanceof Error) throw page;
    return {
      items: page.items.split(" ").map(widget),
      resourceVersion: page.version,
      continue: page.more || undefined,
    };
  }
  const client = {
    ...createFakeClient(),
    watch: (_kind: unknown, options: WatchOptions) => watch(options),
    list: (_kind: unknown, options: ListOptions) => list(options),
  } as unknown as Client;
  return { client, asked, listed, left: () => left };
}
