/**
 * Admission of ResourceInterpreterCustomization: shorthand is expanded to the canonical form, scripts are checked, and
 * two customizations may not implement the same operation for the same target, except dependency interpretation.
 */
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { field, invalid } from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { checkCustomization } from "./check-customization.ts";
import type { CustomizationFindings } from "./check-customization.ts";
import { CUSTOMIZATION_RULES, scriptOf } from "./customization-rules.ts";
import type { Customization } from "./customization-rules.ts";
import { convertShorthand } from "./shorthand.ts";

const { group, kind } = ResourceInterpreterCustomization;

const canonical: Admission<ResourceInterpreterCustomization>["canonical"] = (sent, { stored, warn }) => {
  const { spec, metadata } = sent;
  const given = rulesIn(sent);
  if (!isObject(spec) || !given) return sent;
  const { rules, warnings, errors } = convertShorthand(given, stored && rulesIn(stored));
  if (errors.length > 0)
    throw invalid(
      group,
      kind,
      isObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "",
      errors,
    );
  for (const warning of warnings) warn(warning);
  return rules === given ? sent : { ...sent, spec: { ...spec, customizations: rules } };
};

function rulesIn({ spec }: DeepReadonly<JsonObject>): DeepReadonly<JsonObject> | undefined {
  const rules = isObject(spec) ? spec["customizations"] : undefined;
  return isObject(rules) ? rules : undefined;
}

/** Called twice per write, for errors and for warnings, with the same spec object. */
const findings = new WeakMap<object, CustomizationFindings>();

function findingsOf(customization: Customization): CustomizationFindings {
  let found = findings.get(customization.spec);
  if (!found) {
    found = checkCustomization(customization);
    findings.set(customization.spec, found);
  }
  return found;
}

/** Finds other customizations that implement one of the same operations for the same target. */
export function findConflicts(customization: Customization, others: readonly Customization[]): FieldError[] {
  const { name } = customization.metadata;
  const { apiVersion, kind: targetKind } = customization.spec.target;
  const competitors = others.filter(
    ({ metadata, spec: { target } }) =>
      metadata.name !== name && target.apiVersion === apiVersion && target.kind === targetKind,
  );
  return CUSTOMIZATION_RULES.flatMap(({ field: rule, operation }) => {
    if (operation === "InterpretDependency" || scriptOf(customization, rule) === undefined) return [];
    const competitor = competitors.find((other) => scriptOf(other, rule) !== undefined);
    if (!competitor) return [];
    const why = `conflicting with InterpreterOperation(${operation}) of existing ResourceInterpreterCustomization(${competitor.metadata.name})`;
    return [field.forbidden(`spec.customizations.${rule}`, why)];
  });
}

const admission: Admission<ResourceInterpreterCustomization> = {
  name: "ResourceInterpreterCustomizationRules",
  for: ResourceInterpreterCustomization,
  on: ["CREATE", "UPDATE"],
  reads: [ResourceInterpreterCustomization],
  canonical,
  validate({ object, settled, read }) {
    if (settled?.spec === object.spec) return [];
    return [...findingsOf(object).errors, ...findConflicts(object, read.list(ResourceInterpreterCustomization))];
  },
  warnings: ({ object, settled }) => (settled?.spec === object.spec ? [] : findingsOf(object).warnings),
};

export const interpreterAdmissions: readonly AnyAdmission[] = [admission];
