/**
 * Asks a webhook whether a request is allowed: a SubjectAccessReview of `authorization.k8s.io/v1`. Answers are remembered,
 * failures are not; equal questions at the same time are one call.
 *
 * Users of different logical clusters may have the same name, so the webhook gets the cluster as an extra value of the user.
 */
import { hash } from "node:crypto";
import { FlotillaError, createSemaphore, isObject, messageOf } from "@flotilla/base";
import type { Clock, Json, JsonObject, Log } from "@flotilla/base";
import { clientKeyOf } from "../access/client-key.ts";
import type { ForeignAuthorizer } from "../access/authorizer-chain.ts";
import type { Opinion } from "../access/opinion.ts";
import type { AccessRequest } from "../request/authorize.ts";
import type { ReviewConditions } from "./review-conditions.ts";

export interface AuthorizationWebhookSettings {
  readonly name: string;
  readonly timeoutMs: number;
  /** 0 remembers nothing. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** The decision when the webhook cannot be called. */
  readonly failurePolicy: "Deny" | "NoOpinion";
  readonly conditions: ReviewConditions;
}

export interface AuthorizationWebhookDependencies {
  /** The extra value of a user that names the logical cluster. */
  clusterKey: string;
  /** Sends a JSON body, and resolves with the answer. */
  post(body: Buffer, signal: AbortSignal): Promise<Json>;
  /** How a call ended: `success`, `error` or `timeout`. */
  observe?(result: "success" | "error" | "timeout", seconds: number): void;
  /** A request went on without the opinion of the webhook. */
  failedOpen?(): void;
  clock: Clock;
  log: Log;
}

/** Kubernetes' limit. */
const MAX_REMEMBERED = 8_192;
const MAX_CALLS = 32;
const MAX_WAITING = 1_024;
const NO_OPINION: Opinion = Object.freeze({ opinion: "none", reason: "" });

export function createAuthorizationWebhook(
  settings: AuthorizationWebhookSettings,
  { clusterKey, post, observe, failedOpen, clock, log }: AuthorizationWebhookDependencies,
): ForeignAuthorizer {
  const { name, timeoutMs, failurePolicy, conditions } = settings;
  const remembered = new Map<string, { opinion: Opinion; untilMs: number }>();
  const asking = new Map<string, Promise<Opinion>>();
  const turns = createSemaphore(MAX_CALLS, {
    maxWaiting: MAX_WAITING,
    overflow: () => new FlotillaError("Overloaded", `${MAX_WAITING} requests are already waiting for it`),
  });
  let isFailing = false;

  function failed(why: string): Opinion {
    if (failurePolicy === "NoOpinion") failedOpen?.();
    return {
      opinion: failurePolicy === "Deny" ? "deny" : "none",
      reason: "",
      error: `the authorization webhook ${JSON.stringify(name)} ${why}`,
    };
  }

  async function call(spec: JsonObject, client: string): Promise<Opinion> {
    const timeout = new AbortController();
    const timer = clock.after(timeoutMs, () =>
      timeout.abort(new Error(`there was no response within ${timeoutMs / 1000} s`)),
    );
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec };
    const startedMs = clock.now();
    let release: (() => void) | undefined;
    try {
      release = await turns.acquire(1, client, timeout.signal);
      const opinion = opinionOf(await post(Buffer.from(JSON.stringify(review)), timeout.signal));
      observe?.("success", (clock.now() - startedMs) / 1000);
      if (isFailing) log.info("an authorization webhook answers again", { webhook: name });
      isFailing = false;
      return opinion;
    } catch (error) {
      observe?.(timeout.signal.aborted ? "timeout" : "error", (clock.now() - startedMs) / 1000);
      if (!isFailing)
        log.warn("an authorization webhook cannot be called", { webhook: name, policy: failurePolicy, error });
      isFailing = true;
      return failed(`cannot be called: ${messageOf(error)}`);
    } finally {
      timer.cancel();
      release?.();
    }
  }

  async function ask(key: string, spec: JsonObject, client: string): Promise<Opinion> {
    const opinion = await call(spec, client);
    const ttlMs = opinion.opinion === "allow" ? settings.authorizedTtlMs : settings.unauthorizedTtlMs;
    if (opinion.error !== undefined || ttlMs === 0) return opinion;
    remembered.set(key, { opinion, untilMs: clock.now() + ttlMs });
    const [oldest] = remembered.size > MAX_REMEMBERED ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    return opinion;
  }

  return {
    name,
    ask(request) {
      const spec = reviewSpecOf(request, clusterKey);
      const key = hash("sha256", JSON.stringify(spec), "base64url");
      const known = remembered.get(key);
      if (known && known.untilMs > clock.now()) return known.opinion;
      remembered.delete(key);
      const { matches, error } = conditions(spec);
      if (error !== undefined) return failed(`cannot be called: ${error}`);
      if (!matches) return NO_OPINION;
      const pending = asking.get(key);
      if (pending) return pending;
      const started = ask(key, spec, clientKeyOf(request.cluster, request.user.name)).finally(() => asking.delete(key));
      asking.set(key, started);
      return started;
    },
  };
}

/** The spec of the review. All fields are set, as conditions see them. Pure. */
function reviewSpecOf({ user, verb, cluster, resource, path = "" }: AccessRequest, clusterKey: string): JsonObject {
  const extra: JsonObject = {};
  for (const [key, values] of Object.entries(user.extra ?? {})) extra[key] = [...values];
  extra[clusterKey] = [cluster];
  const spec: JsonObject = { user: user.name, uid: user.uid ?? "", groups: [...user.groups], extra };
  if (!resource) return { ...spec, nonResourceAttributes: { path, verb } };
  const { namespace = "", group, version = "*", resource: plural, subresource = "", name = "" } = resource;
  return { ...spec, resourceAttributes: { namespace, verb, group, version, resource: plural, subresource, name } };
}

/** Throws for an answer that is not a review. Pure. */
export function opinionOf(answer: Json): Opinion {
  const status = isObject(answer) && isObject(answer.status) ? answer.status : undefined;
  if (!status) throw new FlotillaError("Webhook", "the answer has no status");
  const { allowed = false, denied = false } = status;
  const reason = typeof status.reason === "string" ? status.reason.slice(0, MAX_REASON) : "";
  if (typeof allowed !== "boolean" || typeof denied !== "boolean")
    throw new FlotillaError("Webhook", "status.allowed and status.denied must be booleans");
  if (allowed && denied) throw new FlotillaError("Webhook", "the answer allows and denies the request");
  return { opinion: allowed ? "allow" : denied ? "deny" : "none", reason };
}

/** Reasons are in answers and in the audit log. */
const MAX_REASON = 1_024;
