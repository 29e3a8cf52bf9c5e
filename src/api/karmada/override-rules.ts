/** Defaults and rules of OverridePolicy and ClusterOverridePolicy. What the override stage does not carry out is refused. */
import type { DeepReadonly } from "../../base/index.ts";
import { annotationKeyProblem, labelKeyProblem, labelValueProblem, type FieldError } from "../../machinery/index.ts";
import { forbiddenField, notSupportedYet, wrong } from "../field-errors.ts";
import { change } from "../fill.ts";
import type { ClusterOverridePolicy, LabelAnnotationOverrider, OverridePolicy, Overriders } from "../facts/policy-karmada-v1alpha1.ts";
import { checkClusterAffinity } from "./cluster-affinity-rules.ts";
import { checkSelectors, inNamespace } from "./policy-rules.ts";

type Read<T> = DeepReadonly<T>;

export function completeOverridePolicy(policy: Read<OverridePolicy>): Read<OverridePolicy> {
  const { namespace } = policy.metadata;
  if (namespace === undefined) return policy;
  return change(policy, "spec", (spec) => change(spec, "resourceSelectors", (selectors) => inNamespace(selectors, namespace)));
}

export function checkOverridePolicy({ metadata, spec }: Read<OverridePolicy | ClusterOverridePolicy>): FieldError[] {
  const errors = checkSelectors(spec.resourceSelectors ?? [], metadata.namespace);
  for (const field of ["targetCluster", "overriders"] as const) {
    if (spec[field]) errors.push(forbiddenField(`spec.${field}`, "deprecated and not supported by Flotilla yet; state it in spec.overrideRules"));
  }
  for (const [index, { targetCluster, overriders }] of (spec.overrideRules ?? []).entries()) {
    const at = `spec.overrideRules[${index}]`;
    if (targetCluster) errors.push(...checkClusterAffinity(`${at}.targetCluster`, targetCluster));
    errors.push(...checkOverriders(`${at}.overriders`, overriders));
  }
  return errors;
}

function checkOverriders(at: string, overriders: Read<Overriders>): FieldError[] {
  const errors: FieldError[] = [];
  if ((overriders.fieldOverrider?.length ?? 0) > 0) errors.push(notSupportedYet(`${at}.fieldOverrider`));
  for (const [index, { predicate }] of (overriders.imageOverrider ?? []).entries()) {
    if (predicate && !predicate.path.startsWith("/")) errors.push(wrong(`${at}.imageOverrider[${index}].predicate.path`, predicate.path, "path must start with '/'"));
  }
  for (const [index, item] of (overriders.labelsOverrider ?? []).entries()) errors.push(...checkEntries(`${at}.labelsOverrider[${index}].value`, item, labelKeyProblem, labelValueProblem));
  for (const [index, item] of (overriders.annotationsOverrider ?? []).entries()) errors.push(...checkEntries(`${at}.annotationsOverrider[${index}].value`, item, annotationKeyProblem));
  return errors;
}

type Problem = (text: string) => string | undefined;

function checkEntries(at: string, { value }: Read<LabelAnnotationOverrider>, keyProblem: Problem, valueProblem: Problem = () => undefined): FieldError[] {
  return Object.entries(value).flatMap(([key, text]) => {
    const problems = [
      [key, keyProblem(key)],
      [text, valueProblem(text)],
    ] as const;
    return problems.flatMap(([shown, problem]) => (problem ? [wrong(at, shown, problem)] : []));
  });
}
