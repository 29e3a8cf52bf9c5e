/**
 * Determines which pods of a rollout wait for held members, that is, members that get no copies at the moment: either
 * the other members have no pods left to compensate, or a held member may still run more than requested and the others
 * leave room for that.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import { parseStage, stageTextOf, type MemberStage } from "./member-stage.ts";
import { reportsStages } from "./rollout-members.ts";
import { keptPods } from "./split-partition.ts";

export interface HeldRollout {
  /** Pods that the partition lets through in the fleet, and how many of them wait. */
  readonly demanded: number;
  readonly waiting: number;
  readonly clusters: readonly string[];
}

/**
 * How many of the demanded pods the copies let through, if not all of them; the remaining pods wait for member reports.
 */
export function openRollout(
  copies: readonly DeepReadonly<KubernetesObject>[],
): { demanded: number; updated: number } | undefined {
  let [replicas, updated] = [0, 0];
  let partition: number | string = 0;
  for (const copy of copies) {
    const stage = parseStage(stageTextOf(copy));
    if (!stage) return undefined;
    replicas += stage.replicas;
    updated += stage.updated;
    partition = stage.partition;
  }
  const demanded = replicas - keptPods(partition, replicas);
  return updated < demanded ? { demanded, updated } : undefined;
}

/**
 * Pods of the release that a copy begins to roll back in steps, because pods of more than two templates run on its
 * member (`plan-return.ts`); the copy alone does not show how many. Undefined for other copies.
 */
export function steppedReturn(copy: DeepReadonly<KubernetesObject>): number | undefined {
  const stage = parseStage(stageTextOf(copy));
  return stage?.step ? Math.max(0, stage.step.keeps - stage.updated) || undefined : undefined;
}

/** `copies` is the result of `divide` for the shares. Returns undefined when nothing waits. */
export function heldRollout(
  copies: ReadonlyMap<string, DeepReadonly<KubernetesObject>>,
  shares: readonly Share[],
): HeldRollout | undefined {
  const staying = shares.filter(({ leaving }) => !leaving);
  if (!staying.some(({ held }) => held)) return undefined;
  let [replicas, updated, reserved, rest] = [0, 0, 0, 0];
  let partition: number | string = 0;
  const unfinished: string[] = [];
  const unsure: string[] = [];
  for (const share of staying) {
    const { cluster, held } = share;
    const copy = copies.get(cluster);
    const stage = copy && parseStage(stageTextOf(copy));
    if (!stage) return undefined;
    replicas += stage.replicas;
    partition = stage.partition;
    if (!held) {
      updated += stage.updated;
      rest += stage.replicas - stage.updated;
      continue;
    }
    const { has, may } = heldPods(stage, share);
    updated += has;
    reserved += may - has;
    if (has < stage.replicas) unfinished.push(cluster);
    if (may > has) unsure.push(cluster);
  }
  const demanded = replicas - keptPods(partition, replicas);
  // While the other members have pods left they proceed, except for the room left for a member whose state is unknown.
  const waiting = Math.min(demanded - updated, rest > 0 ? reserved : Number.POSITIVE_INFINITY);
  return waiting > 0 ? { demanded, waiting, clusters: rest > 0 ? unsure : unfinished } : undefined;
}

/** The number of release pods that was last requested from a held member, and the number that it may run. */
function heldPods(stage: MemberStage, { observed, copy }: Share): { has: number; may: number } {
  const status: JsonObject = isObject(observed) ? observed : {};
  const isTrusted = observed !== undefined && !reportsStages(status, copy);
  const reported = parseStage(status["rolloutStage"]);
  const isOfRelease = reported?.digest === stage.digest;
  // Where stages are not reported, the requested number is assumed.
  const answered = isOfRelease ? reported.updated : isTrusted ? stage.updated : 0;
  const has = Math.min(answered, stage.updated);
  return { has, may: Math.max(stage.updated, stage.peak ?? 0, isOfRelease ? countOf(status["updatedReplicas"]) : 0) };
}
