/**
 * Detects a template that requests more than its binding: match charges the difference to the FederatedResourceQuotas of
 * the namespace before it writes the binding. Copies that were made before would use what a quota may reject.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { ResourceBinding } from "@flotilla/karmada";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { QuotaRoom } from "../../quota/quota-room.ts";

import { requestsOf, sizeOf } from "../replicas/template-size.ts";

export interface QuotaHoldDependencies {
  interpreter: Pick<Interpreter, "replicas" | "components" | "levelOf">;
  quotaRoom: QuotaRoom;
  countsComponents: boolean;
}

export interface QuotaHold {
  /** Why a quota rejects the requests of the template; unset if they are only not charged yet. */
  refusal: string | undefined;
}

/** Undefined if the binding has what the template requests, or no quota limits it. */
export async function heldByQuota(
  binding: DeepReadonly<ResourceBinding>,
  template: DeepReadonly<KubernetesObject>,
  { interpreter, quotaRoom, countsComponents }: QuotaHoldDependencies,
): Promise<QuotaHold | undefined> {
  const { namespace } = binding.metadata;
  // Without a placement no policy has counted it.
  if (!quotaRoom.limits(namespace) || !binding.spec.placement || !binding.spec.clusters?.length) return undefined;
  try {
    const size = await sizeOf(template, interpreter, countsComponents);
    const { replicaRequirements: _, components: __, ...spec } = binding.spec;
    const asked = { ...binding, spec: { ...spec, ...requestsOf(size, namespace) } };
    if (!quotaRoom.isCharged(binding, asked)) return undefined;
    return { refusal: quotaRoom.refusalOf(binding, asked) };
  } catch (error) {
    if (error instanceof InterpretError) return undefined; // Match reports it.
    throw error;
  }
}
