/** Validates conditions of the common form, for kinds that receive them from clients. */
import { field, type FieldError } from "../field.ts";
import { labelKeyProblems } from "../names.ts";
import type { Condition } from "./facts/meta-v1.ts";
import { checkText } from "./field-checks.ts";
import type { Sent } from "./sent-value.ts";

const STATUSES = ["False", "True", "Unknown"];
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;
const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of " +
  "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  " +
  "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Each type at most once, and each condition complete. */
export function checkConditions(at: string, conditions: readonly Sent<Condition>[]): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const { type = "" } = condition;
    const again = seen.has(type);
    seen.add(type);
    return [
      ...(again ? [field.duplicate(`${at}[${index}].type`, type)] : []),
      ...checkCondition(`${at}[${index}]`, condition),
    ];
  });
}

function checkCondition(at: string, condition: Sent<Condition>): FieldError[] {
  const { type = "", observedGeneration = 0, lastTransitionTime, reason = "", message = "" } = condition;
  const status: string = condition.status ?? "";
  return [
    ...checkText(`${at}.type`, type, labelKeyProblems),
    ...(STATUSES.includes(status) ? [] : [field.notSupported(`${at}.status`, status, STATUSES)]),
    ...(observedGeneration < 0
      ? [field.invalid(`${at}.observedGeneration`, observedGeneration, "must be greater than or equal to zero")]
      : []),
    ...(lastTransitionTime ? [] : [field.required(`${at}.lastTransitionTime`)]),
    ...(reason === ""
      ? [field.required(`${at}.reason`)]
      : REASON.test(reason)
        ? []
        : [field.invalid(`${at}.reason`, reason, REASON_RULE)]),
    ...(Buffer.byteLength(reason) > MAX_REASON ? [field.tooLong(`${at}.reason`, MAX_REASON)] : []),
    ...(Buffer.byteLength(message) > MAX_MESSAGE ? [field.tooLong(`${at}.message`, MAX_MESSAGE)] : []),
  ];
}
