/**
 * Totals of each policy's objects, updated as bindings change: a policy's status is computed from totals, not from its
 * thousand bindings. An object counts for the policy whose claim its binding carries; a waiting object is a problem of
 * the policy that selects it.
 */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { PolicyProblem, ResourceBinding } from "@flotilla/karmada";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Template, TemplateKey } from "../templates/templates.ts";
import type { Policy } from "./plan-match.ts";
import { CLUSTER_POLICY_ID, POLICY_ID } from "@flotilla/karmada";

export interface Totals {
  matched: number;
  scheduled: number;
  applied: number;
  /** The number of objects on each member. */
  clusters: ReadonlyMap<string, number>;
  problems: Iterable<PolicyProblem>;
  problemCount: number;
}

interface Waiting {
  policy: Policy;
  template: Template;
  reason: string;
  message: string;
}

export interface PolicyTally {
  /** The current binding; undefined when it is deleted. */
  bind(id: string, binding: DeepReadonly<ResourceBinding> | undefined): void;
  /** A template that cannot have its binding yet; undefined when that is resolved. */
  wait(key: TemplateKey, waiting: Waiting | undefined): void;
  /** By the policy's permanent id. */
  read(policyId: string): Totals;
  /** Calls back with the id of every policy whose totals changed. */
  onChange(report: (policyId: string) => void): void;
}

interface Entry {
  policyId: string;
  isMatched: boolean;
  isScheduled: boolean;
  isApplied: boolean;
  clusters: readonly string[];
  problem?: PolicyProblem;
}

interface Sums {
  matched: number;
  scheduled: number;
  applied: number;
  clusters: Map<string, number>;
  problems: Map<string, PolicyProblem>;
}

const NOTHING: Totals = { matched: 0, scheduled: 0, applied: 0, clusters: new Map(), problems: [], problemCount: 0 };
const MAX_MESSAGE = 1024;

export function policyIdOf(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  return labels?.[POLICY_ID] || labels?.[CLUSTER_POLICY_ID] || undefined;
}

export function createPolicyTally(): PolicyTally {
  const entries = new Map<string, Entry>();
  const sums = new Map<string, Sums>();
  const listeners: ((policyId: string) => void)[] = [];

  function put(id: string, next: Entry | undefined): void {
    const before = entries.get(id);
    if (equalJson(before, next)) return;
    if (before) count(id, before, -1);
    if (next) {
      entries.set(id, next);
      count(id, next, 1);
    } else entries.delete(id);
    for (const policyId of new Set([before?.policyId, next?.policyId]))
      if (policyId !== undefined) listeners.forEach((report) => report(policyId));
  }

  function count(
    id: string,
    { policyId, isMatched, isScheduled, isApplied, clusters, problem }: Entry,
    by: 1 | -1,
  ): void {
    let of = sums.get(policyId);
    if (!of)
      sums.set(policyId, (of = { matched: 0, scheduled: 0, applied: 0, clusters: new Map(), problems: new Map() }));
    of.matched += isMatched ? by : 0;
    of.scheduled += isScheduled ? by : 0;
    of.applied += isApplied ? by : 0;
    for (const cluster of clusters) {
      const left = (of.clusters.get(cluster) ?? 0) + by;
      if (left > 0) of.clusters.set(cluster, left);
      else of.clusters.delete(cluster);
    }
    if (by === 1 && problem) of.problems.set(id, problem);
    else of.problems.delete(id);
    if (of.matched === 0 && of.problems.size === 0) sums.delete(policyId);
  }

  return {
    bind(id, binding) {
      const policyId = binding && policyIdOf(binding.metadata.labels);
      put(
        `binding ${id}`,
        binding && policyId && !binding.metadata.deletionTimestamp ? entryOf(policyId, binding) : undefined,
      );
    },
    wait({ group, kind, namespace, name }, waiting) {
      const id = `template ${group}/${kind}/${namespace}/${name}`;
      const policyId = waiting && policyIdOf(waiting.policy.metadata.labels);
      if (!waiting || !policyId) return put(id, undefined);
      const { reason, message, template } = waiting;
      put(id, {
        policyId,
        isMatched: false,
        isScheduled: false,
        isApplied: false,
        clusters: [],
        problem: {
          ...refOf(template.apiVersion, kind, namespace, name),
          reason,
          message: message.slice(0, MAX_MESSAGE),
        },
      });
    },
    read(policyId) {
      const of = sums.get(policyId);
      return of ? { ...of, problems: of.problems.values(), problemCount: of.problems.size } : NOTHING;
    },
    onChange: (report) => void listeners.push(report),
  };
}

const refOf = (
  apiVersion: string,
  kind: string,
  namespace: string | undefined,
  name: string,
): Omit<PolicyProblem, "reason"> => ({ apiVersion, kind, namespace: namespace || undefined, name });

function entryOf(policyId: string, binding: DeepReadonly<ResourceBinding>): Entry {
  const { spec, status } = binding;
  const conditions = status?.conditions ?? [];
  const clusters = (spec.clusters ?? []).map(({ name }) => name);
  const problem = problemOf(binding);
  return {
    policyId,
    isMatched: true,
    isScheduled: clusters.length > 0,
    isApplied: clusters.length > 0 && isConditionTrue(conditions, "FullyApplied"),
    clusters,
    problem,
  };
}

/** The first failing step of an object's propagation. */
function problemOf({ spec: { resource }, status }: DeepReadonly<ResourceBinding>): PolicyProblem | undefined {
  const failed = ["Scheduled", "Dispatched", "FullyApplied"]
    .map((type) => findCondition(status?.conditions ?? [], type))
    .find((condition) => condition?.status === "False");
  if (!failed) return undefined;
  const member = failed.type === "FullyApplied" ? status?.aggregatedStatus?.find(({ applied }) => !applied) : undefined;
  const message = member
    ? `${member.clusterName}: ${member.appliedMessage ?? "not applied yet"}`
    : (failed.message ?? "");
  return {
    ...refOf(resource.apiVersion, resource.kind, resource.namespace, resource.name),
    reason: failed.reason ?? failed.type,
    message: message.slice(0, MAX_MESSAGE),
  };
}
