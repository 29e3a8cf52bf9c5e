/**
 * Whether a binding's shares are those of a moment ago: the template asks for another number of replicas than match has
 * counted, or match has counted another than schedule has divided. Copies made of such shares are written, applied, and
 * written again.
 *
 * So dispatch gives the stages before it a moment. It is no more than that: shares stay as they are where there is no
 * room, where scheduling is suspended or the policy is gone, and whatever else the template says must reach the members
 * all the same.
 */
import type { KubernetesObject, ResourceBinding, Work } from "../../api/index.ts";
import { InterpretError, TEMPLATE_GENERATION } from "../../interpreter/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

/**
 * In process match and schedule take milliseconds; on a busy hub they are worth a second, and no rollout notices that.
 */
export const PATIENCE_MS = 1000;

/** The numbers that do not agree, as a text that changes when one of them does; undefined when they agree. */
export function oldShares({ spec }: Binding, asked: number | undefined): string | undefined {
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
 * How many replicas a template asks for that the Works do not know yet; undefined when they know it, or nobody can
 * tell.
 */
export async function newlyAsked(
  template: Template,
  works: readonly DeepReadonly<Work>[],
  interpreter: Pick<Interpreter, "replicas">,
): Promise<number | undefined> {
  const generation = String(template.metadata.generation ?? 0);
  if (works.every((work) => generationIn(work) === generation)) return undefined;
  try {
    return (await interpreter.replicas(template))?.replicas;
  } catch (error) {
    if (error instanceof InterpretError) return undefined; // Match tells of it; the shares stay.
    throw error;
  }
}

function generationIn({ spec }: DeepReadonly<Work>): string | undefined {
  const manifest = spec.workload?.manifests?.[0] as Template | undefined;
  return manifest?.metadata.annotations?.[TEMPLATE_GENERATION];
}

export interface Patience {
  /** How long to wait still for shares that agree; 0 when they do, and when they were waited for. */
  waitMs(id: string, disagreement: string | undefined, nowMs: number): number;
  forget(id: string): void;
}

/** By binding, and only while its numbers do not agree: when to go on, and which numbers these are. */
export function createPatience(): Patience {
  const waiting = new Map<string, { disagreement: string; untilMs: number }>();
  return {
    waitMs(id, disagreement, nowMs) {
      if (disagreement === undefined) {
        waiting.delete(id);
        return 0;
      }
      let wait = waiting.get(id);
      if (wait?.disagreement !== disagreement) waiting.set(id, (wait = { disagreement, untilMs: nowMs + PATIENCE_MS }));
      return Math.max(0, wait.untilMs - nowMs);
    },
    forget: (id) => void waiting.delete(id),
  };
}
