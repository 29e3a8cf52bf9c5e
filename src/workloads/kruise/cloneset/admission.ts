/**
 * What a CloneSet may not ask of a simulated member, because the simulation does not do it: refused when it is written,
 * rather than accepted and ignored. Real members run OpenKruise itself and know all of it, and the hub only passes it on.
 */
import { CloneSet } from "../../../api/index.ts";
import type { Admission } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import type { FieldError } from "../../../machinery/index.ts";

const LAUNCH_PRIORITY_ENV = "KRUISE_CONTAINER_PRIORITY";
const LAUNCH_PRIORITY_ANNOTATION = "apps.kruise.io/container-launch-priority";

/** `isSimulated` says of a logical cluster whether its workloads run in the simulation. */
export function createCloneSetAdmission(isSimulated: (cluster: string) => boolean): Admission<CloneSet> {
  return {
    for: CloneSet,
    on: ["CREATE", "UPDATE"],
    validate: ({ cluster, object, subresource }) => (subresource === undefined && isSimulated(cluster) ? unsupportedFields(object) : []),
  };
}

export function unsupportedFields({ spec }: DeepReadonly<CloneSet>): FieldError[] {
  const { lifecycle, volumeClaimTemplates, template, updateStrategy } = spec;
  const rolling = updateStrategy?.rollingUpdate;
  const inPlace = rolling?.inPlaceUpdateStrategy;
  const at = "spec.updateStrategy.rollingUpdate";
  const asked: [field: string, isSet: boolean, what: string][] = [
    ["spec.lifecycle", hasKeys(lifecycle), "lifecycle hooks"],
    ["spec.volumeClaimTemplates", (volumeClaimTemplates?.length ?? 0) > 0, "volume claims"],
    [`${at}.inPlaceUpdateStrategy.gracePeriodSeconds`, (inPlace?.gracePeriodSeconds ?? 0) > 0, "a grace period of in-place updates"],
    [`${at}.inPlaceUpdateStrategy.imagePreDownloadParallelism`, inPlace?.imagePreDownloadParallelism !== undefined, "image pre-download"],
    [`${at}.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds`, inPlace?.imagePreDownloadTimeoutSeconds !== undefined, "image pre-download"],
    [`${at}.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods`, inPlace?.imagePreDownloadMinUpdatedReadyPods !== undefined, "image pre-download"],
    ["spec.template.metadata.annotations", template.metadata?.annotations?.[LAUNCH_PRIORITY_ANNOTATION] !== undefined, "container launch priorities"],
    ["spec.template.spec.containers", template.spec?.containers.some(({ env }) => env?.some(({ name }) => name === LAUNCH_PRIORITY_ENV)) ?? false, "container launch priorities"],
  ];
  return asked.filter(([, isSet]) => isSet).map(([field, , what]) => ({ type: "Forbidden", field, message: `Forbidden: a simulated member does not support ${what} of a CloneSet yet` }));
}

function hasKeys(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}
