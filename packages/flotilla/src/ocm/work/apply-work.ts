/** Applies the manifests of one work on its member, one after the other in dependency order. */
import type { AppliedManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import { messageOf, type DeepReadonly } from "@flotilla/base";
import { UnknownKindError, type AnyKind, type ObjectKey } from "@flotilla/client";
import { obstacleOf } from "../../delivery/obstacles.ts";
import { OscillationError, type Ask, type Oscillations } from "../../delivery/oscillations.ts";
import { references } from "../../delivery/references-ownership.ts";
import { type ApplyOutcome } from "../../delivery/delivery.ts";
import { findCondition, type NextCondition } from "@flotilla/apimachinery";
import { OSCILLATING } from "../../flotilla-names.ts";
import { applyOrder } from "./apply-order.ts";
import { referenceTo, type Applied } from "./applied-work.ts";
import { checkExecutor } from "./executor.ts";
import { IgnoreFieldsError } from "./ignore-fields.ts";
import { deliveredObject, optionsOf } from "./manifest-options.ts";
import { CONFLICT_REASON, isComplete, isDelivered } from "./manifest-state.ts";
import { inScope, metaOf, type Manifest } from "./manifests.ts";
import type { WorkMember } from "./member-objects.ts";
import { isOwned } from "./ownership.ts";
import { planApply } from "./plan-apply.ts";
import { WorkMistakeError } from "./work-mistake.ts";

type Work = DeepReadonly<ManifestWork>;

export interface Attempt {
  manifest: Manifest;
  /** Undefined if the member does not serve it. */
  kind?: AnyKind;
  outcome: ApplyOutcome | { result: "complete" } | { result: "failed"; error: unknown };
}

export interface ApplyContext {
  /** The key of the work. */
  key: ObjectKey;
  /** What users wrote and the work is made from. */
  ask: Ask;
  oscillations: Pick<Oscillations, "guard">;
  member: WorkMember;
  applied: Applied;
  beforeRequest(): void;
  signal: AbortSignal;
}

/** The outcome of each manifest, in spec order; manifests that were not tried are missing. */
export async function applyWork(work: Work, manifests: readonly Manifest[], context: ApplyContext): Promise<Attempt[]> {
  const attempts = new Map<number, Attempt>();
  for (const index of applyOrder(manifests.map(({ object }) => object as never))) {
    const manifest = manifests[index];
    if (!manifest) continue;
    const attempt = await applyOne(work, manifest, context);
    attempts.set(index, attempt);
    // The remaining manifests would fail the same way.
    if (attempt.outcome.result === "failed" && ["busy", "unreachable"].includes(obstacleOf(attempt.outcome.error)))
      break;
  }
  return manifests.flatMap((_manifest, index) => attempts.get(index) ?? []);
}

async function applyOne(work: Work, manifest: Manifest, context: ApplyContext): Promise<Attempt> {
  const { key, ask, oscillations, member, applied, beforeRequest, signal } = context;
  let kind: AnyKind | undefined;
  try {
    if (manifest.problem !== undefined) throw new WorkMistakeError(manifest.problem);
    const served = (kind = await member.delivery.kindOf(manifest.object, { beforeRequest }));
    const meta = metaOf(manifest, served);
    const options = optionsOf(meta, work.spec.manifestConfigs);
    const object = inScope(deliveredObject(manifest.object, options), served);
    if (isComplete(work, meta)) return { manifest, kind, outcome: { result: "complete" } };

    const isHeld = isOwned(
      { group: meta.group ?? "", resource: served.plural, namespace: meta.namespace ?? "", name: object.metadata.name },
      work.spec.deleteOption,
    );
    const isBefore = isDelivered(work, meta);
    const { executor } = work.spec;
    const check = async (): Promise<void> => {
      if (!executor) return;
      beforeRequest();
      await checkExecutor({ executor, kind: served, object, isOwned: isHeld }, member, signal);
    };
    // Lost permissions of an account are detected on the next write; a new work is checked at once.
    if (!isBefore) await check();
    const ownership = references({ reference: referenceTo(applied), isHeld, isDelivered: isBefore });
    const policy = planApply(manifest, options, ownership);
    const guard = oscillations.guard({
      work: key,
      cluster: key.namespace ?? "",
      object,
      ask,
      applied: findCondition(reportedOf(work, manifest)?.conditions, "Applied"),
    });
    const outcome = await member.delivery.apply(
      object,
      { ...policy, beforeRequest, beforeWrite: isBefore ? check : undefined, beforeChange: guard.beforeChange },
      signal,
    );
    guard.afterwards();
    return { manifest, kind, outcome };
  } catch (error) {
    return { manifest, kind, outcome: { result: "failed", error } };
  }
}

const reportedOf = ({ status }: Work, { ordinal }: Manifest) =>
  status?.resourceStatus?.manifests?.find(({ resourceMeta }) => resourceMeta.ordinal === ordinal);

/** The condition for an attempt. */
export function appliedCondition({ manifest: { object }, outcome }: Attempt, generation: number): NextCondition {
  const failed = (reason: string, message: string): NextCondition => ({
    type: "Applied",
    status: "False",
    reason,
    message,
    observedGeneration: generation,
  });
  if (outcome.result === "failed") {
    const { error } = outcome;
    if (error instanceof IgnoreFieldsError)
      return failed("AppliedManifestSSAIgnoreFieldError", `Failed to process ignoreFields: ${error.message}`);
    return failed(
      error instanceof OscillationError ? OSCILLATING : "AppliedManifestFailed",
      "Failed to apply manifest: " +
        (error instanceof UnknownKindError
          ? `the server doesn't have a resource type ${JSON.stringify(object.kind)}`
          : messageOf(error)),
    );
  }
  // A namespace created by another client is fine.
  if (outcome.result === "conflict" && object.kind !== "Namespace")
    return failed(CONFLICT_REASON, `Failed to apply manifest: ${outcome.message}`);
  return {
    type: "Applied",
    status: "True",
    reason: "AppliedManifestComplete",
    message: "Apply manifest complete",
    observedGeneration: generation,
  };
}

/** The object of an attempt as the AppliedManifestWork lists it. */
export function appliedResource(
  { manifest: { object }, kind }: Attempt,
  uid: string,
): AppliedManifestResourceMeta | undefined {
  if (!kind) return undefined;
  const { namespace } = object.metadata;
  return {
    group: kind.group,
    version: kind.storageVersion,
    resource: kind.plural,
    namespace: namespace && kind.scope === "Namespaced" ? namespace : undefined,
    name: object.metadata.name,
    uid,
  };
}
