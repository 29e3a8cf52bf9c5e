/**
 * Decides whether a user's ReflectStatus leaves out counters that the hub sums: members are healthy, and the hub shows no
 * ready pods. Pure.
 */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Interpreter } from "../../interpreter/interpreter.ts";

/** Whether the members' reports have the counters that the status of the template sums. */
export const STATUS_COMPLETE = "StatusComplete";
const COUNTERS = ["readyReplicas", "updatedReplicas"];
/** Members in a message; the rest is counted. */
const MAX_NAMED = 3;

type Binding = DeepReadonly<ResourceBinding>;
interface Report {
  readonly clusterName: string;
  readonly health?: string | undefined;
  readonly status?: unknown;
}

/** As a message that names the user's object; undefined if nothing is missing. */
export function findLeftOut(
  binding: Binding,
  template: DeepReadonly<KubernetesObject>,
  reports: readonly Report[],
  interpreter: Pick<Interpreter, "ownerOf">,
): string | undefined {
  const owner = interpreter.ownerOf("reflectStatus", template);
  if (owner === undefined || interpreter.ownerOf("aggregateStatus", template) !== undefined) return undefined;
  const { spec } = template as { spec?: unknown };
  if (!isObject(spec) || typeof spec["replicas"] !== "number") return undefined;
  const given = new Set(binding.spec.clusters?.flatMap(({ name, replicas = 0 }) => (replicas > 0 ? [name] : [])));
  const running = reports.filter(({ clusterName, health }) => health === "Healthy" && given.has(clusterName));
  const lacks = ({ status }: Report, counter: string): boolean => !isObject(status) || status[counter] === undefined;
  const counters = COUNTERS.filter((counter) => running.some((report) => lacks(report, counter)));
  if (counters.length === 0) return undefined;
  const members = running
    .filter((report) => counters.some((counter) => lacks(report, counter)))
    .map(({ clusterName }) => clusterName);
  const more = members.length > MAX_NAMED ? ` and ${members.length - MAX_NAMED} more members` : "";
  return (
    `ReflectStatus of ${owner} leaves out ${counters.join(" and ")} of ` +
    `${members.slice(0, MAX_NAMED).join(", ")}${more}, so the hub counts none of their pods`
  );
}

export function planLeftOut(binding: Binding, message: string | undefined, now: string): Binding {
  const before = binding.status?.conditions ?? [];
  if (message === undefined && !findCondition(before, STATUS_COMPLETE)) return binding;
  const condition =
    message === undefined
      ? {
          status: "True" as const,
          reason: "Complete",
          message: "The members' reports have all counters that are summed.",
        }
      : { status: "False" as const, reason: "LeftOut", message };
  const conditions = withCondition(before, { type: STATUS_COMPLETE, ...condition }, now);
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
