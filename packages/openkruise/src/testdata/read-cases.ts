/**
 * The cases recorded from OpenKruise 1.9.1. Only for tests.
 *
 * That release uses v1alpha1, so its CloneSets are converted to v1beta1.
 */
import type { CloneSet } from "../cloneset/cloneset-kind.ts";
import { createFeatureGates } from "../api/feature-gates.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

/** The clock of every recording. */
export const RECORDED_AT = Date.UTC(2024, 4, 1, 12);

export { readCases } from "@flotilla/testing/recorded-cases.ts";
export type { RecordedCase } from "@flotilla/testing/recorded-cases.ts";

/**
 * Computes our result for the input of a case; `want` provides the parts that are not computed here. Inputs differ
 * between kinds.
 */
export type RecordedRun = (input: never, want: never) => unknown;

/** An input that may change feature gates. */
export interface GatedInput {
  gates?: Record<string, boolean>;
}

export function gatesOf(changes: Record<string, boolean> | undefined): FeatureGates {
  return createFeatureGates(changes);
}

export interface AlphaCloneSet {
  metadata: CloneSet["metadata"];
  spec: Record<string, unknown> & { updateStrategy?: Record<string, unknown>; scaleStrategy?: object };
}

export function fromAlpha(alpha: AlphaCloneSet): CloneSet {
  const { type = "ReCreate", ...rollingUpdate } = alpha.spec.updateStrategy ?? {};
  const updateStrategy = type === "OnDelete" ? { type } : { type: "RollingUpdate", rollingUpdate: { ...rollingUpdate, podUpdatePolicy: type } };
  const excludePreparingDelete = alpha.metadata.labels?.["apps.kruise.io/cloneset-scaling-exclude-preparing-delete"] === "true";
  return {
    ...alpha,
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    spec: {
      ...alpha.spec,
      scaleStrategy: { ...alpha.spec.scaleStrategy, excludePreparingDelete },
      updateStrategy,
    },
  } as unknown as CloneSet;
}
