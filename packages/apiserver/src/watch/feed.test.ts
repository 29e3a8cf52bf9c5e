import { describe, expect, test } from "vitest";
import type { TransportWatchEvent } from "@flotilla/client";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { Feed } from "./feed.ts";
import { ListTurns } from "./list-turns.ts";
import type { Notice } from "./watch.ts";

/** Two of these exceed one part of a list. */
const LARGE = 600 * 1024;
const cluster = { name: "hub", revision: 1 } as LogicalCluster;

function makeNotice(key: string, revision: number, type: Notice["type"] = "ADDED", size = LARGE): Notice {
  return {
    type,
    cluster,
    served: {} as ServedVersion,
    entry: { key, revision, value: new Uint8Array(size), memo: undefined },
    revision,
  };
}

function makeFeed(): { feed: Feed; parsed: string[]; held(): number; take(): Promise<string[] | undefined> } {
  const parsed: string[] = [];
  let held = 0;
  const eventOf = ({ type, entry, revision }: Notice): TransportWatchEvent => {
    parsed.push(entry.key);
    return { type, object: { metadata: { name: entry.key, resourceVersion: String(revision) } } };
  };
  const feed = new Feed({ track: (change) => void (held += change), turns: new ListTurns(), eventOf });
  const nameOf = ({ type, object, isInitial }: TransportWatchEvent): string =>
    [type, ...Object.values(object.metadata as Record<string, string>), ...(isInitial ? ["initial"] : [])].join(" ");
  return { feed, parsed, held: () => held, take: async () => (await feed.take())?.map(nameOf) };
}

const end = (revision: number): TransportWatchEvent => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(revision) } },
});

test("a short list is delivered whole and before all changes", async () => {
  const { feed, take } = makeFeed();
  feed.list([makeNotice("a", 2, "ADDED", 10), makeNotice("b", 3, "ADDED", 10)], 5, end);
  feed.notify([makeNotice("a", 6, "MODIFIED", 10)]);

  expect(await take()).toEqual(["ADDED a 2", "ADDED b 3", "BOOKMARK 5", "MODIFIED a 6"]);
});

describe("a long list", () => {
  test("is delivered in parts, and each is parsed when it is delivered", async () => {
    const { feed, parsed, take, held } = makeFeed();
    feed.list([makeNotice("a", 2), makeNotice("b", 3), makeNotice("c", 4)], 5, end);

    const first = await take();

    expect(first).toEqual(["ADDED a 2 initial", "ADDED b 3 initial"]);
    expect(parsed).toEqual(["a", "b"]);
    expect(held()).toBe(1);
    expect(await take()).toEqual(["ADDED c 4 initial", "BOOKMARK 5"]);
    expect(held()).toBe(0);
  });

  test("lets changes pass, and skips objects that changed or were deleted in the meantime", async () => {
    const { feed, take } = makeFeed();
    feed.list([makeNotice("a", 2), makeNotice("b", 3), makeNotice("c", 4), makeNotice("d", 5)], 5, end);
    await take();
    feed.notify([makeNotice("new", 6), makeNotice("c", 7, "MODIFIED"), makeNotice("d", 8, "DELETED")]);

    expect(await take()).toEqual(["ADDED new 6", "MODIFIED c 7", "DELETED d 8"]);
    expect(await take()).toEqual(["BOOKMARK 8"]);
  });

  test("a long list that is closed delivers nothing more, not even changes", async () => {
    const { feed, take, held } = makeFeed();
    feed.list([makeNotice("a", 2), makeNotice("b", 3), makeNotice("c", 4)], 5, end);
    await take();
    feed.end();

    expect(await take()).toBeUndefined();
    expect(held()).toBe(0);
  });
});

test("objects of a profile are already parsed, so their bytes are not created for measuring", async () => {
  const { feed, take } = makeFeed();
  const entry = {
    key: "default",
    revision: cluster.revision,
    memo: undefined,
    get value(): Uint8Array {
      throw new Error("made");
    },
  };
  feed.list([{ ...makeNotice("default", 1), entry }], 5, end);

  expect(await take()).toEqual(["ADDED default 1", "BOOKMARK 5"]);
});
