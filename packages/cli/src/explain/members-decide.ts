/** What members decide instead of the hub: replicas, and images that a Retain rule keeps. Both are named by their Works. */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { RELEASE_LEFT, REPLICAS_LEFT } from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";
import { mayKeep } from "../health/kept-values.ts";
import { joinCauses, nameMembers } from "../health/name-members.ts";
import { readWork } from "../members/read-work.ts";
import { otherReplicas } from "./unhealthy-on-hub.ts";
import type { SeenCopy } from "./unhealthy-on-hub.ts";

type Template = DeepReadonly<KubernetesObject>;

interface Dependencies {
  client: Client;
  signal: AbortSignal;
}

const MAX_NAMED = 3;

/**
 * The template with the replicas that its members have, where they decide them: an autoscaler there scales the copy, or
 * the label leaves them to the members. Undefined where another cause is known.
 */
export async function withMembersReplicas(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  stands: readonly SeenCopy[],
  { client, signal, interpreter }: Dependencies & { interpreter: Pick<Interpreter, "ownerOf"> },
): Promise<Template | undefined> {
  if (interpreter.ownerOf("retain", template) !== undefined) return undefined;
  const others = otherReplicas(binding, stands);
  const works = await Promise.all(others.map(({ cluster }) => readWork(client, template, cluster, signal)));
  if (works.length === 0 || !works.every(isLeftToMember)) return undefined;
  const replicas = stands.reduce((sum, stand) => sum + (stand.replicas ?? 0), 0);
  const { spec } = template as { spec?: object };
  return { ...template, spec: { ...spec, replicas } } as Template;
}

/** A rule that keeps images keeps them for ever. */
export async function keptReason(
  template: Template,
  binding: DeepReadonly<ResourceBinding>,
  stands: readonly SeenCopy[],
  { client, signal }: Dependencies,
): Promise<string | undefined> {
  if (!mayKeep(binding)) return undefined;
  const reasons = stands.map(async ({ cluster }) => {
    const work = await readWork(client, template, cluster, signal);
    const left = work === "forbidden" ? undefined : findCondition(work?.status?.conditions, RELEASE_LEFT);
    return left?.status === "True" ? [{ cluster, message: left.message }] : [];
  });
  const kept = Map.groupBy((await Promise.all(reasons)).flat(), ({ message }) => message);
  const causes = Array.from(
    kept,
    ([message, of]) =>
      `${nameMembers(of.map(({ cluster }) => cluster))} ${of.length === 1 ? "does" : "do"} not run this version: ${message}`,
  );
  return causes.length === 0 ? undefined : joinCauses([], causes, MAX_NAMED);
}

const isLeftToMember = (work: Awaited<ReturnType<typeof readWork>>): boolean =>
  work !== undefined && work !== "forbidden" && isConditionTrue(work.status?.conditions, REPLICAS_LEFT);
