/** Validates device taints, tolerations and binding conditions. */
import { checkText, field, labelKeyProblems, labelValueProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { DeviceTaint, DeviceToleration } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkList } from "./device-names.ts";

const EFFECTS = ["NoExecute", "NoSchedule", "None"];
const OPERATORS = ["Equal", "Exists"];
const MAX_BINDING_CONDITIONS = 4;

export function checkTaint(at: string, taint: Sent<DeviceTaint>): FieldError[] {
  const { key = "", value = "" } = taint;
  const effect: string = taint.effect ?? "";
  const errors = checkText(`${at}.key`, key, labelKeyProblems);
  if (value !== "") errors.push(...checkText(`${at}.value`, value, labelValueProblems));
  if (effect === "") errors.push(field.required(`${at}.effect`));
  else if (!EFFECTS.includes(effect)) errors.push(field.notSupported(`${at}.effect`, effect, EFFECTS));
  return errors;
}

export function checkTolerations(at: string, tolerations: readonly Sent<DeviceToleration>[]): FieldError[] {
  return tolerations.flatMap((toleration, index) => checkToleration(`${at}[${index}]`, toleration));
}

function checkToleration(at: string, toleration: Sent<DeviceToleration>): FieldError[] {
  const { key = "", value = "" } = toleration;
  const operator: string = toleration.operator ?? "";
  const effect: string = toleration.effect ?? "";
  const errors = key === "" ? [] : checkText(`${at}.key`, key, labelKeyProblems);
  if (operator === "Exists") {
    if (value !== "") errors.push(field.invalid(`${at}.value`, value, "must be empty for operator `Exists`"));
  } else if (operator === "Equal") errors.push(...checkText(`${at}.value`, value, labelValueProblems));
  else
    errors.push(
      operator === "" ? field.required(`${at}.operator`) : field.notSupported(`${at}.operator`, operator, OPERATORS),
    );
  if (effect !== "" && !EFFECTS.includes(effect)) errors.push(field.notSupported(`${at}.effect`, effect, EFFECTS));
  return errors;
}

/** A device that becomes ready later needs conditions for both success and failure. */
export function checkBindingConditions(
  at: string,
  conditions: readonly string[],
  failures: readonly string[],
): FieldError[] {
  const [ready, failed] = [`${at}.bindingConditions`, `${at}.bindingFailureConditions`];
  const checkName = (path: string, name: string): FieldError[] => checkText(path, name, labelKeyProblems);
  const errors = [
    ...checkList(ready, conditions, MAX_BINDING_CONDITIONS, checkName),
    ...checkList(failed, failures, MAX_BINDING_CONDITIONS, checkName),
  ];
  errors.push(...repeated(ready, conditions, () => []));
  const known = new Set(conditions);
  errors.push(
    ...repeated(failed, failures, (path, name) =>
      known.has(name)
        ? [field.invalid(path, name, "bindingFailureConditions must not overlap with bindingConditions")]
        : [],
    ),
  );
  if (conditions.length === 0 && failures.length > 0)
    errors.push(field.invalid(ready, null, "bindingConditions are required to use bindingFailureConditions"));
  if (failures.length === 0 && conditions.length > 0)
    errors.push(field.invalid(failed, null, "bindingFailureConditions are required to use bindingConditions"));
  return errors;
}

function repeated(
  at: string,
  names: readonly string[],
  more: (field: string, name: string) => FieldError[],
): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const path = `${at}[${index}]`;
    const again = seen.has(name);
    seen.add(name);
    return [...(again ? [field.duplicate(path, name)] : []), ...more(path, name)];
  });
}
