/** Defaults and validation of OverridePolicy and ClusterOverridePolicy, as in Karmada's webhooks. */
import type { DeepReadonly, Json } from "@flotilla/base";
import {
  annotationKeyProblems,
  annotationsAreTooLong,
  change,
  checkLabels,
  checkText,
  field,
  MAX_ANNOTATIONS_BYTES,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  ClusterOverridePolicy,
  FieldOverrider,
  JSONPatchOperation,
  OverridePolicy,
  Overriders,
  YAMLPatchOperation,
} from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { affinityWarnings, checkClusterAffinity } from "../selection/cluster-affinity-rules.ts";
import { checkSelectors, inNamespace, selectorWarnings } from "../selection/selector-rules.ts";

type Read<T> = DeepReadonly<T>;
type Policy = Read<OverridePolicy | ClusterOverridePolicy>;

export function completeOverridePolicy(policy: Read<OverridePolicy>): Read<OverridePolicy> {
  const { namespace } = policy.metadata;
  if (namespace === undefined) return policy;
  return change(policy, "spec", (spec) =>
    change(spec, "resourceSelectors", (selectors) => inNamespace(selectors, namespace)),
  );
}

export function checkOverridePolicy({ metadata, spec }: Policy): FieldError[] {
  const { targetCluster, overriders, overrideRules, resourceSelectors = [] } = spec;
  const errors = checkClusterAffinity("spec.targetCluster", targetCluster);
  if (overrideRules) {
    if (targetCluster)
      errors.push(field.invalid("spec.targetCluster", targetCluster, "overrideRules and targetCluster can't co-exist"));
    if (!isEmpty(overriders))
      errors.push(field.invalid("spec.overriders", overriders, "overrideRules and overriders can't co-exist"));
  }
  const ofRules = (overrideRules ?? []).flatMap((rule, index) => {
    const at = `spec.overrideRules[${index}]`;
    return [
      ...checkOverriders(`${at}.overriders`, rule.overriders),
      ...checkClusterAffinity(`${at}.targetCluster`, rule.targetCluster),
    ];
  });
  return [...errors, ...ofRules, ...checkSelectors(resourceSelectors, metadata.namespace)];
}

/** Karmada does not check `fieldOverrider` here, so it accepts policies of which one half is ignored. */
function isEmpty(overriders: Read<Overriders> | undefined): boolean {
  return Object.values(overriders ?? {}).every((list) => !list?.length);
}

function checkOverriders(at: string, overriders: Read<Overriders>): FieldError[] {
  const { annotationsOverrider = [], labelsOverrider = [], imageOverrider = [], fieldOverrider = [] } = overriders;
  return [
    ...annotationsOverrider.flatMap(({ value }, index) =>
      checkAnnotations(`${at}.annotationsOverrider[${index}].value`, value),
    ),
    ...labelsOverrider.flatMap(({ value }, index) => checkLabels(`${at}.labelsOverrider[${index}].value`, value)),
    ...imageOverrider.flatMap(({ predicate }, index) =>
      predicate ? checkPointer(`${at}.imageOverrider[${index}].predicate.path`, predicate.path) : [],
    ),
    ...fieldOverrider.flatMap((overrider, index) => checkFieldOverrider(`${at}.fieldOverrider[${index}]`, overrider)),
  ];
}

function checkAnnotations(path: string, annotations: Readonly<Record<string, string>>): FieldError[] {
  return [
    ...Object.keys(annotations).flatMap((key) => checkText(path, key, annotationKeyProblems)),
    ...(annotationsAreTooLong(annotations) ? [field.tooLong(path, MAX_ANNOTATIONS_BYTES)] : []),
  ];
}

/**
 * The message of the library that Karmada parses pointers with, including an unclosed quotation mark and a line break.
 */
const POINTER_RULE = 'JSON pointer must be empty or start with a "/\nJSON pointer error';

function checkPointer(at: string, path: string): FieldError[] {
  return path === "" || path.startsWith("/") ? [] : [field.invalid(at, path, POINTER_RULE)];
}

function checkFieldOverrider(at: string, overrider: Read<FieldOverrider>): FieldError[] {
  const { fieldPath, json = [], yaml = [] } = overrider;
  const errors: FieldError[] = [];
  if (json.length > 0 && yaml.length > 0)
    errors.push(field.invalid(at, overrider, "FieldOverrider has both YAML and JSON set. Only one is allowed"));
  if (json.length + yaml.length === 0)
    errors.push(field.required(at, "FieldOverrider must have either JSON or YAML set"));
  return [
    ...errors,
    ...checkPointer(`${at}.fieldPath`, fieldPath),
    ...json.flatMap((patch, index) => checkPatch(`${at}.json[${index}]`, patch)),
    ...yaml.flatMap((patch, index) => checkPatch(`${at}.yaml[${index}]`, patch)),
  ];
}

function checkPatch(
  at: string,
  { subPath, operator, value = null }: Read<JSONPatchOperation | YAMLPatchOperation>,
): FieldError[] {
  return [...checkPointer(`${at}.subPath`, subPath), ...checkValue(`${at}.value`, operator, value)];
}

/** Karmada cannot distinguish null from an absent value. */
function checkValue(path: string, operator: string, value: Read<Json>): FieldError[] {
  if (operator === "remove")
    return value === null ? [] : [field.invalid(path, value, "value is not allowed for remove operation")];
  return value === null ? [field.invalid(path, value, "value is required for add or replace operation")] : [];
}

export function overrideWarnings({ metadata, spec }: Policy): string[] {
  const { targetCluster, overriders, overrideRules = [], resourceSelectors = [] } = spec;
  return [
    ...selectorWarnings(resourceSelectors, {
      namespace: metadata.namespace,
      canonicalKind: "ClusterOverridePolicy",
      selectsClusterScoped: false,
    }),
    ...(targetCluster || !isEmpty(overriders)
      ? ["spec.targetCluster and spec.overriders are deprecated; the canonical form is spec.overrideRules"]
      : []),
    ...affinityWarnings("spec.targetCluster", targetCluster),
    ...overrideRules.flatMap((rule, index) =>
      affinityWarnings(`spec.overrideRules[${index}].targetCluster`, rule.targetCluster),
    ),
  ];
}
