/**
 * The logs of a workload over its members, merged by time: one request per container through the cluster proxy, lines
 * in batches. A browser that is slower than the pods loses lines, and the page shows how many.
 */
import { HUB } from "@flotilla/apimachinery";
import { isObject, messageOf, defined } from "@flotilla/base";
import type { Clock, JsonObject, Timer } from "@flotilla/base";
import { createKindResolver, queryText, readJson, readText, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";
import type { LogLine, LogsMessage, ObjectRef } from "@flotilla/web";
import { objectAt, objectsAt, pause, reasonIn, selectorOf, textAt } from "./json-access.ts";
import { memberPath } from "./member-copies.ts";

export interface LogsTopicOptions {
  client: Client;
  clock: Clock;
  ref: ObjectRef;
  members: readonly string[];
  pod: string | undefined;
  container: string | undefined;
  tail: number;
  send(message: LogsMessage): void;
  fail(reason: string): void;
  signal: AbortSignal;
}

/** As many as `flotilla logs -f` reads by default, and more. */
const MAX_CONTAINERS = 20;
const BATCH_MS = 100;
const MAX_LINES_PER_BATCH = 500;
const MAX_LINE = 4_096;
const RETRY_MS = 1_000;
const LOOK_MS = 3_000;
const MAX_TAIL = 1_000;

interface Source {
  member: string;
  pod: string;
  container: string;
}

type SourceState = LogsMessage["sources"][number]["state"];

export async function openLogsTopic(options: LogsTopicOptions): Promise<void> {
  const { client, clock, ref, members, send, fail, signal } = options;
  const tail = Math.min(MAX_TAIL, Math.max(1, options.tail));
  const states = new Map<string, Source & { state: SourceState }>();
  const notes = new Set<string>();
  let lines: LogLine[] = [];
  let lost = 0;
  let timer: Timer | undefined;
  const kinds = createKindResolver({ client, cluster: HUB });

  const flush = (): void => {
    timer = undefined;
    if (signal.aborted) return;
    lines.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    send({
      lines,
      lost,
      notes: [...notes],
      sources: [...states.values()].map(({ member, pod, container, state }) => ({ member, pod, container, state })),
    });
    lines = [];
    lost = 0;
  };
  const changed = (): void => {
    timer ??= clock.after(BATCH_MS, flush);
  };
  signal.addEventListener("abort", () => timer?.cancel());

  async function follow(key: string, source: Source): Promise<void> {
    let since = "";
    /** The lines of the newest time stamp: a reconnect receives them again. */
    let newest: string[] = [];
    while (!signal.aborted) {
      try {
        const path = resourcePath({
          cluster: HUB,
          group: "",
          version: "v1",
          resource: "pods",
          namespace: ref.namespace,
          name: source.pod,
          subresource: "log",
        });
        const query = {
          container: source.container,
          follow: "true",
          timestamps: "true",
          ...defined({
            tailLines: since === "" ? String(tail) : undefined,
            sinceTime: since === "" ? undefined : since,
          }),
        };
        const { status, body } = await client.raw(
          { method: "GET", path: `${memberPath(source.member, path)}${queryText(query)}`, cluster: HUB },
          signal,
        );
        if (status !== 200) throw new Error(reasonIn(await readText(body)));
        setState(key, "open");
        for await (const line of linesIn(body)) {
          const space = line.indexOf(" ");
          const time = line.slice(0, space);
          const text = line.slice(space + 1, space + 1 + MAX_LINE);
          if (time < since || (time === since && newest.includes(text))) continue;
          if (time !== since) newest = [];
          newest.push(text);
          since = time;
          if (lines.length < MAX_LINES_PER_BATCH) lines.push({ ...source, time, text });
          else lost += 1;
          changed();
        }
        setState(key, "ended");
        // The container ended, or the connection was closed in an orderly way: the next look decides.
        return;
      } catch (error) {
        if (signal.aborted) return;
        setState(key, "failed");
        notes.add(`${source.member}/${source.pod}: ${messageOf(error).slice(0, 200)}`);
        changed();
        if (notes.size > MAX_CONTAINERS) return;
      }
      await pause(clock, RETRY_MS, signal);
    }
  }

  function setState(key: string, state: SourceState): void {
    const known = states.get(key);
    if (known) known.state = state;
    changed();
  }

  async function look(member: string): Promise<void> {
    const found = await podsOf(member);
    for (const { name, containers } of found)
      for (const container of containers) {
        if (options.pod !== undefined && options.pod !== name) continue;
        if (options.container !== undefined && options.container !== container) continue;
        const source = { member, pod: name, container };
        const key = `${member}/${name}/${container}`;
        if (states.has(key)) continue;
        if (states.size >= MAX_CONTAINERS) {
          notes.add(`only ${MAX_CONTAINERS} containers are followed; choose members or a pod to see others`);
          continue;
        }
        states.set(key, { ...source, state: "open" });
        void follow(key, source);
      }
  }

  async function podsOf(member: string): Promise<{ name: string; containers: string[] }[]> {
    if (ref.kind === "Pod") return [await readPod(member, ref.name)];
    const kind = await kinds.resolve(ref);
    const owner = await getJson(
      member,
      resourcePath({
        cluster: HUB,
        group: kind.group,
        version: kind.storageVersion,
        resource: kind.plural,
        namespace: ref.namespace,
        name: ref.name,
      }),
    );
    const selector = selectorOf(owner);
    if (selector === "") return [];
    const list = await getJson(
      member,
      `${resourcePath({ cluster: HUB, group: Pod.group, version: Pod.storageVersion, resource: Pod.plural, namespace: ref.namespace })}${queryText({ labelSelector: selector, limit: "100" })}`,
    );
    return objectsAt(list, "items").map(podOf);
  }

  async function readPod(member: string, name: string): Promise<{ name: string; containers: string[] }> {
    return podOf(
      await getJson(
        member,
        resourcePath({ cluster: HUB, group: "", version: "v1", resource: "pods", namespace: ref.namespace, name }),
      ),
    );
  }

  async function getJson(member: string, path: string): Promise<JsonObject> {
    const { status, body } = await client.raw(
      { method: "GET", path: memberPath(member, path), cluster: HUB, headers: { accept: "application/json" } },
      signal,
    );
    if (status !== 200) throw new Error(reasonIn(await readText(body)));
    const answer = await readJson(body);
    return isObject(answer) ? answer : {};
  }

  if (members.length === 0) {
    fail("no member has a copy of this workload");
    return;
  }
  while (!signal.aborted) {
    await Promise.all(
      members.map((member) =>
        look(member).catch((error: unknown) => {
          if (signal.aborted) return;
          notes.add(`${member}: ${messageOf(error).slice(0, 200)}`);
          changed();
        }),
      ),
    );
    changed();
    // New pods of a release are followed too.
    await pause(clock, LOOK_MS, signal);
  }
}

function podOf(pod: JsonObject): { name: string; containers: string[] } {
  return {
    name: textAt(objectAt(pod, "metadata"), "name"),
    containers: objectsAt(objectAt(pod, "spec"), "containers").map((container) => textAt(container, "name")),
  };
}

async function* linesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(0, 1024 * 1024);
    yield* parts.filter((part) => part !== "");
  }
  if (rest !== "") yield rest;
}
