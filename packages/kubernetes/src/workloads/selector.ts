/** The selector of a workload. A workload whose selector does not match its own pods would create new ones forever. */
import type { LabelSelector as LabelSelectorFacts } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { TerminalError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { ApiError, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";

export interface Selecting {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly selector?: DeepReadonly<LabelSelectorFacts>;
    readonly template?: DeepReadonly<PodTemplateSpec>;
  };
}

/**
 * Returns the selector if it matches the pods of the template. Throws `TerminalError`: only a change of the object
 * helps.
 */
export function selectorOf({ kind, metadata, spec }: Selecting): LabelSelector {
  const what = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const selector = readSelector(what, spec.selector);
  if (selector.requirements.length === 0)
    throw new TerminalError(`the selector of ${what} is empty and would select every pod; set matchLabels`);
  if (!matchesLabels(selector, spec.template?.metadata?.labels))
    throw new TerminalError(
      `the selector of ${what} does not match the labels of its pod template; change one of them`,
    );
  return selector;
}

function readSelector(what: string, selector: Selecting["spec"]["selector"]): LabelSelector {
  try {
    return labelSelectorOf(selector);
  } catch (error) {
    if (error instanceof ApiError) throw new TerminalError(`invalid selector of ${what}`, { cause: error });
    throw error;
  }
}
