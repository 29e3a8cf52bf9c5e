/**
 * Injects sidecars into pods as they are created. Whatever a set becomes later reaches pods that are there only through
 * its controller, and only as far as images go.
 *
 * Costs a look at an empty list where a cluster has no SidecarSets.
 */
import { Pod, canonicalObject, completePod } from "../../../api/index.ts";
import type { Admission, Namespace, Review } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { ApiError, deniedByWebhook } from "../../../machinery/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { ReadonlyRevision } from "../../revisions/pod-template-data.ts";
import { isPodInScope } from "../scope.ts";
import type { KruiseAdmissionOptions } from "../scope.ts";
import { injectSidecars } from "./inject.ts";
import { KRUISE_NAMESPACE, SidecarError } from "./names.ts";
import type { ReadonlySidecarSet } from "./names.ts";

/** Before launch priorities, which sidecars have too. `nowMs` reads the clock of the controllers. */
export function createSidecarSetAdmission(options: KruiseAdmissionOptions & { nowMs(): number }): Admission<Pod> {
  return {
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { object, read, cluster, subresource } = review;
      if (subresource !== undefined || !options.appliesTo(cluster)) return object;
      const sets = read.written("apps.kruise.io", "sidecarsets") as unknown as ReadonlySidecarSet[];
      if (sets.length === 0 || !isPodInScope(review, options)) return object;
      const injected = inject(review, sets, options);
      // What was added gets the defaults that the pod's own containers have by now.
      return injected === object ? object : completePod(canonicalObject<Pod>("core-v1", Pod.kind, injected));
    },
  };
}

function inject(
  { object, read, newUid }: Review<Pod>,
  sets: readonly ReadonlySidecarSet[],
  { gates, nowMs }: KruiseAdmissionOptions & { nowMs(): number },
): ReadonlyPod {
  try {
    return injectSidecars({
      pod: object,
      sets,
      labelsOf(namespace) {
        const found = read.get("", "namespaces", undefined, namespace) as unknown as
          | DeepReadonly<Namespace>
          | undefined;
        return found && (found.metadata.labels ?? {});
      },
      revisions: () => read.written("apps", "controllerrevisions", KRUISE_NAMESPACE) as unknown as ReadonlyRevision[],
      gates,
      // Eight digits of chance are plenty for a percentage.
      chance: () => Number.parseInt(newUid().slice(0, 8), 16) / 2 ** 32,
      nowMs: nowMs(),
    });
  } catch (error) {
    if (error instanceof SidecarError) throw deniedByWebhook("mpod.kb.io", 500, error.message);
    if (error instanceof ApiError) throw deniedByWebhook("mpod.kb.io", 500, error.status.message ?? error.message);
    throw error;
  }
}
