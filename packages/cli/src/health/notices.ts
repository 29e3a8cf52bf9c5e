/** What dispatch reports on a binding although the copies could be made: a request of the template that has no effect. */
import { findCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import {
  DIVIDED_OVER_FLEET,
  PODS_FOUND,
  PODS_ROLLED_BACK,
  STATUS_COMPLETE,
  TEMPLATE_ACTIVE,
  TEMPLATE_FOUND,
} from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";

export interface BindingNotice {
  problem:
    | "workload naming missing pods"
    | "rollout stopped"
    | "rule failed"
    | "binding without a template"
    | "object waiting for a finalizer";
  text: string;
}

const PROBLEMS = {
  [PODS_FOUND]: "workload naming missing pods",
  [PODS_ROLLED_BACK]: "rollout stopped",
  [DIVIDED_OVER_FLEET]: "rule failed",
  [STATUS_COMPLETE]: "rule failed",
  [TEMPLATE_ACTIVE]: "object waiting for a finalizer",
  [TEMPLATE_FOUND]: "binding without a template",
} as const;

export function noticesOf({ metadata, status }: DeepReadonly<ResourceBinding>): BindingNotice[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return Object.entries(PROBLEMS).flatMap(([type, problem]) => {
    const condition = findCondition(status?.conditions, type);
    return condition && condition.status !== "True" ? [{ problem, text: condition.message }] : [];
  });
}

/** What is left of an object that the hub does not have, and what to do; undefined if it is not left behind. */
export function leftBehind(binding: DeepReadonly<ResourceBinding>): { seen: string; command: string } | undefined {
  const left = noticesOf(binding).find(({ problem }) => problem === "binding without a template");
  return left && { seen: left.text, command: removalOf(binding) };
}

const removalOf = ({ kind, metadata: { namespace, name } }: DeepReadonly<ResourceBinding>): string =>
  `kubectl delete ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ""}`;
