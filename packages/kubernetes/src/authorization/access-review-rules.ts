/** The rules that the three access reviews share. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, field, labelKeyProblems, labelValueProblems } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from "@flotilla/apimachinery/facts/authorization-v1.ts";

type Spec = DeepReadonly<
  Pick<SubjectAccessReviewSpec, "resourceAttributes" | "nonResourceAttributes" | "user" | "groups">
>;

/** `asksForOthers`: the review must name a user or group. */
export function checkAccessReview(spec: Spec, asksForOthers: boolean): FieldError[] {
  const { resourceAttributes, nonResourceAttributes, user = "", groups = [] } = spec;
  const errors: FieldError[] = [];
  if (resourceAttributes && nonResourceAttributes)
    errors.push(
      field.invalid(
        "spec.nonResourceAttributes",
        shown(nonResourceAttributes),
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  if (!resourceAttributes && !nonResourceAttributes)
    errors.push(
      field.invalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    );
  if (asksForOthers && user === "" && groups.length === 0)
    errors.push(field.invalid("spec.user", user, "at least one of user or group must be specified"));
  if (resourceAttributes) errors.push(...checkSelectors(resourceAttributes));
  return errors;
}

/** A local review checks access in its own namespace. */
export function checkLocalAttributes(
  { resourceAttributes, nonResourceAttributes }: Spec,
  namespace: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const asked = resourceAttributes?.namespace ?? "";
  if (resourceAttributes && asked !== namespace)
    errors.push(field.invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  if (nonResourceAttributes)
    errors.push(
      field.invalid("spec.nonResourceAttributes", shown(nonResourceAttributes), "disallowed on this kind of request"),
    );
  return errors;
}

/** The form that the real server prints, with the names of its Go type. */
function shown({ path = "", verb = "" }: DeepReadonly<NonResourceAttributes>): { Path: string; Verb: string } {
  return { Path: path, Verb: verb };
}

function checkSelectors({ fieldSelector, labelSelector }: DeepReadonly<ResourceAttributes>): FieldError[] {
  const at = "spec.resourceAttributes";
  const errors: FieldError[] = [];
  if (fieldSelector) {
    errors.push(...checkForm(`${at}.fieldSelector`, fieldSelector));
    for (const [index, { key = "", operator = "", values = [] }] of (fieldSelector.requirements ?? []).entries()) {
      const place = `${at}.fieldSelector.requirements[${index}]`;
      if (key === "") errors.push(field.required(`${place}.key`, "must be specified"));
      errors.push(...checkValues(place, operator, values));
    }
  }
  if (labelSelector) {
    errors.push(...checkForm(`${at}.labelSelector`, labelSelector));
    for (const [index, { key = "", operator = "", values = [] }] of (labelSelector.requirements ?? []).entries()) {
      const place = `${at}.labelSelector.requirements[${index}]`;
      errors.push(...checkValues(place, operator, values), ...checkText(`${place}.key`, key, labelKeyProblems));
      errors.push(
        ...values.flatMap((value, position) => checkText(`${place}.values[${position}]`, value, labelValueProblems)),
      );
    }
  }
  return errors;
}

function checkForm(
  path: string,
  { rawSelector = "", requirements = [] }: DeepReadonly<FieldSelectorAttributes | LabelSelectorAttributes>,
): FieldError[] {
  if (rawSelector !== "" && requirements.length > 0)
    return [field.invalid(`${path}.rawSelector`, rawSelector, "may not specified at the same time as requirements")];
  return rawSelector === "" && requirements.length === 0
    ? [field.required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`)]
    : [];
}

/** Operators unknown to this version are left to the authorizer. */
function checkValues(path: string, operator: string, values: readonly string[]): FieldError[] {
  if ((operator === "In" || operator === "NotIn") && values.length === 0)
    return [field.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0)
    return [field.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}
