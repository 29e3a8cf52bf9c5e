/** What a page shows of one workload: its template and binding on the hub, and its copies and pods on members. Pure. */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { podStatus } from "@flotilla/kubernetes";
import type { Pod } from "@flotilla/kubernetes";
import type { CopyRow, Health, ObjectRef, ObjectView, PodRow } from "@flotilla/web";
import { numberOf, objectAt, objectsAt, textAt } from "./json-access.ts";
import type { ReadonlyObject } from "./json-access.ts";

/** A copy that is read from its member. */
export interface WatchedCopy {
  object: ReadonlyObject | undefined;
  isLive: boolean;
  /** Why it is not live; empty when it is, or was not read yet. */
  problem: string;
  pods: readonly DeepReadonly<Pod>[];
  /** Pods that are not in `pods`. */
  morePods: number;
}

export interface ObjectViewInput {
  ref: ObjectRef;
  template: ReadonlyObject | undefined;
  binding: DeepReadonly<ResourceBinding> | undefined;
  works: ReadonlyMap<string, DeepReadonly<Work>>;
  copies: ReadonlyMap<string, WatchedCopy>;
  isReady(member: string): boolean;
  notes: readonly string[];
}

/** A page that shows more is unreadable; equal copies are folded there. */
const MAX_COPIES = 1_000;
const MAX_PODS_SENT = 60;

/** The members that have a copy, or should have one. */
export function membersOf(binding: DeepReadonly<ResourceBinding> | undefined): string[] {
  const { spec, status } = binding ?? {};
  const names = new Set([
    ...(spec?.clusters ?? []).map(({ name }) => name),
    ...(spec?.requiredBy ?? []).flatMap(({ clusters = [] }) => clusters.map(({ name }) => name)),
    ...(status?.aggregatedStatus ?? []).map(({ clusterName }) => clusterName),
  ]);
  return [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

export function objectView(input: ObjectViewInput): ObjectView {
  const { ref, template, binding, notes } = input;
  const members = membersOf(binding);
  const reports = new Map((binding?.status?.aggregatedStatus ?? []).map((item) => [item.clusterName, item]));
  const targets = new Map((binding?.spec.clusters ?? []).map(({ name, replicas }) => [name, replicas]));
  const newest = imagesOf(objectAt(template, "spec"));
  return {
    ref,
    template: template && slimTemplate(template),
    policy: policyOf(binding),
    binding: binding ? binding.metadata.name : "",
    conditions: (binding?.status?.conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
      type,
      status,
      reason,
      message,
      at: lastTransitionTime,
    })),
    notes,
    moreCopies: Math.max(0, members.length - MAX_COPIES),
    copies: members.slice(0, MAX_COPIES).map((member) =>
      copyRow({
        member,
        copy: input.copies.get(member),
        report: reports.get(member),
        work: input.works.get(member),
        target: targets.get(member),
        newest,
        isReady: input.isReady(member),
      }),
    ),
  };
}

interface CopyInput {
  member: string;
  copy: WatchedCopy | undefined;
  /** What the member last reported to the hub. */
  report: NonNullable<NonNullable<DeepReadonly<ResourceBinding>["status"]>["aggregatedStatus"]>[number] | undefined;
  work: DeepReadonly<Work> | undefined;
  /** The replicas that the binding gives the member. */
  target: number | undefined;
  /** Images of the template. */
  newest: readonly string[];
  isReady: boolean;
}

function copyRow(input: CopyInput): CopyRow {
  const { member, copy, report, work, target, newest, isReady } = input;
  const reported = isObject(report?.status) ? report.status : {};
  const status = copy?.object ? objectAt(copy.object, "status") : reported;
  const spec = copy?.object ? objectAt(copy.object, "spec") : {};
  const desired = numberOf(spec["replicas"]) ?? target ?? numberOf(status["desiredNumberScheduled"]) ?? -1;
  const unknown = desired >= 0 ? 0 : -1;
  const ready = numberOf(status["readyReplicas"]) ?? numberOf(status["numberReady"]) ?? unknown;
  const pods = (copy?.pods ?? []).map((pod) => podRow(pod, newest)).sort(byName);
  const failing = pods.find(({ state }) => FAILING.test(state))?.state ?? "";
  const applied = findCondition(work?.status?.conditions, "Applied");
  const drift = findCondition(work?.status?.conditions, "Drifted");
  const healthy = findCondition(work?.status?.conditions, "Healthy");
  const failed = [applied, healthy].find((condition) => condition?.status === "False");
  const message = failed ? failed.message || failed.reason : (report?.appliedMessage ?? "");
  const isRejected = applied?.status === "False" || report?.applied === false;
  return {
    member,
    work: work?.metadata.name ?? "",
    desired,
    ready,
    updated: numberOf(status["updatedReplicas"]) ?? numberOf(status["updatedNumberScheduled"]) ?? unknown,
    health: healthOf({
      isReady,
      isFailed: isRejected || failing !== "",
      isComplete: (desired < 0 || ready >= desired) && (copy?.object !== undefined || report !== undefined),
    }),
    applied: applied ? applied.status === "True" : report?.applied,
    message: message || failing,
    drift: drift?.status === "True" ? drift.message || drift.reason : "",
    live: copy?.isLive ?? false,
    notLive: copy?.problem ?? "",
    partition: partitionOf(spec),
    images: imagesOf(spec),
    pods: pods.slice(0, MAX_PODS_SENT),
    morePods: Math.max(0, pods.length - MAX_PODS_SENT) + (copy?.morePods ?? 0),
  };
}

function healthOf({ isReady, isFailed, isComplete }: Record<"isReady" | "isFailed" | "isComplete", boolean>): Health {
  if (!isReady) return "stale";
  if (isFailed) return "failed";
  return isComplete ? "healthy" : "progressing";
}

const FAILING = /BackOff|Error|Failed|Invalid|OOMKilled|Evicted/;
const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

function imagesOf(spec: ReadonlyObject): string[] {
  return objectsAt(objectAt(objectAt(spec, "template"), "spec"), "containers")
    .map((container) => textAt(container, "image"))
    .filter((image) => image !== "");
}

function partitionOf(spec: ReadonlyObject): string {
  const strategy = objectAt(spec, "updateStrategy");
  const value = strategy["partition"] ?? objectAt(strategy, "rollingUpdate")["partition"];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** A pod with other images than the template's is of an earlier version. */
function podRow(pod: DeepReadonly<Pod>, newest: readonly string[]): PodRow {
  const { metadata, spec, status } = pod;
  const images = spec.containers.map(({ image }) => image ?? "");
  return {
    name: metadata.name,
    phase: status?.phase ?? "",
    state: metadata.deletionTimestamp ? "Terminating" : podStatus(pod),
    ready: isConditionTrue(status?.conditions ?? [], "Ready"),
    restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0),
    image: images[0] ?? "",
    node: spec.nodeName ?? "",
    containers: spec.containers.map(({ name }) => name),
    created: metadata.creationTimestamp ?? "",
    updated: newest.length > 0 && newest.every((image) => images.includes(image)),
  };
}

/** Without managed fields, which are long and not shown. */
function slimTemplate(template: ReadonlyObject): ReadonlyObject {
  const { managedFields: _managed, ...metadata } = objectAt(template, "metadata");
  return { ...template, metadata };
}

function policyOf(binding: DeepReadonly<ResourceBinding> | undefined): string {
  const annotations = binding?.metadata.annotations ?? {};
  const name = annotations[POLICY_NAME];
  if (name !== undefined) return `${annotations[POLICY_NAMESPACE] ?? ""}/${name}`;
  return annotations[CLUSTER_POLICY_NAME] ?? "";
}
