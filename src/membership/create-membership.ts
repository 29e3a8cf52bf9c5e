/** Wires the controllers that look after members to informers and clients of a hub. */
import { defined } from "../base/index.ts";
import type { ConnectHandler } from "../api/index.ts";
import {
  Cluster,
  ClusterResourceBinding,
  ClusterRole,
  ClusterRoleBinding,
  ClusterTaintPolicy,
  CustomResourceDefinition,
  executionNamespace,
  Lease,
  Namespace,
  ResourceBinding,
  Secret,
  Work,
} from "../api/index.ts";
import type { Clock, DeepReadonly, Log, Random } from "../base/index.ts";
import type { Client, ObjectKey, Transport } from "../client/index.ts";
import type { Delivery } from "../delivery/index.ts";
import { createOwnedSet } from "../runtime/index.ts";
import type { Controller, EventRecorders, Informers } from "../runtime/index.ts";
import { createAgentAccessController } from "./agent-access-controller.ts";
import { createCapacities } from "./capacities.ts";
import { createChanges } from "./changes.ts";
import { createMembershipController } from "./controller.ts";
import type { MemberAccess } from "./controller.ts";
import { createImpersonationController } from "./impersonation-controller.ts";
import { createLeavingDelivery, farewellOf } from "./leaving-delivery.ts";
import { createLifecycleController } from "./lifecycle-controller.ts";
import { createPullHealthController } from "./pull-health-controller.ts";
import { createProber } from "./prober.ts";
import { createClusterProxy } from "./proxy.ts";
import type { Thresholds } from "./ready.ts";
import { createRemoteMembers } from "./remote-members.ts";
import type { ConnectMember } from "./remote-members.ts";
import { createRotationController } from "./rotation-controller.ts";
import { createTaintPolicyController } from "./taint-policy-controller.ts";
import type { TaintPolicyDependencies } from "./taint-policy-controller.ts";
import { IMPERSONATOR } from "./well-known.ts";

/** How members are watched; Karmada's defaults. */
export interface MembershipTimes extends Thresholds {
  /** How often a member is asked whether it is well. */
  periodMs: number;
}

export const MEMBERSHIP_TIMES: MembershipTimes = { periodMs: 10_000, successMs: 30_000, failureMs: 30_000 };
/** Real clusters are asked what they serve; simulated ones tell. */
const FACTS_EVERY_MS = 30_000;
const BY_TARGET = "membership.target";

export interface MembershipOptions {
  hub: string;
  /** The hub's own objects. */
  informers: Informers;
  clientFor(part: string): Client;
  /** Members in this process: reached by one client, seen by one set of informers. */
  simulated: {
    client: Client;
    informers: Informers;
    isMember(cluster: string): boolean;
    deliveryFor(cluster: string): Delivery | undefined;
    /** A request to its API as somebody else. */
    call(cluster: string, ...request: Parameters<ConnectHandler>): ReturnType<ConnectHandler>;
  };
  /** Whether something else on the hub stands for the member and has to go first when it leaves. */
  isHeld?(cluster: string): boolean;
  /** Whether a cluster affinity selects a cluster. */
  matchesAffinity: TaintPolicyDependencies["matches"];
  events: EventRecorders;
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
  /** Wraps the transport to members outside of this process. */
  wrap?(transport: Transport, part: string): Transport;
  /** How members outside of this process are reached; unset is over the network. */
  connectMember?: ConnectMember;
  /** Wraps connections to them, to measure what goes over them. */
  measure?(transport: Transport, cluster: string): Transport;
}

export interface Membership {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** How manifests get to a member; undefined for one that is not there. */
  deliveryFor(cluster: string): Delivery | undefined;
  /** A client of a member outside of this process, whose writes its delivery sees; undefined for any other. */
  remoteClientOf(cluster: string): Client | undefined;
  /** False for a member that pulls: its own agent applies its Works and reports how it is. */
  serves(cluster: string): boolean;
  /**
   * The nodes and pods of a member that the hub reaches, and what else is asked for; undefined while it is not
   * connected.
   */
  informersOf(cluster: string): Informers | undefined;
  /** The subresource `proxy` of a Cluster. */
  proxy: ConnectHandler;
  close(): Promise<void>;
}

export function createMembership(options: MembershipOptions): Membership {
  const { hub, informers, clientFor, simulated, matchesAffinity, events, times, clock, random, log } = options;
  const { periodMs, ...thresholds } = { ...MEMBERSHIP_TIMES, ...defined(times) };
  const clusters = informers.of(Cluster);
  const works = informers.of(Work);
  const bindings = [informers.of(ResourceBinding), informers.of(ClusterResourceBinding)];
  for (const lister of bindings)
    lister.addIndex(BY_TARGET, ({ spec }) => (spec.clusters ?? []).map(({ name }) => name));

  const serves = ({ spec }: DeepReadonly<Cluster>): boolean => spec.syncMode !== "Pull";
  const changes = createChanges(hub);
  const capacities = createCapacities(changes.tell);
  const isSimulated = ({ metadata, spec }: DeepReadonly<Cluster>): boolean =>
    spec.secretRef === undefined && simulated.isMember(metadata.name);
  const prober = createProber({
    hub,
    periodMs,
    factsEveryMs: (cluster) =>
      clusters.get({ cluster: hub, name: cluster })?.spec.secretRef ? FACTS_EVERY_MS : Number.MAX_SAFE_INTEGER,
    clock,
    random,
    log,
  });
  const remote = createRemoteMembers({
    hub,
    informers,
    clock,
    random,
    log,
    wrap: options.wrap,
    connect: options.connectMember,
    measure: options.measure,
    onChange: changes.tell,
    onServed: prober.refresh,
    onOpen: ({ summary }) => capacities.watch(summary),
  });
  const stopWatching = capacities.watch(simulated.informers);
  const stopFollowing = simulated.informers
    .of(CustomResourceDefinition)
    .subscribe(({ cluster }) => prober.refresh(cluster));

  function accessTo(cluster: DeepReadonly<Cluster>): MemberAccess {
    if (isSimulated(cluster)) return simulated;
    const member = remote.of(cluster);
    return typeof member === "string" ? { problem: member } : { client: member.client, informers: member.summary };
  }

  /** One wrapper for each delivery, since the pipeline tells members apart by it. */
  const leaving = new Map<string, { of: Delivery | undefined; delivery: Delivery }>();
  clusters.subscribe(({ object, deleted }) => {
    if (deleted) leaving.delete(object.metadata.name);
  });
  function deliveryFor(name: string): Delivery | undefined {
    const cluster = clusters.get({ cluster: hub, name });
    if (!cluster || !serves(cluster)) return undefined;
    const of = isSimulated(cluster) ? simulated.deliveryFor(name) : remote.named(name)?.delivery;
    if (!of && farewellOf(cluster) === "stays") return undefined;
    const known = leaving.get(name);
    if (known && known.of === of) return known.delivery;
    const delivery = createLeavingDelivery(of, name, () => farewellOf(clusters.get({ cluster: hub, name }) ?? cluster));
    leaving.set(name, { of, delivery });
    return delivery;
  }

  const told = events("cluster-controller");
  const impersonationWorks = createOwnedSet<Work, ObjectKey>({
    client: clientFor("impersonation"),
    kind: Work,
    clusterOf: () => hub,
    current: ({ name }) =>
      works
        .list({ cluster: hub, namespace: executionNamespace(name) })
        .filter(
          ({ metadata, spec }) =>
            metadata.ownerReferences?.some(({ kind }) => kind === "Cluster") && isImpersonation(spec),
        ),
  });
  return {
    deliveryFor,
    remoteClientOf: (name) => remote.named(name)?.writer,
    serves(name) {
      const cluster = clusters.get({ cluster: hub, name });
      return cluster === undefined || serves(cluster);
    },
    informersOf(name) {
      const cluster = clusters.get({ cluster: hub, name });
      return cluster && isSimulated(cluster) ? simulated.informers : remote.named(name)?.summary;
    },
    proxy: createClusterProxy({
      hub,
      clusters,
      simulated: (cluster, ...request) =>
        isSimulated(cluster) ? simulated.call(cluster.metadata.name, ...request) : undefined,
      remote,
      askHub: (...request) => simulated.call(hub, ...request),
      clock,
    }),
    controllers: [
      createMembershipController({
        hub,
        hubClient: clientFor("membership"),
        serves,
        accessTo,
        changes: changes.source(),
        prober,
        capacities,
        thresholds,
        clock,
      }),
      createLifecycleController({
        hub,
        client: clientFor("lifecycle"),
        namespaces: informers.of(Namespace),
        worksOf: (name) => works.list({ cluster: hub, namespace: executionNamespace(name) }),
        isHeld: (name) => options.isHeld?.(name) ?? false,
        isTargeted: (name) => bindings.some((lister) => lister.by(BY_TARGET, name).length > 0),
        events: told,
        clock,
      }),
      createAgentAccessController({
        hub,
        client: clientFor("agent-access"),
        informers,
        isSimulated: simulated.isMember,
      }),
      createPullHealthController({ hub, client: clientFor("pull-health"), leases: informers.of(Lease), clock }),
      createTaintPolicyController({
        hub,
        client: clientFor("taints"),
        clusters,
        policies: informers.of(ClusterTaintPolicy),
        matches: matchesAffinity,
        events: events("cluster-taint-policy-controller"),
        clock,
      }),
      createImpersonationController({
        hub,
        clusters,
        roles: informers.of(ClusterRole),
        bindings: informers.of(ClusterRoleBinding),
        works: impersonationWorks,
        events: events("unified-auth-controller"),
      }),
      createRotationController({
        hub,
        client: clientFor("rotation"),
        secrets: informers.of(Secret),
        memberClient: (name) =>
          clusters.get({ cluster: hub, name })?.spec.syncMode === "Pull" ? undefined : remote.named(name)?.client,
        changes: changes.source(),
        events: told,
        clock,
      }),
    ],
    async close() {
      stopWatching();
      stopFollowing();
      prober.close();
      await remote.close();
    },
  };
}

function isImpersonation({ workload }: DeepReadonly<Work>["spec"]): boolean {
  return (workload?.manifests ?? []).some(
    (manifest) => (manifest as { metadata?: { name?: string } }).metadata?.name === IMPERSONATOR,
  );
}
