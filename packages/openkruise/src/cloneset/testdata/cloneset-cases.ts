/**
 * Runs the planners of CloneSet on recorded inputs and returns results in the format of the recordings
 * (`openkruise-cloneset.jsonl`). Only for tests and `npm run golden`.
 */
import { podTemplateData } from "@flotilla/kubernetes";
import type { Node, PersistentVolumeClaim, Pod, ReadonlyPod, ReadonlyPodTemplate as PodTemplate, ReadonlyRevision } from "@flotilla/kubernetes";
import { createSeededRandom, equalJson, defined } from "@flotilla/base";
import { LIFECYCLE_STATE_LABEL, LIFECYCLE_TIMESTAMP_ANNOTATION } from "../../lifecycle/lifecycle.ts";
import { fractionalShare, legacyShare, partitionOf, strictShare } from "../../int-or-percent.ts";
import type { IntOrPercent } from "../../int-or-percent.ts";
import { SPECIFIED_DELETE_LABEL } from "../../pod/specified-delete.ts";
import { changesOf } from "../../testdata/changes.ts";
import { RECORDED_AT, fromAlpha, gatesOf } from "../../testdata/read-cases.ts";
import type { AlphaCloneSet, GatedInput, RecordedRun } from "../../testdata/read-cases.ts";
import { chooseInstanceIds, claimsOfPod, instanceIdOf } from "../cloneset-claims.ts";
import { computeDiff } from "../diff.ts";
import { hasRevision } from "../cloneset-names.ts";
import { makePod } from "../new-pods.ts";
import { changesNothing, planScale } from "../plan-scale.ts";
import { deadlineInMs, planStatus } from "../cloneset-status.ts";
import { orderForUpdate } from "../update-order.ts";
import { inPlaceSteps, planUpdate } from "../update.ts";
import type { UpdateAction } from "../update.ts";
import { chooseVictims } from "../cloneset-victims.ts";

interface SetInput extends GatedInput {
  cloneSet: AlphaCloneSet;
  pods?: Pod[];
  currentRevision: string;
  updateRevision: string;
}

const nameOf = ({ metadata }: ReadonlyPod): string => metadata.name;
const noNodes = (): undefined => undefined;
const diffInput = ({ cloneSet, pods = [], currentRevision, updateRevision, gates }: SetInput) => ({ cloneSet: fromAlpha(cloneSet), pods, currentRevision, updateRevision, gates: gatesOf(gates), nowMs: RECORDED_AT });

type UpdateInput = SetInput & { revisionImages: Record<string, string> };

function runUpdate(input: UpdateInput): { changed: Record<string, object>; error: string | null; events: string[] } {
  const template = (image = ""): PodTemplate => ({ spec: { containers: [{ name: "main", image }] } });
  const revisions = Object.entries(input.revisionImages).map(([name, image]): ReadonlyRevision => ({ apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name }, data: podTemplateData(template(image)), revision: 1 }));
  const plan = planUpdate({ ...diffInput(input), revisions });
  const changed: Record<string, object> = {};
  for (const { pod, after } of plan.refresh) changed[pod.metadata.name] = changesOf(pod, after);
  for (const action of plan.actions) Object.assign(changed, changesOfAction(action, input));
  return { changed, error: plan.failure ?? null, events: plan.actions.flatMap((action) => eventOf(action, plan.targetRevision)) };
}

/** By the kind of the case. */
export const cloneSetCases: Readonly<Record<string, RecordedRun>> = {
  partition: ({ partition, replicas = 1 }: { partition?: IntOrPercent; replicas?: number }, want: { kept?: number; error?: string }) => {
    const kept = partitionOf(partition, replicas);
    return kept === undefined ? { error: want.error ?? "unreadable" } : { kept };
  },

  scaledValue: ({ value, total }: { value: IntOrPercent; total: number }, want: Record<string, unknown>) => {
    const readings: Record<string, number | undefined> = {
      kruiseUp: fractionalShare(value, total, "up"),
      kruiseDown: fractionalShare(value, total, "down"),
      legacyUp: legacyShare(value, total, "up"),
      legacyDown: legacyShare(value, total, "down"),
      scaledUp: strictShare(value, total, "up"),
      scaledDown: strictShare(value, total, "down"),
    };
    // The caller words failures.
    return Object.fromEntries(Object.entries(readings).map(([name, reading]) => [name, reading ?? (typeof want[name] === "object" ? want[name] : "unreadable")]));
  },

  diff: (input: SetInput) => {
    const { gates } = input;
    const isNew = (pod: ReadonlyPod): boolean => hasRevision(pod, input.updateRevision);
    const isPreparing = (pod: ReadonlyPod): boolean => pod.metadata.labels?.[LIFECYCLE_STATE_LABEL] === "PreparingUpdate";
    return {
      scale: computeDiff(diffInput(input), (pod) => isNew(pod) || (gates?.["PreparingUpdateAsUpdate"] === true && isPreparing(pod))),
      update: computeDiff(diffInput(input), isNew),
    };
  },

  victims: (input: SetInput & { nodes?: Node[]; num: number; numOld?: number }) => {
    const { cloneSet, pods = [], updateRevision, num, numOld = 0, nodes = [] } = input;
    const nodeOf = (name: string): Node | undefined => nodes.find(({ metadata }) => metadata.name === name);
    const isUpdated = (pod: ReadonlyPod): boolean => hasRevision(pod, updateRevision);
    return { pods: chooseVictims({ cloneSet: fromAlpha(cloneSet), pods, isUpdated, total: num, fromOld: numOld, nodeOf, nowMs: RECORDED_AT }).map(nameOf) };
  },

  updateOrder: ({ cloneSet, pods = [], indexes = [] }: SetInput & { indexes?: number[] }) => {
    const candidates = indexes.flatMap((index) => pods[index] ?? []);
    const order = orderForUpdate(fromAlpha(cloneSet), candidates, pods).map((pod) => pods.indexOf(pod as Pod));
    // The recording has null for an empty list.
    return { indexes: order.length > 0 ? order : null };
  },

  status: (input: SetInput & { newStatus: { currentRevision: string; updateRevision: string; collisionCount: number; labelSelector: string } }) => {
    const { pods = [], newStatus } = input;
    const cloneSet = fromAlpha(input.cloneSet);
    const status = planStatus({ cloneSet, pods, revisions: newStatus, labelSelector: newStatus.labelSelector, failures: [], nowMs: RECORDED_AT });
    return { status, written: !equalJson(status, cloneSet.status), requeueAfterSeconds: (deadlineInMs(cloneSet, status, RECORDED_AT) ?? 0) / 1000 };
  },

  scale: (input: SetInput & { pvcs?: PersistentVolumeClaim[] }) => {
    const { pods = [], pvcs = [] } = input;
    const plan = planScale({ ...diffInput(input), nodeOf: noNodes });
    const ids = chooseInstanceIds(plan.createCurrent + plan.createUpdate, { active: pods, pods, claims: pvcs }, createSeededRandom(1));
    const left = new Set(pvcs.map(instanceIdOf));
    const removed = new Set(plan.remove.map(instanceIdOf));
    return {
      changed: Object.fromEntries(plan.prepare.map(({ pod, after }) => [pod.metadata.name, changesOf(pod, after)])),
      created: { currentRevision: plan.createCurrent, updateRevision: plan.createUpdate, reusedIDs: ids.filter((id) => left.has(id)).map((id) => `${input.cloneSet.metadata.name}-${id}`) },
      deleted: plan.remove.map(nameOf).toSorted(),
      deletedPVCs: pvcs.filter((claim) => removed.has(instanceIdOf(claim))).map(({ metadata }) => metadata.name).toSorted(),
      error: null,
      modified: !changesNothing(plan),
      scaleUpLimitedEvent: plan.limit !== undefined,
    };
  },

  update: runUpdate,

  newPods: (input: SetInput & { num: number; numOld: number; ids: string[] }, want: { pods: Pod[]; pvcs?: PersistentVolumeClaim[] }) => {
    const cloneSet = { ...fromAlpha(input.cloneSet), apiVersion: "apps.kruise.io/v1alpha1" };
    const ids = input.ids.slice(0, input.num);
    const pods = ids.map((id, index) => {
      const revision = index < input.numOld ? input.currentRevision : input.updateRevision;
      const pod = makePod(cloneSet, { revision, template: cloneSet.spec.template, id }, gatesOf(input.gates), RECORDED_AT);
      // The recording was made one step earlier, before the lifecycle state is set.
      const { [LIFECYCLE_STATE_LABEL]: _state, ...labels } = pod.metadata.labels ?? {};
      const { [LIFECYCLE_TIMESTAMP_ANNOTATION]: _time, ...annotations } = pod.metadata.annotations ?? {};
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = pod;
      const volumes = pod.spec.volumes?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return { ...rest, metadata: { ...pod.metadata, labels, annotations: Object.keys(annotations).length > 0 ? annotations : undefined }, spec: { ...pod.spec, volumes } };
    });
    const pvcs = ids.flatMap((id) => [...claimsOfPod(cloneSet, id).values()].map(({ apiVersion: _apiVersion, kind: _kind, ...claim }) => claim));
    return { ...want, pods, ...defined({ pvcs: want.pvcs ? pvcs : undefined }) };
  },
};

/**
 * Why a case differs on purpose. Release 1.9.1 skips all pods of a CloneSet with OnDelete, so that none of them ever
 * becomes ready; its webhook rejects such a CloneSet. v1beta1 allows OnDelete, and there as here pending steps of pods
 * are completed first.
 */
export function whyCloneSetDiffers(input: UpdateInput & { kind: string }): string | undefined {
  const isOnDelete = input.kind === "update" && input.cloneSet.spec.updateStrategy?.["type"] === "OnDelete";
  return isOnDelete && Object.keys(runUpdate(input).changed).length > 0 ? "with OnDelete pods catch up with themselves, as v1beta1 has it" : undefined;
}

function changesOfAction(action: UpdateAction, { gates }: SetInput): Record<string, object> {
  if (action.do === "prepare") return { [action.step.pod.metadata.name]: changesOf(action.step.pod, action.step.after) };
  const { name, labels } = action.pod.metadata;
  if (action.do === "recreate") return labels?.[SPECIFIED_DELETE_LABEL] === undefined ? { [name]: { [`label ${SPECIFIED_DELETE_LABEL}`]: "true" } } : {};
  const steps = inPlaceSteps(action.spec, { gates: gatesOf(gates), nowMs: RECORDED_AT });
  return { [name]: changesOf(action.pod, steps.start(steps.close(action.pod)).pod) };
}

function eventOf(action: UpdateAction, revision: string): string[] {
  if (action.do === "prepare") return [];
  const { name } = action.pod.metadata;
  return action.do === "in-place"
    ? [`Normal SuccessfulUpdatePodInPlace successfully update pod ${name} in-place(revision ${revision})`]
    : [`Normal SuccessfulUpdatePodReCreate successfully patch pod ${name} specified-delete for update(revision ${revision})`];
}
