/**
 * Sends audit events to a webhook in batches (`--audit-webhook-config-file`, a kubeconfig), as kube-apiserver does in its
 * mode `batch`. The buffer is bounded in events and in size; what does not fit, or what the webhook rejects, is counted and logged.
 */
import type { AuditBackend } from "@flotilla/apiserver";
import { messageOf, sleep } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";
import { MAX_PENDING_CHARACTERS } from "./audit-log-file.ts";
import type { LostEvents } from "./lost-events.ts";

/** Sends one body; rejects when the webhook did not take it. `isPassing` errors are retried. */
type PostEvents = (body: Buffer, signal: AbortSignal) => Promise<void>;

export interface AuditWebhookOptions {
  post: PostEvents;
  lost: LostEvents;
  clock: Clock;
  /** Of the events that wait. */
  maxBufferedCharacters?: number;
  /** Kubernetes' defaults. */
  bufferSize?: number;
  maxBatch?: number;
  maxWaitMs?: number;
  retries?: number;
  backoffMs?: number;
}

const BUFFER_SIZE = 10_000;
const MAX_BATCH = 400;
const MAX_WAIT_MS = 30_000;
const RETRIES = 4;
const BACKOFF_MS = 1_000;
/** Batches are also limited in size, so that one request stays small. */
const MAX_BATCH_CHARACTERS = 10 * 1024 * 1024;
/** How long the last batches may take when the process stops. */
const CLOSE_MS = 10_000;

export function createAuditWebhook(options: AuditWebhookOptions): AuditBackend {
  const {
    post,
    lost,
    clock,
    maxBufferedCharacters = MAX_PENDING_CHARACTERS,
    bufferSize = BUFFER_SIZE,
    maxBatch = MAX_BATCH,
    maxWaitMs = MAX_WAIT_MS,
    retries = RETRIES,
    backoffMs = BACKOFF_MS,
  } = options;
  let buffer: string[] = [];
  let bufferedCharacters = 0;
  let timer: Timer | undefined;
  let sending: Promise<void> | undefined;
  const stop = new AbortController();

  async function send(events: readonly string[]): Promise<void> {
    const body = Buffer.from(
      `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(",")}]}`,
    );
    for (let attempt = 0; ; attempt++) {
      try {
        return await post(body, stop.signal);
      } catch (error) {
        if (attempt === retries || stop.signal.aborted) {
          lost.add(events.length, messageOf(error));
          return;
        }
        await Promise.allSettled([sleep(clock, backoffMs * 2 ** attempt, stop.signal)]);
      }
    }
  }

  async function sendAll(): Promise<void> {
    timer?.cancel();
    timer = undefined;
    while (buffer.length > 0) {
      let characters = 0;
      let count = 0;
      while (count < Math.min(buffer.length, maxBatch) && characters < MAX_BATCH_CHARACTERS)
        characters += buffer[count++]?.length ?? 0;
      const batch = buffer.slice(0, count);
      buffer = buffer.slice(count);
      bufferedCharacters -= characters;
      await send(batch);
    }
    sending = undefined;
  }

  return {
    name: "webhook",
    write(line) {
      const event = line.asEvent?.() ?? line.text;
      if (buffer.length >= bufferSize || bufferedCharacters + event.length > maxBufferedCharacters) {
        lost.add(1, "the webhook is too slow: its buffer is full");
        return;
      }
      buffer.push(event);
      bufferedCharacters += event.length;
      if (buffer.length >= maxBatch) sending ??= sendAll();
      else if (!sending && !timer) timer = clock.after(maxWaitMs, () => void (sending ??= sendAll()));
    },
    async close() {
      const giveUp = clock.after(CLOSE_MS, () => stop.abort(new Error("the process stops")));
      await (sending ??= sendAll());
      giveUp.cancel();
      lost.close();
    },
  };
}
