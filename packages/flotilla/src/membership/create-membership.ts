/** Wires the member controllers to the informers and clients of a hub. */
import { defined } from "@flotilla/base";
import {
  Cluster,
  ClusterResourceBinding,
  ClusterTaintPolicy,
  executionNamespace,
  IMPERSONATOR,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Lease, Namespace, Secret } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Delivery } from "../delivery/delivery.ts";
import { createOwnedSet } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import { createAgentAccessController } from "./agent-access-controller.ts";
import { createAgentRequestController } from "./agents/agent-request-controller.ts";
import { createJoinTokenController } from "./agents/join-token-controller.ts";
import { createRegisteredAccess } from "./agents/registered-access.ts";
import { createRegistrationController } from "./agents/registration-controller.ts";
import { createCapacities } from "./capacities.ts";
import { createChanges } from "./changes.ts";
import { createMembershipController } from "./membership-controller.ts";
import type { MemberAccess } from "./membership-controller.ts";
import { createImpersonationController } from "./impersonation-controller.ts";
import { createLeavingDelivery, leaveModeOf } from "./leaving-delivery.ts";
import { createLifecycleController } from "./lifecycle-controller.ts";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { createPullHealthController } from "./pull-health-controller.ts";
import { createProber } from "./prober.ts";
import type { Thresholds } from "./ready.ts";
import { connectionOf } from "./member.ts";
import type { Member, MemberSource } from "./member.ts";
import { createRotationController } from "./rotation-controller.ts";
import { createTaintPolicyController } from "./taint-policy-controller.ts";
import type { TaintPolicyDependencies } from "./taint-policy-controller.ts";

/** Probe intervals and thresholds; the defaults are Karmada's. */
export interface MembershipTimes extends Thresholds {
  /** Health probe interval. */
  periodMs: number;
}

export const MEMBERSHIP_TIMES: MembershipTimes = { periodMs: 10_000, successMs: 30_000, failureMs: 30_000 };
/** Discovery interval for real clusters; simulated ones report changes themselves. */
const DISCOVERY_INTERVAL_MS = 30_000;
const BY_TARGET = "membership.target";

export interface MembershipOptions {
  hub: string;
  /** The hub's own objects. */
  informers: Informers;
  clientFor(part: string): Client;
  /** How members are reached. */
  members: MemberSource;
  /** Whether the member has another registration on the hub that must be deleted first when it leaves. */
  isHeld?(cluster: string): boolean;
  /** Whether a cluster affinity selects a cluster. */
  matchesAffinity: TaintPolicyDependencies["matches"];
  events: EventRecorders;
  /** Records the decisions of the controllers. */
  decisions?: DecisionRecorder | undefined;
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Membership {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** Delivers manifests to a member; undefined if it does not exist. */
  deliveryFor(cluster: string): Delivery | undefined;
  /** The connection to a member; undefined while there is none. */
  memberOf(cluster: string): Member | undefined;
  /** False for a pull member: its own agent applies its Works and reports its status. */
  serves(cluster: string): boolean;
  /** Informers of a push member for its nodes, pods and other requested kinds; undefined while it is not connected. */
  informersOf(cluster: string): Informers | undefined;
  close(): void;
}

export function createMembership(options: MembershipOptions): Membership {
  const { hub, informers, clientFor, members, matchesAffinity, events, decisions, times, clock, random, log } = options;
  const { periodMs, ...thresholds } = { ...MEMBERSHIP_TIMES, ...defined(times) };
  const clusters = informers.of(Cluster);
  const works = informers.of(Work);
  const bindings = [informers.of(ResourceBinding), informers.of(ClusterResourceBinding)];
  for (const lister of bindings)
    lister.addIndex(BY_TARGET, ({ spec }) => (spec.clusters ?? []).map(({ name }) => name));

  const serves = ({ spec }: DeepReadonly<Cluster>): boolean => spec.syncMode !== "Pull";
  const changes = createChanges(hub);
  const capacities = createCapacities(changes.report);
  const memberOf = (name: string): Member | undefined => {
    const cluster = clusters.get({ cluster: hub, name });
    return cluster && connectionOf(members.find(cluster));
  };
  const prober = createProber({
    hub,
    periodMs,
    factsEveryMs: (cluster) => (memberOf(cluster)?.reportsKinds ? Number.MAX_SAFE_INTEGER : DISCOVERY_INTERVAL_MS),
    clock,
    random,
    log,
  });
  const stopListening = members.listen({
    changed: changes.report,
    suspected: prober.check,
    served: prober.refresh,
    opened: capacities.watch,
  });

  const accessTo = (cluster: DeepReadonly<Cluster>): MemberAccess =>
    members.find(cluster) ?? { problem: `cluster ${cluster.metadata.name} is not reached from here` };

  /** One wrapper per delivery, because the pipeline identifies members by it. */
  const leaving = new Map<string, { of: Delivery | undefined; delivery: Delivery }>();
  clusters.subscribe(({ object, deleted }) => {
    if (deleted) leaving.delete(object.metadata.name);
  });
  function deliveryFor(name: string): Delivery | undefined {
    const cluster = clusters.get({ cluster: hub, name });
    if (!cluster || !serves(cluster)) return undefined;
    const of = connectionOf(members.find(cluster))?.delivery;
    if (!of && leaveModeOf(cluster) === "stays") return undefined;
    const known = leaving.get(name);
    if (known && known.of === of) return known.delivery;
    const delivery = createLeavingDelivery(of, name, () =>
      leaveModeOf(clusters.get({ cluster: hub, name }) ?? cluster),
    );
    leaving.set(name, { of, delivery });
    return delivery;
  }

  const recorder = events("cluster-controller");
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
    memberOf,
    serves(name) {
      const cluster = clusters.get({ cluster: hub, name });
      return cluster === undefined || serves(cluster);
    },
    informersOf: (name) => memberOf(name)?.informers,
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
        recorder: decisions,
        clock,
      }),
      createLifecycleController({
        hub,
        client: clientFor("lifecycle"),
        namespaces: informers.of(Namespace),
        worksOf: (name) => works.list({ cluster: hub, namespace: executionNamespace(name) }),
        isHeld: (name) => options.isHeld?.(name) ?? false,
        isTargeted: (name) => bindings.some((lister) => lister.by(BY_TARGET, name).length > 0),
        events: recorder,
        recorder: decisions,
        clock,
      }),
      createAgentAccessController({
        hub,
        client: clientFor("agent-access"),
        informers,
        hasBuiltInAgent: (name) => memberOf(name)?.hasBuiltInAgent ?? false,
      }),
      ...createAgentControllers(options),
      createPullHealthController({
        hub,
        client: clientFor("pull-health"),
        leases: informers.of(Lease),
        recorder: decisions,
        clock,
      }),
      createTaintPolicyController({
        hub,
        client: clientFor("taints"),
        clusters,
        policies: informers.of(ClusterTaintPolicy),
        matches: matchesAffinity,
        events: events("cluster-taint-policy-controller"),
        recorder: decisions,
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
          clusters.get({ cluster: hub, name })?.spec.syncMode === "Pull" ? undefined : memberOf(name)?.client,
        changes: changes.source(),
        events: recorder,
        clock,
      }),
    ],
    close() {
      stopListening();
      prober.close();
    },
  };
}

/** Registration of agents through Karmada's API, and the tokens of both APIs. */
function createAgentControllers(options: MembershipOptions): Controller<ObjectKey>[] {
  const { hub, informers, clientFor, events, clock } = options;
  const client = clientFor("agent-registration");
  const access = createRegisteredAccess({ hub, client, informers });
  return [
    createAgentRequestController({ hub, client, informers, access, events: events("agent-registration"), clock }),
    createRegistrationController({ hub, clusters: informers.of(Cluster), access, clock }),
    createJoinTokenController({ hub, client, secrets: informers.of(Secret), clock }),
  ];
}

function isImpersonation({ workload }: DeepReadonly<Work>["spec"]): boolean {
  return (workload?.manifests ?? []).some(
    (manifest) => (manifest as { metadata?: { name?: string } }).metadata?.name === IMPERSONATOR,
  );
}
