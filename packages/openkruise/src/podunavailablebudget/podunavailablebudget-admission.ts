/**
 * Rejects the deletion, eviction or update of a pod if its budget allows no further unavailable pod, and annotates new
 * pods with their budget.
 *
 * The budget's status is charged atomically before the write; a failed write is refunded.
 */
import { Namespace, Pod, ReplicaSet } from "@flotilla/kubernetes";
import { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import { controllerOf, deniedByWebhook } from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, ApiError, Operation, Review } from "@flotilla/apimachinery";
import type { PubOperation } from "./podunavailablebudget-types.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isPodInScope } from "../api/webhook-scope.ts";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { checkBudget, isUnprotected, withoutGrant } from "./check-budget.ts";
import { RELATED_BUDGET_ANNOTATION, canResizeInPlace, mayBecomeUnavailable } from "./budget-pod-state.ts";
import { budgetFor } from "./related.ts";
import type { WorkloadRef } from "./budget-scope.ts";
import { isKind } from "./workloads.ts";

export function createBudgetAdmissions(options: KruiseWebhookOptions): AnyAdmission[] {
  const { gates } = options;
  const guarded: Operation[] = [
    ...(gates.isOn("PodUnavailableBudgetDeleteGate") ? ["DELETE" as const] : []),
    ...(gates.isOn("PodUnavailableBudgetUpdateGate") ? ["UPDATE" as const] : []),
  ];
  return guarded.length === 0 ? [] : [createMarkAdmission(options), createGuardAdmission(guarded, options)];
}

function createMarkAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  return {
    name: "PodUnavailableBudgetMark",
    for: Pod,
    on: ["CREATE"],
    mutate(review) {
      const { cluster, object, read, subresource } = review;
      if (subresource !== undefined || !options.appliesTo(cluster)) return object;
      const budgets = read.written(PodUnavailableBudget, object.metadata.namespace);
      if (budgets.length === 0 || !isPodInScope(review, options)) return object;
      const budget = budgetFor(budgets, workloadOf(review), object.metadata.labels);
      return budget
        ? {
            ...object,
            metadata: {
              ...object.metadata,
              annotations: { ...object.metadata.annotations, [RELATED_BUDGET_ANNOTATION]: budget.metadata.name },
            },
          }
        : object;
    },
  };
}

/** The user-facing workload: for a ReplicaSet its Deployment. */
function workloadOf({ object, read }: Review<Pod>): Pick<WorkloadRef, "apiVersion" | "kind" | "name"> | undefined {
  const owner = controllerOf(object);
  if (!owner || !isKind(ReplicaSet, owner)) return owner;
  const set = read.get(ReplicaSet, object.metadata.namespace, owner.name);
  return (set && controllerOf(set)) ?? owner;
}

/** A request to check against a budget. */
interface Question {
  /** The pod before the change. */
  pod: ReadonlyPod;
  operation: PubOperation;
  webhook: string;
  budget: string;
}

function createGuardAdmission(on: readonly Operation[], options: KruiseWebhookOptions): Admission<Pod> {
  const { gates, nowMs, recordEvent } = options;

  function questionOf(review: Review<Pod>): Question | undefined {
    const asked = questionedOperation(review);
    const budget = asked?.pod.metadata.annotations?.[RELATED_BUDGET_ANNOTATION];
    if (
      !asked ||
      !budget ||
      isUnprotected(asked.pod, gates) ||
      !isPodInScope(review, options) ||
      isNamespaceEnding(review)
    )
      return undefined;
    return { ...asked, budget };
  }
  function refusal({ pod, webhook }: Question, cluster: string, reason: string): ApiError {
    recordEvent?.("pub-controller", cluster, pod, {
      type: "Warning",
      reason: "PubPreventPodDeletion",
      message: "openkruise pub prevents pod deletion",
    });
    return deniedByWebhook(webhook, 403, reason, "Forbidden");
  }

  return {
    name: "PodUnavailableBudget",
    for: Pod,
    on,
    validate(review) {
      // A real request is checked when the budget is charged.
      const question = review.dryRun ? questionOf(review) : undefined;
      const budget =
        question && review.read.get(PodUnavailableBudget, question.pod.metadata.namespace, question.budget);
      const verdict = question && budget && checkBudget(budget, question.pod, question.operation, gates, nowMs());
      if (question && verdict?.allowed === false) throw refusal(question, review.cluster, verdict.reason);
      return [];
    },
    async reserve(review, write) {
      const question = questionOf(review);
      if (!question) return undefined;
      const { pod, operation, budget } = question;
      const { name, namespace } = pod.metadata;
      let isTaken = false;
      await write.changeStatus(PodUnavailableBudget, namespace, budget, (stored) => {
        const verdict = checkBudget(stored, pod, operation, gates, nowMs());
        if (!verdict.allowed) throw refusal(question, review.cluster, verdict.reason);
        isTaken = verdict.status !== undefined;
        return verdict.status;
      });
      if (!isTaken) return undefined;
      return {
        release: () =>
          write.changeStatus(PodUnavailableBudget, namespace, budget, ({ status }) => withoutGrant(status, name)),
      };
    },
  };
}

function questionedOperation({
  operation,
  subresource,
  object,
  oldObject,
}: Review<Pod>): Omit<Question, "budget"> | undefined {
  if (operation === "DELETE") {
    // A terminating pod has already been charged; its kubelet must be able to remove it.
    if (object.metadata.deletionTimestamp) return undefined;
    if (subresource === "eviction") return { pod: object, operation: "EVICT", webhook: "vpodeviction.kb.io" };
    return subresource === undefined ? { pod: object, operation: "DELETE", webhook: "vpod.kb.io" } : undefined;
  }
  if (
    subresource !== undefined ||
    !oldObject ||
    !object.metadata.annotations?.[RELATED_BUDGET_ANNOTATION] ||
    !mayBecomeUnavailable(oldObject, object)
  )
    return undefined;
  return {
    pod: oldObject,
    operation: canResizeInPlace(oldObject, object) ? "RESIZE" : "UPDATE",
    webhook: "vpod.kb.io",
  };
}

/**
 * Pods are deleted first with their namespace, and their workloads last: a budget that blocked them would block the
 * namespace forever.
 */
function isNamespaceEnding({ object, read }: Review<Pod>): boolean {
  const { namespace = "" } = object.metadata;
  if (!read.mentions(Namespace, undefined, namespace, "deletionTimestamp")) return false;
  return read.get(Namespace, undefined, namespace)?.metadata.deletionTimestamp !== undefined;
}
