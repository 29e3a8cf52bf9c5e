/** How policies choose members: rules that the schema of a cluster affinity cannot state. */
import type { DeepReadonly } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import { checkSelector, notOneOf } from "../field-errors.ts";
import type { ClusterAffinity } from "../facts/policy-karmada-v1alpha1.ts";

const FIELDS = ["provider", "region", "zone"];
const OPERATORS = ["In", "NotIn"];

export function checkClusterAffinity(at: string, { labelSelector, fieldSelector }: DeepReadonly<ClusterAffinity>): FieldError[] {
  const errors = checkSelector(`${at}.labelSelector`, labelSelector);
  for (const [index, { key, operator }] of (fieldSelector?.matchExpressions ?? []).entries()) {
    const field = `${at}.fieldSelector.matchExpressions[${index}]`;
    if (!FIELDS.includes(key)) errors.push(notOneOf(`${field}.key`, key, FIELDS));
    if (!OPERATORS.includes(operator)) errors.push(notOneOf(`${field}.operator`, operator, OPERATORS));
  }
  return errors;
}
