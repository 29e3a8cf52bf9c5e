/** Interpreter rules that fail, from the events that the hub records about them. */
import type { Event } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { RECORD_FAILED } from "@flotilla/flotilla";

export interface RuleEvent {
  reason: string;
  /** `Deployment shop/web` */
  object: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  message: string;
  atMs: number;
}

/** The recovery event has `Succeed` instead of `Failed`. */
const RULE_REASONS = [
  "GetReplicasFailed",
  "GetComponentsFailed",
  "DivideFailed",
  "GetDependenciesFailed",
  "AggregateStatusFailed",
  "ReflectStatusFailed",
  "InterpretHealthFailed",
] as const;
/** Rules whose failure no condition reports. */
const RULES_BY_EVENT: readonly string[] = [
  "GetReplicasFailed",
  "GetComponentsFailed",
  "GetDependenciesFailed",
  "AggregateStatusFailed",
];
/** What `status` and `why` look for: failures that no condition reports. */
export const SILENT_FAILURES: readonly string[] = [...RULES_BY_EVENT, RECORD_FAILED];
/** Older failures have been retried since, and would have been reported again. */
const RECENT_MS = 3_600_000;

/** Lists the events with one reason. */
type ListEvents = (fieldSelector: string) => Promise<readonly DeepReadonly<Event>[]>;

export async function readRuleEvents(
  list: ListEvents,
  failures: readonly string[] = RULE_REASONS,
): Promise<RuleEvent[]> {
  const reasons = failures.flatMap((reason) => [reason, reason.replace("Failed", "Succeed")]);
  const found = await Promise.all(reasons.map((reason) => list(`reason=${reason}`)));
  return found.flat().map(({ reason = "", message = "", involvedObject, lastTimestamp, eventTime, series }) => {
    const { kind = "", namespace, name = "" } = involvedObject;
    return {
      reason,
      object: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
      kind,
      namespace: namespace || undefined,
      name,
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
  const failing = [...last.values()].filter(
    ({ reason, atMs }) => reason.endsWith("Failed") && nowMs - atMs < RECENT_MS,
  );
  // A failure for a member's object is reported on the template as well as on its Work.
  const onTemplates = failing.filter(({ object }) => !isWork(object)).map(({ message }) => message);
  return failing.filter(
    ({ object, message }) => !isWork(object) || !onTemplates.some((other) => other.includes(message)),
  );
}

const isWork = (object: string): boolean => object.startsWith("Work ");
