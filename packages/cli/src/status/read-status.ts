/** Reads the status of a fleet through the hub's API, page by page, keeping little of each object. */
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  CronFederatedHpa,
  FederatedHpa,
  FederatedResourceQuota,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import {
  CLUSTER_LEASE,
  ManagedCluster,
  ManifestWork,
  ManifestWorkReplicaSet,
  OCM_HUB_NAMESPACE,
  OcmPlacement,
} from "@flotilla/ocm";
import { APIService, Deployment, Event, Lease, Namespace } from "@flotilla/kubernetes";
import { HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { FleetRollout, UNSETTLED_RELEASES, unservingMembers, unservingText, whyUnavailable } from "@flotilla/flotilla";
import { eachObject, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { brokenPrograms, hubProgramsOf } from "../health/hub-programs.ts";
import { readFailedChecks, readHubMetrics } from "../hub-checks.ts";
import type { ComponentsStatus, FleetStatus, Problem, WorkloadStatus } from "./fleet-status.ts";
import { createObjectReader } from "./object-reader.ts";
import { readIneffective, slimPolicy } from "./ineffective.ts";
import { summariseMembers } from "./members.ts";
import { createUnhealthyCollector } from "./unhealthy.ts";
import { readUnselected } from "./unselected.ts";
import {
  idOfWorkload,
  namespacesOf,
  summariseManifests,
  summariseWorkload,
  withAskedReplicas,
  withReleases,
} from "./workloads.ts";
import {
  candidateOfBinding,
  candidatesOfWork,
  copiesOf,
  judgeCandidate,
  uncheckedCandidate,
} from "../health/candidates.ts";
import type { Candidate } from "../health/candidates.ts";
import { findKeptValues, mayKeep } from "../health/kept-values.ts";
import { whyDeletionLasts } from "../health/deleted-namespaces.ts";
import { lookAtPods } from "../health/look-at-pods.ts";
import { controllersProblem, readControllers } from "../health/controllers-state.ts";
import { failingNow, failureProblem, ofExisting, readRuleEvents, SILENT_FAILURES } from "../health/rule-events.ts";
import type { Policy } from "../health/ineffective-parts.ts";
import { createPlacementUses } from "../health/placement-use.ts";
import { reportAutoscaler, reportCron } from "../health/autoscalers.ts";
import { reportQuota } from "../health/federated-quotas.ts";
import { createReleaseCollector } from "../health/collect-releases.ts";
import { notAHub } from "../membership/hub-only.ts";
import { placeOf } from "../members/members-places.ts";

/** The namespaces of Karmada's and Open Cluster Management's components on a hub. */
const COMPONENT_NAMESPACES = [KARMADA_SYSTEM_NAMESPACE, OCM_HUB_NAMESPACE];

export interface StatusQuestion {
  client: Client;
  server: string;
  clock: Clock;
  signal: AbortSignal;
  /** Only the workloads of this namespace. */
  namespace?: string | undefined;
}

type Collector = ReturnType<typeof createUnhealthyCollector>;

export async function readStatus(question: StatusQuestion): Promise<FleetStatus> {
  const { client, server, clock, signal, namespace } = question;
  const nowMs = clock.now();
  const { each, all, counts, notShown, notServed } = createObjectReader(client, signal);
  /** Filled before the bindings are read; no names while some members may not be listed. */
  const fleet: { names?: ReadonlySet<string> | undefined } = {};
  const isMember = (name: string): boolean => fleet.names?.has(name) ?? true;
  const collector = createUnhealthyCollector(isMember);
  const workloads: WorkloadStatus[] = [];
  const candidates: Candidate[] = [];
  /** Bindings whose rules may keep a release from members. */
  const ruled: DeepReadonly<ResourceBinding>[] = [];
  /** Bindings that no policy selects any longer, by workload. */
  const left = new Map<string, DeepReadonly<ResourceBinding>>();
  const policies: Policy[] = [];
  const releases = createReleaseCollector(nowMs);
  const uses = createPlacementUses();

  const [clusters, managedClusters, leases, components, failedChecks, metrics, services, controllers] =
    await Promise.all([
      all(Cluster),
      all(ManagedCluster),
      Promise.all([
        all(Lease, { namespace: KARMADA_CLUSTER_NAMESPACE }),
        all(Lease, { fieldSelector: `metadata.name=${CLUSTER_LEASE}` }),
      ]),
      readComponents(client, signal),
      readFailedChecks(client, signal),
      readHubMetrics(client, signal),
      all(APIService),
      readControllers({ client, clock, signal }),
    ]);
  // Reporting an empty fleet would be wrong.
  if (notServed.has(Cluster.kind) && notServed.has(ManagedCluster.kind)) throw notAHub(server);
  reportHub(collector, { failedChecks, services, metrics, controllers, components, nowMs });
  const members = summariseMembers({ clusters, managedClusters, leases: leases.flat(), nowMs });
  for (const member of members) collector.member(member);

  const seeBinding = (binding: DeepReadonly<ResourceBinding>): void => {
    collector.binding(binding);
    uses.see(binding);
    const workload = summariseWorkload(binding);
    workloads.push(workload);
    if (workload.withoutPolicy) left.set(idOfWorkload(workload), binding);
    if (mayKeep(binding)) ruled.push(binding);
    const candidate = candidateOfBinding(binding, { nowMs });
    if (candidate) candidates.push(candidate);
  };
  const areAllKnown = !notShown.has(Cluster.plural) && !notShown.has(ManagedCluster.plural);
  fleet.names = areAllKnown ? new Set(members.map(({ name }) => name)) : undefined;
  const away = new Set(
    managedClusters.filter((cluster) => whyUnavailable(cluster) !== undefined).map(({ metadata }) => metadata.name),
  );
  const seeWork = (work: DeepReadonly<ManifestWork>): "not asked" | undefined => {
    if (namespace !== undefined && !namespacesOf(work).has(namespace)) return "not asked";
    const rows = summariseManifests(work, away.has(work.metadata.namespace ?? ""));
    workloads.push(...rows.filter((row) => namespace === undefined || row.namespace === namespace));
    collector.manifestWork(work);
    candidates.push(...candidatesOfWork(work, { nowMs, members: fleet.names }));
    return undefined;
  };
  const seePolicy = (policy: DeepReadonly<PropagationPolicy>): void => {
    collector.policy(policy);
    policies.push(slimPolicy(policy));
  };
  const seeScaling = (
    { kind, metadata }: DeepReadonly<KubernetesObject>,
    reports: readonly { problem: Problem; what: string; try: string }[],
  ): void => {
    for (const { problem, what, try: remedy } of reports)
      collector.unhealthy({ problem, kind, ...metadata }, `${what}; ${remedy}`);
  };
  const seeNamespace = (found: DeepReadonly<Namespace>): void => {
    const why = whyDeletionLasts(found, nowMs);
    if (why !== undefined)
      collector.unhealthy({ problem: "namespace being deleted", kind: Namespace.kind, name: found.metadata.name }, why);
  };
  const ownNamespace = namespace === undefined ? undefined : await findNamespace(client, namespace, signal);
  if (ownNamespace?.found) seeNamespace(ownNamespace.found);
  const skip = Promise.resolve(0);
  const [bindings, clusterBindings, works, manifestWorks, , , placements, replicaSets, rules] = await Promise.all([
    each(ResourceBinding, seeBinding, { namespace }),
    namespace === undefined ? each(ClusterResourceBinding as unknown as Kind<ResourceBinding>, seeBinding) : skip,
    // The bindings of a namespace report what is wrong with their Works.
    namespace === undefined ? each(Work, collector.work) : skip,
    each(ManifestWork, seeWork),
    each(PropagationPolicy, seePolicy, { namespace }),
    namespace === undefined ? each(ClusterPropagationPolicy as unknown as Kind<PropagationPolicy>, seePolicy) : skip,
    each(OcmPlacement, collector.placement, { namespace }),
    each(ManifestWorkReplicaSet, collector.replicaSet, { namespace }),
    readRuleEvents((fieldSelector) => all(Event, { namespace, fieldSelector }), SILENT_FAILURES),
    each(FederatedHpa, (object) => seeScaling(object, reportAutoscaler(object, nowMs)), { namespace }),
    each(CronFederatedHpa, (object) => seeScaling(object, reportCron(object, nowMs)), { namespace }),
    each(FederatedResourceQuota, (object) => seeScaling(object, reportQuota(object, isMember)), { namespace }),
    namespace === undefined ? each(Namespace, seeNamespace) : skip,
    each(FleetRollout, releases.see, { namespace, fieldSelector: UNSETTLED_RELEASES }),
  ]);
  const unsettled = await releases.take(client, signal);
  for (const { state, what, try: remedy, target } of unsettled.reports)
    collector.unhealthy({ problem: RELEASE_PROBLEMS[state], ...target }, `${what}; ${remedy}`);
  const bound = new Set(workloads.map(idOfWorkload));
  const asked = new Map<string, number>();
  const unselected = await readUnselected(
    client,
    (object) => {
      const id = idOfWorkload(object);
      if (left.has(id) && object.replicas !== undefined) asked.set(id, object.replicas);
      return bound.has(id);
    },
    { namespace, signal },
  );
  for (const failure of await ofExisting(failingNow(rules, nowMs), client, signal))
    collector.unhealthy({ ...failure, problem: failureProblem(failure) }, failure.message);

  const reports = await lookAtPods(copiesOf(candidates), {
    client,
    clock,
    signal,
    places: notShown.has(Cluster.plural) ? undefined : clusters.map(placeOf),
  });
  const keptValues = await findKeptValues(ruled, client, signal);
  for (const { reason, ...object } of keptValues.kept) collector.unhealthy(object, reason);
  for (const candidate of candidates) {
    const reason = judgeCandidate(candidate, reports) ?? uncheckedCandidate(candidate, reports);
    if (reason !== undefined) collector.unhealthy(candidate, reason);
  }
  reportLackingKinds(collector, { policies, clusters, uses });
  const result = collector.result();
  const joined = new Set(clusters.map(({ metadata }) => metadata.name));
  const ineffective = notShown.has(Cluster.plural)
    ? undefined
    : await readIneffective({ client, signal, policies, joined, unhealthy: result });
  // Nothing is claimed about policies of which parts have no effect.
  if (ineffective?.parts !== 0) counts.delete(PropagationPolicy.kind);
  return {
    server,
    controllers,
    components: components ?? [],
    members,
    objects: { bindings: bindings + clusterBindings, works, manifestWorks, placements, replicaSets },
    unhealthy: result,
    releases: unsettled.active,
    workloads: withReleases(
      workloads.map((workload) => {
        const id = idOfWorkload(workload);
        const [binding, replicas] = [workload.withoutPolicy && left.get(id), asked.get(id)];
        return binding && replicas !== undefined ? withAskedReplicas(workload, binding, replicas) : workload;
      }),
      unsettled.active,
    ),
    unselected,
    ineffective,
    namespace,
    isNamespaceMissing: (workloads.length === 0 && ownNamespace?.isMissing) || undefined,
    checked: checkedParts({
      counts,
      isHubChecked: failedChecks !== undefined,
      arePodsSeen: reports.unseen.length === 0,
    }),
    notShown: [...notShown].toSorted(),
    notChecked: [
      ...uncheckedParts({
        isHubChecked: failedChecks !== undefined,
        areWebhooksChecked: metrics !== undefined,
        controllers,
        components,
      }),
      ...reports.unseen,
      ...keptValues.unseen,
      ...unsettled.unseen,
      ...(ineffective?.unseen ?? []),
    ],
  };
}

interface HubFacts {
  failedChecks: Awaited<ReturnType<typeof readFailedChecks>>;
  services: readonly DeepReadonly<APIService>[];
  metrics: Awaited<ReturnType<typeof readHubMetrics>>;
  controllers: Awaited<ReturnType<typeof readControllers>>;
  components: Awaited<ReturnType<typeof readComponents>>;
  nowMs: number;
}

/** The health of the hub itself. */
function reportHub(collector: Collector, facts: HubFacts): void {
  const { failedChecks, services, metrics, controllers, components, nowMs } = facts;
  for (const check of failedChecks ?? []) collector.hubCheck(check);
  for (const broken of brokenPrograms(hubProgramsOf(services, metrics ?? ""), nowMs)) collector.program(broken);
  const missing = controllersProblem(controllers);
  if (missing) {
    // The components that the controllers embody are not ready either: one cause.
    collector.controllers(`${missing.what}; ${missing.try}`);
    return;
  }
  for (const { namespace, unready } of components ?? [])
    for (const name of unready) collector.component(namespace, name);
}

/** Policies whose objects reach members that do not serve their kind. */
function reportLackingKinds(
  collector: Collector,
  {
    policies,
    clusters,
    uses,
  }: {
    policies: readonly Policy[];
    clusters: readonly DeepReadonly<Cluster>[];
    uses: ReturnType<typeof createPlacementUses>;
  },
): void {
  for (const { kind, metadata, spec } of policies) {
    const { namespace, name } = metadata;
    const policy = { kind, ...metadata };
    // Without objects of the kind, no member lacks a copy.
    for (const found of unservingMembers(spec, clusters, uses.of(policy)).filter((each) => uses.has(policy, each)))
      collector.unhealthy(
        { problem: "policy selecting members without the kind", kind, namespace, name },
        unservingText(found),
      );
  }
}

/**
 * A user of one namespace may often get it and not list all. For one who may not get it either it counts as existing,
 * and its deletion is not looked at; nothing claims that it was.
 */
async function findNamespace(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<{ found?: DeepReadonly<Namespace> | undefined; isMissing: boolean }> {
  try {
    const found = await find(client, Namespace, { cluster: HUB, name }, { signal });
    return { found, isMissing: found === undefined };
  } catch (error) {
    if (isForbidden(error)) return { isMissing: false };
    throw error;
  }
}

/** What was checked, for a fleet in which nothing was found. */
function checkedParts({
  counts,
  isHubChecked,
  arePodsSeen,
}: {
  counts: ReadonlyMap<string, number>;
  isHubChecked: boolean;
  arePodsSeen: boolean;
}): string[] {
  return [
    ...(isHubChecked ? ["the hub"] : []),
    ...CHECKED_KINDS.flatMap(([names, what, plural = `${what}s`]) => {
      const most = Math.max(...names.flatMap((name) => counts.get(name) ?? []), 0);
      return most > 0 ? [`${most} ${most === 1 ? what : plural}`] : [];
    }),
    ...(counts.has(FleetRollout.kind) ? ["releases"] : []),
    ...(counts.has(Event.kind) ? ["interpreter rules"] : []),
    ...(AREAS_WITH_PODS.some((kind) => counts.has(kind)) && arePodsSeen
      ? ["pods of workloads that are not ready"]
      : []),
  ];
}

/** What the user may not read. */
function uncheckedParts({
  isHubChecked,
  areWebhooksChecked,
  controllers,
  components,
}: {
  isHubChecked: boolean;
  areWebhooksChecked: boolean;
  controllers: FleetStatus["controllers"];
  components: readonly ComponentsStatus[] | undefined;
}): string[] {
  return [
    ...(isHubChecked ? [] : ["the hub's own checks: you are not allowed to read /readyz"]),
    ...(areWebhooksChecked ? [] : ["the hub's webhooks: you are not allowed to read /metrics"]),
    ...(controllers.state === "unknown"
      ? ["whether the hub's controllers run: you are not allowed to list leases in karmada-system"]
      : []),
    ...(components ? [] : ["the hub's components: you are not allowed to list deployments"]),
  ];
}

const RELEASE_PROBLEMS = {
  failed: "release failed",
  aborted: "release aborted",
  stuck: "release without progress",
  waiting: "release waiting for a decision",
} as const;

/** The kinds by which workloads are found. */
const AREAS_WITH_PODS = [ResourceBinding.kind, ManifestWork.kind];

/** Members are registered with one API or both. */
const CHECKED_KINDS: readonly (readonly [kinds: readonly string[], what: string, plural?: string])[] = [
  [[Cluster.kind, ManagedCluster.kind], "member"],
  [[PropagationPolicy.kind], "policy", "policies"],
  [[ResourceBinding.kind], "binding"],
  [[Work.kind], "Work"],
  [[ManifestWork.kind], "ManifestWork"],
  [[OcmPlacement.kind], "Placement"],
  [[ManifestWorkReplicaSet.kind], "ManifestWorkReplicaSet"],
  [[FederatedHpa.kind], "FederatedHPA"],
  [[CronFederatedHpa.kind], "CronFederatedHPA"],
  [[FederatedResourceQuota.kind], "FederatedResourceQuota"],
];

/** Undefined if the user may not read them. A hub may run its components elsewhere, and then has none. */
async function readComponents(client: Client, signal: AbortSignal): Promise<ComponentsStatus[] | undefined> {
  const found: ComponentsStatus[] = [];
  for (const namespace of COMPONENT_NAMESPACES) {
    try {
      const deployments = await Array.fromAsync(eachObject(client, Deployment, { cluster: HUB, namespace, signal }));
      const unready = deployments
        .filter(({ spec, status }) => (status?.readyReplicas ?? 0) < (spec.replicas ?? 1))
        .map(({ metadata }) => metadata.name);
      if (deployments.length > 0) found.push({ namespace, total: deployments.length, unready });
    } catch (error) {
      if (isForbidden(error)) return undefined;
      if (!isNotFound(error)) throw error;
    }
  }
  return found;
}
