/**
 * OpenKruise PersistentPodState: every member records where its own pods ran. The record is useful only there and grows
 * with the pods, so the hub reflects only the generation.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject } from "@flotilla/base";
import { aggregateFields, isObserved, reflectFields } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { concernOf, type ConcernedFields } from "../interpreter/concern.ts";

interface PersistentPodState extends KubernetesObject {
  spec?: Pick<ConcernedFields, "targetRef">;
  status?: JsonObject;
}

export const persistentPodStateInterpreter: KindInterpreter<PersistentPodState> = {
  group: "apps.kruise.io",
  kind: "PersistentPodState",
  changesNewPods: true,
  concerns: ({ spec }) => concernOf(spec),
  reflectStatus: (state) => reflectFields(state, []),
  aggregateStatus: (state, items) => aggregateFields(state, items, { counters: [] }),
  isHealthy: (state) => isObject(state.status) && isObserved(state),
};
