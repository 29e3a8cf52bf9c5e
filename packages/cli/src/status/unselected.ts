/**
 * Workloads of the hub that no policy has claimed. They run nowhere, which is often a mistake in a selector, and may be
 * intended.
 */
import { HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import { eachObject } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { CLUSTER_POLICY_ID, isReservedNamespace, POLICY_ID } from "@flotilla/karmada";
import { kubernetesWorkloads } from "@flotilla/kubernetes";
import { OCM_HUB_NAMESPACE, OCM_NAMESPACE } from "@flotilla/ocm";
import { kruiseWorkloads } from "@flotilla/openkruise";
import { idOf } from "../members/served-types.ts";
import type { Unselected } from "./fleet-status.ts";

const WORKLOADS = [...kubernetesWorkloads, ...kruiseWorkloads] as unknown as readonly AnyKind[];

/** Matching labels an object with the policy that has claimed it, so only the others are sent. */
export const UNCLAIMED = `!${POLICY_ID},!${CLUSTER_POLICY_ID}`;
const MAX_NAMES = 100;

const isOfSystem = (namespace: string): boolean =>
  isReservedNamespace(namespace) ||
  namespace.startsWith("kube-") ||
  namespace === OCM_NAMESPACE ||
  namespace === OCM_HUB_NAMESPACE;

/** An object without a policy; `replicas`: what its spec asks for. */
export interface UnclaimedObject {
  kind: string;
  namespace: string;
  name: string;
  replicas: number | undefined;
}

/** `isBound` is true for objects that a binding delivers for another reason, or still. */
export async function readUnselected(
  client: Client,
  isBound: (object: UnclaimedObject) => boolean,
  { namespace, signal }: { namespace?: string | undefined; signal: AbortSignal },
): Promise<Unselected> {
  const found: Unselected = { count: 0, names: [], types: [] };
  for (const kind of WORKLOADS) {
    try {
      const where = { cluster: HUB, namespace, labelSelector: UNCLAIMED, signal };
      for await (const object of eachObject(client, kind, where)) {
        const { metadata } = object;
        const { namespace: place = "", name, ownerReferences = [], deletionTimestamp } = metadata;
        if (isOfSystem(place) || ownerReferences.length > 0 || deletionTimestamp !== undefined) continue;
        if (isBound({ kind: kind.kind, namespace: place, name, replicas: replicasOf(object) })) continue;
        found.count += 1;
        if (found.names.length < MAX_NAMES) found.names.push(`${kind.kind} ${place}/${name}`);
        if (!found.types.includes(idOf(kind))) found.types.push(idOf(kind));
      }
    } catch (error) {
      // Only a hint: kinds that the user may not list are reported where they matter.
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  return found;
}

function replicasOf(object: object): number | undefined {
  const { replicas } = (object as { spec?: { replicas?: unknown } }).spec ?? {};
  return typeof replicas === "number" ? replicas : undefined;
}
