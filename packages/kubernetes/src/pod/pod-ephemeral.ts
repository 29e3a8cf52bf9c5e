/** `pods/ephemeralcontainers`: containers for debugging a running pod. They can only be added. */
import { MIRROR_POD_ANNOTATION } from "../well-known-names.ts";
import { changedFields, field } from "@flotilla/apimachinery";
import type { FieldError, SpecPart } from "@flotilla/apimachinery";
import { equalJson, type DeepReadonly, defined } from "@flotilla/base";
import type { Pod } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkImmutableAnnotations } from "./pod-update.ts";
import { checkPod } from "./pod-validation.ts";

type ReadPod = DeepReadonly<Pod>;

export const ephemeralContainersPart: SpecPart = {
  take(sent, stored) {
    const { ephemeralContainers: _, ...rest } = stored;
    return {
      ...rest,
      ...defined({ ephemeralContainers: sent.ephemeralContainers }),
    };
  },
};

export function checkEphemeralContainersUpdate(pod: ReadPod, old: ReadPod): FieldError[] {
  // The file of a static pod determines its mirror pod.
  if (Object.hasOwn(old.metadata.annotations ?? {}, MIRROR_POD_ANNOTATION))
    return [field.forbidden("[]", "static pods do not support ephemeral containers")];
  const errors: FieldError[] = [];
  checkPod(errors, pod);
  checkImmutableAnnotations(errors, pod, old);
  const containers = new Map((pod.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const before of old.spec.ephemeralContainers ?? []) {
    const now = containers.get(before.name);
    const existing = `existing ephemeral containers ${JSON.stringify(before.name)} may not be`;
    if (!now) errors.push(field.forbidden("spec.ephemeralContainers", `${existing} removed\n`));
    else if (!equalJson(now, before))
      errors.push(field.forbidden("spec.ephemeralContainers", `${existing} changed${changedFields(before, now)}`));
  }
  return errors;
}
