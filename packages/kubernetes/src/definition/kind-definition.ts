/**
 * Everything Flotilla knows about one kind, declared in the kind's folder with `defineKind` and listed once in its
 * package. Registries (served kinds, admission, interpreters, controllers, metrics, pruning, feedback of ManifestWorks,
 * reference pages, contract suites) are derived from these lists.
 */
import type { AnyKindStep, Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import type { StateKind } from "./state-family.ts";

/** A kind that Flotilla interprets, but does not serve. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

export interface KindDefinition<Options = unknown> {
  readonly kind: Kind | KindName;
  /** The smallest valid object in the storage version. The contract suites run on it. */
  readonly example?: DeepReadonly<KubernetesObject>;

  /** Defaults, validation and warnings. They read one object and hold in every cluster that serves the kind. */
  readonly rules?: readonly AnyKindStep[] | ((options: Options) => readonly AnyKindStep[]);
  // oxlint-disable-next-line typescript/no-explicit-any -- lists hold interpreters of different kinds.
  readonly interpreter?: KindInterpreter<any>;
  /** What makes the kind run on a member. */
  controllers?(deps: WorkloadDependencies): readonly Controller<ObjectKey>[];
  /** Metrics on the state of each object. */
  readonly states?: StateKind;

  /** The values that a ManifestWork with the feedback type `WellKnownStatus` returns. */
  readonly feedback?: WellKnownFeedback;
  /**
   * Whether the latest spec is rolled out or the run is complete, for the conditions of a ManifestWork. `health`: a
   * healthy object is rolled out.
   */
  readonly progress?: "health" | ((object: DeepReadonly<KubernetesObject>) => Progress);
}

interface WellKnownFeedback {
  /** The versions in which the paths are valid; all by default. */
  readonly versions?: readonly string[];
  readonly values: readonly (readonly [name: string, path: string])[];
}

export interface Progress {
  isProgressing: boolean;
  failure?: string;
}

/** Checks the declaration against its type; the kind's folder exports the result. */
export const defineKind = <Options = unknown>(definition: KindDefinition<Options>): KindDefinition<Options> =>
  definition;

// oxlint-disable-next-line typescript/no-explicit-any -- definitions with different options.
export type AnyDefinition = KindDefinition<any>;

export const isServed = (kind: Kind | KindName): kind is Kind => "versions" in kind;

/** The kinds that the API server can serve, in the order of the list. */
export const servedKinds = (definitions: readonly AnyDefinition[]): Kind[] =>
  definitions.map(({ kind }) => kind).filter(isServed);

export const rulesOf = <Options, Rules extends AnyKindStep>(
  definitions: readonly { readonly rules?: readonly Rules[] | ((options: Options) => readonly Rules[]) }[],
  options: Options,
): readonly Rules[] => definitions.flatMap(({ rules = [] }) => (typeof rules === "function" ? rules(options) : rules));

// oxlint-disable-next-line typescript/no-explicit-any -- lists hold interpreters of different kinds.
export const interpretersOf = (definitions: readonly AnyDefinition[]): KindInterpreter<any>[] =>
  definitions.flatMap(({ interpreter }) => interpreter ?? []);

export const controllersOf = (
  definitions: readonly AnyDefinition[],
  deps: WorkloadDependencies,
): Controller<ObjectKey>[] => definitions.flatMap((definition) => definition.controllers?.(deps) ?? []);
