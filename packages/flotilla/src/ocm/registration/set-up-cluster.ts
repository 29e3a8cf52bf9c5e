/**
 * What a cluster has on the hub once it is accepted: finalizers, namespace, roles of its agent, Lease. Each function
 * writes it where it is missing.
 */
import {
  AUTOMATICALLY_ACCEPTED_ANNOTATION,
  CLUSTER_LEASE,
  CLUSTER_NAME_LABEL,
  CLUSTER_RBAC_FINALIZER,
  CLUSTER_RESOURCES_FINALIZER,
  ManagedCluster,
} from "@flotilla/ocm";
import { Lease } from "@flotilla/kubernetes";
import { defined, formatMicroTime, formatTime, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { findCondition, isNamespaceTerminating, type NextCondition } from "@flotilla/apimachinery";
import { unlessChanged } from "@flotilla/controller-runtime";
import { accepted, denied, HUB_ACCEPTED, notAccepted, type Read } from "../cluster-conditions.ts";
import type { createAgentAccess } from "./agent-access.ts";

interface Dependencies {
  hub: string;
  client: Client;
  clock: Clock;
  access: ReturnType<typeof createAgentAccess>;
  /** New clusters are accepted automatically; a later denial by an administrator wins. */
  acceptsAll: boolean;
}

export interface ClusterSetUp {
  /** Adds the finalizers and the automatic acceptance in one write, before anything else is created. False after a write. */
  prepare(cluster: Read, signal: AbortSignal): Promise<boolean>;
  /** Returns the condition with the result; the caller reports and rethrows a failure. */
  admit(
    cluster: Read,
    isReached: boolean,
    signal: AbortSignal,
  ): Promise<{ condition: NextCondition | undefined; hasNamespace?: boolean; failure?: unknown }>;
  /** Creates the Lease of a cluster, or renews it for a member that has no agent. */
  renew(name: string, lease: DeepReadonly<Lease> | undefined, signal: AbortSignal): Promise<void>;
}

export function createClusterSetUp(deps: Dependencies): ClusterSetUp {
  const { hub, client, clock, access, acceptsAll } = deps;
  async function prepare(cluster: Read, signal: AbortSignal): Promise<boolean> {
    const { finalizers = [], resourceVersion = null, annotations } = cluster.metadata;
    const isNew = acceptsAll && annotations?.[AUTOMATICALLY_ACCEPTED_ANNOTATION] === undefined;
    const isAccepted = cluster.spec.hubAcceptsClient === true || isNew;
    const missing = [CLUSTER_RESOURCES_FINALIZER, ...(isAccepted ? [CLUSTER_RBAC_FINALIZER] : [])].filter(
      (finalizer) => !finalizers.includes(finalizer),
    );
    if (missing.length === 0 && !isNew) return true;
    const patch = {
      metadata: {
        resourceVersion,
        finalizers: [...finalizers, ...missing],
        ...defined({
          annotations: isNew ? { [AUTOMATICALLY_ACCEPTED_ANNOTATION]: formatTime(clock.now()) } : undefined,
        }),
      },
      ...defined({ spec: isNew ? { hubAcceptsClient: true } : undefined }),
    };
    await unlessChanged(
      client.patch(ManagedCluster, { cluster: hub, name: cluster.metadata.name }, patch, { type: "merge", signal }),
    );
    return false;
  }

  async function admit(
    cluster: Read,
    isReached: boolean,
    signal: AbortSignal,
  ): Promise<{ condition: NextCondition | undefined; hasNamespace?: boolean; failure?: unknown }> {
    const { name } = cluster.metadata;
    const isKnown = findCondition(cluster.status?.conditions, HUB_ACCEPTED) !== undefined;
    if (!cluster.spec.hubAcceptsClient) {
      if (!isKnown) return { condition: undefined };
      if (isReached) await access.revoke(name, signal);
      else await access.limit(name, signal);
      return { condition: denied };
    }
    try {
      const hasNamespace = await access.ensureNamespace(name, signal);
      if (isReached) await access.revoke(name, signal);
      else await access.grant(name, hasNamespace, signal);
      return { condition: accepted, hasNamespace };
    } catch (failure) {
      // The namespace is being deleted right now. The cluster is accepted anyway, and the namespace's deletion requeues
      // it.
      if (isNamespaceTerminating(failure)) return { condition: accepted };
      return { condition: notAccepted(messageOf(failure)), failure };
    }
  }

  async function renew(name: string, lease: DeepReadonly<Lease> | undefined, signal: AbortSignal): Promise<void> {
    const renewTime = formatMicroTime(clock.now());
    const key = { cluster: hub, namespace: name, name: CLUSTER_LEASE };
    if (lease) await client.patch(Lease, key, { spec: { renewTime } }, { type: "merge", signal });
    else
      await client.create(
        Lease,
        hub,
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: CLUSTER_LEASE, namespace: name, labels: { [CLUSTER_NAME_LABEL]: name } },
          spec: { holderIdentity: CLUSTER_LEASE, renewTime },
        },
        { signal },
      );
  }

  return { prepare, admit, renew };
}
