/** Label selectors of policies, made ready for many objects. */
import { ApiError, labelSelectorOf, matchesLabels, type LabelSelectorObject } from "../machinery/index.ts";

export type LabelTest = (labels: Readonly<Record<string, string>> | undefined) => boolean;

/**
 * The selector as a test. One that is not valid selects nothing: admission refuses it, but an object stored by an older
 * or another server may hold one, and a policy that cannot be read must not select everything.
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
