/**
 * Validates a node selector: a list of terms, any of which may match, each with requirements on labels and on the
 * node's name.
 */
import { checkText, dnsSubdomainProblems, field, labelKeyProblems, labelValueProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "@flotilla/apimachinery/facts/core-v1.ts";

export function checkNodeSelector(at: string, { nodeSelectorTerms: terms = [] }: Sent<NodeSelector>): FieldError[] {
  const path = `${at}.nodeSelectorTerms`;
  if (terms.length === 0) return [field.required(path, "must have at least one node selector term")];
  return terms.flatMap((term, index) => checkNodeSelectorTerm(`${path}[${index}]`, term));
}

/**
 * `lenientValues` is for preferences: one that cannot match is harmless, so values that are not valid label values are
 * accepted.
 */
export function checkNodeSelectorTerm(
  at: string,
  { matchExpressions = [], matchFields = [] }: Sent<NodeSelectorTerm>,
  lenientValues = false,
): FieldError[] {
  return [
    ...matchExpressions.flatMap((requirement, place) =>
      checkExpression(`${at}.matchExpressions[${place}]`, requirement, lenientValues),
    ),
    ...matchFields.flatMap((requirement, place) => checkFieldRequirement(`${at}.matchFields[${place}]`, requirement)),
  ];
}

const NO_OPERATOR = "not a valid selector operator";

function checkExpression(
  at: string,
  { key = "", operator, values = [] }: Sent<NodeSelectorRequirement>,
  lenientValues: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(field.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.push(
        field.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1)
      errors.push(field.required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(field.invalid(`${at}.operator`, operator ?? "", NO_OPERATOR));
  errors.push(...checkText(`${at}.key`, key, labelKeyProblems));
  return lenientValues
    ? errors
    : [...errors, ...values.flatMap((value, index) => checkText(`${at}.values[${index}]`, value, labelValueProblems))];
}

/** Nodes can be selected by one field: their name. */
function checkFieldRequirement(
  at: string,
  { key = "", operator, values = [] }: Sent<NodeSelectorRequirement>,
): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn")
    errors.push(field.invalid(`${at}.operator`, operator ?? "", NO_OPERATOR));
  else if (values.length !== 1)
    errors.push(
      field.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (key !== "metadata.name") return [...errors, field.invalid(`${at}.key`, key, "not a valid field selector key")];
  return [
    ...errors,
    ...values.flatMap((value, index) => checkText(`${at}.values[${index}]`, value, dnsSubdomainProblems)),
  ];
}
