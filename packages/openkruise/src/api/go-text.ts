/**
 * Values as OpenKruise's messages print them: with Go's `%#v`, which names types and lists every field. Kubernetes no
 * longer uses this form; clients and tests of OpenKruise still see it. Values that would print memory addresses are
 * printed as JSON instead.
 */
import { compareText, type DeepReadonly } from "@flotilla/base";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";

/** A nil pointer. */
export const NIL_POINTER = '"null"';

export function goMap(map: Readonly<Record<string, string | number>> | undefined, of = "string"): string {
  if (!map) return `map[string]${of}(nil)`;
  const pairs = Object.keys(map)
    .toSorted(compareText)
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(map[key])}`);
  return `map[string]${of}{${pairs.join(", ")}}`;
}

export const goStrings = (list: readonly string[] | undefined): string =>
  list ? `[]string{${list.map((text) => JSON.stringify(text)).join(", ")}}` : "[]string(nil)";

export function goIntOrString(value: IntOrString): string {
  return typeof value === "number"
    ? `intstr.IntOrString{Type:0, IntVal:${value}, StrVal:""}`
    : `intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}`;
}

export function goSelector(selector: DeepReadonly<LabelSelector> | undefined): string {
  if (!selector) return NIL_POINTER;
  const expressions = selector.matchExpressions?.map(
    ({ key, operator, values }) =>
      `v1.LabelSelectorRequirement{Key:${JSON.stringify(key)}, Operator:${JSON.stringify(operator)}, Values:${goStrings(values)}}`,
  );
  const shown = expressions
    ? `[]v1.LabelSelectorRequirement{${expressions.join(", ")}}`
    : "[]v1.LabelSelectorRequirement(nil)";
  return `v1.LabelSelector{MatchLabels:${goMap(selector.matchLabels)}, MatchExpressions:${shown}}`;
}
