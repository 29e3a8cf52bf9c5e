/** Defaults and validation that ImagePullJobs and ImageListPullJobs share, as in OpenKruise's webhooks. */
import { change, fill, labelSelectorOf } from "@flotilla/apimachinery";
import type { ImagePullJobTemplate } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { imageReferenceProblem } from "../pod/image-reference.ts";
import { PULL_BACKOFF_LIMIT, PULL_TIMEOUT_SECONDS } from "../pod/pull-limits.ts";

type Template = DeepReadonly<ImagePullJobTemplate>;

export function completePull<T extends Template>(spec: T): T {
  const filled = fill<Template>(spec, { completionPolicy: {}, pullPolicy: {} });
  const completing = change(filled, "completionPolicy", (policy) => fill(policy, { type: "Always" }));
  return change(completing, "pullPolicy", (policy) =>
    fill(policy ?? {}, { timeoutSeconds: PULL_TIMEOUT_SECONDS, backoffLimit: PULL_BACKOFF_LIMIT }),
  ) as T;
}

export function* selectorProblems({ selector, podSelector }: Template): Generator<string> {
  const { names, matchLabels, matchExpressions } = selector ?? {};
  if (matchLabels || matchExpressions) {
    if (names) yield "can not set both names and labelSelector in this spec.selector";
    yield* labelProblems("selector", { matchLabels, matchExpressions });
  }
  if (names && new Set(names).size < names.length) yield "duplicated name in selector names";
  if (!podSelector) return;
  if (selector) yield "can not set both selector and podSelector";
  yield* labelProblems("podSelector", podSelector);
}

function* labelProblems(name: string, selector: Parameters<typeof labelSelectorOf>[0]): Generator<string> {
  try {
    labelSelectorOf(selector);
  } catch (error) {
    yield `invalid ${name}: ${messageOf(error)}`;
  }
}

export function* imageProblems(image: string): Generator<string> {
  const problem = imageReferenceProblem(image);
  if (problem !== undefined) yield `invalid image ${image}: ${problem}`;
}

export function* completionProblems({ completionPolicy }: Template): Generator<string> {
  const { type = "", activeDeadlineSeconds, ttlSecondsAfterFinished } = completionPolicy ?? {};
  if (type === "Never") {
    if (activeDeadlineSeconds !== undefined || ttlSecondsAfterFinished !== undefined)
      yield "activeDeadlineSeconds and ttlSecondsAfterFinished can only work with Always CompletionPolicyType";
  } else if (type !== "Always") yield `unknown type of completionPolicy: ${type}`;
}
