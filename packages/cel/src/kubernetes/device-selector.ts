/**
 * Validates CEL device selectors of resource claims. Schedulers evaluate them for every device, so one that could cost
 * too much is rejected when it is written.
 */
import { compileCel } from "../compile/compile.ts";
import { QUANTITY } from "../types/functions.ts";
import { BOOL, type CelType, DYN, formatType, mapOf, STRING, structOf } from "../types/types.ts";

/** Limits of names, of attribute domains, of attributes, and of their number per device. */
const MAX_DRIVER = 63;
const MAX_DOMAIN = 63;
const MAX_ID = 32;
const MAX_VALUE = 64;
const MAX_ENTRIES = 32;
const MAX_COST = 1_000_000;

const sized = (type: CelType, maxElements: number): CelType => ({ ...type, maxElements });
/** An attribute is a string, a number, a version or a boolean; the type is known at run time. */
const ATTRIBUTE: CelType = { ...DYN, name: "any", maxElements: MAX_VALUE };
/** By the domain of the name, then by its last part. */
const byName = (value: CelType): CelType =>
  sized(mapOf(sized(STRING, MAX_DOMAIN), sized(mapOf(sized(STRING, MAX_ID), value), MAX_ENTRIES)), MAX_ENTRIES);

const DEVICE = structOf(
  "kubernetes.DRADevice",
  new Map([
    ["driver", sized(STRING, MAX_DRIVER)],
    ["attributes", byName(ATTRIBUTE)],
    ["capacity", byName(QUANTITY)],
    ["allowMultipleAllocations", sized(BOOL, 1)],
  ]),
);

export type DeviceSelectorProblem = { readonly kind: "wrong"; readonly detail: string } | { readonly kind: "costly" };

/** Undefined for a valid expression. */
export function deviceSelectorProblem(expression: string): DeviceSelectorProblem | undefined {
  const { program, errors } = compileCel(expression, { variables: { device: DEVICE }, hasBindings: true });
  if (!program) return { kind: "wrong", detail: errors };
  const { resultType, cost } = program;
  if (resultType.kind !== "bool" && resultType.name !== ATTRIBUTE.name)
    return { kind: "wrong", detail: `must evaluate to bool or the unknown type, not ${formatType(resultType)}` };
  return cost.max > MAX_COST ? { kind: "costly" } : undefined;
}
