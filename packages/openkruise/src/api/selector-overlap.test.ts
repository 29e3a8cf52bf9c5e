import { expect, test } from "vitest";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { selectorsAgree, selectorsOverlap } from "./selector-overlap.ts";

const one = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values: values.length > 0 ? values : undefined }],
});

const cases: Record<string, { a: LabelSelector; b: LabelSelector; overlap: boolean; agree: boolean }> = {
  "selectors on different keys overlap but do not agree": {
    a: { matchLabels: { a: "1" } },
    b: { matchLabels: { b: "1" } },
    overlap: true,
    agree: false,
  },
  "different values of one key exclude each other": {
    a: { matchLabels: { a: "1" } },
    b: { matchLabels: { a: "2" } },
    overlap: false,
    agree: false,
  },
  "lists overlap where they share a value": {
    a: one("a", "In", "1", "2"),
    b: one("a", "In", "2", "3"),
    overlap: true,
    agree: true,
  },
  "In and NotIn of the same values do not overlap": {
    a: one("a", "In", "1"),
    b: one("a", "NotIn", "1", "2"),
    overlap: false,
    agree: false,
  },
  "Exists and DoesNotExist do not overlap": {
    a: { matchLabels: { a: "1" } },
    b: one("a", "DoesNotExist"),
    overlap: false,
    agree: false,
  },
  "empty selectors overlap": { a: {}, b: {}, overlap: true, agree: true },
};
for (const [behaviour, { a, b, overlap, agree }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect({ overlap: selectorsOverlap(a, b), agree: selectorsAgree(a, b) }).toEqual({ overlap, agree });
  });
}
