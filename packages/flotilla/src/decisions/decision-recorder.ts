/**
 * Records decisions. Controllers call `record`, which never waits and never fails; the records are sent to the API server
 * in order, in this process or another. While the server does not answer, a bounded number waits; what does not fit is
 * counted and logged.
 */
import { counter, Counts, formatMicroTime, messageOf, sleep } from "@flotilla/base";
import type { Clock, Json, Log, Metric, MetricsText } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { Decision } from "./decision-kind.ts";
import type { DecisionType } from "./decision-kind.ts";

export interface DecisionInput {
  readonly type: DecisionType;
  readonly controller: string;
  /** Usually the object that the user applied, not the binding. */
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: {
      readonly namespace?: string | undefined;
      readonly name: string;
      readonly uid?: string | undefined;
    };
  };
  readonly clusters: readonly string[];
  readonly cause: { readonly reason: string; readonly message: string };
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
}

export interface DecisionRecorder {
  record(decision: DecisionInput): void;
}

const RECORDED = counter("flotilla_decisions_total", "Automatic decisions of the controllers.", "type");
const LOST = counter(
  "flotilla_decisions_lost_total",
  "Decisions that could not be recorded, because the API server did not take them in time.",
);
export const decisionMetrics: readonly Metric[] = [RECORDED, LOST];

export interface Decisions extends DecisionRecorder {
  /** Nothing waits to be sent. */
  isQuiet(): boolean;
  write(text: MetricsText): void;
  /** Sends what waits, for a short time. */
  stop(): Promise<void>;
}

/** A minute of a fleet that moves everything; about 10 MB. */
const MAX_WAITING = 10_000;
const RETRY_MS = 1_000;
const STOP_MS = 2_000;
/** A message of the scheduler names every cluster. */
const MAX_MESSAGE_CHARACTERS = 2_000;

/** An answer that another attempt would not change: an older server does not know the kind, or the user may not. */
function isFinal(error: unknown): boolean {
  const code = error instanceof ApiError ? (error.status.code ?? 500) : 500;
  return code < 500 && code !== 429;
}

interface DecisionDependencies {
  client: Pick<Client, "create">;
  hub: string;
  clock: Clock;
  log: Log;
  maxWaiting?: number;
}

export function createDecisions(deps: DecisionDependencies): Decisions {
  const { client, hub, clock, log, maxWaiting = MAX_WAITING } = deps;
  const recorded = new Counts(RECORDED);
  const lost = new Counts(LOST);
  lost.add([], 0);
  const stopping = new AbortController();
  const waiting: Decision[] = [];
  let sending: Promise<void> | undefined;
  let unreported = 0;

  function lose(count: number, reason: string): void {
    lost.add([], count);
    unreported += count;
    // One line for a run of losses: the next success, or the end, reports the rest.
    if (unreported === count) log.error("decisions were not recorded", { lost: count, reason });
  }

  async function send(decision: Decision): Promise<void> {
    for (;;) {
      try {
        await client.create(Decision, hub, decision, { signal: stopping.signal });
        if (unreported > 1) log.error("decisions were not recorded", { lost: unreported, reason: "see above" });
        unreported = 0;
        return;
      } catch (error) {
        if (isFinal(error) || stopping.signal.aborted) return lose(1, messageOf(error));
        await Promise.allSettled([sleep(clock, RETRY_MS, stopping.signal)]);
      }
    }
  }

  async function sendAll(): Promise<void> {
    for (let next = waiting[0]; next; next = waiting[0]) {
      await send(next);
      waiting.shift();
    }
    sending = undefined;
  }

  return {
    record({ type, controller, object, clusters, cause, before, after }) {
      recorded.add([type]);
      if (waiting.length >= maxWaiting) return lose(1, "the API server does not take them");
      const { namespace, name, uid } = object.metadata;
      waiting.push({
        apiVersion: "flotilla.dev/v1alpha1",
        kind: "Decision",
        metadata: { name: "" },
        time: formatMicroTime(clock.now()),
        type,
        actor: { controller },
        object: { apiVersion: object.apiVersion, kind: object.kind, namespace: namespace || undefined, name, uid },
        clusters: [...clusters],
        cause: { reason: cause.reason, message: cause.message.slice(0, MAX_MESSAGE_CHARACTERS) },
        before,
        after,
      });
      sending ??= sendAll();
    },
    isQuiet: () => waiting.length === 0,
    write(text) {
      recorded.write(text);
      lost.write(text);
    },
    async stop() {
      const giveUp = clock.after(STOP_MS, () => stopping.abort(new Error("the process stops")));
      await sending;
      giveUp.cancel();
    },
  };
}
