/** Reads the objects of a work on its member, and reports them in the work's status. */
import { Namespace } from "@flotilla/kubernetes";
import type { ManifestCondition } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import { formatTime, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { ObjectKey } from "@flotilla/client";
import { PROGRESS_DEBOUNCE_MS } from "../../delivery/status-timing.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { findCondition, isConditionTrue, isNotFound, type NextCondition } from "@flotilla/apimachinery";
import type { StatusWriter } from "@flotilla/controller-runtime";
import { withWorkNames, type WorkOrigin } from "./applied-work.ts";
import { appliedCondition, type Attempt } from "./apply-work.ts";
import { optionsOf } from "./manifest-options.ts";
import { CONFLICT_REASON } from "./manifest-state.ts";
import { manifestsOf, metaOf, refOf, type Manifest } from "./manifests.ts";
import type { WorkObjects } from "./member-objects.ts";
import { planDeleting, planWorkStatus } from "./plan-work-status.ts";
import { readManifest, type ManifestReading, type ObjectView } from "./read-manifest.ts";

type Work = DeepReadonly<ManifestWork>;

export interface WorkReports {
  /** The state of each manifest's object; `attempts` are what was just tried, if anything. */
  read(
    work: Work,
    manifests: readonly Manifest[],
    attempts: readonly Attempt[] | undefined,
  ): Promise<ManifestReading[]>;
  /** Reports the readings, and why a work is withheld from its cluster. */
  status(work: Work, key: ObjectKey, manifests: readonly ManifestReading[], withheld?: string): void;
  /** Reports which objects are gone, and the member's refusal to delete the rest. */
  deleting(work: Work, key: ObjectKey, refusal?: string): void;
}

export interface WorkReportsOptions {
  origin: WorkOrigin;
  objects: WorkObjects;
  interpreter: Pick<Interpreter, "health">;
  status: StatusWriter<ManifestWork>;
  clock: Clock;
}

export function createWorkReports(options: WorkReportsOptions): WorkReports {
  const { origin, objects, interpreter, status, clock } = options;
  async function readOne(
    work: Work,
    manifest: Manifest,
    attempt: Attempt | undefined,
    reported: ReportedManifest | undefined,
  ): Promise<ManifestReading> {
    const { generation = 0 } = work.metadata;
    const meta = metaFor(manifest, attempt, reported?.resourceMeta);
    const applied = attempt && namedCondition(work, appliedCondition(attempt, generation), origin);
    const known = applied ?? findCondition(reported?.conditions, "Applied");
    const isRefused = known?.status === "False" && known.observedGeneration === generation;
    const reading = await readManifest(
      meta,
      viewOf(objects, work, { manifest, resource: meta.resource, attempt }),
      optionsOf(meta, work.spec.manifestConfigs),
      interpreter,
      { generation, isRefused },
    );
    return { ...reading, applied };
  }

  return {
    read(work, manifests, attempts) {
      const byOrdinal = new Map(attempts?.map((attempt) => [attempt.manifest.ordinal, attempt]));
      const reported = new Map(
        work.status?.resourceStatus?.manifests?.map((each) => [each.resourceMeta.ordinal, each]),
      );
      return Promise.all(
        manifests.map((manifest) =>
          readOne(work, manifest, byOrdinal.get(manifest.ordinal), reported.get(manifest.ordinal)),
        ),
      );
    },

    status(work, key, manifests, withheld) {
      const { generation = 0 } = work.metadata;
      const report = { generation, manifests, withheld };
      const now = formatTime(clock.now());
      const next = planWorkStatus(work, report, now);
      if (next === work) return;
      status.set(key, "work", (newest) => planWorkStatus(newest, report, now), debounceFor(work, next));
    },

    deleting(work, key, refusal) {
      const now = formatTime(clock.now());
      const manifests = manifestsOf(work);
      const gone = (work.status?.resourceStatus?.manifests ?? []).flatMap(({ resourceMeta: { ordinal, resource } }) => {
        const manifest = manifests[ordinal];
        return manifest && viewOf(objects, work, { manifest, resource }) === "absent" ? [ordinal] : [];
      });
      const deletion = { gone: new Set(gone), refusal };
      if (planDeleting(work, deletion, now) !== work)
        status.set(key, "work", (newest) => planDeleting(newest, deletion, now));
    },
  };
}

type ReportedManifest = DeepReadonly<ManifestCondition>;
type ResourceMeta = ReportedManifest["resourceMeta"];

/** A manifest whose kind was not looked up keeps its previous resourceMeta. */
function metaFor(manifest: Manifest, attempt: Attempt | undefined, before: ResourceMeta | undefined): ResourceMeta {
  const plain = metaOf(manifest, attempt?.kind);
  const isAsked =
    attempt?.kind !== undefined ||
    (attempt?.outcome.result === "failed" && attempt.outcome.error instanceof UnknownKindError);
  return !isAsked && before && before.kind === plain.kind && before.name === plain.name ? before : plain;
}

function viewOf(
  objects: WorkObjects,
  work: Work,
  { manifest, resource, attempt }: { manifest: Manifest; resource: string | undefined; attempt?: Attempt | undefined },
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
      failure === undefined
        ? `the objects on cluster ${work.metadata.namespace} cannot be watched`
        : messageOf(failure),
  };
}

/** Another work that owns the object is reported by its name on the hub. */
function namedCondition(work: Work, condition: NextCondition, origin: WorkOrigin): NextCondition {
  return condition.reason === CONFLICT_REASON
    ? { ...condition, message: withWorkNames(condition.message, origin, work) }
    : condition;
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
