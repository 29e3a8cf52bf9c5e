/** Label selectors of policies, compiled for many objects. */
import { ApiError, labelSelectorOf, matchesLabels, type LabelSelectorObject } from "@flotilla/apimachinery";

export type LabelTest = (labels: Readonly<Record<string, string>> | undefined) => boolean;

/**
 * The selector as a predicate. An invalid one selects nothing: admission rejects it, but an object stored by an older
 * or another server may contain one, and an invalid policy must not select everything.
 */
export function compileLabelSelector(selector: LabelSelectorObject): LabelTest {
  try {
    const compiled = labelSelectorOf(selector);
    return (labels) => matchesLabels(compiled, labels);
  } catch (error) {
    if (error instanceof ApiError) return () => false;
    throw error;
  }
}
