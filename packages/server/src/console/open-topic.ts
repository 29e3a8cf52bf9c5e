/** Opens one topic of a page: sends what it is now, and each change until the signal aborts. */
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { LogsMessage, ServerMessage, Topic } from "@flotilla/web";
import { openHistoryTopic } from "./history-topic.ts";
import { mergeBatches } from "./logs-batch.ts";
import { openLogsTopic } from "./logs-topic.ts";
import { openObjectTopic } from "./object-topic.ts";
import { encode, withSub, type PageOutput } from "./page-output.ts";
import type { View, Viewer } from "./viewers.ts";

export interface TopicContext {
  sub: number;
  view: View;
  client: Viewer["hub"]["client"];
  output: Pick<PageOutput, "offer">;
  /** Ends the subscription, with the reason. */
  fail(reason: string): void;
  clock: Clock;
  log: Log;
}

export async function openTopic(topic: Topic, context: TopicContext, signal: AbortSignal): Promise<void> {
  const { sub, view, client, output, fail, clock, log } = context;
  // A topic may still await an answer when it is closed.
  const offer: PageOutput["offer"] = (...message) => {
    if (!signal.aborted) output.offer(...message);
  };
  const { feed, findings } = view;
  const isReady = (member: string): boolean => feed.members().find(({ name }) => name === member)?.state !== "away";
  const send = (data: Extract<ServerMessage, { data: unknown }>["data"]): void =>
    offer(sub, () => encode({ sub, data }));
  switch (topic.name) {
    case "fleet": {
      const whole = (): Uint8Array => withSub(sub, feed.snapshot());
      offer(sub, whole);
      signal.addEventListener(
        "abort",
        feed.subscribe((change) => offer(sub, () => withSub(sub, change), whole)),
      );
      return;
    }
    case "findings": {
      const current = findings.current();
      if (current) send(current);
      signal.addEventListener("abort", findings.subscribe(send));
      return;
    }
    case "object":
      return openObjectTopic({
        client,
        clock,
        log,
        ref: refOf(topic.ref),
        isReady,
        send,
        fail,
        signal,
      });
    case "history":
      return openHistoryTopic({
        client,
        clock,
        log,
        scope: feed.scope,
        ref: topic.ref === undefined ? undefined : refOf(topic.ref),
        send,
        signal,
      });
    case "logs": {
      const ref = refOf(topic.ref);
      const row = feed
        .workloads()
        .find(({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name);
      const known = row?.cells.map(({ member }) => member) ?? feed.members().map(({ name }) => name);
      // Batches are increments: those that wait for a slow or hidden page become one.
      let unsent: LogsMessage | undefined;
      const sendBatch = (batch: LogsMessage): void => {
        const joined = unsent ? mergeBatches(unsent, batch) : batch;
        unsent = joined;
        offer(sub, () => {
          unsent = undefined;
          return encode({ sub, data: joined });
        });
      };
      return openLogsTopic({
        client,
        clock,
        ref,
        members: topic.members ? topic.members.map(String) : known,
        pod: topic.pod,
        container: topic.container,
        tail: Number.isSafeInteger(topic.tail) ? topic.tail : 100,
        send: sendBatch,
        fail,
        signal,
      });
    }
    default:
      throw new FlotillaError("ConsoleMessage", "unknown topic");
  }
}

/** A topic comes from a browser: its fields may be anything. */
function refOf(ref: unknown): { apiVersion: string; kind: string; namespace: string; name: string } {
  if (!isObject(ref)) throw new FlotillaError("ConsoleMessage", "the topic names no object");
  const { apiVersion, kind, namespace, name } = ref;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string" || name === "")
    throw new FlotillaError("ConsoleMessage", "an object has an apiVersion, a kind and a name");
  return { apiVersion, kind, name, namespace: typeof namespace === "string" ? namespace : "" };
}
