/**
 * Finds pods that keep a release although its partition was raised, because nothing rolls them back: OpenKruise does not
 * (its gate CloneSetPartitionRollback is off by default), and the hub cannot for these copies. Kinds whose new pods
 * always start with the newest template, such as a DaemonSet, have more of them than asked for as a rule, and are left
 * out.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Share, UnreturnedPods } from "@flotilla/kubernetes";
import { countOf, TEMPLATE_GENERATION } from "@flotilla/kubernetes";
import { keptTemplateOf, layersOf, parseStage, partitionOfStage, releaseOf, stageTextOf } from "./member-stage.ts";
import { partitionOf, type Partitioned } from "./partitioned.ts";
import { isStageRaised } from "./release.ts";
import { reportsStages } from "./rollout-members.ts";
import { letThrough } from "./split-partition.ts";

type Copy = DeepReadonly<Partitioned>;

/** `never`: why the kind cannot roll pods back at all; unset where copies decide. */
export const unreturnedPods =
  (never?: string) =>
  (copies: ReadonlyMap<string, DeepReadonly<KubernetesObject>>, shares: readonly Share[]): UnreturnedPods[] =>
    shares.flatMap((share) => {
      const [last, next] = [share.copy, copies.get(share.cluster)];
      if (!last || !next || share.leaving || share.held || !isObject(share.observed)) return [];
      if (!isSameRelease(last, next) || !isAnswered(last, share.observed)) return [];
      const found = countUnreturned(next, share.observed);
      const why = found && (never ?? reasonFor(share, next, share.observed));
      return found && why !== undefined ? { cluster: share.cluster, ...found, why } : [];
    });

function isSameRelease(last: Copy, next: Copy): boolean {
  const release = releaseOf(next);
  if (release === undefined) return equalJson(last.spec?.template, next.spec?.template);
  return releaseOf(last) === release || isStageRaised(next);
}

/** Whether the report is about the copy. */
function isAnswered(copy: Copy, status: JsonObject): boolean {
  const given = Number(copy.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  return (
    countOf(status["observedGeneration"]) >= countOf(status["generation"]) &&
    countOf(status["resourceTemplateGeneration"]) >= given
  );
}

function countUnreturned(copy: Copy, status: JsonObject): Pick<UnreturnedPods, "asked" | "updated"> | undefined {
  const stage = parseStage(stageTextOf(copy));
  const replicas = copy.spec?.replicas ?? 1;
  const partition = partitionOf(copy);
  const [pods, updated] = [countOf(status["replicas"]), countOf(status["updatedReplicas"])];
  if (stage?.isBackward || !partition || pods > replicas) return undefined;
  const asked = letThrough(partition, replicas);
  // Where all pods are updated and the report does not name the release, they may have been created like that, or a rule
  // keeps the member's template.
  const isNamed = stage ? parseStage(status["rolloutStage"])?.digest === stage.digest : isStageRaised(copy);
  return updated <= asked || (updated >= pods && !isNamed) ? undefined : { asked, updated };
}

/** Undefined if the next copies roll the pods back, or the user withdrew the templates that they would get. */
function reasonFor({ memberDecides, copy: last }: Share, copy: Copy, status: JsonObject): string | undefined {
  const stage = parseStage(stageTextOf(copy));
  if (memberDecides) return "a Retain rule leaves the partition to the members";
  if (!stage)
    return stageTextOf(copy) === undefined
      ? "the partition applies to each cluster separately, and OpenKruise does not roll pods back there"
      : "the release began without a partition, so the template before it is not kept";
  const written = last && parseStage(stageTextOf(last));
  if (written && partitionOf(last) !== partitionOfStage(written)) return "an override sets the partition of the member";
  const [newest] = layersOf(keptTemplateOf(copy));
  if (!newest) return "the template before the release is not kept, because it is too large";
  return newest.isMixed && last && !reportsStages(status, last)
    ? "pods of several earlier templates run, and a rule reflects a status that does not distinguish them"
    : undefined;
}
