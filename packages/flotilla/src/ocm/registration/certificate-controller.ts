/**
 * Automatically approves the certificates of agents: renewals of accepted agents, and first certificates of trusted
 * users.
 *
 * Reads: CertificateSigningRequest, ManagedCluster; the permissions of the requesting user.
 * Writes: the approval of recognised requests; an administrator decides the others.
 *
 * A first certificate for a cluster with a live agent is never approved here: it belongs to a second agent with the
 * same name, by mistake or not, and an administrator has to decide.
 */
import { CertificateSigningRequest, requestState } from "@flotilla/kubernetes";
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster, REGISTER_GROUP } from "@flotilla/ocm";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isConditionTrue } from "@flotilla/apimachinery";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import { requesterMay } from "../../access/requester-access.ts";
import { AVAILABLE } from "../cluster-conditions.ts";
import { recogniseRequest, type AgentRequest } from "./recognise-request.ts";

export interface CertificateDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  events: EventRecorder;
  /** The users whose first certificates are approved; usually none. */
  trustedUsers: readonly string[];
}

type Request = DeepReadonly<CertificateSigningRequest>;

export function createCertificateController(deps: CertificateDependencies): Controller<ObjectKey> {
  const { hub, informers, client, events, trustedUsers } = deps;
  const clusters = informers.of(ManagedCluster);
  const apis = informers.of(Cluster);
  const trusted = new Set(trustedUsers);

  const mayRenew = (request: Request, signal: AbortSignal): Promise<boolean> =>
    requesterMay(
      client,
      hub,
      request,
      { group: REGISTER_GROUP, resource: "managedclusters", subresource: "clientcertificates", verb: "renew" },
      signal,
    );

  /** Also emits an event on the ManagedCluster. */
  function isTaken({ cluster }: AgentRequest, request: Request): boolean {
    const known = clusters.get({ cluster: hub, name: cluster });
    const isReached = apis.get({ cluster: hub, name: cluster })?.spec.syncMode === "Push";
    if (!isReached && !isConditionTrue(known?.status?.conditions, AVAILABLE)) return false;
    const why = isReached ? "the hub reaches this cluster itself" : "an agent of this cluster is alive";
    if (known)
      events.record(hub, known, {
        type: "Warning",
        reason: "SecondAgent",
        message: `request ${request.metadata.name} for a first certificate of cluster ${cluster} is not approved automatically: ${why}`,
      });
    return true;
  }

  async function approve(request: Request, key: ObjectKey, signal: AbortSignal): Promise<boolean> {
    const condition = {
      type: "Approved",
      status: "True",
      reason: "AutoApprovedByHubCSRApprovingController",
      message: "Auto approving Managed cluster agent certificate after SubjectAccessReview.",
    };
    const patch = {
      metadata: { resourceVersion: request.metadata.resourceVersion ?? null },
      status: { conditions: [...(request.status?.conditions ?? []), condition] },
    };
    return (
      (await unlessChanged(
        client.patch(CertificateSigningRequest, key, patch as unknown as Json, {
          type: "merge",
          subresource: "approval",
          signal,
        }),
      )) !== undefined
    );
  }

  return defineController({
    name: "ocm-certificates",
    for: CertificateSigningRequest,
    writes: [CertificateSigningRequest],

    async reconcile(request, { key, log, signal }) {
      const { approved, denied } = requestState(request);
      const agent = approved || denied ? undefined : recogniseRequest(request);
      if (!agent) return done;
      if (request.spec.username === agent.user) {
        if ((await mayRenew(request, signal)) && (await approve(request, key, signal)))
          log.info("agent certificate renewal approved", { member: agent.cluster });
      } else if (
        trusted.has(request.spec.username ?? "") &&
        !isTaken(agent, request) &&
        (await approve(request, key, signal))
      ) {
        log.info("first agent certificate approved", { member: agent.cluster, user: request.spec.username });
      }
      return done;
    },
  });
}
