/**
 * What happened, newest first: events of the hub, and who wrote which part of an object and when. The hub keeps events
 * for an hour.
 */
import { HUB } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { Clock, JsonObject, Log, Timer } from "@flotilla/base";
import { createInformers } from "@flotilla/controller-runtime";
import { createKindResolver, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Event } from "@flotilla/kubernetes";
import type { HistoryEntry, HistoryMessage, ObjectRef, Scope } from "@flotilla/web";
import { concerns, entryOf, fieldsOf } from "./history-entries.ts";

export interface HistoryTopicOptions {
  client: Client;
  clock: Clock;
  log: Log;
  scope: Scope;
  ref: ObjectRef | undefined;
  send(message: HistoryMessage): void;
  signal: AbortSignal;
}

const GATHER_MS = 300;
const MAX_ENTRIES = 400;

export async function openHistoryTopic(options: HistoryTopicOptions): Promise<void> {
  const { client, clock, log, scope, ref, send, signal } = options;
  const notes: string[] = [];
  const sources = (scope.namespaces ?? [undefined]).map((namespace) =>
    createInformers({
      client: namespace === undefined ? client : eventsOf(client, namespace),
      clock,
      log,
      scope: { cluster: HUB },
    }),
  );
  const informers = sources.map((each) => each.of(Event));
  let timer: Timer | undefined;
  let writes: HistoryEntry[] = [];
  const publish = (): void => {
    timer = undefined;
    if (signal.aborted) return;
    const entries = informers
      .flatMap((informer) => informer.list({ cluster: HUB }))
      .filter((event) => !ref || concerns(event, ref))
      .map(entryOf);
    send({
      entries: [...entries, ...writes].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)).slice(0, MAX_ENTRIES),
      notes,
    });
  };
  const changed = (): void => {
    timer ??= clock.after(GATHER_MS, publish);
  };
  const stops = informers.map((informer) => informer.subscribe(changed));
  signal.addEventListener("abort", () => {
    timer?.cancel();
    for (const stop of stops) stop();
    for (const source of sources) source.close();
  });
  changed();
  if (ref) {
    try {
      writes = await readWrites(client, ref, signal);
    } catch (error) {
      notes.push(`who changed it: ${messageOf(error)}`);
    }
    changed();
  }
}

const eventsOf = (client: Client, namespace: string): Client => ({
  ...client,
  list: (kind, options) => client.list(kind, { ...options, namespace }),
  watch: (kind, options) => client.watch(kind, { ...options, namespace }),
});

/** The last write of each manager, with the fields that it owns. */
async function readWrites(client: Client, ref: ObjectRef, signal: AbortSignal): Promise<HistoryEntry[]> {
  const kind = await createKindResolver({ client, cluster: HUB }).resolve(ref);
  const object = await find(
    client,
    kind,
    { cluster: HUB, namespace: ref.namespace || undefined, name: ref.name },
    { signal },
  );
  const managers = (object?.metadata.managedFields ?? []) as readonly {
    manager?: string;
    operation?: string;
    time?: string;
    subresource?: string;
    fieldsV1?: JsonObject;
  }[];
  return managers
    .filter(({ subresource }) => subresource !== "status")
    .map(({ manager = "", operation = "", time = "", fieldsV1 }) => ({
      at: time,
      place: HUB,
      type: "change" as const,
      object: `${ref.kind} ${ref.namespace ? `${ref.namespace}/` : ""}${ref.name}`,
      who: manager,
      text: `${operation}: ${fieldsOf(fieldsV1).join(", ")}`,
      count: 1,
    }));
}
