/** A workload finds its pods by its selector. One that does not match its own pods would make new ones for ever. */
import type { LabelSelector as LabelSelectorFacts, PodTemplateSpec } from "../api/index.ts";
import { TerminalError } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { ApiError, labelSelectorOf, matchesLabels } from "../machinery/index.ts";
import type { LabelSelector } from "../machinery/index.ts";

interface Selecting {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly selector?: DeepReadonly<LabelSelectorFacts>;
    readonly template?: DeepReadonly<PodTemplateSpec>;
  };
}

/** The selector, which matches the pods of the template. Throws `TerminalError`: only a change of the object helps. */
export function selectorOf({ kind, metadata, spec }: Selecting): LabelSelector {
  const what = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const selector = readSelector(what, spec.selector);
  if (selector.requirements.length === 0)
    throw new TerminalError(`running ${what}: its selector is empty and would take every pod; give it matchLabels`);
  if (!matchesLabels(selector, spec.template?.metadata?.labels))
    throw new TerminalError(
      `running ${what}: its selector does not match the labels of its pod template; make them agree`,
    );
  return selector;
}

function readSelector(what: string, selector: Selecting["spec"]["selector"]): LabelSelector {
  try {
    return labelSelectorOf(selector);
  } catch (error) {
    if (error instanceof ApiError) throw new TerminalError(`reading the selector of ${what}`, { cause: error });
    throw error;
  }
}
