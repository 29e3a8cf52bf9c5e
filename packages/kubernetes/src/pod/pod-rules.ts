/** Defaults and validation of Pod. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { completePod } from "./pod-defaults.ts";
import { checkEphemeralContainersUpdate } from "./pod-ephemeral.ts";
import { preparePod } from "./pod-prepare.ts";
import { checkResize } from "./pod-resize.ts";
import { checkPodStatus, completePodStatus } from "./pod-status-update.ts";
import { checkPodUpdate } from "./pod-update.ts";
import { checkNewPod } from "./pod-validation.ts";
import { hostnameWarning, podWarnings } from "./pod-warnings.ts";
import { Pod } from "./pod-kind.ts";

/**
 * Whether validating this new pod would produce the same result as its sibling. Only the names of ephemeral volume
 * claims depend on the pod's own name.
 */
function hasSameValidation({ metadata, spec }: DeepReadonly<Pod>, sibling: DeepReadonly<Pod>): boolean {
  return (
    spec === sibling.spec &&
    metadata.annotations === sibling.metadata.annotations &&
    !spec.volumes?.some(({ ephemeral }) => ephemeral)
  );
}

function checkWrite(review: Review<Pod>): FieldError[] {
  const { object, oldObject, subresource, byController, settled, sibling } = review;
  if (!oldObject) return sibling && hasSameValidation(object, sibling) ? [] : checkNewPod(object);
  if (subresource === "ephemeralcontainers") return checkEphemeralContainersUpdate(object, oldObject);
  return subresource === "resize"
    ? checkResize(object, oldObject)
    : checkPodUpdate(object, oldObject, { mayPlace: byController === true, settled });
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Pod, "core-v1", {
    complete: completePod,
    prepare: preparePod,
    validate: checkWrite,
    completeStatus: (pod, { oldObject }) => completePodStatus(pod, oldObject),
    validateStatus: ({ object, oldObject }) => (oldObject ? checkPodStatus(object, oldObject) : []),
    warnings: ({ operation, object: { metadata, spec } }) =>
      operation === "CREATE"
        ? [
            ...hostnameWarning(metadata.name, "the Pod's hostname"),
            ...podWarnings("", spec, metadata.annotations, false),
          ]
        : [],
  }),
];
