/** Pod templates and claims in OpenKruise's kinds: defaults, validation, and in-place updates. */
import { equalJson, isObject, skipSound, type DeepReadonly, type Json, defined, omitZero } from "@flotilla/base";
import {
  change,
  changeItems,
  checkLabels,
  checkSelector,
  decodedPart,
  field,
  fill,
  labelSelectorOf,
  matchesLabels,
} from "@flotilla/apimachinery";
import type { FieldError, Review } from "@flotilla/apimachinery";
import {
  checkAnnotationKeys,
  checkPodAnnotations,
  checkTemplate,
  roundAmounts,
  templateDefaults,
} from "@flotilla/kubernetes";
import type { PersistentVolumeClaim, PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { isHub } from "./webhook.ts";
import type { FeatureGates } from "./feature-gates.ts";

type Read<T> = DeepReadonly<T>;
type Template = Read<PodTemplateSpec>;

/**
 * Containers default to Always regardless of the tag: an in-place update must not start an image that a node happens to
 * have cached.
 */
const ALWAYS = { pullPolicy: "Always" } as const;
export const completeTemplate = templateDefaults({ ...ALWAYS, outerLayer: true });
const withDefaults = templateDefaults(ALWAYS);

/** Templates are defaulted only when they are new, so that a stored template does not change under its workload. */
export function completesTemplate(
  template: unknown,
  oldObject: { readonly spec?: { readonly template?: unknown } } | undefined,
  gates: FeatureGates,
): boolean {
  return !gates.isOn("TemplateNoDefaults") && !(oldObject && equalJson(template, oldObject.spec?.template));
}

export const completeClaims = (
  claims: readonly Read<PersistentVolumeClaim>[],
): readonly Read<PersistentVolumeClaim>[] =>
  changeItems<PersistentVolumeClaim>(claims, (claim) => {
    const phased = change(fill(claim, { status: {} }), "status", (status) =>
      change(fill(status, { phase: "Pending" }), "capacity", roundAmounts),
    );
    return change(phased, "spec", (spec) =>
      change(spec, "resources", (resources) =>
        change(change(resources, "limits", roundAmounts), "requests", roundAmounts),
      ),
    );
  });

/** Parts that the CRDs of workloads leave open. */
export const OPEN_TEMPLATES = {
  template: "core-v1.PodTemplateSpec",
  volumeClaimTemplates: "core-v1.PersistentVolumeClaim",
} as const;

interface Templated {
  readonly template?: Template;
  readonly volumeClaimTemplates?: readonly Read<PersistentVolumeClaim>[];
}

/** Decodes the open parts of a spec that has no fact table. */
export function decodeTemplates<S extends Templated>(spec: S, refusal: (problem: string) => Error): S {
  const read = (name: string, value: unknown): Json =>
    isObject(value) ? decodedPart("core-v1", name, value, refusal) : (value as Json);
  const template = spec.template === undefined ? undefined : read("PodTemplateSpec", spec.template);
  const claims = Array.isArray(spec.volumeClaimTemplates)
    ? spec.volumeClaimTemplates.map((claim: unknown) => read("PersistentVolumeClaim", claim))
    : undefined;
  const isSame =
    template === spec.template &&
    (claims ?? []).every((claim, index) => claim === (spec.volumeClaimTemplates as unknown[])[index]);
  return isSame ? spec : { ...spec, ...defined({ template }), ...omitZero({ volumeClaimTemplates: claims }) };
}

/** On the hub, a workload without a selector gets the labels of its pods. Users expect it; a warning is returned. */
export function completeSelector<S extends { readonly selector?: Read<LabelSelector> }>(
  spec: S,
  labels: Readonly<Record<string, string>> | undefined,
  labelsAt: string,
  review: Pick<Review<unknown>, "cluster" | "warn">,
): S {
  if (spec.selector || !isHub(review) || !isObject(labels) || Object.keys(labels).length === 0) return spec;
  review.warn(`spec.selector is missing and was taken from ${labelsAt}; write it as spec.selector.matchLabels`);
  return { ...spec, selector: { matchLabels: labels } };
}

/** An absent selector becomes null, as the webhook writes a nil pointer; the CRD schema then rejects it. */
export function withSelector<T extends { readonly spec?: { readonly selector?: unknown } }>({
  object,
  subresource,
}: {
  object: T;
  subresource?: string;
}): T {
  return subresource !== undefined || object.spec?.selector !== undefined
    ? object
    : { ...object, spec: { ...object.spec, selector: null } };
}

export const isEmptySelector = ({ matchLabels, matchExpressions }: Read<LabelSelector>): boolean =>
  Object.keys(matchLabels ?? {}).length + (matchExpressions?.length ?? 0) === 0;

/** Validates the selector of a workload; returns true when it can be used for matching. */
export function checkOwnSelector(
  errors: FieldError[],
  selector: Read<LabelSelector> | undefined,
  workload: string,
): boolean {
  if (!selector) {
    errors.push(field.required("spec.selector"));
    return true;
  }
  const problems = checkSelector("spec.selector", selector);
  errors.push(...problems);
  if (isEmptySelector(selector))
    errors.push(field.invalid("spec.selector", selector, `empty selector is invalid for ${workload}`));
  if (problems.length === 0) return true;
  errors.push(field.invalid("spec.selector", selector));
  return false;
}

/** An empty selector is reported once, and not again for the pods it selects. */
export function checkSelects(
  errors: FieldError[],
  at: string,
  selector: Read<LabelSelector> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
  skipsEmpty = true,
): void {
  if (skipsEmpty && selector && isEmptySelector(selector)) return;
  if (!matchesLabels(labelSelectorOf(selector), labels))
    errors.push(field.invalid(at, labels, "`selector` does not match template `labels`"));
}

/** Validates the template as a pod template, with the claims of its pods as volumes. */
export function checkOwnTemplate(
  errors: FieldError[],
  at: string,
  template: Template,
  claims: readonly Read<PersistentVolumeClaim>[] = [],
): void {
  if (claims.length === 0) for (const error of checkBareTemplate(template, at)) errors.push(error);
  else {
    const volumes = claims.map(({ metadata }) => ({
      name: metadata?.name ?? "",
      persistentVolumeClaim: { claimName: metadata?.name ?? "" },
    }));
    checkTemplate(
      errors,
      at,
      change(withDefaults(template), "spec", (spec) => ({ ...spec, volumes: [...(spec.volumes ?? []), ...volumes] })),
    );
  }
}

const checkBareTemplate = skipSound((template: Template, at): FieldError[] => {
  const errors: FieldError[] = [];
  checkTemplate(errors, at, withDefaults(template));
  return errors;
});

/**
 * For StatefulSets upstream validates only the metadata of the template, and leaves the pods to the server that creates
 * them.
 */
export function checkTemplateMetadata(
  errors: FieldError[],
  at: string,
  template: Template,
  selector: Read<LabelSelector> | undefined,
): void {
  const { labels, annotations } = template.metadata ?? {};
  checkSelects(errors, `${at}.metadata.labels`, selector, labels);
  errors.push(...checkLabels(`${at}.labels`, labels));
  checkAnnotationKeys(errors, `${at}.annotations`, annotations);
  checkPodAnnotations(errors, `${at}.annotations`, annotations, template.spec ?? { containers: [] });
}

/** Pods that a workload replaces must not terminate on their own. */
export function checkTemplateNeverTerminates(
  errors: FieldError[],
  at: string,
  template: Template | undefined,
  workload: string,
): void {
  const { restartPolicy = "Always", activeDeadlineSeconds } = template?.spec ?? {};
  if (restartPolicy !== "Always")
    errors.push(field.notSupported(`${at}.spec.restartPolicy`, restartPolicy, ["Always"]));
  if (activeDeadlineSeconds !== undefined)
    errors.push(
      field.forbidden(`${at}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${workload} is not Supported`),
    );
}

/** True when the template is the same one that passed before. */
export function hasSettledTemplate<T extends { readonly spec?: { readonly template?: unknown } }>({
  object,
  settled,
}: {
  object: T;
  settled?: T;
}): boolean {
  return settled?.spec?.template !== undefined && settled.spec.template === object.spec?.template;
}

const IMAGE = /^\/containers\/\d+\/image$/;

/** The first difference between two pod specs that an in-place update cannot apply: `add /containers/0/env`. */
export function changeBeyondImages(
  before: Read<PodTemplateSpec>["spec"],
  after: Read<PodTemplateSpec>["spec"],
): string | undefined {
  for (const [operation, path] of differences((before ?? {}) as Json, (after ?? {}) as Json, "")) {
    if (operation !== "replace" || !IMAGE.test(path)) return `${operation} ${path}`;
  }
  return undefined;
}

const pathTo = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The operations of a JSON patch from one value to the other. */
function* differences(before: Json, after: Json, path: string): Generator<[operation: string, path: string]> {
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(after)) {
      if (before[key] === undefined) yield ["add", pathTo(path, key)];
      else yield* differences(before[key], after[key] ?? null, pathTo(path, key));
    }
    for (const key of Object.keys(before)) if (after[key] === undefined) yield ["remove", pathTo(path, key)];
  } else if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length < after.length) yield ["add", pathTo(path, before.length)];
    else if (before.length > after.length) yield ["remove", pathTo(path, after.length)];
    else
      for (const [index, item] of after.entries()) yield* differences(before[index] ?? null, item, pathTo(path, index));
  } else if (!equalJson(before, after)) yield ["replace", path];
}
