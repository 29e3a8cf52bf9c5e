import { createSeededRandom } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import type { Violation } from "./check-history.ts";
import type { History, Item, Operation, WatchSpan } from "./history.ts";

/** A history as a test may change it. */
interface Draft extends History {
  operations: Operation[];
  spans: WatchSpan[];
  ends: { reader: string; items: Item[] }[];
}

/** Clients at one correct store: every operation takes effect at one time between its call and its answer. */
function makeHistory(seed: number, count = 400): Draft {
  const random = createSeededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  const keys = ["a", "b", "c"];
  const clients = ["one", "two", "three", "four"];
  const store = new Map<string, Item>();
  const span: WatchSpan = { watcher: "watcher", after: 0, events: [], upTo: 0 };
  const operations: Operation[] = [];
  const freeAt = new Map<string, number>();
  let revision = 0;
  for (let index = 0; index < count; index++) {
    const effectMs = 10 * index + 5;
    const client = pick(clients);
    const invokedMs = Math.max(freeAt.get(client) ?? 0, effectMs - 30 * random.next());
    if (invokedMs > effectMs) continue; // It still waits for an answer.
    const completedMs = effectMs + 30 * random.next();
    freeAt.set(client, completedMs + 0.01);
    const key = pick(keys);
    const current = store.get(key);
    const kind = pick<Operation["kind"]>(["create", "update", "update", "patch", "delete", "get", "get", "list"]);
    const common = { client, server: "server", key, kind, invokedMs, completedMs, outcome: "ok" } as const;
    const value = `${client}-${index}`;
    const isUnknown = random.next() < 0.05;
    const put = (): Item => {
      const item = { key, revision: ++revision, value };
      store.set(key, item);
      span.events.push({ ...item, type: current ? "MODIFIED" : "ADDED", atMs: effectMs + 1 });
      return item;
    };
    const write = (operation: Operation): void =>
      void operations.push(
        isUnknown ? { ...operation, completedMs: Infinity, outcome: "unknown", revision: undefined } : operation,
      );
    if (kind === "list") operations.push({ ...common, key: "", revision, items: [...store.values()] });
    else if (kind === "get")
      operations.push(
        current
          ? { ...common, revision: current.revision, seen: current.value }
          : { ...common, outcome: "rejected", reason: "NotFound" },
      );
    else if (kind === "create")
      if (current) operations.push({ ...common, value, outcome: "rejected", reason: "AlreadyExists" });
      else write({ ...common, value, revision: put().revision });
    else if (!current)
      operations.push({
        ...common,
        value: kind === "delete" ? undefined : value,
        outcome: "rejected",
        reason: "NotFound",
      });
    else if (kind === "patch") write({ ...common, value, revision: put().revision });
    else {
      const expected = random.next() < 0.2 ? current.revision - 1 : current.revision;
      if (expected !== current.revision)
        operations.push({
          ...common,
          value: kind === "delete" ? undefined : value,
          expected,
          outcome: "rejected",
          reason: "Conflict",
        });
      else if (kind === "update") write({ ...common, value, expected, revision: put().revision });
      else {
        store.delete(key);
        span.events.push({ ...current, revision: ++revision, type: "DELETED", atMs: effectMs + 1 });
        write({ ...common, expected });
      }
    }
  }
  span.upTo = revision;
  return { operations, spans: [span], ends: [{ reader: "server", items: [...store.values()] }] };
}

const rulesOf = (history: History): string[] => [...new Set(checkHistory(history).map(({ rule }) => rule))];

test("accepts histories of a correct store, with answers that never came", () => {
  for (let seed = 1; seed <= 30; seed++) expect(checkHistory(makeHistory(seed))).toEqual([]);
});

test("accepts a read that overlaps a write, with the state before or after it", () => {
  const write: Operation = {
    client: "one",
    server: "s",
    kind: "create",
    key: "a",
    value: "x",
    revision: 5,
    invokedMs: 0,
    completedMs: 10,
    outcome: "ok",
  };
  const before: Operation = {
    client: "two",
    server: "s",
    kind: "get",
    key: "a",
    invokedMs: 1,
    completedMs: 2,
    outcome: "rejected",
    reason: "NotFound",
  };
  const after: Operation = {
    client: "two",
    server: "s",
    kind: "get",
    key: "a",
    invokedMs: 3,
    completedMs: 4,
    outcome: "ok",
    revision: 5,
    seen: "x",
  };

  expect(rulesOf({ operations: [write, before, after], spans: [], ends: [] })).toEqual([]);
  const turned = { ...before, invokedMs: 5, completedMs: 6 };
  expect(rulesOf({ operations: [write, after, turned], spans: [], ends: [] })).toEqual(["stale read"]);
});

test("accepts an old answer only to a request that permits it", () => {
  const history = makeHistory(1);
  const first = acknowledged(history, "create");
  const late: Operation = {
    client: "late",
    server: "s",
    kind: "get",
    key: first.key,
    invokedMs: 1e6,
    completedMs: 1e6 + 1,
    outcome: "ok",
    revision: first.revision,
    seen: first.value,
  };

  expect(rulesOf({ ...history, operations: [...history.operations, { ...late, mayBeStale: true }] })).toEqual([]);
  expect(rulesOf({ ...history, operations: [...history.operations, late] })).toEqual(["stale read"]);
});

function acknowledged(history: History, kind: Operation["kind"]): Operation {
  const found = history.operations.find((operation) => operation.kind === kind && operation.outcome === "ok");
  if (!found) throw new Error(`no ${kind} was acknowledged`);
  return found;
}

const someEvent = ({ spans }: Draft): number => Math.floor((spans[0]?.events.length ?? 0) / 2);

const broken: Record<string, { breaks(history: Draft): void; rule: Violation["rule"] }> = {
  "an acknowledged write that no reader ever sees": {
    rule: "lost event",
    breaks(history) {
      history.operations.push({
        client: "lost",
        server: "s",
        kind: "create",
        key: "d",
        value: "lost",
        revision: 17.5,
        invokedMs: 0,
        completedMs: 9e9,
        outcome: "ok",
      });
    },
  },
  "an acknowledged write that is missing at the end": {
    rule: "lost write",
    breaks(history) {
      history.ends[0]?.items.pop();
    },
  },
  "an acknowledged deletion after which the object is there": {
    rule: "lost write",
    breaks(history) {
      const update = acknowledged(history, "update");
      history.operations.push({ ...update, kind: "delete", value: undefined, revision: undefined });
    },
  },
  "two acknowledged deletions of one version": {
    rule: "duplicate",
    breaks(history) {
      history.operations.push({ ...acknowledged(history, "delete"), client: "other" });
    },
  },
  "an update over a version that its client did not know": {
    rule: "lost update",
    breaks(history) {
      const update = acknowledged(history, "update");
      update.expected = (update.expected ?? 0) - 1;
    },
  },
  "a create over an existing object": {
    rule: "lost update",
    breaks(history) {
      const update = acknowledged(history, "update");
      update.kind = "create";
      delete update.expected;
    },
  },
  "a write that took effect twice": {
    rule: "duplicate",
    breaks(history) {
      const patch = acknowledged(history, "patch");
      const [span] = history.spans;
      span?.events.push({
        key: patch.key,
        type: "MODIFIED",
        revision: span.upTo + 1,
        value: patch.value ?? "",
        atMs: 1e9,
      });
    },
  },
  "a rejected write that took effect": {
    rule: "rejected write took effect",
    breaks(history) {
      const patch = acknowledged(history, "patch");
      Object.assign(patch, { outcome: "rejected", reason: "NotFound", revision: undefined });
    },
  },
  "a rejected deletion that took effect": {
    rule: "rejected write took effect",
    breaks(history) {
      Object.assign(acknowledged(history, "delete"), { outcome: "rejected", reason: "Conflict" });
    },
  },
  "a value that no client wrote": {
    rule: "phantom",
    breaks(history) {
      const event = history.spans[0]?.events.find(({ type }) => type === "ADDED");
      if (event) event.value = "invented";
      // No answer contradicts it.
      history.operations = history.operations.filter(({ revision }) => revision !== event?.revision);
    },
  },
  "a deletion that no client asked for": {
    rule: "phantom",
    breaks(history) {
      history.operations.splice(history.operations.indexOf(acknowledged(history, "delete")), 1);
    },
  },
  "a conflict without another write": {
    rule: "causeless rejection",
    breaks(history) {
      const last = history.ends[0]?.items[0];
      history.operations.push({
        client: "late",
        server: "s",
        kind: "update",
        key: last?.key ?? "",
        value: "late",
        expected: last?.revision,
        invokedMs: 1e8,
        completedMs: 1e8 + 1,
        outcome: "rejected",
        reason: "Conflict",
      });
    },
  },
  "an object that a read does not find": {
    rule: "stale read",
    breaks(history) {
      const last = history.ends[0]?.items[0];
      history.operations.push({
        client: "late",
        server: "s",
        kind: "get",
        key: last?.key ?? "",
        invokedMs: 1e8,
        completedMs: 1e8 + 1,
        outcome: "rejected",
        reason: "NotFound",
      });
    },
  },
  "two servers that disagree about one revision": {
    rule: "disagreement",
    breaks(history) {
      const get = acknowledged(history, "get");
      get.seen = "other";
    },
  },
  "a write with a lower revision than one that had ended": {
    rule: "reordered write",
    breaks(history) {
      // It began after everything had ended.
      Object.assign(acknowledged(history, "update"), { invokedMs: 1e8, completedMs: 1e8 + 1 });
    },
  },
  "a list that lacks an object": {
    rule: "wrong list",
    breaks(history) {
      const list = history.operations.findLast(({ kind, items }) => kind === "list" && (items?.length ?? 0) > 0);
      if (list) list.items = list.items?.slice(1);
    },
  },
  "a list of an old state": {
    rule: "stale read",
    breaks(history) {
      const list = history.operations.find(({ kind }) => kind === "list");
      history.operations.push({ ...list, invokedMs: 1e8, completedMs: 1e8 + 1 } as Operation);
    },
  },
  "a watch that skips an event": {
    rule: "lost event",
    breaks(history) {
      history.spans[0]?.events.splice(someEvent(history), 1);
      // Another watcher has it, so that it is known.
      history.spans.push({ ...makeHistory(7).spans[0], watcher: "other" } as WatchSpan);
    },
  },
  "a watch that delivers an event twice": {
    rule: "duplicate event",
    breaks(history) {
      const events = history.spans[0]?.events;
      events?.push(...events.slice(-1));
    },
  },
  "a watch that returns to an older revision": {
    rule: "watch order",
    breaks(history) {
      const events = history.spans[0]?.events ?? [];
      const [event] = events.splice(someEvent(history), 1);
      if (event) events.push(event);
    },
  },
  "a watch that adds an object that is there": {
    rule: "phantom event",
    breaks(history) {
      const event = history.spans[0]?.events.find(({ type }) => type === "MODIFIED");
      if (event) event.type = "ADDED";
    },
  },
  "a watch that reports a write before it was made": {
    rule: "phantom event",
    breaks(history) {
      const event = history.spans[0]?.events[someEvent(history)];
      if (event) event.atMs = -1;
    },
  },
};

describe("rejects", () => {
  test.each(Object.entries(broken))("%s", (_, { breaks, rule }) => {
    const history = makeHistory(7);

    breaks(history);

    expect(rulesOf(history)).toContain(rule);
  });
});
