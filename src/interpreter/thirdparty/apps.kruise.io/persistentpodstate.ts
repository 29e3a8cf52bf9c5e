/**
 * OpenKruise PersistentPodState: every member records where its own pods ran. The record is useful only there and grows
 * with the pods, so the hub reflects only the generation.
 */
import type { KubernetesObject } from "../../../api/index.ts";
import { isObject, type JsonObject } from "../../../base/index.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { isObserved } from "../../workload.ts";
import { aggregateFields, reflectFields } from "../counters.ts";

interface PersistentPodState extends KubernetesObject {
  status?: JsonObject;
}

export const persistentPodStateInterpreter: KindInterpreter<PersistentPodState> = {
  group: "apps.kruise.io",
  kind: "PersistentPodState",
  reflectStatus: (state) => reflectFields(state, []),
  aggregateStatus: (state, items) => aggregateFields(state, items, { counters: [] }),
  isHealthy: (state) => isObject(state.status) && isObserved(state),
};
