/** The pod webhook of PersistentPodStates. */
import { controllerOf } from "@flotilla/apimachinery";
import type { Admission } from "@flotilla/apimachinery";
import { Pod } from "@flotilla/kubernetes";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { isPodInScope } from "../api/webhook-scope.ts";
import { PersistentPodState } from "./persistentpodstate-kind.ts";
import { returnPod } from "./return-pod.ts";
import { targetKindOf } from "./targets.ts";
import { isSameTarget } from "../workloadspread/spread-targets.ts";

export function createPodStateAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "PersistentPodState",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, subresource, read } = review;
      const owner = controllerOf(object);
      if (subresource !== undefined || !owner || !targetKindOf(owner) || !isPodInScope(review, options)) return object;
      const state = read
        .list(PersistentPodState, object.metadata.namespace)
        .find((one) => one.metadata.deletionTimestamp === undefined && isSameTarget(one.spec.targetRef, owner));
      return state ? returnPod(object, state) : object;
    },
  };
}
