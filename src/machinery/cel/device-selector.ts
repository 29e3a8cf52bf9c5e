/**
 * Expressions that select devices for a claim: what they may refer to, and whether one can be used at all. Schedulers
 * evaluate them for every device, so one that could cost too much is refused when it is written.
 */
import { compileCel } from "./compile.ts";
import { QUANTITY } from "./functions.ts";
import { BOOL, type CelType, DYN, formatType, mapOf, STRING, structOf } from "./types.ts";

/** Of names, of attributes' domains, of attributes, and how many of them a device has. */
const MAX_DRIVER = 63;
const MAX_DOMAIN = 63;
const MAX_ID = 32;
const MAX_VALUE = 64;
const MAX_ENTRIES = 32;
const MAX_COST = 1_000_000;

const sized = (type: CelType, maxElements: number): CelType => ({ ...type, maxElements });
/** An attribute is a text, a number, a version or a boolean; which one is known when it is read. */
const ATTRIBUTE: CelType = { ...DYN, name: "any", maxElements: MAX_VALUE };
/** By the domain of the name, then by the rest of it. */
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

/** Undefined for an expression that can be used. */
export function deviceSelectorProblem(expression: string): DeviceSelectorProblem | undefined {
  const { program, errors } = compileCel(expression, { variables: { device: DEVICE }, hasBindings: true });
  if (!program) return { kind: "wrong", detail: errors };
  const { resultType, cost } = program;
  if (resultType.kind !== "bool" && resultType.name !== ATTRIBUTE.name)
    return { kind: "wrong", detail: `must evaluate to bool or the unknown type, not ${formatType(resultType)}` };
  return cost.max > MAX_COST ? { kind: "costly" } : undefined;
}
