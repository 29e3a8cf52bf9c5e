/**
 * `openkruise-selection.jsonl`: label selectors as OpenKruise reads and compares them, the namespaces of
 * ResourceDistributions, and the nodes of ImagePullJobs.
 */
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { selectorsAgree, selectorsOverlap } from "@flotilla/openkruise";
import { formatLabelSelector, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import { imagePullCase } from "../../../packages/openkruise/src/imagepulljob/testdata/image-pull-cases.ts";
import { distributionCase } from "../../../packages/openkruise/src/resourcedistribution/testdata/distribution-cases.ts";
import { plain } from "../../../packages/openkruise/src/testdata/plain.ts";
import type { RecordedRun } from "../../../packages/openkruise/src/testdata/read-cases.ts";
import { compareResults } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

interface SelectorInput {
  kind: string;
  a?: LabelSelector;
  b?: LabelSelector;
  labels?: Record<string, string>;
}

const inputOf = ({ input }: GoldenCase): SelectorInput => input as unknown as SelectorInput;
/** By the kind of the case; the others are selectors. */
const DECISIONS: Readonly<Record<string, RecordedRun>> = { distribution: distributionCase, imagePull: imagePullCase };

const selectors = compareResults({
  run(input) {
    const { a, b, labels } = input as unknown as SelectorInput;
    const selector = labelSelectorOf(a);
    const result = {
      text: formatLabelSelector(selector),
      matches: matchesLabels(selector, labels),
      empty: selector.requirements.length === 0 && selector.matchesNothing !== true,
    };
    return a && b ? { ...result, overlapping: selectorsOverlap(a, b), looseOverlap: selectorsAgree(a, b) } : result;
  },
});

export const openKruiseSelection: CaseRunner = {
  check(line) {
    const decide = DECISIONS[inputOf(line).kind];
    if (!decide) return selectors.check(line);
    const got = decide(line.input as never, line.want as never);
    return equalJson(plain(got), plain(line.want))
      ? undefined
      : `got ${JSON.stringify(got)}, want ${JSON.stringify(line.want)}`;
  },
  reasonFor(line) {
    const { a } = inputOf(line);
    const isIncomplete =
      a?.matchExpressions?.some(
        ({ operator, values }) => (operator === "In" || operator === "NotIn") && !values?.length,
      ) ?? false;
    return isIncomplete ? "In and NotIn without values are rejected on write, so they are never read." : undefined;
  },
};
