/** One admission webhook of a configuration: what it is for, how it is asked, and whether it answers. */
import { labelSelectorOf } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import type { MutatingWebhook, ValidatingWebhook } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { createSemaphore, randomUuid } from "@flotilla/base";
import { compileMatchConditions } from "@flotilla/cel";
import type { MatchConditions } from "@flotilla/cel";
import type { Clock, DeepReadonly, JsonObject, Log, Random } from "@flotilla/base";
import { createWebhookLocator, MAX_CALLS_IN_FLIGHT, WebhookError } from "@flotilla/client";
import type { ResolveService, WebhookConnection } from "@flotilla/client";
import type { AdmissionQuestion } from "../admission-match/request-fields.ts";
import { readVerdict, renderReview, renderReviewOf, REVIEW_VERSIONS } from "./admission-review.ts";
import type { ReviewVersion, Verdict } from "./admission-review.ts";
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
  readonly breaker: WebhookBreaker<ProbeSample>;
  /** Throws `WebhookError`. `resolveService` finds a Service in the cluster of the request. */
  ask(question: AdmissionQuestion, resolveService: ResolveService, stop: AbortSignal): Promise<Verdict>;
  /** Closes the connections when no call uses them any more. */
  retire(): void;
}

/** What a probe asks: a dry run of a request, because the request itself was carried out. */
export interface ProbeSample {
  /** The request of the review without its uid. */
  readonly fields: JsonObject;
  readonly resolveService: ResolveService;
}

export interface HookDependencies {
  clock: Clock;
  random: Random;
  log: Log;
  /** A connection that trusts a bundle of certificates; it may be shared with other webhooks. */
  connect(caBundle: string | undefined): WebhookConnection;
}

export function createAdmissionHook(
  configuration: string,
  type: HookType,
  settings: HookSettings,
  { clock, random, log, connect: open }: HookDependencies,
): AdmissionHook {
  const { clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = settings;
  const timeoutMs = Math.min(Math.max(timeoutSeconds, 1), MAX_TIMEOUT_SECONDS) * 1000;
  const turns = createSemaphore(MAX_CALLS_IN_FLIGHT);
  const connect = lazily(() => open(clientConfig.caBundle || undefined));
  const version = settings.admissionReviewVersions.find(isReviewVersion);
  const ignoresFailures = settings.failurePolicy === "Ignore";
  /** Calls that have not ended. Aborting one ends it early. */
  const running = new Set<AbortController>();
  const retired = new AbortController();

  async function call(
    render: (version: ReviewVersion, uid: string) => Buffer,
    resolveService: ResolveService,
    stop: AbortSignal,
  ): Promise<Verdict> {
    if (!version)
      throw new WebhookError("configuration", `admissionReviewVersions has none of ${REVIEW_VERSIONS.join(", ")}`);
    if (turns.waiting >= MAX_WAITING)
      throw new WebhookError("overload", `${MAX_WAITING} requests are already waiting for it`);
    const endpoint = createWebhookLocator(clientConfig, resolveService)();
    const release = await turns.acquire(1, "", stop);
    try {
      const uid = randomUuid(random);
      const answer = await connect().post(endpoint, `?timeout=${timeoutMs / 1000}s`, render(version, uid), stop);
      return readVerdict(answer, { version, type, uid });
    } finally {
      release();
    }
  }

  async function limited(stop: AbortSignal, run: (stop: AbortSignal) => Promise<Verdict>): Promise<Verdict> {
    const ending = new AbortController();
    const timer = clock.after(timeoutMs, () =>
      ending.abort(new WebhookError("timeout", `no response within ${timeoutMs / 1000} s`)),
    );
    running.add(ending);
    try {
      return await run(AbortSignal.any([ending.signal, stop]));
    } finally {
      timer.cancel();
      running.delete(ending);
      if (retired.signal.aborted && running.size === 0 && connect.isMade()) connect().close();
    }
  }

  const breaker = new WebhookBreaker<ProbeSample>({
    clock,
    probe: ({ fields, resolveService }) =>
      limited(retired.signal, (stop) =>
        call((as, uid) => renderReviewOf(as, uid, JSON.stringify(fields)), resolveService, stop),
      ),
    onOpen() {
      for (const ending of running) ending.abort(new WebhookError("timeout", "another call got no response in time"));
    },
    onClose: () => log.info("an admission webhook answers again", { webhook: `${configuration}/${settings.name}` }),
  });

  return {
    configuration,
    name: settings.name,
    type,
    settings,
    ignoresFailures,
    namespaceSelector: labelSelectorOf(settings.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(settings.objectSelector ?? {}),
    conditions: settings.matchConditions?.length ? compileMatchConditions(settings.matchConditions) : undefined,
    breaker,
    ask: (question, resolveService, stop) =>
      limited(stop, (signal) => call((as, uid) => renderReview(as, { ...question, uid }), resolveService, signal)),
    retire() {
      breaker.retire();
      retired.abort(new WebhookError("configuration", "the webhook is no longer configured"));
      if (running.size === 0 && connect.isMade()) connect().close();
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
