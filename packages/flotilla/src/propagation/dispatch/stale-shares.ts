/**
 * Detects stale shares of a binding: the template requests another number of replicas than match has counted, or match
 * has counted another than schedule has divided. Copies made from such shares would be written, applied, and written
 * again.
 *
 * Dispatch therefore waits briefly for the stages before it. The wait is limited: shares stay stale when there is no
 * room, when scheduling is suspended or when the policy was deleted, and other template changes must still reach the
 * members.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { InterpretError } from "@flotilla/kubernetes";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { DeepReadonly } from "@flotilla/base";
import { TEMPLATE_GENERATION } from "@flotilla/karmada";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

/**
 * Match and schedule take milliseconds in process; on a busy hub they may take up to a second, which no rollout
 * notices.
 */
export const STALE_SHARES_WAIT_MS = 1000;

/** The disagreeing numbers, as a string that changes when one of them does; undefined when they agree. */
export function staleShares({ spec }: Binding, asked: number | undefined): string | undefined {
  const { clusters = [], placement, replicas = 0, components } = spec;
  if (clusters.length === 0 || !placement || components?.length || spec.suspension?.scheduling) return undefined;
  const isDivided = placement.replicaScheduling?.replicaSchedulingType === "Divided";
  const divided = isDivided
    ? clusters.reduce((sum, target) => sum + (target.replicas ?? 0), 0)
    : (clusters.find((target) => (target.replicas ?? replicas) !== replicas)?.replicas ?? replicas);
  return divided === replicas && (asked ?? replicas) === replicas
    ? undefined
    : `${asked ?? replicas}, ${replicas}, ${divided}`;
}

/**
 * The replicas that a template requests and the Works do not reflect yet; undefined when they do, or when unknown. A
 * binding without replicas may be older than the rule that counts them.
 */
export async function newlyAsked(
  { spec }: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  interpreter: Pick<Interpreter, "replicas">,
): Promise<number | undefined> {
  const generation = String(template.metadata.generation ?? 0);
  if (spec.replicas && works.every((work) => generationIn(work) === generation)) return undefined;
  try {
    return (await interpreter.replicas(template))?.replicas;
  } catch (error) {
    if (error instanceof InterpretError) return undefined; // Match reports it; the shares stay.
    throw error;
  }
}

function generationIn({ spec }: DeepReadonly<Work>): string | undefined {
  const manifest = spec.workload?.manifests?.[0] as Template | undefined;
  return manifest?.metadata.annotations?.[TEMPLATE_GENERATION];
}

export interface SharesWait {
  /** The remaining wait for shares to agree; 0 when they do, or when the wait is over. */
  waitMs(id: string, disagreement: string | undefined, nowMs: number): number;
  forget(id: string): void;
}

/** By binding, and only while its numbers disagree: when to continue, and the numbers. */
export function createSharesWait(limitMs = STALE_SHARES_WAIT_MS): SharesWait {
  const waiting = new Map<string, { disagreement: string; untilMs: number }>();
  return {
    waitMs(id, disagreement, nowMs) {
      if (disagreement === undefined) {
        waiting.delete(id);
        return 0;
      }
      let wait = waiting.get(id);
      if (wait?.disagreement !== disagreement) waiting.set(id, (wait = { disagreement, untilMs: nowMs + limitMs }));
      return Math.max(0, wait.untilMs - nowMs);
    },
    forget: (id) => void waiting.delete(id),
  };
}
