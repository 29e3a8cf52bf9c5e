/**
 * OpenKruise WorkloadSpread: every member spreads its own pods over its part of the subsets; the template sums the pods. A
 * subset without a limit is missing -1 pods, and so is its sum. Pods in creation or deletion are left out: they change
 * with every pod and last only seconds.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject, omitEmpty, textOf } from "@flotilla/base";
import {
  countOf,
  isObserved,
  observedGenerationOf,
  reflectFields,
  replaceStatus,
  statusOf,
} from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { concernOf } from "../interpreter/concern.ts";
import { divideSpread, type DividedSpread } from "./divide-spread.ts";

const NO_LIMIT = -1;

export const workloadSpreadInterpreter: KindInterpreter<DividedSpread> = {
  group: "apps.kruise.io",
  kind: "WorkloadSpread",
  changesNewPods: true,
  divide: divideSpread,
  concerns: ({ spec }) => concernOf(spec && { targetRef: spec.targetRef }),
  reflectStatus(spread) {
    const reflected = reflectFields(spread, []);
    if (!isObject(reflected)) return reflected;
    const subsetStatuses = subsetsIn(statusOf(spread)).map(
      ({ creatingPods: _creating, deletingPods: _deleting, ...subset }) => subset,
    );
    return { ...reflected, ...omitEmpty({ subsetStatuses }) };
  },
  aggregateStatus(spread, items) {
    const subsetStatuses = addSubsets(items);
    return replaceStatus(spread, {
      observedGeneration: observedGenerationOf(spread, items),
      ...omitEmpty({ subsetStatuses }),
    });
  },
  /** Pods that do not fit into one subset are placed in the next, so a full subset is not a failure. */
  isHealthy(spread) {
    if (!isObject(spread.status) || !isObserved(spread)) return false;
    const subsets = subsetsIn(spread.status);
    return subsets.length === 0 || !subsets.every(isFull);
  },
};

/** The subsets of all members by name, in the order in which they are first reported. */
function addSubsets(items: readonly StatusItem[]): JsonObject[] {
  const byName = new Map<string, JsonObject>();
  for (const { status } of items) {
    for (const subset of isObject(status) ? subsetsIn(status) : []) {
      const name = textOf(subset["name"]);
      const sum = byName.get(name);
      byName.set(
        name,
        sum
          ? add(sum, subset)
          : {
              name,
              ...pods(countOf(subset["replicas"]), countOf(subset["missingReplicas"])),
              ...conditions(subset["conditions"]),
            },
      );
    }
  }
  return [...byName.values()];
}

function add(sum: JsonObject, subset: JsonObject): JsonObject {
  const [left, right] = [countOf(sum["missingReplicas"]), countOf(subset["missingReplicas"])];
  const missing = left === NO_LIMIT || right === NO_LIMIT ? NO_LIMIT : left + right;
  // A subset that is full on any member is shown as full.
  return {
    ...sum,
    ...pods(countOf(sum["replicas"]) + countOf(subset["replicas"]), missing),
    ...conditions(isFull(subset) ? subset["conditions"] : undefined),
  };
}

const pods = (replicas: number, missingReplicas: number): JsonObject => ({ replicas, missingReplicas });
const conditions = (value: Json | undefined): JsonObject =>
  Array.isArray(value) && value.length > 0 ? { conditions: value } : {};

function subsetsIn(status: DeepReadonly<JsonObject> | undefined): JsonObject[] {
  const subsets = status?.["subsetStatuses"];
  return Array.isArray(subsets) ? subsets.filter(isObject) : [];
}

function isFull({ conditions: own }: JsonObject): boolean {
  return (
    Array.isArray(own) && own.filter(isObject).some(({ type, status }) => type === "Schedulable" && status === "False")
  );
}
