/** One admission webhook of a configuration: what it is for, and how it is asked. */
import { labelSelectorOf } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import type { MutatingWebhook, ValidatingWebhook } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { createSemaphore, randomUuid } from "@flotilla/base";
import { compileMatchConditions } from "@flotilla/cel";
import type { MatchConditions } from "@flotilla/cel";
import type { Clock, DeepReadonly, Random } from "@flotilla/base";
import { createWebhookLocator, MAX_CALLS_IN_FLIGHT, WebhookError } from "@flotilla/client";
import type { ResolveService, WebhookConnection } from "@flotilla/client";
import type { AdmissionQuestion } from "../admission-match/request-fields.ts";
import { readVerdict, renderReview, REVIEW_VERSIONS } from "./admission-review.ts";
import type { ReviewQuestion, ReviewVersion, Verdict } from "./admission-review.ts";
import { WebhookBreaker } from "./webhook-breaker.ts";

export type HookType = "mutating" | "validating";
export type HookSettings = DeepReadonly<MutatingWebhook> | DeepReadonly<ValidatingWebhook>;

/** More writes than this do not wait for one webhook: it would never catch up. */
const MAX_WAITING = 1_024;
const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 30;

export interface AdmissionHook {
  readonly configuration: string;
  readonly name: string;
  readonly type: HookType;
  readonly settings: HookSettings;
  readonly ignoresFailures: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: MatchConditions | undefined;
  readonly breaker: WebhookBreaker;
  /** Throws `WebhookError`. `resolveService` finds a Service in the cluster of the request. */
  ask(question: AdmissionQuestion, resolveService: ResolveService, stop: AbortSignal): Promise<Verdict>;
  /** Closes the connections when no call uses them any more. */
  retire(): void;
}

export interface HookDependencies {
  clock: Clock;
  random: Random;
  /** A connection that trusts a bundle of certificates; it may be shared with other webhooks. */
  connect(caBundle: string | undefined): WebhookConnection;
}

export function createAdmissionHook(
  configuration: string,
  type: HookType,
  settings: HookSettings,
  { clock, random, connect: open }: HookDependencies,
): AdmissionHook {
  const { clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = settings;
  const timeoutMs = Math.min(Math.max(timeoutSeconds, 1), MAX_TIMEOUT_SECONDS) * 1000;
  const turns = createSemaphore(MAX_CALLS_IN_FLIGHT);
  const connect = lazily(() => open(clientConfig.caBundle || undefined));
  const version = settings.admissionReviewVersions.find(isReviewVersion);
  let calls = 0;
  let isRetired = false;

  async function call(question: ReviewQuestion, resolveService: ResolveService, stop: AbortSignal): Promise<Verdict> {
    if (!version)
      throw new WebhookError("configuration", `admissionReviewVersions has none of ${REVIEW_VERSIONS.join(", ")}`);
    if (turns.waiting >= MAX_WAITING)
      throw new WebhookError("overload", `${MAX_WAITING} requests are already waiting for it`);
    const endpoint = createWebhookLocator(clientConfig, resolveService)();
    const release = await turns.acquire(1, "", stop);
    try {
      const answer = await connect().post(
        endpoint,
        `?timeout=${timeoutMs / 1000}s`,
        renderReview(version, question),
        stop,
      );
      return readVerdict(answer, { version, type, uid: question.uid });
    } finally {
      release();
    }
  }

  return {
    configuration,
    name: settings.name,
    type,
    settings,
    ignoresFailures: settings.failurePolicy === "Ignore",
    namespaceSelector: labelSelectorOf(settings.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(settings.objectSelector ?? {}),
    conditions: settings.matchConditions?.length ? compileMatchConditions(settings.matchConditions) : undefined,
    breaker: new WebhookBreaker(clock),
    async ask(question, resolveService, stop) {
      const timeout = new AbortController();
      const timer = clock.after(timeoutMs, () =>
        timeout.abort(new WebhookError("timeout", `no response within ${timeoutMs / 1000} s`)),
      );
      calls++;
      try {
        return await call(
          { ...question, uid: randomUuid(random) },
          resolveService,
          AbortSignal.any([timeout.signal, stop]),
        );
      } finally {
        timer.cancel();
        calls--;
        if (isRetired && calls === 0) connect().close();
      }
    },
    retire() {
      isRetired = true;
      if (calls === 0 && connect.isMade()) connect().close();
    },
  };
}

const isReviewVersion = (version: string): version is ReviewVersion =>
  (REVIEW_VERSIONS as readonly string[]).includes(version);

/** Made by the first call: most configurations name webhooks that this process never asks. */
function lazily<T>(make: () => T): (() => T) & { isMade(): boolean } {
  let made: T | undefined;
  return Object.assign(() => (made ??= make()), { isMade: () => made !== undefined });
}
