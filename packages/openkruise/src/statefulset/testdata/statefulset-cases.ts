/**
 * Runs the planners of Advanced StatefulSet on recorded inputs and returns results in the format of the recordings
 * (`openkruise-statefulset.jsonl`). Only for tests and `npm run golden`.
 */
import type { AdvancedStatefulSet } from "../statefulset-kind.ts";
import { claimsOf, podTemplateData } from "@flotilla/kubernetes";
import type { PersistentVolumeClaim, Pod, ReadonlyPod, ReadonlyPodTemplate as PodTemplate, ReadonlyRevision } from "@flotilla/kubernetes";
import { LIFECYCLE_STATE_LABEL } from "../../lifecycle/lifecycle.ts";
import { changesOf } from "../../testdata/changes.ts";
import { RECORDED_AT, gatesOf } from "../../testdata/read-cases.ts";
import type { GatedInput, RecordedRun } from "../../testdata/read-cases.ts";
import { mendedOwners } from "../claim-owners.ts";
import { isInRange, parsePodName } from "../ordinals.ts";
import { planStatefulSet } from "../plan-statefulset.ts";
import type { StatefulPlan } from "../plan-statefulset.ts";
import { countsAsUpdated, ordinalOf, ordinalsOf, shareOf } from "../statefulset-pod-state.ts";
import type { RollingUpdate } from "../statefulset-pod-state.ts";
import { makePod } from "../slots.ts";
import { orderForUpdate } from "../update-order.ts";

interface SetInput extends GatedInput {
  statefulSet: AdvancedStatefulSet;
}
interface RevisionsInput extends SetInput {
  currentRevision: string;
  updateRevision: string;
}

interface SyncInput extends RevisionsInput {
  pods?: Pod[];
  pvcs?: PersistentVolumeClaim[];
  revisionImages: Record<string, string>;
}
interface SyncWant {
  error: string | null;
}

/** The recording omits constant fields. */
const typed = (set: AdvancedStatefulSet): AdvancedStatefulSet => ({ ...set, apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" });
const revision = (name: string, template: PodTemplate): ReadonlyRevision => ({ apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name }, data: podTemplateData(template), revision: 1 });
const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }): string => metadata.name;

/** By the kind of the case. */
export const statefulSetCases: Readonly<Record<string, RecordedRun>> = {
  range: ({ statefulSet, gates }: SetInput) => {
    const { start, end, reserved } = ordinalsOf(statefulSet, gatesOf(gates));
    return { start, end, reserved: reserved.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index)) };
  },

  podName: ({ pod }: { pod: Pod }) => parsePodName(pod.metadata.name),

  updateOrder: ({ rollingUpdate, slots, replicas, updateRevision, gates }: GatedInput & { rollingUpdate?: RollingUpdate; slots: (Pod | null)[]; replicas: number; updateRevision: string }, want: { indexes: number[] | null }) => {
    const places = slots.flatMap((pod, place) => (pod ? [{ pod, place }] : []));
    const order = orderForUpdate(rollingUpdate, places, replicas, (pod) => countsAsUpdated(pod, updateRevision, gatesOf(gates))).map(({ place }) => place);
    // The recording has null for some empty lists.
    return { indexes: order.length > 0 ? order : (want.indexes && []) };
  },

  newPod: ({ statefulSet, slots, ordinal, currentRevision, updateRevision, gates: changed }: RevisionsInput & { slots: (Pod | null)[]; ordinal: number }) => {
    const gates = gatesOf(changed);
    const set = typed(statefulSet);
    const { start } = ordinalsOf(set, gates);
    const before = slots.slice(0, ordinal - start).filter(Boolean).length;
    const old = slots.filter((pod) => pod && ordinalOf(pod) !== ordinal && !countsAsUpdated(pod, updateRevision, gates)).length;
    const template = set.spec.template;
    const { apiVersion: _apiVersion, kind: _kind, ...pod } = makePod({ set, current: revision(currentRevision, template), update: revision(updateRevision, template), gates }, ordinal, { before, old });
    const claims = [...claimsOf(set, ordinal)].map(([name, { apiVersion: _a, kind: _k, ...claim }]) => [name, claim]);
    return { claims: Object.fromEntries(claims), pod };
  },

  scaleMaxUnavailable: ({ statefulSet }: SetInput, want: { value?: number | null; error?: string }) => {
    const value = statefulSet.spec.scaleStrategy?.maxUnavailable;
    const share = value === undefined ? null : shareOf(statefulSet, value);
    return share === undefined ? { error: want.error ?? "unreadable" } : { value: share };
  },

  pvcRetention: ({ statefulSet, pod, claim, gates }: SetInput & { pod: Pod; claim: PersistentVolumeClaim }) => {
    const isCondemned = !isInRange(ordinalsOf(statefulSet, gatesOf(gates)), ordinalOf(pod));
    const mended = mendedOwners(statefulSet, claim, pod, isCondemned);
    return { matches: !mended, updated: Boolean(mended), ownerReferences: (mended ?? claim).metadata.ownerReferences ?? null };
  },

  sync: (input: SyncInput, want: SyncWant) => {
    const gates = gatesOf(input.gates);
    const set = typed(input.statefulSet);
    const revisions = Object.entries(input.revisionImages).map(([name, image]) => revision(name, { ...set.spec.template, spec: { ...set.spec.template.spec, containers: [{ name: "main", image }] } }));
    const named = (name: string): ReadonlyRevision => revisions.find(({ metadata }) => metadata.name === name) ?? revision(name, set.spec.template);
    const plan = planStatefulSet(
      {
        set,
        pods: input.pods ?? [],
        current: named(input.currentRevision),
        update: named(input.updateRevision),
        revisions,
        claimNamed: (name) => input.pvcs?.find(({ metadata }) => metadata.name === name),
        classNamed: () => undefined,
        gates,
        nowMs: RECORDED_AT,
      },
      { collisionCount: 0, labelSelector: "app=demo" },
    );
    return {
      changed: Object.fromEntries(plan.change.map(({ pod, after }) => [pod.metadata.name, changesOf(pod, after)])),
      created: Object.fromEntries(plan.create.map((pod) => [pod.metadata.name, { image: pod.spec.containers[0]?.image, revision: pod.metadata.labels?.["controller-revision-hash"], state: pod.metadata.labels?.[LIFECYCLE_STATE_LABEL] }])),
      createdPVCs: plan.createClaims.map(({ claim }) => nameOf(claim)).toSorted(),
      deleted: plan.remove.map(nameOf).toSorted(),
      error: errorOf(plan, want),
      events: eventsOf(plan, set, input.updateRevision).toSorted(),
      requeueAfterSeconds: plan.delayMs / 1000,
      status: plan.status,
    };
  },
};

/** Upstream fails when it writes to a pod that it has just deleted; the reconcile ends there, and so does ours. */
function errorOf({ ending }: StatefulPlan, want: SyncWant): string | null {
  if (!ending) return null;
  if (ending.because === "removed") return `pods "${ending.pod}" not found`;
  // The caller words the error for an invalid number.
  return ending.message.includes("neither a number nor a percentage") ? want.error : ending.message;
}

function eventsOf({ createClaims, create, change, remove, events, ending }: StatefulPlan, { metadata }: AdvancedStatefulSet, updateRevision: string): string[] {
  const reported = (verb: string, reason: string, pod: ReadonlyPod): string => `Normal ${reason} ${verb} Pod ${pod.metadata.name} in StatefulSet ${metadata.name} successful`;
  const missing = ending?.because === "removed" ? `pods "${ending.pod}" not found` : "";
  return [
    ...createClaims.map(({ claim, pod }) => `Normal SuccessfulCreate create Claim ${claim.metadata.name} Pod ${pod} in StatefulSet ${metadata.name} success`),
    ...create.map((pod) => reported("create", "SuccessfulCreate", pod)),
    ...change.filter(({ isMended }) => isMended).map(({ pod }) => reported("update", "SuccessfulUpdate", pod)),
    ...change.filter(({ isUpdatedInPlace }) => isUpdatedInPlace).map(({ pod }) => `Normal SuccessfulUpdatePodInPlace successfully update pod ${pod.metadata.name} in-place(revision ${updateRevision})`),
    ...remove.map((pod) => reported("delete", "SuccessfulDelete", pod)),
    ...events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
    ...(ending?.because === "removed" && ending.while === "updating" ? [`Warning FailedUpdatePodInPlace failed to update pod ${ending.pod} in-place(revision ${updateRevision}): ${missing}`] : []),
    ...(ending?.because === "removed" && ending.while === "removing" ? [`Warning FailedDelete delete Pod ${ending.pod} in StatefulSet ${metadata.name} failed error: ${missing}`, `Warning FailedDelete failed to delete pod ${ending.pod}: ${missing}`] : []),
  ];
}
