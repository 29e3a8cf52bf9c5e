/**
 * Asks a webhook about tokens that the server does not know (`--authentication-token-webhook-config-file`): it sends a
 * TokenReview and gets the user. Answers are remembered for a while, so that a client does not cost a call per request;
 * failures of the webhook and answers that are errors are not.
 */
import { AUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import type { ExternalTokens } from "@flotilla/apiserver";
import { createSemaphore, FlotillaError, isObject, messageOf, textsOf } from "@flotilla/base";
import type { Clock, Json, JsonObject, Log } from "@flotilla/base";

/** Sends a JSON body, and resolves with the answer. */
type PostReview = (body: Buffer, signal: AbortSignal) => Promise<Json>;

interface Remembered {
  outcome: Outcome;
  untilMs: number;
}
type Outcome = Awaited<ReturnType<ExternalTokens["authenticate"]>>;

export interface TokenWebhookOptions {
  post: PostReview;
  /** Groups that no other identity may have. */
  reservedGroups: readonly string[];
  cacheMs?: number;
  clock: Clock;
  log: Log;
}

/** Kubernetes' default. */
const CACHE_MS = 2 * 60 * 1000;
/** Of known tokens, and of unknown ones: anyone can send as many of those as they like. */
const MAX_REMEMBERED = 10_000;
const MAX_CALLS = 32;
const MAX_WAITING = 1_024;
const TIMEOUT_MS = 10_000;

export function createTokenWebhook(options: TokenWebhookOptions): ExternalTokens {
  const { post, reservedGroups, cacheMs = CACHE_MS, clock, log } = options;
  const known = new Map<string, Remembered>();
  const unknown = new Map<string, Remembered>();
  const asking = new Map<string, Promise<Outcome>>();
  /** Addresses take turns: clients whose user is not known yet must not make the others wait. */
  const turns = createSemaphore(MAX_CALLS, {
    maxWaiting: MAX_WAITING,
    overflow: () => new FlotillaError("Overloaded", `${MAX_WAITING} requests are already waiting for it`),
  });
  let isFailing = false;

  async function ask(
    id: string,
    token: string,
    audiences: readonly string[] | undefined,
    from: string,
  ): Promise<Outcome> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const review = {
      kind: "TokenReview",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {},
      spec: { token, audiences: audiences ? [...audiences] : undefined },
    };
    let answer: Json;
    let release: (() => void) | undefined;
    try {
      release = await turns.acquire(1, from, signal);
      answer = await post(Buffer.from(JSON.stringify(review)), signal);
      if (isFailing) log.info("the token webhook answers again");
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn("the token webhook cannot be called; tokens that only it knows are rejected", { error });
      isFailing = true;
      return { error: `the token webhook cannot be called: ${messageOf(error)}` };
    } finally {
      release?.();
    }
    const outcome = outcomeOf(answer, audiences, reservedGroups);
    if (outcome && "error" in outcome) return outcome;
    const remembered = outcome ? known : unknown;
    remembered.set(id, { outcome, untilMs: clock.now() + cacheMs });
    const [oldest] = remembered.size > MAX_REMEMBERED ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    return outcome;
  }

  return {
    async authenticate(token, audiences, digest, from = "") {
      const id = audiences ? `${digest} ${audiences.join(" ")}` : digest;
      const found = known.get(id) ?? unknown.get(id);
      if (found && found.untilMs > clock.now()) return found.outcome;
      known.delete(id);
      unknown.delete(id);
      let pending = asking.get(id);
      if (!pending) {
        pending = ask(id, token, audiences, from).finally(() => asking.delete(id));
        asking.set(id, pending);
      }
      return pending;
    },
  };
}

/** The user of the answer; undefined for a token that the webhook does not know. Pure. */
export function outcomeOf(
  answer: Json,
  asked: readonly string[] | undefined,
  reservedGroups: readonly string[],
): Outcome {
  const status = isObject(answer) && isObject(answer.status) ? answer.status : undefined;
  if (!status) return { error: "the token webhook returned no status" };
  if (status.authenticated !== true)
    return typeof status.error === "string" && status.error !== "" ? { error: status.error } : undefined;
  const user = isObject(status.user) ? status.user : {};
  const { username, uid } = user;
  if (typeof username !== "string" || username === "")
    return { error: "the token webhook returned a user without a name" };
  const groups = textsOf(user.groups);
  const reserved = groups.find((group) => reservedGroups.includes(group));
  if (reserved !== undefined) return { error: `the group ${reserved} is reserved for the controllers of this server` };
  const audiences = textsOf(status.audiences);
  const shared =
    asked && audiences.length > 0 ? audiences.filter((audience) => asked.includes(audience)) : (asked ?? []);
  if (asked && shared.length === 0) return { error: "the token is not for the audiences of the request" };
  return {
    user: Object.freeze({
      name: username,
      uid: typeof uid === "string" && uid !== "" ? uid : undefined,
      groups: Object.freeze([...new Set([...groups, AUTHENTICATED_GROUP])]),
      extra: isObject(user.extra) ? extraOf(user.extra) : undefined,
    }),
    audiences: shared,
  };
}

const extraOf = (extra: JsonObject): Record<string, string[]> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, textsOf(values)]));
