/**
 * Checks whether two label selectors can select the same object, by the two definitions OpenKruise has: one for
 * SidecarSets, one for budgets.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { LabelSelector, LabelSelectorRequirement } from "@flotilla/apimachinery/facts/meta-v1.ts";

type Selector = DeepReadonly<LabelSelector>;
type Requirement = DeepReadonly<Pick<LabelSelectorRequirement, "operator" | "values">>;

/** Matches any value; a label with this literal value matches too, as upstream. */
const ANY = "ALL";

/** True unless one key excludes it. */
export function selectorsOverlap(a: Selector, b: Selector): boolean {
  return !isDisjoint(a, b) && !isDisjoint(b, a);
}

function isDisjoint(a: Selector, b: Selector): boolean {
  const wanted = new Map(Object.entries(a.matchLabels ?? {}).map(([key, value]) => [key, [value]]));
  for (const { key, operator, values = [] } of a.matchExpressions ?? []) {
    if (operator === "In" && values.length > 0) wanted.set(key, [...(wanted.get(key) ?? []), ...values]);
    else if (operator === "Exists") wanted.set(key, [ANY]);
  }
  const excludes = (known: readonly string[] | undefined, values: readonly string[]): boolean =>
    known !== undefined && !known.includes(ANY) && !sharesOne(known, values);
  for (const [key, value] of Object.entries(b.matchLabels ?? {})) if (excludes(wanted.get(key), [value])) return true;
  for (const { key, operator, values = [] } of b.matchExpressions ?? []) {
    const known = wanted.get(key);
    if (operator === "In" && excludes(known, values)) return true;
    if (operator === "NotIn" && known && hasAll(values, known)) return true;
    if (operator === "Exists" && !known) return true;
    if (operator === "DoesNotExist" && known) return true;
  }
  return false;
}

/** True only when both have the same keys and agree on every one. */
export function selectorsAgree(a: Selector, b: Selector): boolean {
  const [left, right] = [requirementsOf(a), requirementsOf(b)];
  const agrees = (first: Map<string, Requirement>, second: Map<string, Requirement>): boolean =>
    [...first].every(([key, requirement]) => {
      const other = second.get(key);
      return other !== undefined && canBothHold(requirement, other);
    });
  return agrees(left, right) && agrees(right, left);
}

/** The last requirement of a key wins; a matchLabels entry wins over all of them. */
function requirementsOf({ matchLabels = {}, matchExpressions = [] }: Selector): Map<string, Requirement> {
  const requirements = new Map<string, Requirement>(matchExpressions.map((expression) => [expression.key, expression]));
  for (const [key, value] of Object.entries(matchLabels)) requirements.set(key, { operator: "In", values: [value] });
  return requirements;
}

function canBothHold(
  { operator, values = [] }: Requirement,
  { operator: other, values: otherValues = [] }: Requirement,
): boolean {
  switch (operator) {
    case "In":
      return (
        other === "Exists" ||
        (other === "In" && sharesOne(otherValues, values)) ||
        (other === "NotIn" && !hasAll(otherValues, values))
      );
    case "Exists":
      return other === "In" || other === "NotIn" || other === "Exists";
    case "NotIn":
      return (
        other === "Exists" ||
        other === "DoesNotExist" ||
        other === "NotIn" ||
        (other === "In" && !hasAll(values, otherValues))
      );
    case "DoesNotExist":
      return other === "DoesNotExist" || other === "NotIn";
    default:
      return false;
  }
}

const sharesOne = (a: readonly string[], b: readonly string[]): boolean => !new Set(a).isDisjointFrom(new Set(b));
const hasAll = (all: readonly string[], some: readonly string[]): boolean => new Set(some).isSubsetOf(new Set(all));
