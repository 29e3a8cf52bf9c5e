/**
 * Common rules of Kubeflow's training jobs: pods in roles, such as Master and Worker, listed by role in the spec and
 * counted by role in the status.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import type { Component, Dependency, StatusItem } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import { componentOf, replicasOr, roleDependencies, type PodRole } from "../components.ts";
import { earlierOf, laterOf, nonEmpty } from "../member-status.ts";

export interface TrainingJob extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}
type Job = DeepReadonly<TrainingJob>;

export interface Role extends PodRole {
  readonly replicas: Json | undefined;
}

/** The roles that the spec defines. */
export function rolesOf({ spec }: Job, field: string, roles: readonly string[]): Role[] {
  const specs = spec?.[field];
  if (!isObject(specs)) return [];
  return roles.flatMap((name) => {
    const role = specs[name];
    return isObject(role) ? [{ name, template: role["template"], replicas: role["replicas"] }] : [];
  });
}

/** One component per role; a role has one pod by default. */
export function roleComponents(job: Job, field: string, roles: readonly string[]): Component[] {
  return rolesOf(job, field, roles).map(({ name, template, replicas }) =>
    componentOf(job, { name: name.toLowerCase(), template }, replicasOr(1, replicas)),
  );
}

export const trainingDependencies = (job: Job, field: string, roles: readonly string[]): Dependency[] =>
  roleDependencies(job, rolesOf(job, field, roles));

/** The status of a job that no member runs: the results of earlier members are cleared. */
export function idleStatus({ status }: Job): JsonObject {
  const {
    startTime: _start,
    completionTime: _completion,
    replicaStatuses: _replicas,
    conditions: _conditions,
    ...others
  } = isObject(status) ? status : {};
  return nonEmpty(others);
}

/**
 * Pods over all members, by role. Roles that are not listed in advance follow in the order in which members report
 * them.
 */
export function sumReplicaStatuses(items: readonly StatusItem[], roles?: readonly string[]): JsonObject {
  const sums = new Map<string, { active: number; succeeded: number; failed: number }>();
  for (const { status } of items) {
    const reported = isObject(status) ? status["replicaStatuses"] : undefined;
    if (!isObject(reported)) continue;
    for (const role of roles ?? Object.keys(reported)) {
      const counts = reported[role];
      if (!isObject(counts)) continue;
      let sum = sums.get(role);
      if (!sum) sums.set(role, (sum = { active: 0, succeeded: 0, failed: 0 }));
      sum.active += countOf(counts["active"]);
      sum.succeeded += countOf(counts["succeeded"]);
      sum.failed += countOf(counts["failed"]);
    }
  }
  return Object.fromEntries(sums);
}

/** From the first start on any member to the last completion. Empty strings where no member reports a time. */
export interface JobTimes {
  startTime: string;
  completionTime: string;
  lastReconcileTime: string;
}

export function timesOf(items: readonly StatusItem[]): JobTimes {
  const times = { startTime: "", completionTime: "", lastReconcileTime: "" };
  for (const { status } of items) {
    if (!isObject(status)) continue;
    times.startTime = earlierOf(times.startTime, status["startTime"]);
    times.completionTime = laterOf(times.completionTime, status["completionTime"]);
    times.lastReconcileTime = laterOf(times.lastReconcileTime, status["lastReconcileTime"]);
  }
  return times;
}
