/**
 * Applies the manifests of a ManifestWork on its member, repairs drift, and reports their status.
 *
 * Reads: ManifestWork, ManagedCluster; the objects on the member.
 * Writes: those objects, and an AppliedManifestWork on the member that owns them; the ManifestWork's status.
 * Before: a user or a ManifestWorkReplicaSet created the ManifestWork in the namespace of its cluster.
 *
 * The same controller runs on a hub for the members it reaches, and in an agent for its own cluster. It is driven by
 * watches: a change on the member is repaired and reported when it happens, and a converged work costs nothing.
 */
import {
  Cluster,
  CONDITIONAL_DEPLOYMENT_ANNOTATION,
  isDeployedTo,
  ManagedCluster,
  MANIFEST_WORK_FINALIZER,
  ManifestWork,
  Namespace,
  REQUIRED_LABELS_ANNOTATION,
} from "../../api/index.ts";
import { equalJson, formatTime, messageOf } from "../../base/index.ts";
import type { Clock, DeepReadonly, Random } from "../../base/index.ts";
import { UnknownKindError } from "../../client/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { createRefusals, obstacleOf } from "../../delivery/index.ts";
import type { MemberLanes, Passage } from "../../delivery/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import { findCondition, isConditionTrue, isNotFound, type NextCondition } from "../../machinery/index.ts";
import { defineController, done, keyOf, watch } from "../../runtime/index.ts";
import type { Controller, Informers, ObjectEvent, Result, Source, StatusWriter } from "../../runtime/index.ts";
import {
  appliedName,
  claimApplied,
  createApplied,
  findApplied,
  removeApplied,
  recordResources,
  referenceTo,
  withWorkNames,
  type Applied,
  type AppliedResource,
  type WorkOrigin,
} from "./applied-work.ts";
import { appliedCondition, appliedResource, applyWork, type Attempt } from "./apply-work.ts";
import { NOT_ALLOWED_MS, NotAllowedError } from "./executor.ts";
import { optionsOf } from "./manifest-options.ts";
import { CONFLICT_REASON } from "./manifest-state.ts";
import { manifestsOf, metaOf, refOf, type Manifest } from "./manifests.ts";
import { createWorkObjects, type MemberFor, type WorkMember } from "./member-objects.ts";
import { isOwned, untracked } from "./ownership.ts";
import { planDeleting, planWorkStatus } from "./plan-work-status.ts";
import { readManifest, type ManifestReading, type ObjectView } from "./read-manifest.ts";
import { createWaits } from "./deletion-poll.ts";
import { WorkMistakeError } from "./work-mistake.ts";

type Work = DeepReadonly<ManifestWork>;

export interface WorkDependencies {
  /** The logical cluster of the works. */
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  /** Works in namespaces without a member belong to an agent. */
  memberFor: MemberFor;
  origin: WorkOrigin;
  interpreter: Pick<Interpreter, "health">;
  workStatus: StatusWriter<ManifestWork>;
  lanes: MemberLanes;
  clock: Clock;
  random: Random;
  /** False where no Clusters report that a member is reachable again or serves other kinds: in an agent. */
  followClusters: boolean;
  /** Members whose served kinds changed, where Clusters do not report it. */
  served?: Source<string>;
}

const CONCURRENCY = 64;
/** Debounce for progress reports, as in the pipeline of policies; that a generation was applied is never delayed. */
const PROGRESS_DEBOUNCE_MS = 1_500;
const RECHECK_MS = 60_000;

export function createWorkController({
  hub,
  informers,
  memberFor,
  origin,
  interpreter,
  workStatus,
  lanes,
  clock,
  random,
  followClusters,
  served,
}: WorkDependencies): Controller<ObjectKey> {
  const works = informers.of(ManifestWork);
  const clusters = informers.of(ManagedCluster);
  const refusals = createRefusals(random);
  const waits = createWaits(hub);
  const appliedNameOf = (work: Work): string => appliedName(origin, work);
  const objects = createWorkObjects({ hub, works, memberFor, appliedNameOf });
  const clusterOf = ({ metadata }: Work): string => metadata.namespace ?? "";

  /** Whether a work currently targets its cluster, and if not, why. */
  function targetStateOf(work: Work): "meant" | "unknown" | { withheld: string } {
    const { annotations } = work.metadata;
    if (!hasCondition(work)) return "meant";
    const cluster = clusters.get({ cluster: hub, name: clusterOf(work) });
    if (cluster && isDeployedTo(annotations, cluster.metadata.labels)) return "meant";
    // Nothing is removed because of labels that may be stale.
    if (!cluster || !clusters.fresh) return "unknown";
    return {
      withheld: `cluster ${clusterOf(work)} does not have the labels ${annotations?.[REQUIRED_LABELS_ANNOTATION]} that the work requires`,
    };
  }

  /** Identifies the work and its objects on the member: a rejection applies only to this combination. */
  function checkIdOf(work: Work): string {
    const stamps = manifestsOf(work).map(({ object, problem }) => {
      const { uid, generation, resourceVersion } =
        (problem === undefined ? objects.get(work, refOf(object))?.metadata : undefined) ?? {};
      return `${uid} ${generation ?? resourceVersion}`;
    });
    return `${work.metadata.generation} ${stamps.join()}`;
  }

  function viewOf(
    work: Work,
    manifest: Manifest,
    resource: string | undefined,
    attempt: Attempt | undefined,
  ): ObjectView {
    if (!resource) return "unserved";
    if (attempt && "object" in attempt.outcome) return { object: attempt.outcome.object };
    const ref = refOf(manifest.object);
    const object = objects.get(work, ref);
    if (object) return { object };
    const failure = attempt?.outcome.result === "failed" ? attempt.outcome.error : undefined;
    // Nothing exists in a namespace that the member itself reports as missing.
    if (objects.isFresh(work, ref) || (isNotFound(failure) && failure.status.details?.kind === Namespace.plural))
      return "absent";
    return {
      problem:
        failure === undefined ? `the objects on cluster ${clusterOf(work)} cannot be watched` : messageOf(failure),
    };
  }

  async function readManifests(
    work: Work,
    manifests: readonly Manifest[],
    attempts: readonly Attempt[] | undefined,
  ): Promise<ManifestReading[]> {
    const { generation = 0 } = work.metadata;
    const byOrdinal = new Map(attempts?.map((attempt) => [attempt.manifest.ordinal, attempt]));
    const known = new Map(
      work.status?.resourceStatus?.manifests?.map((manifest) => [manifest.resourceMeta.ordinal, manifest]),
    );
    return Promise.all(
      manifests.map(async (manifest) => {
        const attempt = byOrdinal.get(manifest.ordinal);
        const plain = metaOf(manifest, attempt?.kind);
        const reported = known.get(manifest.ordinal);
        const before = reported?.resourceMeta;
        // A manifest whose kind was not looked up keeps its previous resourceMeta.
        const isAsked =
          attempt?.kind !== undefined ||
          (attempt?.outcome.result === "failed" && attempt.outcome.error instanceof UnknownKindError);
        const meta = !isAsked && before && before.kind === plain.kind && before.name === plain.name ? before : plain;
        const applied = attempt && namedCondition(work, appliedCondition(attempt, generation));
        const said = applied ?? findCondition(reported?.conditions, "Applied");
        const isRefused = said?.status === "False" && said.observedGeneration === generation;
        const reading = await readManifest(
          meta,
          viewOf(work, manifest, meta.resource, attempt),
          optionsOf(meta, work.spec.manifestConfigs),
          interpreter,
          { generation, isRefused },
        );
        return { ...reading, applied };
      }),
    );
  }

  /** Another work that owns the object is reported by its name on the hub. */
  function namedCondition(work: Work, condition: NextCondition): NextCondition {
    return condition.reason === CONFLICT_REASON
      ? { ...condition, message: withWorkNames(condition.message, origin, work) }
      : condition;
  }

  function reportStatus(
    work: Work,
    key: ObjectKey,
    manifests: readonly ManifestReading[],
    withheld: string | undefined,
  ): void {
    const { generation = 0 } = work.metadata;
    const report = { generation, manifests, withheld };
    const now = formatTime(clock.now());
    const next = planWorkStatus(work, report, now);
    if (next === work) return;
    workStatus.set(key, "work", (newest) => planWorkStatus(newest, report, now), debounceFor(work, next));
  }

  /** Releases objects that the work no longer contains; returns those that still exist. */
  async function letGo(
    work: Work,
    applied: Applied,
    resources: readonly AppliedResource[],
    member: WorkMember,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<AppliedResource[]> {
    const reference = referenceTo(applied);
    const outcomes = await Promise.allSettled(
      resources.map(({ group = "", version, resource, namespace, name, uid = "" }) => {
        const mode = isOwned({ group, resource, namespace: namespace ?? "", name }, work.spec.deleteOption)
          ? "delete"
          : "release";
        return member.delivery.disown(
          { group, version, resource, namespace: namespace || undefined, name, uid },
          { reference, mode, beforeRequest: () => passage.enter() },
          signal,
        );
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason as Error;
    return resources.filter(
      (_resource, index) => outcomes[index]?.status === "fulfilled" && outcomes[index].value === "going",
    );
  }

  /** Updates the AppliedManifestWork, and removes objects that the work no longer contains. */
  async function syncAppliedWork(
    work: Work,
    applied: Applied,
    attempts: readonly Attempt[],
    manifests: readonly Manifest[],
    member: WorkMember,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<Result> {
    const before = applied.status?.appliedResources ?? [];
    const tracked = attempts.flatMap((attempt) => {
      const object =
        "object" in attempt.outcome ? attempt.outcome.object : objects.get(work, refOf(attempt.manifest.object));
      return appliedResource(attempt, object?.metadata.uid ?? "") ?? [];
    });
    const gone = untracked(before, tracked);
    // Objects that cannot be read right now still belong to the work, and stay listed.
    const unseen = tracked.filter(({ uid }) => uid === "");
    const present = [
      ...tracked.filter(({ uid }) => uid !== ""),
      ...before.filter((resource) => untracked([resource], unseen).length === 0),
    ];
    // Nothing is removed before its replacement is applied and the work reports so: a restored hub knows less than its
    // members.
    const said = findCondition(work.status?.conditions, "Applied");
    const isSettled =
      attempts.length === manifests.length &&
      attempts.every(({ outcome }) => outcome.result !== "failed") &&
      said?.observedGeneration === work.metadata.generation;
    const going = isSettled && gone.length > 0 ? await letGo(work, applied, gone, member, passage, signal) : gone;
    await recordResources(applied, [...present, ...going], member, () => passage.enter(), signal);
    return isSettled && going.length > 0 ? { requeueAfterMs: waits.nextMs(work) } : done;
  }

  /** Removes all objects of the work from the member; true if none are left. */
  async function clear(
    work: Work,
    applied: Applied,
    member: WorkMember,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<boolean> {
    const going = await letGo(work, applied, applied.status?.appliedResources ?? [], member, passage, signal);
    if (going.length > 0) return false;
    passage.enter();
    await removeApplied(applied, member, signal);
    return true;
  }

  /** The work's AppliedManifestWork, created on demand; an error is reported like one of a manifest. */
  async function appliedWorkOf(
    work: Work,
    isNeeded: boolean,
    member: WorkMember,
    beforeRequest: () => void,
    signal: AbortSignal,
  ): Promise<Applied | undefined | { error: unknown }> {
    const name = appliedNameOf(work);
    try {
      const known = await findApplied(work, name, member, objects, beforeRequest, signal);
      if (known || !isNeeded) return known && (await claimApplied(known, origin, member, beforeRequest, signal));
      beforeRequest();
      return await createApplied(work, name, origin, member, signal);
    } catch (error) {
      return { error };
    }
  }

  async function deliver(
    work: Work,
    key: ObjectKey,
    member: WorkMember,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<Result> {
    const aim = targetStateOf(work);
    if (aim === "unknown") return done;
    const withheld = aim === "meant" ? undefined : aim.withheld;
    const manifests = aim === "meant" ? manifestsOf(work) : [];
    const beforeRequest = (): void => passage.enter();
    const applied = await appliedWorkOf(work, manifests.length > 0, member, beforeRequest, signal);
    if (!applied) {
      reportStatus(work, key, [], withheld);
      return done;
    }
    if (!("error" in applied) && applied.metadata.deletionTimestamp) {
      // A user on the member deleted it. Its objects are deleted, and the work is applied again.
      return (await clear(work, applied, member, passage, signal))
        ? { requeueAfterMs: 0 }
        : { requeueAfterMs: waits.nextMs(work) };
    }
    if ("error" in applied && manifests.length === 0) throw applied.error as Error;
    const attempts =
      "error" in applied
        ? manifests.map((manifest): Attempt => ({ manifest, outcome: { result: "failed", error: applied.error } }))
        : await applyWork(work, manifests, { member, applied, beforeRequest, signal });
    const failures = attempts.flatMap(({ outcome }) => (outcome.result === "failed" ? [outcome.error] : []));
    // The work is requeued when there is room.
    if (signal.aborted || failures.some((error) => obstacleOf(error) === "busy")) return done;
    reportStatus(work, key, await readManifests(work, manifests, attempts), withheld);
    const unreachable = failures.find((error) => obstacleOf(error) === "unreachable");
    if (unreachable !== undefined) throw unreachable as Error;
    if ("error" in applied) return afterFailures(work, key, failures);
    const noted = await syncAppliedWork(work, applied, attempts, manifests, member, passage, signal);
    if (failures.length > 0) return afterFailures(work, key, failures);
    refusals.forget(key);
    if (noted === done) waits.forget(key);
    return noted;
  }

  function afterFailures(work: Work, key: ObjectKey, failures: readonly unknown[]): Result {
    const others = failures.filter((error) => !(error instanceof NotAllowedError));
    const passing = others.find((error) => obstacleOf(error) === "passing" && !(error instanceof WorkMistakeError));
    if (passing !== undefined) throw passing as Error;
    if (others.length < failures.length) return { requeueAfterMs: NOT_ALLOWED_MS };
    const waitsForKind = others.some((error) => obstacleOf(error) === "missing-kind");
    return {
      requeueAfterMs: refusals.note(
        key,
        { cluster: clusterOf(work), question: checkIdOf(work), waitsForKind },
        clock.now(),
      ),
    };
  }

  /**
   * Runs a function on the member in its lane: an unreachable member delays only its own works. A work without room is
   * requeued.
   */
  async function inLane(
    key: ObjectKey,
    run: (passage: Passage) => Promise<Result>,
  ): Promise<Result | "busy" | "unreachable"> {
    const passage = lanes.passage(key.namespace ?? "", key);
    try {
      const result = await run(passage);
      passage.leave();
      return result;
    } catch (error) {
      const obstacle = obstacleOf(error);
      passage.leave(obstacle === "unreachable" ? messageOf(error) : undefined);
      if (obstacle === "busy" || obstacle === "unreachable") return obstacle;
      throw error;
    }
  }

  function waitDeleting(
    work: Work,
    key: ObjectKey,
    result: Result = { requeueAfterMs: RECHECK_MS },
    refusal?: string,
  ): Result {
    const now = formatTime(clock.now());
    const manifests = manifestsOf(work);
    const gone = (work.status?.resourceStatus?.manifests ?? []).flatMap(({ resourceMeta: { ordinal, resource } }) => {
      const manifest = manifests[ordinal];
      return manifest && viewOf(work, manifest, resource, undefined) === "absent" ? [ordinal] : [];
    });
    const deletionMode = { gone: new Set(gone), refusal };
    if (planDeleting(work, deletionMode, now) !== work)
      workStatus.set(key, "work", (newest) => planDeleting(newest, deletionMode, now));
    return result;
  }

  const worksOf = (cluster: string): ObjectKey[] =>
    works.list({ cluster: hub, namespace: cluster }).map((work) => keyOf(hub, work));

  /** Labels decide the targets of works with required labels. */
  function afterLabelChange({ object, old }: ObjectEvent<ManagedCluster>): ObjectKey[] {
    if (old && equalJson(object.metadata.labels, old.metadata.labels)) return [];
    return works
      .list({ cluster: hub, namespace: object.metadata.name })
      .filter(hasCondition)
      .map((work) => keyOf(hub, work));
  }

  /** A new member, one that is reachable again, or one that serves other kinds. */
  function afterClusterChange({ object, old }: ObjectEvent<Cluster>): ObjectKey[] {
    const { name } = object.metadata;
    if (!old || !equalJson(old.spec, object.spec)) return worksOf(name);
    if (isConditionTrue(object.status?.conditions, "Ready") && !isConditionTrue(old.status?.conditions, "Ready"))
      lanes.restore(name);
    return equalJson(object.status?.apiEnablements, old.status?.apiEnablements)
      ? []
      : refusals.takeWaitingForKinds(name);
  }

  const waitingFor = (members: Source<string>): Source<ObjectKey> => ({
    start: (enqueue, signal) =>
      members.start((cluster) => refusals.takeWaitingForKinds(cluster).forEach((key) => enqueue(key)), signal),
    isQuiet: () => members.isQuiet(),
  });

  const controller = defineController({
    name: "ocm-work",
    for: ManifestWork,
    finalizer: MANIFEST_WORK_FINALIZER,
    watches: [
      { source: objects.source() },
      { source: lanes.source },
      watch(ManagedCluster, afterLabelChange),
      ...(followClusters ? [watch(Cluster, afterClusterChange)] : []),
      ...(served ? [{ source: waitingFor(served) }] : []),
    ],
    writes: [ManifestWork],
    concurrency: CONCURRENCY,

    async reconcile(work, { key, signal }) {
      const member = memberFor(clusterOf(work));
      if (!member) return done;
      // A completed work is not touched again, even if its spec changes.
      const isAtRest = isConditionTrue(work.status?.conditions, "Complete");
      if (
        isAtRest &&
        findCondition(work.status?.conditions, "Applied")?.observedGeneration !== work.metadata.generation
      )
        return done;
      const restMs = isAtRest ? 0 : refusals.restMs(key, () => checkIdOf(work), clock.now());
      if (isAtRest || restMs > 0) {
        reportStatus(work, key, await readManifests(work, manifestsOf(work), undefined), undefined);
        return restMs > 0 ? { requeueAfterMs: restMs } : done;
      }
      const result = await inLane(key, (passage) => deliver(work, key, member, passage, signal));
      if (result === "busy") return done;
      return result === "unreachable" ? { requeueAfterMs: RECHECK_MS } : result;
    },

    async finalize(work, { key, signal }) {
      const member = memberFor(clusterOf(work));
      if (!member) return { requeueAfterMs: RECHECK_MS };
      if (member.leaveMode === "abandon") return done;
      let refusal: string | undefined;
      const result = await inLane(key, async (passage) => {
        const applied = await findApplied(work, appliedNameOf(work), member, objects, () => passage.enter(), signal);
        try {
          return !applied || (await clear(work, applied, member, passage, signal))
            ? done
            : { requeueAfterMs: waits.nextMs(work) };
        } catch (error) {
          // The work reports it, and is retried with backoff.
          if (obstacleOf(error) !== "refused") throw error;
          refusal = messageOf(error);
          return { requeueAfterMs: waits.nextMs(work) };
        }
      });
      // Objects left on a leaving member are harmless; an unreachable member must not block its works' deletion.
      if (result === "unreachable" && member.leaveMode === "release") return done;
      if (result === "unreachable" || result === "busy") return waitDeleting(work, key);
      if (result.requeueAfterMs === undefined) return done;
      return waitDeleting(work, key, result, refusal);
    },

    forget(key) {
      waits.forget(key);
      lanes.forget(key.namespace ?? "", key);
      refusals.forget(key);
    },
  });
  // The finalizer of a work that another agent serves belongs to that agent.
  return {
    ...controller,
    reconcile: (key, context) =>
      memberFor(key.namespace ?? "") || !works.get(key) ? controller.reconcile(key, context) : Promise.resolve(done),
  };
}

/**
 * That a generation was applied is reported at once, because users and rollouts wait for it. After that, a success that
 * still progresses is debounced until it settles; failures and settled states wait only for the batch window.
 */
function debounceFor(before: Work, { metadata, status }: Work): { debounceMs?: number } {
  const isReported = findCondition(before.status?.conditions, "Applied")?.observedGeneration === metadata.generation;
  const [isApplied, isProgressing, isDegraded] = ["Applied", "Progressing", "Degraded"].map((type) =>
    isConditionTrue(status?.conditions, type),
  );
  if (isApplied && !isReported) return { debounceMs: 0 };
  return isApplied && isProgressing && !isDegraded ? { debounceMs: PROGRESS_DEBOUNCE_MS } : {};
}

const hasCondition = ({ metadata }: Work): boolean =>
  metadata.annotations?.[CONDITIONAL_DEPLOYMENT_ANNOTATION] === "true";
