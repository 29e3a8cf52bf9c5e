import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { DeploymentSpec } from "@flotilla/apimachinery/facts/apps-v1.ts";
import { checkPodTemplate } from "../pod/pod-validation.ts";
import { checkOwnSelector, checkSelects, isEmpty } from "../workloads/workload-rules.ts";

/**
 * The selector and template rules that Deployments and ReplicaSets share. A template that already passed is not checked
 * again.
 */
export function checkSelectedTemplate(
  errors: FieldError[],
  { selector, template }: DeepReadonly<Pick<DeploymentSpec, "selector"> & Partial<Pick<DeploymentSpec, "template">>>,
  settled: boolean,
): void {
  if (!checkOwnSelector(errors, selector, "deployment")) {
    errors.push(field.invalid("spec.selector", selector, "invalid label selector"));
    return;
  }
  if (!selector || !isEmpty(selector)) checkSelects(errors, "spec.template", selector, template);
  if (!settled) errors.push(...checkPodTemplate("spec.template", template ?? {}));
}
