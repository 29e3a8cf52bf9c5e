/**
 * Admission steps of kinds that few clusters use: their code is loaded when the first object of the kind is written, so it
 * costs nothing where there is none. Until then a step returns promises, and afterwards what the loaded step returns.
 */
import type { AdmissionStep, Admission, KindStep, Review } from "./admission.ts";
import { builtInAdmission } from "./define.ts";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

type Verb = "mutate" | "complete" | "prepare" | "validate" | "warnings" | "check";
/** What the chain of steps reads before it runs one. */
type Known<T extends KubernetesObject> = Pick<AdmissionStep<T>, "name" | "for" | "on" | "isReinvoked" | "decode">;

/** `verbs`: the methods that the step may have. */
export function lazyStep<T extends KubernetesObject>(
  known: Known<T>,
  verbs: readonly Verb[],
  load: () => Promise<Pick<AdmissionStep<T>, Verb>>,
): AdmissionStep<T> {
  let loaded: Pick<AdmissionStep<T>, Verb> | undefined;
  const whenLoaded = <R>(run: (step: Pick<AdmissionStep<T>, Verb>) => R | Promise<R>): R | Promise<R> =>
    loaded ? run(loaded) : load().then((step) => run((loaded = step)));
  const methods: Pick<AdmissionStep<T>, Verb> = {
    mutate: (review) => whenLoaded((step) => step.mutate?.(review) ?? review.object),
    complete: (review) => whenLoaded((step) => step.complete?.(review) ?? review.object),
    prepare: (review) => whenLoaded((step) => step.prepare?.(review) ?? review.object),
    validate: (review) => whenLoaded((step) => step.validate?.(review) ?? []),
    warnings: (review) => whenLoaded((step) => step.warnings?.(review) ?? []),
    check: (review: Review<T>) => whenLoaded((step) => step.check?.(review)),
  };
  return { ...known, ...Object.fromEntries(verbs.map((verb) => [verb, methods[verb]])) };
}

/** The admission of a built-in kind whose rules are loaded at the first write. `facts`: the kind's table. */
export const lazyAdmission = <T extends KubernetesObject>(
  kind: Kind<T>,
  facts: string,
  load: () => Promise<Admission<T>>,
): KindStep<T> => {
  const { name, on, isReinvoked, decode } = builtInAdmission(kind, facts);
  return {
    ...lazyStep({ name, on, isReinvoked, decode }, ["mutate", "prepare", "validate", "warnings"], load),
    for: kind,
  };
};
