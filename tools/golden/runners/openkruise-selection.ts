/**
 * `openkruise-selection.jsonl`: label selectors as OpenKruise reads and compares them. Other cases are added with their
 * controllers.
 */
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { selectorsAgree, selectorsOverlap } from "@flotilla/openkruise";
import { formatLabelSelector, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { compareResults } from "../compare.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

interface SelectorInput {
  kind: string;
  a?: LabelSelector;
  b?: LabelSelector;
  labels?: Record<string, string>;
}

const inputOf = ({ input }: GoldenCase): SelectorInput => input as unknown as SelectorInput;
const LATER: Readonly<Record<string, string>> = { distribution: "ResourceDistribution", imagePull: "ImagePullJob" };

const selectors = compareResults({
  run(input) {
    const { a, b, labels } = input as unknown as SelectorInput;
    const selector = labelSelectorOf(a);
    return {
      text: formatLabelSelector(selector),
      matches: matchesLabels(selector, labels),
      empty: selector.requirements.length === 0 && selector.matchesNothing !== true,
      ...(a && b && { overlapping: selectorsOverlap(a, b), looseOverlap: selectorsAgree(a, b) }),
    };
  },
});

export const openKruiseSelection: CaseRunner = {
  check(line) {
    const later = LATER[inputOf(line).kind];
    return later === undefined ? selectors.check(line) : `${later} is not served yet`;
  },
  reasonFor(line) {
    const { kind, a } = inputOf(line);
    const later = LATER[kind];
    if (later !== undefined) return `${later} is served when its controller exists.`;
    const isIncomplete =
      a?.matchExpressions?.some(
        ({ operator, values }) => (operator === "In" || operator === "NotIn") && !values?.length,
      ) ?? false;
    return isIncomplete ? "In and NotIn without values are rejected on write, so they are never read." : undefined;
  },
};
