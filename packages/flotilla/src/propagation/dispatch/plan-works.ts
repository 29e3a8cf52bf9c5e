/**
 * Decides which Works a scheduled binding needs: one per target cluster, with that member's copy of the template. Pure.
 */
import { defined, omitZero } from "@flotilla/base";
import { hash } from "node:crypto";
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { KEPT_TEMPLATE, takeKeptTemplate } from "@flotilla/openkruise";
import { isDividedByPods } from "../../interpreter/concerns.ts";
import { prune, withoutTimeToLive } from "../../interpreter/prune.ts";
import type { Share } from "@flotilla/kubernetes";
import { bindingId, bindingRecord } from "../bindings/binding-scope.ts";
import { planWorkloads } from "../concerns/plan-workloads.ts";
import { podsSince } from "../works/pods-since.ts";
import { withoutRecords, withRecordsOf } from "../works/propagation-bookkeeping.ts";
import type { Rendered } from "../override/renderer.ts";
import { partDigest, requestDigest, requestRecord } from "../works/request-digest.ts";
import { isPurgedDirectly, leftDirectly, leftGracefully, targetsOf } from "../bindings/target-clusters.ts";
import { dependencyOn } from "../members/unmanaged.ts";
import {
  ANSWER_PENDING,
  APPLIED_FAILED,
  DRIFT,
  MEMBER_UNREACHABLE,
  NAMESPACE_LABEL,
  NO_ANSWER,
  OSCILLATING,
  PODS_SINCE,
  RELEASE_STARTS_OVER,
  RELEASE_STOPPED,
  REQUEST,
  UNMANAGED,
} from "../../flotilla-names.ts";
import {
  APPLIED_CLUSTER_OVERRIDES,
  APPLIED_OVERRIDES,
  clusterNameOf,
  CONFLICT_RESOLUTION,
  executionNamespace,
  MANAGED_ANNOTATIONS,
  MANAGED_LABEL,
  MANAGED_LABELS,
  SKIP_NAMESPACE,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_FINALIZER,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
  workName,
} from "@flotilla/karmada";

type Template = DeepReadonly<KubernetesObject>;

/** The input of `divide`: the template as members may have it, and each member's share. */
export interface Division {
  bare: Template;
  shares: Share[];
}

export interface PlanWorks {
  /** Each member's copy of the template (`divide` of the interpreter). */
  copies: ReadonlyMap<string, Template>;
  /** Overrides for one cluster (the override stage). */
  render(copy: Template, cluster: string): Rendered;
  /** The current Works of the binding: each keeps its permanent id. */
  works: readonly DeepReadonly<Work>[];
}

/** A cluster whose copy cannot be made does not affect the others. */
export interface WorksPlan {
  works: Work[];
  failures: { cluster: string; error: unknown }[];
}

/** What a division reads beside the binding and its template. */
export interface DivisionInput {
  /** The current Works of the binding: a member owns what it was given, for example its ordinals. */
  readonly works: readonly DeepReadonly<Work>[];
  /** A rule leaves the partition or the strategy to the members. */
  readonly memberDecides?: boolean;
  /** The bindings of the workloads that the template concerns. */
  readonly concerned?: readonly DeepReadonly<ResourceBinding>[] | undefined;
}

export function planDivision(
  binding: DeepReadonly<ResourceBinding>,
  template: Template,
  { works, memberDecides = false, concerned = [] }: DivisionInput,
): Division {
  const workloads = planWorkloads(concerned);
  const observed = new Map(binding.status?.aggregatedStatus?.map(({ clusterName, status }) => [clusterName, status]));
  const given = new Map(works.map((work) => [work.metadata.namespace, work]));
  const { placement } = binding.spec;
  // The numbers alone are ambiguous: while a template is scaled, stale shares may happen to equal its replicas.
  const isWhole = placement && placement.replicaScheduling?.replicaSchedulingType !== "Divided";
  const shareOf = (name: string, replicas: number): Share => {
    const work = given.get(executionNamespace(name));
    // A member whose copy is not applied has no status on the binding; its last status is on its Work.
    const status = isGone(work) ? undefined : (observed.get(name) ?? work?.status?.manifestStatuses?.[0]?.status);
    return {
      cluster: name,
      replicas,
      isWhole,
      observed: status !== undefined ? (status as Json) : undefined,
      memberDecides: memberDecides || undefined,
      ...defined({ workloads: workloads.get(name) }),
      ...givenIn(binding, name, work),
    };
  };
  const shares = targetsOf(binding.spec).map(({ name, replicas }) =>
    shareOf(name, replicas ?? binding.spec.replicas ?? 0),
  );
  const targets = new Set(shares.map(({ cluster }) => cluster));
  // A member that is no longer a target still counts while its Work exists: what it owned may still run.
  for (const { metadata } of works) {
    const cluster = clusterNameOf(metadata.namespace ?? "");
    if (cluster !== undefined && !targets.has(cluster)) shares.push({ ...shareOf(cluster, 0), leaving: true });
  }
  return { bare: withoutRecords(withoutTimeToLive(prune(template))), shares };
}

/** Reasons why a copy is not on a member although the member answers: it was rejected there, or stopped before it was sent. */
const NOT_TAKEN: ReadonlySet<string | undefined> = new Set([APPLIED_FAILED, OSCILLATING, RELEASE_STOPPED]);

/** What a member was given, and whether it will get more. */
function givenIn(
  binding: DeepReadonly<ResourceBinding>,
  cluster: string,
  work: DeepReadonly<Work> | undefined,
): Partial<Share> {
  if (!work) return {};
  const { annotations = {} } = work.metadata;
  const manifest = work.spec.workload?.manifests?.[0] as Template | undefined;
  const kept = annotations[KEPT_TEMPLATE];
  const held = heldIn(binding, cluster, work);
  return {
    copy: manifest
      ? kept === undefined
        ? manifest
        : {
            ...manifest,
            metadata: {
              ...manifest.metadata,
              annotations: { ...manifest.metadata.annotations, [KEPT_TEMPLATE]: kept },
            },
          }
      : undefined,
    isUndelivered: !isConditionTrue(work.status?.conditions ?? [], "Applied") || undefined,
    isOverridden:
      annotations[APPLIED_OVERRIDES] !== undefined || annotations[APPLIED_CLUSTER_OVERRIDES] !== undefined || undefined,
    held,
    isGone: isGone(work) || undefined,
    isRejected: NOT_TAKEN.has(findCondition(work.status?.conditions ?? [], "Applied")?.reason) || undefined,
  };
}

/** The numbers that such a member reported last are those of pods that are gone. */
const isGone = (work: DeepReadonly<Work> | undefined): boolean =>
  findCondition(work?.status?.conditions ?? [], "Applied")?.reason === RELEASE_STARTS_OVER;

function heldIn(
  binding: DeepReadonly<ResourceBinding>,
  cluster: string,
  { spec, status }: DeepReadonly<Work>,
): Share["held"] {
  const reason = findCondition(status?.conditions ?? [], "Applied")?.reason;
  if (reason === NO_ANSWER || reason === ANSWER_PENDING) return "unsure";
  if (reason === MEMBER_UNREACHABLE || spec.suspendDispatching) return "behind";
  // Its last copy was not suspended, and may be in flight.
  return isSuspended(binding, cluster) ? "unsure" : undefined;
}

export function planWorks(
  binding: DeepReadonly<ResourceBinding>,
  template: Template,
  { copies, render, works }: PlanWorks,
): WorksPlan {
  const plan: WorksPlan = { works: [], failures: [] };
  const targets = new Set(targetsOf(binding.spec).map(({ name }) => name));
  const before = new Map(works.map((work) => [work.metadata.namespace, work]));
  const source: WorkSource = { binding, template, request: requestDigest(template, binding) };
  // A copy for a member that is no longer a target shuts down what must not run there before it runs elsewhere.
  for (const cluster of targets.union(new Set(copies.keys()))) {
    try {
      const copy = copies.get(cluster);
      if (!copy)
        throw new InterpretError(`dividing ${template.kind} ${template.metadata.name} returned no copy for ${cluster}`);
      // Such a copy is the member's previous one, overrides included, except for what is shut down.
      const rendered = targets.has(cluster)
        ? withState(overridden(copy, cluster, render), stateFor(binding.spec, cluster, targets.size))
        : { object: copy };
      plan.works.push(planWork(source, cluster, rendered, before.get(executionNamespace(cluster))));
    } catch (error) {
      plan.failures.push({ cluster, error });
    }
  }
  return plan;
}

/**
 * Works that stay unchanged: those of clusters under graceful eviction, until the replacement is healthy. A workload
 * that shuts down there first, because it may run only once in the fleet, has a copy of its own.
 */
export function keptWorks(
  { spec }: DeepReadonly<ResourceBinding>,
  works: readonly DeepReadonly<Work>[],
  planned: readonly Work[],
): readonly DeepReadonly<Work>[] {
  const left = leftGracefully(spec);
  if (left.size === 0) return [];
  const replaced = new Set(planned.map(({ metadata }) => metadata.namespace));
  return works.filter(
    ({ metadata: { namespace = "" } }) => left.has(clusterNameOf(namespace) ?? "") && !replaced.has(namespace),
  );
}

/** The remaining Works while one must be deleted before another is created; undefined when nothing blocks. */
export function handingOver(
  { spec }: DeepReadonly<ResourceBinding>,
  works: readonly DeepReadonly<Work>[],
): readonly DeepReadonly<Work>[] | undefined {
  const purged = leftDirectly(spec);
  if (purged.size === 0) return undefined;
  const staying = works.filter(({ metadata }) => !purged.has(clusterNameOf(metadata.namespace ?? "") ?? ""));
  return staying.length < works.length ? staying : undefined;
}

/** Overrides are user input too. */
function overridden(copy: Template, cluster: string, render: PlanWorks["render"]): Rendered {
  const rendered = render(copy, cluster);
  const object = withRecordsOf(rendered.object, copy);
  return object === rendered.object ? rendered : { ...rendered, object };
}

/**
 * State that the replacement needs from the copy that it replaces. As in Karmada, only when the resource moves as a
 * whole from one cluster to another, and the old copy was deleted first.
 */
function stateFor(
  { gracefulEvictionTasks }: DeepReadonly<ResourceBinding>["spec"],
  cluster: string,
  targets: number,
): Readonly<Record<string, string>> | undefined {
  const last = gracefulEvictionTasks?.at(-1);
  if (targets !== 1 || !last || !isPurgedDirectly(last) || last.clustersBeforeFailover?.includes(cluster))
    return undefined;
  return last.preservedLabelState;
}

function withState(rendered: Rendered, state: Readonly<Record<string, string>> | undefined): Rendered {
  if (!state) return rendered;
  const { object } = rendered;
  return {
    ...rendered,
    object: { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...state } } },
  };
}

/** A deterministic UUID, so that creating a Work twice creates the same Work. */
function newWorkId(binding: DeepReadonly<ResourceBinding>, cluster: string): string {
  const digest = hash("sha256", `${bindingId(binding)}/${cluster}`, "hex");
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** What all Works of a binding are made from. */
interface WorkSource {
  readonly binding: DeepReadonly<ResourceBinding>;
  readonly template: Template;
  /** The digest of what people asked for (`works/request-digest.ts`). */
  readonly request: string;
}

function planWork(
  { binding, template, request: digest }: WorkSource,
  cluster: string,
  rendered: Rendered,
  before: DeepReadonly<Work> | undefined,
): Work {
  const { object, kept } = takeKeptTemplate(rendered.object);
  const { resource } = binding.spec;
  const namespace = executionNamespace(cluster);
  const name = workName(resource.kind, resource.name, resource.namespace ?? "");
  const record = bindingRecord(binding);
  const drift = binding.metadata.annotations?.[DRIFT];
  const dependency = dependencyOn(binding, cluster);
  const id = before?.metadata.labels?.[WORK_ID] ?? newWorkId(binding, cluster);
  const generation = template.metadata.generation ?? 0;
  const since = podsSince(object, generation, before);
  const manifest = stamp(
    object,
    { ...record.labels, [WORK_ID]: id, [MANAGED_LABEL]: "true" },
    {
      ...record.annotations,
      [WORK_NAMESPACE]: namespace,
      [WORK_NAME]: name,
      [CONFLICT_RESOLUTION]: conflictResolution(binding, template),
      [TEMPLATE_UID]: template.metadata.uid ?? "",
      [TEMPLATE_GENERATION]: String(generation),
      ...defined({ [UNMANAGED]: dependency === "released" ? "true" : undefined }),
    },
  );
  const request = requestRecord(isDividedByPods(template) ? partDigest(digest, manifest) : digest, manifest, before);
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name,
      namespace,
      labels: {
        ...record.labels,
        [WORK_ID]: id,
        ...defined({ [NAMESPACE_LABEL]: isSyncedNamespace(template) ? template.metadata.name : undefined }),
      },
      annotations: {
        ...record.annotations,
        ...omitZero({
          [APPLIED_OVERRIDES]: rendered.appliedOverrides,
          [APPLIED_CLUSTER_OVERRIDES]: rendered.appliedClusterOverrides,
        }),
        ...defined({ [DRIFT]: drift, [KEPT_TEMPLATE]: kept, [PODS_SINCE]: since, [REQUEST]: request }),
      },
      finalizers: [WORK_FINALIZER],
    },
    spec: {
      suspendDispatching: isSuspended(binding, cluster) || undefined,
      preserveResourcesOnDeletion: binding.spec.preserveResourcesOnDeletion || dependency === "left" || undefined,
      workload: {
        manifests: [manifest as unknown as JsonObject],
      },
    },
  };
}

/**
 * The namespaces stage propagates this namespace to every member; if a policy propagates it too, the Work is shared and
 * never deleted for a move.
 */
function isSyncedNamespace({ apiVersion, kind, metadata }: Template): boolean {
  return (
    apiVersion === "v1" &&
    kind === "Namespace" &&
    metadata.name !== "default" &&
    metadata.labels?.[SKIP_NAMESPACE]?.toLowerCase() !== "true"
  );
}

function isSuspended({ spec: { suspension } }: DeepReadonly<ResourceBinding>, cluster: string): boolean {
  return (
    suspension?.dispatching === true || suspension?.dispatchingOnClusters?.clusterNames?.includes(cluster) === true
  );
}

/** A valid annotation on the template takes precedence over the policy. */
function conflictResolution(binding: DeepReadonly<ResourceBinding>, template: Template): string {
  const asked = template.metadata.annotations?.[CONFLICT_RESOLUTION];
  if (asked === "overwrite" || asked === "abort") return asked;
  return binding.spec.conflictResolution?.toLowerCase() ?? "abort";
}

/**
 * The manifest with our labels and annotations, and a record of all its keys: a key that a later manifest lacks is then
 * known to be ours and is removed on the member, while the member's own keys stay.
 */
function stamp(object: Template, labels: Record<string, string>, annotations: Record<string, string>): Template {
  const allLabels = { ...object.metadata.labels, ...labels };
  const allAnnotations = { ...object.metadata.annotations, ...annotations };
  const keys = (names: Record<string, string>, ...more: string[]): string =>
    [...new Set([...Object.keys(names), ...more])].sort().join(",");
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: allLabels,
      annotations: {
        ...allAnnotations,
        [MANAGED_LABELS]: keys(allLabels),
        [MANAGED_ANNOTATIONS]: keys(allAnnotations, MANAGED_ANNOTATIONS, MANAGED_LABELS),
      },
    },
  };
}
