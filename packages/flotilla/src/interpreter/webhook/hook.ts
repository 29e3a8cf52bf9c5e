/**
 * One webhook of a configuration: which operations it matches, and how it is called.
 *
 * `timeoutSeconds` covers the whole call: queueing, connecting, and retries of transient failures. Interpreting has no
 * side effects, so any request may be retried.
 */
import type { ResourceInterpreterWebhook } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import { randomUuid, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Random } from "@flotilla/base";
import type { Operation } from "@flotilla/kubernetes";
import { createWebhookConnection, createWebhookLocator, MAX_CALLS_IN_FLIGHT, WebhookError } from "@flotilla/client";
import type { ConnectWebhook, Endpoint, ResolveService, WebhookConnection } from "@flotilla/client";
import { CONTEXT_VERSION, readResponse, renderRequest } from "./context.ts";
import type { Question } from "./context.ts";
import type { HookMetrics } from "./hook-metrics.ts";
import { FailedWebhook } from "./failed-webhook.ts";
import { Semaphore } from "./semaphore.ts";

/** What happens when a webhook fails: the operation fails, or the next level is used if it has a rule. */
export type FailurePolicy = "Fail" | "Ignore";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Hook {
  /** `<configuration>/<webhook>`; if several match an operation, the first by this name is called. */
  readonly id: string;
  readonly settings: DeepReadonly<ResourceInterpreterWebhook>;
  readonly failurePolicy: FailurePolicy;
  /** The configuration error that makes every call fail. */
  readonly problem: WebhookError | undefined;
  answers(operation: Operation, kind: GroupVersionKind): boolean;
  /** Returns the result of `read` for the response. Throws `FailedWebhook`, also for errors of `read`. */
  ask<T>(question: Question, read: (response: JsonObject) => T): Promise<T>;
  /** Called when another hook replaces this one. Calls in flight finish, and then the connections are closed. */
  retire(): Promise<void>;
  /** Aborts calls in flight and rejects later calls. */
  close(): Promise<void>;
}

export interface HookDependencies {
  clock: Clock;
  random: Random;
  metrics: HookMetrics;
  resolveService?: ResolveService;
  /** Over the network if unset. */
  connect?: ConnectWebhook | undefined;
}

const ANY = "*";
const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 30;
/** Some megabytes. A webhook that responds in 10 ms handles half of them before the others time out. */
const MAX_WAITING = 8192;
const MAX_ATTEMPTS = 3;
/**
 * Half of it is random, and it doubles with each attempt, so that a restarting webhook does not get all retries at
 * once.
 */
const BACK_OFF_MS = 200;

export function createHook(
  id: string,
  settings: DeepReadonly<ResourceInterpreterWebhook>,
  failurePolicy: FailurePolicy,
  deps: HookDependencies,
): Hook {
  const { clock, random, metrics, resolveService, connect = createWebhookConnection } = deps;
  const timeoutMs =
    Math.min(Math.max(settings.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS, 1), MAX_TIMEOUT_SECONDS) * 1000;
  const turns = new Semaphore(MAX_CALLS_IN_FLIGHT, MAX_WAITING);
  const inFlight = new Map<AbortController, Promise<unknown>>();
  const line = openHookConnection(settings, resolveService, connect);
  const stopping = new WebhookError("connection", "Flotilla is stopping");
  let isClosed = false;

  /** Waits before the next attempt. After the last one, the error includes the earlier failure. */
  async function backOff(attempt: number, failure: WebhookError, stop: AbortSignal): Promise<void> {
    try {
      await sleep(clock, BACK_OFF_MS * 2 ** (attempt - 1) * (0.5 + random.next() / 2), stop);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      throw new WebhookError(error.reason, `${error.message}; before that, ${failure.message}`, {
        cause: failure.cause,
      });
    }
  }

  /** Calls until a response arrives, the failure is permanent, or the time is over. */
  async function exchange(question: Question, untilMs: number, stop: AbortSignal): Promise<JsonObject> {
    if (line instanceof WebhookError) throw line;
    const uid = randomUuid(random);
    const body = renderRequest(uid, question);
    for (let attempt = 1; ; attempt++) {
      try {
        const leftSeconds = Math.max(1, Math.ceil((untilMs - clock.now()) / 1000));
        return readResponse(await line.connection.post(line.locate(), `?timeout=${leftSeconds}s`, body, stop), uid);
      } catch (error) {
        if (!(error instanceof WebhookError) || !error.isPassing || attempt === MAX_ATTEMPTS) throw error;
        await backOff(attempt, error, stop);
      }
    }
  }

  async function inTurn<T>(
    question: Question,
    read: (response: JsonObject) => T,
    untilMs: number,
    stop: AbortSignal,
  ): Promise<T> {
    const giveBack = await turns.take(stop);
    try {
      return read(await exchange(question, untilMs, stop));
    } finally {
      giveBack();
    }
  }

  async function retire(): Promise<void> {
    await Promise.allSettled(inFlight.values());
    if (!(line instanceof WebhookError)) line.connection.close();
  }

  return {
    id,
    settings,
    failurePolicy,
    problem: line instanceof WebhookError ? line : undefined,
    answers: (operation, { group, version, kind }) =>
      (settings.rules ?? []).some(
        (rule) =>
          includes(rule.operations, operation) &&
          includes(rule.apiGroups, group) &&
          includes(rule.apiVersions, version) &&
          includes(rule.kinds, kind),
      ),
    async ask(question, read) {
      const startedMs = clock.now();
      const controller = new AbortController();
      if (isClosed) controller.abort(stopping);
      const timer = clock.after(timeoutMs, () =>
        controller.abort(new WebhookError("timeout", `no response within ${timeoutMs / 1000} s`)),
      );
      const answer = inTurn(question, read, startedMs + timeoutMs, controller.signal);
      inFlight.set(controller, answer);
      try {
        const result = await answer;
        metrics.ended(question.operation, clock.now() - startedMs);
        return result;
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        metrics.ended(question.operation, clock.now() - startedMs, error.reason);
        throw new FailedWebhook(describe(id, question), error);
      } finally {
        timer.cancel();
        inFlight.delete(controller);
      }
    },
    retire,
    async close() {
      isClosed = true;
      for (const controller of inFlight.keys()) controller.abort(stopping);
      await retire();
    },
  };
}

/** The connection of a webhook, or the configuration error that every call then reports. */
function openHookConnection(
  { clientConfig, interpreterContextVersions }: DeepReadonly<ResourceInterpreterWebhook>,
  resolveService: ResolveService | undefined,
  connect: ConnectWebhook,
): { connection: WebhookConnection; locate(): Endpoint } | WebhookError {
  if (!interpreterContextVersions.includes(CONTEXT_VERSION))
    return new WebhookError(
      "configuration",
      `interpreterContextVersions does not contain ${CONTEXT_VERSION}, the only supported version`,
    );
  try {
    return {
      locate: createWebhookLocator(clientConfig, resolveService),
      connection: connect(clientConfig.caBundle),
    };
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
}

const includes = (list: readonly string[], item: string): boolean => list.includes(item) || list.includes(ANY);

function describe(id: string, { operation, object: { kind, metadata } }: Question): string {
  return `calling webhook ${id} for ${operation} of ${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
}
