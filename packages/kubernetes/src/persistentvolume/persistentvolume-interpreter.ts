/** PersistentVolume: the member's controller writes the claim reference. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { reportedStatuses, withStatus } from "../interpreter/replica-status.ts";

interface PersistentVolume extends KubernetesObject {
  spec?: { claimRef?: JsonObject };
  status?: JsonObject;
}

/** The template shows the worst phase of any member. */
const PHASES = ["Failed", "Pending", "Available", "Bound", "Released"];

export const persistentVolumeInterpreter: KindInterpreter<PersistentVolume> = {
  group: "",
  kind: "PersistentVolume",
  retain(desired, observed) {
    const claimRef = observed.spec?.claimRef;
    return claimRef === undefined ? desired : { ...desired, spec: { ...desired.spec, claimRef } };
  },
  aggregateStatus(volume, items) {
    const statuses = reportedStatuses(items);
    const phases = new Set<Json | undefined>(statuses.length < items.length ? ["Pending"] : []);
    for (const { phase } of statuses) phases.add(phase);
    const phase = PHASES.find((each) => phases.has(each));
    return withStatus(volume, phase ? { phase } : {});
  },
};
