/**
 * What the steps of a write do, in order: those that change the object, and those that reject it or warn about it. The
 * phases of our own writes and the answers to other API servers use these lists, so that a step means the same in both.
 */
import { deniedByWebhook, fieldErrorText, invalid } from "@flotilla/apimachinery";
import type { AnyStep, FieldError, Kind, Review } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { textOf } from "../codec/text.ts";
import type { Decisions } from "../request/decisions.ts";
import type { ChainSteps } from "./chain.ts";
import { after, inOrder } from "./run-steps.ts";

/** Steps run one after the other, and each sees the object as the steps before have left it. */
export interface SteppedReview extends Review<JsonObject> {
  object: DeepReadonly<JsonObject>;
  readonly decisions: Decisions;
}

export interface StepState {
  readonly kind: Kind;
  readonly steps: ChainSteps;
  readonly review: SteppedReview;
  /** The errors so far. */
  readonly errors: FieldError[];
  /** Takes the object with which a step continues. */
  replace(object: DeepReadonly<JsonObject>): void;
  /** Warns about the object before the steps do. */
  warnFirst?(): void;
}

export type StepPhase = (state: StepState) => void | Promise<void>;

const [runMutate, runComplete, runPrepare] = [changeBy("mutate"), changeBy("complete"), changeBy("prepare")];
export const mutate: StepPhase = (state) => inOrder(state, state.steps.mutate, runMutate);
export const complete: StepPhase = (state) => inOrder(state, state.steps.complete, runComplete);
export const prepare: StepPhase = (state) => inOrder(state, state.steps.prepare, runPrepare);

/** The phases in which steps change the object. In a write of our own, the server's own phases are between them. */
export const CHANGING_PHASES: readonly StepPhase[] = [mutate, complete, prepare];

/** The defaults of the kind, for an object that something other than a step has changed. */
export const mutateAgain: StepPhase = (state) =>
  inOrder(
    state,
    state.steps.mutate.filter((step) => step.isReinvoked === true),
    runMutate,
  );

/** The phases that reject an object or warn about it. */
export const VERDICT_PHASES: readonly StepPhase[] = [
  collectErrors,
  rejectErrors,
  (state) => inOrder(state, state.steps.webhooks, askWebhook),
  addWarnings,
  (state) => inOrder(state, state.steps.check, check),
];

const matches = ({ review }: StepState, step: AnyStep): boolean => !step.matches || step.matches(review);

function changeBy(verb: "mutate" | "complete" | "prepare") {
  return (state: StepState, step: AnyStep): void | Promise<void> => {
    const { review } = state;
    if (!matches(state, step)) return;
    const changed = review.decisions.settle(() => step[verb]?.(review)) as
      | DeepReadonly<JsonObject>
      | Promise<DeepReadonly<JsonObject>>;
    return after(changed, (next) => {
      if (next !== review.object) state.replace(next);
    });
  };
}

/**
 * The rules of a custom kind may rely on its schema, as webhooks do: an object that violates the schema never reaches
 * them. Another API server checks the schema before it asks.
 */
function collectErrors(state: StepState): void | Promise<void> {
  if (state.kind.builtIn || state.errors.length === 0) return inOrder(state, state.steps.validate, validate);
}

function validate(state: StepState, step: AnyStep): void | Promise<void> {
  const { review, errors } = state;
  if (!matches(state, step)) return;
  return after(
    review.decisions.settle(() => step.validate?.(review) ?? []),
    (found) => {
      for (const error of found) errors.push(error);
    },
  );
}

function rejectErrors({ kind, review, errors }: StepState): void {
  if (errors.length === 0) return;
  const { name } = review.object["metadata"] as JsonObject;
  throw invalid((kind.storedAs ?? kind).group, kind.kind, textOf(name ?? ""), errors);
}

/** Rules that are webhooks upstream run only on objects that the server itself accepts. */
function askWebhook(state: StepState, step: AnyStep): void | Promise<void> {
  const { review } = state;
  const { webhook } = step;
  if (!webhook || !matches(state, step)) return;
  return after(
    review.decisions.settle(() => step.validate?.(review) ?? []),
    (found) => {
      if (found.length > 0)
        throw deniedByWebhook(webhook.name, webhook.code(review.operation), fieldErrorText(found), webhook.reason);
    },
  );
}

function addWarnings(state: StepState): void | Promise<void> {
  // Controllers of this server ignore warnings.
  if (state.review.byController) return;
  state.warnFirst?.();
  return inOrder(state, state.steps.warnings, warn);
}

function warn(state: StepState, step: AnyStep): void | Promise<void> {
  const { review } = state;
  if (!matches(state, step)) return;
  return after(step.warnings?.(review) ?? [], (texts) => {
    for (const text of texts) review.warn(text);
  });
}

function check(state: StepState, step: AnyStep): void | Promise<void> {
  if (matches(state, step)) return state.review.decisions.settle(() => step.check?.(state.review));
}
