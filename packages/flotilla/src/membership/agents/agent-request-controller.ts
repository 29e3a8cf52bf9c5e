/**
 * Decides the certificate requests of agents of Karmada's API, and grants a new agent its permissions.
 *
 * Reads: pending CertificateSigningRequests, the token that was used, the objects that have the requested name.
 * Writes: the conditions `Approved` and `Denied`; the roles of the agent, before the approval.
 *
 * One request at a time: two requests with one token, or for one name, must not both be approved.
 */
import { Cluster, impersonationSecretName, KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import { CertificateSigningRequest, requestState, Secret } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import { dynamicKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import { AGENT_LIFETIME } from "../../access/certificate-lifetimes.ts";
import { requesterMay } from "../../access/requester-access.ts";
import { isSingleUse, joinTokenKey } from "./join-tokens.ts";
import { joinTokenOf, planAgentRequest, recognizeAgentRequest } from "./plan-agent-request.ts";
import type { AgentRequest, AgentRequestFacts, AgentRequestPlan } from "./plan-agent-request.ts";
import type { RegisteredAccess } from "./registered-access.ts";

export interface AgentRequestDependencies {
  hub: string;
  client: Client;
  informers: Informers;
  access: RegisteredAccess;
  events: EventRecorder;
  clock: Clock;
}

type Request = DeepReadonly<CertificateSigningRequest>;
type NamedRequest = Exclude<AgentRequest, { type: "generator" }>;

const BY_REQUESTER = "membership.requester";
const LogicalCluster = dynamicKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "LogicalCluster",
  plural: "logicalclusters",
  scope: "Cluster",
});

export function createAgentRequestController(deps: AgentRequestDependencies): Controller<ObjectKey> {
  const { hub, client, informers, access, events, clock } = deps;
  const requests = informers.of(CertificateSigningRequest);
  requests.addIndex(BY_REQUESTER, ({ spec }) => (spec.username ? [spec.username] : []));
  const secrets = informers.of(Secret);

  const isAllowed = (request: Request, subresource: string, signal: AbortSignal): Promise<boolean> =>
    requesterMay(
      client,
      hub,
      request,
      {
        group: "certificates.k8s.io",
        resource: "certificatesigningrequests",
        subresource,
        verb: "create",
        version: "*",
      },
      signal,
    );

  /** Reads from the hub itself: a name must not be given away because an informer lags. */
  async function takenBy(name: string, signal: AbortSignal): Promise<AgentRequestFacts["takenBy"]> {
    const exists = async (kind: Kind, key: Omit<ObjectKey, "cluster">): Promise<boolean> =>
      (await find(client, kind, { cluster: hub, ...key }, { signal })) !== undefined;
    if (await exists(Cluster, { name })) return "Cluster";
    if (await exists(ManagedCluster, { name })) return "ManagedCluster";
    if (await exists(LogicalCluster, { name })) return "LogicalCluster";
    const namespace = KARMADA_CLUSTER_NAMESPACE;
    for (const secret of [name, impersonationSecretName(name)])
      if (await exists(Secret, { namespace, name: secret })) return "Secret";
    return undefined;
  }

  /** The approved request that used up the token of this one. */
  function usedBy({ metadata, spec }: Request): string | undefined {
    const token = joinTokenOf(spec.username ?? "");
    if (token === undefined || !isSingleUse(secrets.get(joinTokenKey(hub, token)))) return undefined;
    const other = requests
      .by(BY_REQUESTER, spec.username ?? "")
      .find(
        (each) =>
          each.metadata.name !== metadata.name &&
          requestState(each).approved &&
          recognizeAgentRequest(each)?.type === "registration",
      );
    return other?.metadata.name;
  }

  async function factsOf(request: Request, agent: NamedRequest, signal: AbortSignal): Promise<AgentRequestFacts> {
    const { cluster } = agent;
    const registration = access.registrationOf(cluster);
    const isReserved = (registration?.reservedUntilMs ?? 0) > clock.now();
    const isRenewal = agent.type === "renewal";
    const known = await find(client, Cluster, { cluster: hub, name: cluster }, { signal });
    return {
      isAllowed: await isAllowed(request, isRenewal ? "selfclusteragent" : "clusteragent", signal),
      takenBy: isRenewal ? undefined : await takenBy(cluster, signal),
      isPullMember: known?.spec.syncMode === "Pull",
      reservedFor: isReserved ? registration?.by : undefined,
      usedBy: usedBy(request),
    };
  }

  async function decide(
    request: Request,
    { type, message }: Exclude<AgentRequestPlan, { type: "leave" }>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<boolean> {
    const condition =
      type === "approve"
        ? { type: "Approved", status: "True", reason: "AutoApproved", message }
        : { type: "Denied", status: "True", reason: "AgentNotAllowed", message };
    const patch = {
      metadata: { resourceVersion: request.metadata.resourceVersion ?? null },
      status: { conditions: [...(request.status?.conditions ?? []), condition] },
    };
    const answer = client.patch(CertificateSigningRequest, key, patch, {
      type: "merge",
      subresource: "approval",
      signal,
    });
    return (await unlessChanged(answer)) !== undefined;
  }

  function reportGenerator(request: Request): void {
    const { name } = request.metadata;
    events.record(hub, request, {
      type: "Warning",
      reason: "ApprovalRequired",
      message:
        `karmadactl register waits for an administrator: run 'kubectl certificate approve ${name}' if you ` +
        "started it; 'flotilla register' needs no approval",
    });
  }

  return defineController({
    name: "agent-requests",
    for: CertificateSigningRequest,
    writes: [CertificateSigningRequest],
    concurrency: 1,

    async reconcile(request, { key, log, signal }) {
      const { approved, denied, failed, issued } = requestState(request);
      if (approved || denied || failed || issued || request.metadata.deletionTimestamp !== undefined) return done;
      const agent = recognizeAgentRequest(request);
      if (!agent) return done;
      if (agent.type === "generator") {
        reportGenerator(request);
        return done;
      }
      const plan = planAgentRequest(agent, await factsOf(request, agent, signal));
      if (plan.type === "leave") return done;
      // Before the approval: an agent with a certificate finds its permissions.
      if (plan.type === "approve" && agent.type === "registration")
        await access.grant(agent.cluster, { by: agent.requester, reservedUntilMs: reservedUntil(request) }, signal);
      if (await decide(request, plan, key, signal))
        log.info(plan.type === "approve" ? "agent certificate approved" : "agent certificate denied", {
          member: agent.cluster,
          request: key.name,
          user: agent.requester,
          reason: plan.message,
        });
      return done;
    },
  });

  /** As long as the certificate that the signer issues. */
  function reservedUntil({ spec }: Request): number {
    const { defaultSeconds, maxSeconds } = AGENT_LIFETIME;
    return clock.now() + Math.min(spec.expirationSeconds ?? defaultSeconds, maxSeconds) * 1000;
  }
}
