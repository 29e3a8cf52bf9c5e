/** Clients of the hub: writers and readers of a few objects, watchers of all of them, and one that releases to the member. */
import { setTimeout as delay } from "node:timers/promises";
import { createSeededRandom, defined } from "@flotilla/base";
import type { Random } from "@flotilla/base";
import { connectApi } from "./api.ts";
import type { Answer, Api } from "./api.ts";
import type { Item, Operation, SeenEvent, WatchSpan } from "./history.ts";

export const NAMESPACE = "reliability";
export const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Few, so that clients meet. */
const KEYS = Array.from({ length: 12 }, (_, index) => `object-${index}`);
const KIND_WEIGHTS: Readonly<Record<Operation["kind"], number>> = {
  create: 3,
  update: 5,
  patch: 3,
  delete: 2,
  get: 5,
  list: 1,
};
const THINK_MS = 40;
/** Of the reads, those that permit an old answer. */
const STALE_SHARE = 0.2;
/** Of the conditional writes, those with the version that the client happens to know; the others read it first. */
const BLIND_SHARE = 0.3;
const WATCH_SECONDS = 60;
/** Clients always write, so a watch that is silent for longer is dead. */
const WATCH_SILENCE_MS = 8_000;
const RETRY_MS = 200;

export interface Recorder {
  operations: Operation[];
  spans: WatchSpan[];
  /** Answers that are none of those that the API documents for the request. */
  unexpected: string[];
  /** When writes were acknowledged. */
  acknowledgedMs: number[];
}

interface Known {
  revision: number;
  uid: string;
}

export interface ClientOptions {
  name: string;
  seed: number;
  kubeconfig: string;
  /** Of the API servers. */
  ports: readonly number[];
  /** The server that it begins with. */
  first: number;
  recorder: Recorder;
}

/** Reads and writes until the signal aborts. It moves to the next server when one does not answer. */
export async function runClient(options: ClientOptions, signal: AbortSignal): Promise<void> {
  const { name, seed, recorder } = options;
  const random = createSeededRandom(seed);
  const servers = await connectAll(options);
  let at = options.first;
  let written = 0;
  const known = new Map<string, Known>();

  async function ask(
    draft: Omit<Operation, "client" | "server" | "invokedMs" | "completedMs" | "outcome">,
    ...call: Parameters<Api["call"]>
  ): Promise<Answer | undefined> {
    const server = at % servers.length;
    const invokedMs = performance.now();
    const answer = await servers[server]?.call(...call);
    const completedMs = performance.now();
    const operation = operationOf(
      { ...draft, client: name, server: `apiserver${server}`, invokedMs, completedMs, outcome: "unknown" },
      answer,
    );
    recorder.operations.push(operation);
    if (operation.outcome === "ok" && isWrite(operation)) recorder.acknowledgedMs.push(completedMs);
    if (answer && !isExpected(answer.status))
      recorder.unexpected.push(`${call[0]} ${call[1]}: ${answer.status} ${messageIn(answer)}`);
    if (!answer || answer.status >= 500) {
      at++;
      await delay(RETRY_MS * random.next());
    }
    return answer;
  }

  const read = async (key: string): Promise<Known | undefined> => {
    const mayBeStale = random.next() < STALE_SHARE;
    const answer = await ask(
      { kind: "get", key, mayBeStale },
      "GET",
      `${MAPS}/${key}${mayBeStale ? "?resourceVersion=0" : ""}`,
    );
    const found = answer?.status === 200 ? knownFrom(answer.body) : undefined;
    if (found) known.set(key, found);
    else known.delete(key);
    return found;
  };
  const toCondition = async (key: string): Promise<Known | undefined> =>
    random.next() < BLIND_SHARE ? (known.get(key) ?? read(key)) : read(key);

  while (!signal.aborted) {
    await delay(2 * THINK_MS * random.next());
    const key = KEYS[Math.floor(random.next() * KEYS.length)] ?? "";
    const kind = pickKind(random);
    const value = `${name}.${++written}`;
    let answer: Answer | undefined;
    if (kind === "get") await read(key);
    else if (kind === "list") {
      const mayBeStale = random.next() < STALE_SHARE;
      await ask({ kind, key: "", mayBeStale }, "GET", `${MAPS}${mayBeStale ? "?resourceVersion=0" : ""}`);
    } else if (kind === "create") answer = await ask({ kind, key, value }, "POST", MAPS, objectOf(key, value));
    else if (kind === "patch")
      answer = await ask(
        { kind, key, value },
        "PATCH",
        `${MAPS}/${key}`,
        { data: { value } },
        "application/merge-patch+json",
      );
    else {
      const before = await toCondition(key);
      if (!before) continue;
      const { revision: expected, uid } = before;
      if (kind === "update")
        answer = await ask({ kind, key, value, expected }, "PUT", `${MAPS}/${key}`, objectOf(key, value, expected));
      else
        await ask({ kind, key, expected }, "DELETE", `${MAPS}/${key}`, {
          apiVersion: "v1",
          kind: "DeleteOptions",
          preconditions: { resourceVersion: String(expected), uid },
        });
      known.delete(key);
    }
    if (answer && answer.status < 300) known.set(key, knownFrom(answer.body));
  }
  for (const server of servers) server.close();
}

/** Watches all objects until the signal aborts, and after it until `upTo` is reached. */
export async function runWatcher(
  options: Omit<ClientOptions, "seed"> & { moves: boolean },
  end: { signal: AbortSignal; upTo(): number },
): Promise<void> {
  const { name, kubeconfig, ports, first, moves, recorder } = options;
  const servers = await connectAll({ kubeconfig, ports });
  let at = first;
  let span: WatchSpan | undefined;
  const isOver = (): boolean => end.signal.aborted && (span?.upTo ?? 0) >= end.upTo();
  while (!isOver()) {
    const server = servers[at % servers.length];
    if (!server) return;
    if (!span) {
      span = await startSpan(server, name, `apiserver${at % servers.length}`, recorder);
      if (!span) {
        if (moves) at++;
        await delay(RETRY_MS);
        continue;
      }
      recorder.spans.push(span);
    }
    const current: WatchSpan = span;
    let isExpired = false;
    const status = await server.watch(
      `${MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${current.upTo}`,
      WATCH_SILENCE_MS,
      (line) => {
        if (takeEvent(current, line) === "expired") isExpired = true;
      },
    );
    if (isExpired || status === 410) span = undefined;
    if (moves) at++;
    await delay(RETRY_MS);
  }
  for (const server of servers) server.close();
}

async function startSpan(
  server: Api,
  watcher: string,
  asked: string,
  recorder: Recorder,
): Promise<WatchSpan | undefined> {
  const invokedMs = performance.now();
  const answer = await server.call("GET", MAPS);
  const operation = operationOf(
    {
      client: watcher,
      server: asked,
      kind: "list",
      key: "",
      invokedMs,
      completedMs: performance.now(),
      outcome: "unknown",
    },
    answer,
  );
  if (operation.outcome !== "ok" || operation.revision === undefined) return undefined;
  recorder.operations.push(operation);
  return { watcher, after: operation.revision, events: [], upTo: operation.revision };
}

function takeEvent(span: WatchSpan, line: string): "expired" | undefined {
  const { type, object } = JSON.parse(line) as { type: SeenEvent["type"] | "BOOKMARK" | "ERROR"; object: StoredMap };
  if (type === "ERROR") return object.code === 410 ? "expired" : undefined;
  const item = itemOf(object);
  if (type !== "BOOKMARK" && isOurs(object)) span.events.push({ ...item, type, atMs: performance.now() });
  // An event out of order is recorded, and where the watch continues is not changed by it.
  span.upTo = Math.max(span.upTo, item.revision);
  return undefined;
}

const connectAll = ({ kubeconfig, ports }: Pick<ClientOptions, "kubeconfig" | "ports">): Promise<Api[]> =>
  Promise.all(ports.map((port) => connectApi(kubeconfig, port)));

function pickKind(random: Random): Operation["kind"] {
  const entries = Object.entries(KIND_WEIGHTS) as [Operation["kind"], number][];
  let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of entries) if ((left -= weight) < 0) return kind;
  return "get";
}

const isWrite = ({ kind }: Operation): boolean => kind !== "get" && kind !== "list";

interface StoredMap {
  code?: number;
  metadata: { name: string; resourceVersion: string; uid: string };
  data?: { value?: string };
}

const objectOf = (name: string, value: string, expected?: number): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, resourceVersion: expected === undefined ? undefined : String(expected) },
  data: { value },
});

export const itemOf = ({ metadata, data }: StoredMap): Item => ({
  key: metadata.name,
  revision: Number(metadata.resourceVersion),
  value: data?.value ?? "",
});

/** The namespace also has objects of the hub. */
const isOurs = ({ metadata }: StoredMap): boolean => KEYS.includes(metadata.name);

function knownFrom(body: Answer["body"]): Known {
  const { metadata } = body as unknown as StoredMap;
  return { revision: Number(metadata.resourceVersion), uid: metadata.uid };
}

export function itemsIn(body: Answer["body"]): Item[] {
  return (body["items"] as StoredMap[]).filter(isOurs).map(itemOf);
}

const REASONS: Readonly<Record<string, Operation["reason"]>> = {
  NotFound: "NotFound",
  AlreadyExists: "AlreadyExists",
  Conflict: "Conflict",
};

/** What an answer says about an operation. Without one, and after an error of the server, nothing is known. */
export function operationOf(asked: Operation, answer: Answer | undefined): Operation {
  if (!answer || answer.status >= 500) return { ...asked, outcome: "unknown", completedMs: Infinity };
  const { status, body } = answer;
  if (status >= 400) return { ...asked, outcome: "rejected", reason: REASONS[String(body["reason"])] };
  if (asked.kind === "delete") return { ...asked, outcome: "ok" };
  const { metadata, data } = body as unknown as StoredMap;
  const revision = Number(metadata.resourceVersion);
  if (asked.kind === "list") return { ...asked, outcome: "ok", revision, items: itemsIn(body) };
  return {
    ...asked,
    outcome: "ok",
    revision,
    ...defined({ seen: asked.kind === "get" ? (data?.value ?? "") : undefined }),
  };
}

/** 429 asks to come later. */
const EXPECTED: ReadonlySet<number> = new Set([200, 201, 404, 409, 429, 500, 503, 504]);
const isExpected = (status: number): boolean => EXPECTED.has(status);

const messageIn = ({ body: { message } }: Answer): string =>
  typeof message === "string" ? message.slice(0, 200) : "no message";
