/**
 * Common rules of both Kyverno policy kinds: every member enforces its own copy. Rule counts are summed over all
 * members, and conditions are shown side by side. Karmada's rules apply to one version; these apply to all, and show
 * only values that members report.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, omitEmpty } from "@flotilla/base";
import {
  InterpretError,
  isConditionReady,
  joinConditions,
  pickFields,
  replaceStatus,
  reportedStatuses,
  statusOf,
} from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { withoutEmpties } from "../../scripts/result-rules.ts";

export interface KyvernoPolicy extends KubernetesObject {
  status?: JsonObject;
}

const RULE_KINDS = ["validate", "generate", "mutate", "verifyimages"];

export function policyInterpreter(kind: string): KindInterpreter<KyvernoPolicy> {
  return {
    group: "kyverno.io",
    kind,
    reflectStatus(policy) {
      const status = statusOf(policy);
      return status && { ...pickFields(status, ["ready", "conditions", "rulecount"]), ...generatedRules(status) };
    },
    aggregateStatus: (policy, items) => replaceStatus(policy, aggregate(policy, items)),
    /** Before it wrote conditions, Kyverno used a `ready` field. */
    isHealthy({ kind: own, metadata, status }) {
      const ready = isObject(status) ? status["ready"] : undefined;
      if (ready === undefined || ready === null) return isConditionReady(status, ["Succeeded"]);
      if (typeof ready === "boolean") return ready;
      throw new InterpretError(`reading the health of ${own} ${metadata.name}: status.ready is neither true nor false`);
    },
  };
}

function aggregate(policy: DeepReadonly<KyvernoPolicy>, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const conditions = joinConditions(policy, items);
  return {
    ...generatedRules(lastWith(statuses, "autogen")),
    ...pickFields(lastWith(statuses, "ready"), ["ready"]),
    rulecount: countRules(policy, statuses),
    ...omitEmpty({ conditions }),
  };
}

const lastWith = (statuses: readonly JsonObject[], field: string): JsonObject =>
  statuses.findLast((status) => (status[field] ?? null) !== null) ?? {};

/** The rules that Kyverno generated from the user's, without their many empty fields. */
function generatedRules({ autogen }: JsonObject): JsonObject {
  return autogen === undefined || autogen === null ? {} : { autogen: withoutEmpties(autogen) };
}

/** Throws when a member's rule count lacks a rule type: the sum would mix different things. */
function countRules({ kind, metadata }: DeepReadonly<KyvernoPolicy>, statuses: readonly JsonObject[]): JsonObject {
  const sums = new Map(RULE_KINDS.map((rule) => [rule, 0]));
  for (const { rulecount } of statuses) {
    if (rulecount === undefined || rulecount === null) continue;
    for (const [rule, sum] of sums) {
      const count = isObject(rulecount) ? rulecount[rule] : undefined;
      if (typeof count !== "number")
        throw new InterpretError(`summing the status of ${kind} ${metadata.name}: rulecount.${rule} is not a number`);
      sums.set(rule, sum + count);
    }
  }
  return Object.fromEntries(sums);
}
