/**
 * The steps of admission for objects that another API server stores: it asks us in webhooks. It has decoded, defaulted and
 * validated an object by the schema of its kind, so what remains are the steps, in two calls: those that change the object,
 * and those that reject it or warn.
 *
 * `reserve` is not run: it counts in the store of this server.
 */
import type { AnyStep, ClusterReader, Kind, RequestInfo, Review } from "@flotilla/apimachinery";
import { randomUuid } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Random } from "@flotilla/base";
import type { Authorizer } from "../request/authorize.ts";
import { Decisions } from "../request/decisions.ts";
import { createAdmissionChain } from "../admission/chain.ts";
import { inOrder } from "../admission/run-steps.ts";
import { CHANGING_PHASES, VERDICT_PHASES } from "../admission/step-phases.ts";
import type { StepPhase, StepState, SteppedReview } from "../admission/step-phases.ts";

export interface AdmissionElsewhereOptions {
  /** In order. */
  steps: readonly AnyStep[];
  authorizer: Pick<Authorizer, "decide">;
  read: ClusterReader;
  clock: Clock;
  random: Random;
}

/** A write that another API server asks about. */
export interface WriteElsewhere extends Omit<RequestInfo, "kind"> {
  /** The kind as this process knows it, or what the request says about it. */
  kind: Kind;
  /** For DELETE, the object being deleted. */
  object: DeepReadonly<JsonObject>;
  oldObject?: DeepReadonly<JsonObject> | undefined;
}

/** Both throw an `ApiError` to reject the write, and call `warn` with the warnings about it. */
export interface AdmissionElsewhere {
  /** Returns the object to continue with. */
  mutate(write: WriteElsewhere, warn: (text: string) => void): Promise<DeepReadonly<JsonObject>>;
  validate(write: WriteElsewhere, warn: (text: string) => void): Promise<void>;
  /** Which of the two calls does something for writes of a kind. */
  concerns(kind: Kind, operation: RequestInfo["operation"]): { mutate: boolean; validate: boolean };
}

export function createAdmissionElsewhere(options: AdmissionElsewhereOptions): AdmissionElsewhere {
  const chain = createAdmissionChain(options.steps);
  const stateOf = ({ kind, operation }: WriteElsewhere, review: SteppedReview): StepState => ({
    kind,
    steps: chain.of(kind, operation),
    review,
    errors: [],
    replace: (object) => void (review.object = object),
  });
  return {
    async mutate(write, warn) {
      const review = createReview(options, write, warn);
      for (const { canonical } of chain.canonical(write.kind))
        review.object = canonical?.(review.object, { stored: write.oldObject, warn }) ?? review.object;
      await inOrder(stateOf(write, review), CHANGING_PHASES, runPhase);
      return review.object;
    },
    async validate(write, warn) {
      const review = createReview(options, write, warn);
      await inOrder(stateOf(write, review), VERDICT_PHASES, runPhase);
    },
    concerns(kind, operation) {
      const { mutate, complete, prepare, validate, webhooks, warnings, check } = chain.of(kind, operation);
      const some = (...lists: (readonly AnyStep[])[]): boolean => lists.some((list) => list.length > 0);
      return {
        mutate: some(mutate, complete, prepare) || (operation !== "DELETE" && chain.canonical(kind).length > 0),
        validate: some(validate, webhooks, warnings, check),
      };
    },
  };
}

const runPhase = (state: StepState, phase: StepPhase): void | Promise<void> => phase(state);

function createReview(
  { authorizer, read, clock, random }: AdmissionElsewhereOptions,
  write: WriteElsewhere,
  warn: (text: string) => void,
): SteppedReview {
  const decisions = new Decisions(authorizer);
  const decide: Review<JsonObject>["decide"] = ({ verb, ...resource }) =>
    decisions.decide({ user: write.user, cluster: write.cluster, verb, resource });
  return {
    ...write,
    oldObject: write.oldObject,
    newUid: () => randomUuid(random),
    nowMs: () => clock.now(),
    decisions,
    decide,
    allows: (question) => decide(question).allowed,
    warn,
    read,
  };
}
