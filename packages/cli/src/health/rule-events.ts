/** Interpreter rules that fail, from the events that the hub records about them. */
import type { Event } from "@flotilla/kubernetes";
import { HUB, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { customizationIn, RECORD_FAILED } from "@flotilla/flotilla";
import { kindOf } from "../members/served-types.ts";
import { typesOfHub } from "../members/types-of-hub.ts";

export interface RuleEvent {
  reason: string;
  /** `Deployment shop/web` */
  object: string;
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
  message: string;
  atMs: number;
}

const STATUS_FAILED = "AggregateStatusFailed";
/** Rules whose failure no condition reports. */
const RULES_BY_EVENT: readonly string[] = [
  "GetReplicasFailed",
  "GetComponentsFailed",
  "GetDependenciesFailed",
  STATUS_FAILED,
];
/** The rules that run for an object of the hub. Those for the objects of members are in the conditions of Works. */
export const HUB_RULES: readonly string[] = [...RULES_BY_EVENT, "DivideFailed"];
/** What `status` and `why` look for: failures that no condition reports. */
export const SILENT_FAILURES: readonly string[] = [...RULES_BY_EVENT, RECORD_FAILED];
/** Events expire after an hour. */
const RECENT_MS = 3_600_000;
/** What fails silently is retried within a minute, and reported again after five: an older report is of the past. */
const REPEATED_WITHIN_MS = 600_000;
const recentMs = (reason: string): number => (SILENT_FAILURES.includes(reason) ? REPEATED_WITHIN_MS : RECENT_MS);

/** Lists the events with one reason. */
type ListEvents = (fieldSelector: string) => Promise<readonly DeepReadonly<Event>[]>;

/**
 * Whether a failure is one of a rule or interpreter webhook of a user: its message names it then. The API server quotes
 * the names of admission webhooks.
 */
export const isOfUsersRule = (message: string): boolean =>
  customizationIn(message) !== undefined || /\bwebhook [^\s:"]/i.test(message);

const STATUS_RETRIED =
  "no rule of yours is involved: the hub retries the write of the status; if the message stays, check what it names";

/** What to do about a failure that no condition reports. Pure. */
export function failureAdvice({ reason, message }: Pick<RuleEvent, "reason" | "message">): string {
  if (reason === RECORD_FAILED)
    return "members keep what they have until the hub can create the FleetRollout: correct what rejects it";
  if (isOfUsersRule(message)) return "correct the rule; 'flotilla interpret' runs it on an object";
  return reason === STATUS_FAILED ? STATUS_RETRIED : "correct the object; the hub then continues automatically";
}

/** As what `status` counts it. Pure. */
export function failureProblem({
  reason,
  message,
}: Pick<RuleEvent, "reason" | "message">): "release without progress" | "rule failed" | "status not written" {
  if (reason === RECORD_FAILED) return "release without progress";
  return reason === STATUS_FAILED && !isOfUsersRule(message) ? "status not written" : "rule failed";
}

export async function readRuleEvents(
  list: ListEvents,
  /** The event that reports the end has `Succeed` instead of `Failed`. */
  failures: readonly string[],
): Promise<RuleEvent[]> {
  const reasons = failures.flatMap((reason) => [reason, reason.replace("Failed", "Succeed")]);
  const found = await Promise.all(reasons.map((reason) => list(`reason=${reason}`)));
  return found.flat().map(({ reason = "", message = "", involvedObject, lastTimestamp, eventTime, series }) => {
    const { apiVersion = "", kind = "", namespace, name = "", uid = "" } = involvedObject;
    return {
      reason,
      object: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
      apiVersion,
      kind,
      namespace: namespace || undefined,
      name,
      uid,
      message,
      atMs: Math.max(
        ...[lastTimestamp, eventTime, series?.lastObservedTime]
          .map((time) => Date.parse(time ?? ""))
          .filter(Number.isFinite),
        0,
      ),
    };
  });
}

/** The last event of each rule and object, if it is a recent failure. */
export function failingNow<E extends Pick<RuleEvent, "reason" | "object" | "message" | "atMs">>(
  events: readonly E[],
  nowMs: number,
): E[] {
  const last = new Map<string, E>();
  for (const event of events) {
    const id = `${event.object} ${event.reason.replace(/(Failed|Succeed)$/, "")}`;
    if ((last.get(id)?.atMs ?? -1) <= event.atMs) last.set(id, event);
  }
  return [...last.values()].filter(({ reason, atMs }) => reason.endsWith("Failed") && nowMs - atMs < recentMs(reason));
}

/** Each is read from the hub; of more failures, the first ones have the cause. */
const MAX_READ = 100;

/** Without the failures for objects that have been deleted since; one of the same name is another object. */
export async function ofExisting<E extends Pick<RuleEvent, "apiVersion" | "kind" | "namespace" | "name" | "uid">>(
  failing: readonly E[],
  client: Client,
  signal: AbortSignal,
): Promise<E[]> {
  if (failing.length === 0) return [];
  const types = await typesOfHub(client, signal);
  const exists = async (given: E): Promise<boolean> => {
    const { apiVersion, kind, namespace, name, uid } = given;
    const { group } = parseApiVersion(apiVersion);
    const type = types.find((served) => served.group === group && served.kind === kind);
    if (!type) return false;
    try {
      const object = await find(client, kindOf(type), { cluster: HUB, namespace, name }, { signal });
      return object !== undefined && (uid === "" || object.metadata.uid === uid);
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  };
  const existing = await Promise.all(failing.slice(0, MAX_READ).map(exists));
  return failing.filter((_, index) => existing[index] ?? true);
}
