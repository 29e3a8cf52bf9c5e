/** The autoscalers among the files, and what they scale. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { objectAt, textAt } from "./fields.ts";
import type { LintManifest } from "./lint-manifest.ts";
import { namespaceOf } from "./selectors.ts";

export const TARGET = ["spec", "scaleTargetRef"];

interface Manifests {
  /** Manifests of `group/Kind`. */
  of(...kinds: readonly string[]): LintManifest[];
}

/** Of the fleet; a HorizontalPodAutoscaler scales on a member. */
export const scalersIn = ({ of }: Manifests): LintManifest[] =>
  of("autoscaling.karmada.io/FederatedHPA", "autoscaling.karmada.io/CronFederatedHPA");

export function isTarget(autoscaler: LintManifest, other: LintManifest): boolean {
  const target = objectAt(autoscaler.object, ...TARGET);
  return (
    other.kind === textAt(target, "kind") &&
    other.name === textAt(target, "name") &&
    other.group === parseApiVersion(textAt(target, "apiVersion")).group &&
    namespaceOf(other) === namespaceOf(autoscaler)
  );
}

export const targetText = ({ object }: LintManifest): string =>
  `${textAt(object, ...TARGET, "kind") || "object"} ${textAt(object, ...TARGET, "name")}`;
