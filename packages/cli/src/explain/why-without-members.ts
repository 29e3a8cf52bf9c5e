/** Why an object has no member yet: its policy, its scheduling, or the workload that it follows. Reads the hub. */
import { findCondition, HUB, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { copiesOf, isOnlyNeeded, needOf } from "@flotilla/flotilla";
import { ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { isLeftByPolicy } from "../health/lost-targets.ts";

type Template = DeepReadonly<KubernetesObject>;

/** An object that only follows workloads has no members before they have. */
export async function whyWithoutMembers(
  object: Template,
  binding: DeepReadonly<ResourceBinding> | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<string> {
  if (binding && !isOnlyNeeded(binding)) return unscheduledReason(binding);
  const [needing, ...others] = await bindingsNeeding(object, client, signal);
  if (!needing) return binding ? unscheduledReason(binding) : "no policy has selected it yet";
  const { kind, namespace, name } = needing.spec.resource;
  const title = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const isPlaced = copiesOf(needing.spec).length > 0;
  return isPlaced
    ? `it follows ${title}${more}, and is not bound to its members yet`
    : `it follows ${title}${more}, which has no member yet: ${unscheduledReason(needing)}`;
}

/**
 * Of the workloads that take an object to their members, those without a member first. Only those of its own scope are
 * read, because this is asked again and again: others may share an object of another namespace, which is rare.
 */
async function bindingsNeeding(
  object: Template,
  client: Client,
  signal: AbortSignal,
): Promise<DeepReadonly<ResourceBinding>[]> {
  const { namespace } = object.metadata;
  const kind = namespace ? ResourceBinding : (ClusterResourceBinding as unknown as Kind<ResourceBinding>);
  const found: DeepReadonly<ResourceBinding>[] = [];
  try {
    for await (const binding of eachObject(client, kind, { cluster: HUB, namespace: namespace || undefined, signal }))
      if (needOf(binding, object) === "met") found.push(binding);
  } catch (error) {
    // Only a cause: a user who may not list them still learns what is missing.
    if (!isForbidden(error)) throw error;
  }
  return found.sort((a, b) => copiesOf(a.spec).length - copiesOf(b.spec).length);
}

/** The last success says nothing about the generation that is to be scheduled. */
function unscheduledReason(binding: DeepReadonly<ResourceBinding>): string {
  if (isLeftByPolicy(binding)) return "no policy selects it any longer";
  const scheduled = findCondition(binding.status?.conditions, "Scheduled");
  if (scheduled?.status === "False" && scheduled.message) return scheduled.message;
  return binding.spec.suspension?.scheduling ? "scheduling is suspended" : "it is not scheduled yet";
}
