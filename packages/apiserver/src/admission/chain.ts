/**
 * The ordered list of admission steps, indexed by kind and operation: a request meets only the steps that are for it,
 * and each phase only those that take part in it.
 */
import type { AnyStep, Kind, Operation } from "@flotilla/apimachinery";

/** The steps of each phase, in order. */
export interface ChainSteps {
  readonly mutate: readonly AnyStep[];
  readonly complete: readonly AnyStep[];
  readonly prepare: readonly AnyStep[];
  readonly validate: readonly AnyStep[];
  /** Steps whose `validate` is reported as the denial of a webhook. */
  readonly webhooks: readonly AnyStep[];
  readonly warnings: readonly AnyStep[];
  readonly check: readonly AnyStep[];
  readonly reserve: readonly AnyStep[];
}

export interface AdmissionChain {
  of(kind: Kind, operation: Operation): ChainSteps;
  /** Steps that convert a sent object to the declared form of its kind; for every operation. */
  canonical(kind: Kind): readonly AnyStep[];
  /** Steps that check the types of a whole sent object; for every operation. */
  decoding(kind: Kind): readonly AnyStep[];
}

interface KindSteps extends Record<Operation, ChainSteps> {
  canonical: readonly AnyStep[];
  decoding: readonly AnyStep[];
}

export function createAdmissionChain(steps: readonly AnyStep[]): AdmissionChain {
  // Kinds of CRDs come and go; their steps go with them.
  const byKind = new WeakMap<Kind, KindSteps>();
  const stepsOf = (kind: Kind): KindSteps => {
    let found = byKind.get(kind);
    if (!found) byKind.set(kind, (found = indexSteps(steps.filter((step) => isFor(step, kind)))));
    return found;
  };
  return {
    of: (kind, operation) => stepsOf(kind)[operation],
    canonical: (kind) => stepsOf(kind).canonical,
    decoding: (kind) => stepsOf(kind).decoding,
  };
}

function isFor({ for: selected }: AnyStep, kind: Kind): boolean {
  if (selected === undefined) return true;
  if (typeof selected === "function") return selected(kind);
  return !kind.foreign && selected.group === kind.group && selected.kind === kind.kind;
}

function indexSteps(steps: readonly AnyStep[]): KindSteps {
  const on = (operation: Operation): ChainSteps => {
    const concerned = steps.filter((step) => step.on.includes(operation));
    const having = (verb: keyof AnyStep): AnyStep[] => concerned.filter((step) => step[verb] !== undefined);
    return {
      mutate: having("mutate"),
      complete: having("complete"),
      prepare: having("prepare"),
      validate: having("validate").filter(({ webhook }) => !webhook),
      webhooks: having("validate").filter(({ webhook }) => webhook),
      warnings: having("warnings"),
      check: having("check"),
      reserve: having("reserve"),
    };
  };
  return {
    canonical: steps.filter(({ canonical }) => canonical),
    decoding: steps.filter(({ decode }) => decode),
    CREATE: on("CREATE"),
    UPDATE: on("UPDATE"),
    DELETE: on("DELETE"),
  };
}
