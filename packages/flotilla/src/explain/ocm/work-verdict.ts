/** Summarizes the status of a ManifestWork. Pure. */
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { ExplainedWork } from "../explanation.ts";

type Work = DeepReadonly<ManifestWork>;
type Manifests = NonNullable<NonNullable<NonNullable<Work["status"]>["resourceStatus"]>["manifests"]>;

/** The condition's status if it was observed for the generation; undefined when unknown. */
export function conditionStatusOf(
  conditions:
    | readonly { readonly type: string; readonly status: string; readonly observedGeneration?: number }[]
    | undefined,
  type: string,
  generation: number | undefined,
): boolean | undefined {
  const condition = findCondition(conditions, type);
  const isOld =
    condition?.observedGeneration !== undefined &&
    generation !== undefined &&
    condition.observedGeneration < generation;
  return !condition || isOld || condition.status === "Unknown" ? undefined : condition.status === "True";
}

export function verdictOn(work: Work): ExplainedWork {
  const { namespace = "", name, deletionTimestamp } = work.metadata;
  // Deleting a work increments its generation, and agents do not apply that generation.
  const generation = deletionTimestamp === undefined ? work.metadata.generation : undefined;
  const { conditions } = work.status ?? {};
  const [applied, available] = [
    conditionStatusOf(conditions, "Applied", generation),
    conditionStatusOf(conditions, "Available", generation),
  ];
  const message = applied === false ? refusalIn(work) : undefined;
  return { cluster: namespace, name, applied, available, message: message || undefined };
}

/** The message of the first rejected manifest; the work's own condition only reports that one was rejected. */
export function refusalIn({ status }: Work): string | undefined {
  const manifests: Manifests = status?.resourceStatus?.manifests ?? [];
  const refused = manifests
    .flatMap(({ conditions }) => findCondition(conditions, "Applied") ?? [])
    .find((condition) => condition.status === "False");
  return plainMessage(refused?.message || findCondition(status?.conditions, "Applied")?.message);
}

/** Strips the prefix that every manifest error begins with. */
export const plainMessage = (message: string | undefined): string | undefined =>
  message?.replace(/^Failed to apply manifest: /, "");
