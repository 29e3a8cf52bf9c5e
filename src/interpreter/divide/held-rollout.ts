/**
 * Which pods of a rollout wait for members that get no copies at the moment: because the others have no pods left to
 * make up for them, or because such a member may still run more than it was asked for, and the others leave room for
 * that.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { countOf } from "../replica-status.ts";
import { parseStage, stageTextOf, type MemberStage } from "./member-stage.ts";
import { tellsStages } from "./rollout-members.ts";
import { keptPods } from "./split-partition.ts";

export interface HeldRollout {
  /** Pods that the partition lets through in the fleet, and those of them that wait. */
  readonly demanded: number;
  readonly waiting: number;
  readonly clusters: readonly string[];
}

/**
 * How many of the demanded pods the copies of all members let through, when these are not all: the others wait for
 * members to answer.
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

/** `copies` are what `divide` made of the shares. Undefined when nothing waits. */
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
  for (const { cluster, held, observed } of staying) {
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
    const { has, may } = heldPods(stage, observed);
    updated += has;
    reserved += may - has;
    if (has < stage.replicas) unfinished.push(cluster);
    if (may > has) unsure.push(cluster);
  }
  const demanded = replicas - keptPods(partition, replicas);
  // While the others have pods left they go on by themselves, except by what is left free for a member of which nobody
  // knows.
  const waiting = Math.min(demanded - updated, rest > 0 ? reserved : Number.POSITIVE_INFINITY);
  return waiting > 0 ? { demanded, waiting, clusters: rest > 0 ? unsure : unfinished } : undefined;
}

/** How many pods of the release a member that gets no copies is known to be asked for, and how many it may run. */
function heldPods(stage: MemberStage, observed: Json | undefined): { has: number; may: number } {
  const status: JsonObject = isObject(observed) ? observed : {};
  const isTrusted = observed !== undefined && !tellsStages(status);
  const reported = parseStage(status["rolloutStage"]);
  const isOfRelease = reported?.digest === stage.digest;
  // Where stages are not reported, what was asked for is believed.
  const answered = isOfRelease ? reported.updated : isTrusted ? stage.updated : 0;
  const has = Math.min(answered, stage.updated);
  return { has, may: Math.max(stage.updated, stage.peak ?? 0, isOfRelease ? countOf(status["updatedReplicas"]) : 0) };
}
