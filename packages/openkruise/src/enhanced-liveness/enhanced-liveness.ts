/**
 * Enhanced liveness probes: OpenKruise's webhook takes the liveness probes out of pods that ask for it with an
 * annotation, and keeps them in another, so that kubelets do not restart their containers.
 */
import { controllerOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Admission } from "@flotilla/apimachinery";
import { Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { KruiseFeature, KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { isPodInScope } from "../api/webhook-scope.ts";

const ASKED_ANNOTATION = "apps.kruise.io/using-enhanced-liveness";
const KEPT_ANNOTATION = "apps.kruise.io/container-probe-context";

function createLivenessAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "EnhancedLiveness",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, subresource } = review;
      if (subresource !== undefined || object.metadata.annotations?.[ASKED_ANNOTATION] !== "true") return object;
      const owner = controllerOf(object);
      const isOfKruise = owner !== undefined && parseApiVersion(owner.apiVersion).group === "apps.kruise.io";
      return isOfKruise && isPodInScope(review, options) ? withoutLivenessProbes(object) : object;
    },
  };
}

function withoutLivenessProbes(pod: ReadonlyPod): ReadonlyPod {
  const kept = pod.spec.containers.flatMap(({ name, livenessProbe }) =>
    livenessProbe ? [{ name, livenessProbe }] : [],
  );
  if (kept.length === 0) return pod;
  const annotations = { ...pod.metadata.annotations, [KEPT_ANNOTATION]: JSON.stringify(kept) };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec, containers: pod.spec.containers.map(({ livenessProbe: _probe, ...container }) => container) },
  };
}

export const enhancedLiveness: KruiseFeature = {
  webhooks: (options) => (options.gates.isOn("EnhancedLivenessProbe") ? [createLivenessAdmission(options)] : []),
};
