/**
 * Injects sidecars into pods on creation. Later changes of a set reach existing pods only through its controller, and
 * only for images.
 *
 * In a cluster without SidecarSets it costs one check of an empty list.
 */
import { ControllerRevision, Namespace, Pod, completePod } from "@flotilla/kubernetes";
import { SidecarSet } from "./sidecarset-kind.ts";
import { ApiError, canonicalObject, deniedByWebhook } from "@flotilla/apimachinery";
import type { Admission, Review } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isPodInScope } from "../api/webhook-scope.ts";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { injectSidecars } from "./inject.ts";
import { KRUISE_NAMESPACE, SidecarError } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";

/** Runs before launch priorities, which apply to sidecars too. `nowMs` reads the clock of the controllers. */
export function createSidecarSetAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "SidecarSetInjection",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, read, cluster, subresource } = review;
      if (subresource !== undefined || !options.appliesTo(cluster)) return object;
      const sets = read.written(SidecarSet);
      if (sets.length === 0 || !isPodInScope(review, options)) return object;
      const injected = inject(review, sets, options);
      // Injected containers get the same defaults as the pod's own containers.
      return injected === object ? object : completePod(canonicalObject<Pod>("core-v1", Pod.kind, injected));
    },
  };
}

function inject(
  { object, read, newUid }: Review<Pod>,
  sets: readonly ReadonlySidecarSet[],
  { gates, nowMs }: KruiseWebhookOptions,
): ReadonlyPod {
  try {
    return injectSidecars({
      pod: object,
      sets,
      labelsOf(namespace) {
        const found = read.get(Namespace, undefined, namespace);
        return found && (found.metadata.labels ?? {});
      },
      revisions: () => read.written(ControllerRevision, KRUISE_NAMESPACE),
      gates,
      // Eight random digits are enough for a percentage.
      chance: () => Number.parseInt(newUid().slice(0, 8), 16) / 2 ** 32,
      nowMs: nowMs(),
    });
  } catch (error) {
    if (error instanceof SidecarError) throw deniedByWebhook("mpod.kb.io", 500, error.message);
    if (error instanceof ApiError) throw deniedByWebhook("mpod.kb.io", 500, error.status.message ?? error.message);
    throw error;
  }
}
