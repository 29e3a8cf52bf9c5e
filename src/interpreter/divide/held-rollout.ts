/** Which pods of a rollout wait for members that get no copies at the moment, because the others have no pods left to make up for them. */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { parseStage, stageTextOf } from "./member-stage.ts";
import { keptPods } from "./split-partition.ts";

export interface HeldRollout {
  /** Pods that the partition lets through in the fleet, and those of them that wait. */
  readonly demanded: number;
  readonly waiting: number;
  readonly clusters: readonly string[];
}

/** `copies` are what `divide` made of the shares. Undefined when nothing waits. */
export function heldRollout(copies: ReadonlyMap<string, DeepReadonly<KubernetesObject>>, shares: readonly Share[]): HeldRollout | undefined {
  const staying = shares.filter(({ leaving }) => !leaving);
  if (!staying.some(({ held }) => held)) return undefined;
  const clusters: string[] = [];
  let [replicas, updated] = [0, 0];
  let partition: number | string = 0;
  for (const { cluster, held, observed } of staying) {
    const copy = copies.get(cluster);
    const stage = copy && parseStage(stageTextOf(copy));
    if (!stage) return undefined;
    replicas += stage.replicas;
    partition = stage.partition;
    if (!held) {
      // It goes further by itself.
      if (stage.updated < stage.replicas) return undefined;
      updated += stage.updated;
      continue;
    }
    const reported = isObject(observed) ? parseStage(observed["rolloutStage"]) : undefined;
    const has = held === "unsure" ? stage.updated : reported?.digest === stage.digest ? Math.min(reported.updated, stage.updated) : 0;
    if (has < stage.replicas) clusters.push(cluster);
    updated += has;
  }
  const demanded = replicas - keptPods(partition, replicas);
  const waiting = demanded - updated;
  return waiting > 0 ? { demanded, waiting, clusters } : undefined;
}
