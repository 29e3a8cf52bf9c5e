/**
 * OpenKruise ResourceDistribution: every member copies a Secret or ConfigMap to its own namespaces; the template counts
 * the namespaces of the fleet. Its conditions report failures, so each is True if it is True on any member.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, omitZero, textOf } from "@flotilla/base";
import { aggregateFields, conditionsIn, countOf, isObserved, latestOf, reflectFields } from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { addNames } from "../interpreter/merged-status.ts";

interface ResourceDistribution extends KubernetesObject {
  status?: JsonObject;
}

const FIELDS = { counters: ["desired", "succeeded", "failed"] };
/** The API versions name the field differently. */
const FAILED_IN = ["failedNamespace", "failedNamespaces"];

export const resourceDistributionInterpreter: KindInterpreter<ResourceDistribution> = {
  group: "apps.kruise.io",
  kind: "ResourceDistribution",
  reflectStatus: (distribution) => reflectFields(distribution, [...FIELDS.counters, "conditions"]),
  aggregateStatus: (distribution, items) =>
    aggregateFields(distribution, items, FIELDS, { conditions: addConditions(items) }),
  isHealthy(distribution) {
    const { status } = distribution;
    return (
      isObject(status) &&
      isObserved(distribution) &&
      countOf(status["failed"]) === 0 &&
      !conditionsIn(status).some(isTrue)
    );
  },
};

const isTrue = ({ status }: JsonObject): boolean => status === "True";

interface Combined {
  condition: JsonObject;
  lastTransitionTime: string;
  /** The namespaces of all members, by field name. */
  failed: Record<string, string[]>;
}

/** Each type once: the condition of a failed member, or else of the first one. */
function addConditions(items: readonly StatusItem[]): JsonObject[] {
  const byType = new Map<string, Combined>();
  for (const { clusterName, status } of items) {
    for (const condition of isObject(status) ? conditionsIn(status) : []) {
      const type = textOf(condition["type"]);
      const known = byType.get(type);
      const combined =
        known && !(isTrue(condition) && !isTrue(known.condition))
          ? known
          : { condition, lastTransitionTime: "", failed: known?.failed ?? {} };
      if (combined !== known) byType.set(type, combined);
      const time = textOf(condition["lastTransitionTime"]);
      if (condition["status"] === combined.condition["status"] && time !== combined.lastTransitionTime)
        combined.lastTransitionTime = latestOf([combined.lastTransitionTime, time]);
      for (const field of FAILED_IN)
        if (condition[field]) addNames((combined.failed[field] ??= []), clusterName, condition[field]);
    }
  }
  return Array.from(byType.values(), ({ condition, lastTransitionTime, failed }) => ({
    ...condition,
    ...omitZero({ lastTransitionTime }),
    ...failed,
  }));
}
