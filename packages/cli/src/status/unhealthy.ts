/** Collects unhealthy objects: counts of all, and details of the first ones. Objects are visited once and not kept. */
import { findCondition } from "@flotilla/apimachinery";
import type { ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import type { PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { MemberStatus, Problem, UnhealthySummary, UnhealthyObject } from "./fleet-status.ts";
import { BINDING_NAME, CLUSTER_BINDING_NAME } from "@flotilla/karmada";
import type { BrokenProgram } from "../health/hub-programs.ts";
import { joinCauses, nameMembers } from "../health/name-members.ts";
import { leftBehind, noticesOf } from "../health/notices.ts";
import { createLostTargets, isLeftByPolicy } from "../health/lost-targets.ts";
import { ownProblemsOf } from "../health/policy-problems.ts";
import { wrongClockText } from "../health/renewals.ts";
import { suspensionsOf } from "../health/suspensions.ts";
import { copiesOf, refusesToken, TERMINATING } from "@flotilla/flotilla";
import { explainHubCheck } from "../hub-checks.ts";

/** A fleet with more problems than this has one common cause. */
const MAX_WORST = 1000;
/** Most important first. */
const RANKS: Readonly<Record<Problem, number>> = {
  "hub without controllers": 0,
  "check of the hub failed": 1,
  "program of the hub failing": 2,
  "component not ready": 3,
  "member not available": 4,
  "release failed": 5,
  "release without progress": 6,
  "release aborted": 7,
  "release waiting for a decision": 8,
  "ManifestWork failed": 9,
  "binding not applied": 10,
  "Work failed": 11,
  "policy without members": 12,
  "binding not scheduled": 13,
  "policy selecting members without the kind": 14,
  "policy failed": 15,
  "workload unhealthy": 16,
  "ManifestWork unhealthy": 17,
  "rule failed": 18,
  "status not written": 19,
  "rollout stopped": 20,
  "replicas held by a rule": 21,
  "autoscaler failing": 22,
  "autoscaler at its maximum": 23,
  "quota exceeded": 24,
  "quota without effect": 25,
  "workload naming missing pods": 26,
  "Placement unsatisfied": 27,
  "Work waiting for a deletion": 28,
  "object waiting for a finalizer": 29,
  "namespace being deleted": 30,
  "binding without a policy": 31,
  "binding without a template": 32,
  "binding suspended": 33,
};
/** Ages in its reason change on every read. */
export const NO_CONTROLLERS: Problem = "hub without controllers";
/** A work that does not match its cluster's labels is healthy. */
const WITHHELD = "ClusterLabelsNotMatched";
/** The prefix of every apply failure. */
const APPLY_FAILED = "Failed to apply manifest: ";
/** On a Work: the name of its binding. */
const BINDING_NAMES = [BINDING_NAME, CLUSTER_BINDING_NAME];

type Named = {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
};
interface Said {
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface UnhealthyCollector {
  /** A failing health check of the hub, by name. */
  hubCheck(name: string): void;
  /** A webhook or an aggregated server that the hub's API server calls. */
  program(broken: BrokenProgram): void;
  /** The hub's controllers do not run. */
  controllers(reason: string): void;
  /** A component of the hub that is not ready. */
  component(namespace: string, name: string): void;
  member(member: MemberStatus): void;
  binding(binding: DeepReadonly<ResourceBinding>): void;
  work(work: DeepReadonly<Work>): void;
  /** A workload whose pods were looked at, or an object for which a rule fails. */
  unhealthy(found: Pick<UnhealthyObject, "problem" | "kind" | "namespace" | "name">, reason: string): void;
  manifestWork(work: DeepReadonly<ManifestWork>): void;
  policy(policy: DeepReadonly<PropagationPolicy>): void;
  placement(placement: DeepReadonly<OcmPlacement>): void;
  replicaSet(set: DeepReadonly<ManifestWorkReplicaSet>): void;
  result(): UnhealthySummary;
}

/** `isMember` is false for names that no member has; unset if the members are not known. */
export function createUnhealthyCollector(isMember?: (name: string) => boolean): UnhealthyCollector {
  const counts = new Map<Problem, number>();
  /** By the id of the object: several reasons of one object are one line. */
  const found = new Map<Problem, Map<string, UnhealthyObject>>();
  const lost = createLostTargets(isMember);

  function note(problem: Problem, { kind, metadata: { namespace, name } }: Named, reason: string): void {
    const known = found.get(problem) ?? new Map<string, UnhealthyObject>();
    found.set(problem, known);
    const id = JSON.stringify([kind, namespace, name]);
    const before = known.get(id);
    if (before) {
      if (!before.reason.includes(reason)) before.reason += `; ${reason}`;
      return;
    }
    counts.set(problem, (counts.get(problem) ?? 0) + 1);
    if (known.size < MAX_WORST) known.set(id, { problem, kind, namespace: namespace || undefined, name, reason });
  }

  return {
    hubCheck: (name) => note("check of the hub failed", { kind: "hub", metadata: { name } }, explainHubCheck(name)),
    program: ({ kind, name, seen }) => note("program of the hub failing", { kind, metadata: { name } }, seen),
    controllers: (reason) => note(NO_CONTROLLERS, { kind: "hub", metadata: { name: "controllers" } }, reason),
    component: (namespace, name) =>
      note("component not ready", { kind: "Deployment", metadata: { namespace, name } }, "the component is not ready"),
    member({ name, mode, ready, message, available, accepted, leaving, isSilent, clockAheadMs }) {
      // The user is removing it.
      if (leaving) return;
      const said = [
        ...(ready === undefined || ready === "True" || ready === "NoAgent"
          ? []
          : ready === "NotResponding"
            ? [refusesToken(message) ? `${message}` : `it does not respond${message ? ` (${message})` : ""}`]
            : mode === "pull" && ready === "Unknown"
              ? [`its agent does not report${message ? ` (${message})` : ""}`]
              : [`Ready is ${ready}${message ? ` (${message})` : ""}`]),
        ...(accepted === false
          ? ["the hub has not accepted it"]
          : available === undefined || available === "True"
            ? []
            : [`Available is ${available}`]),
        ...(isSilent ? ["its agent no longer renews its Lease, so what the hub knows of it is old"] : []),
        ...(clockAheadMs === undefined ? [] : [wrongClockText(clockAheadMs)]),
      ];
      if (said.length > 0) note("member not available", { kind: "member", metadata: { name } }, said.join(", "));
    },
    binding(binding) {
      const left = leftBehind(binding);
      // Whatever else is wrong with it cannot be mended without its template.
      if (left) return note("binding without a template", binding, `${left.seen} → ${left.command}`);
      const { conditions, aggregatedStatus = [] } = binding.status ?? {};
      const scheduled = findCondition(conditions, "Scheduled");
      if (scheduled?.status === "False" && !lost.see(binding)) {
        if (isLeftByPolicy(binding)) note("binding without a policy", binding, WITHOUT_POLICY);
        else note("binding not scheduled", binding, textOf(scheduled));
      }
      const refused = aggregatedStatus.flatMap(({ clusterName, applied, appliedMessage }) =>
        applied === false && appliedMessage ? [{ clusterName, appliedMessage }] : [],
      );
      const [dispatched, applied] = [
        findCondition(conditions, "Dispatched"),
        findCondition(conditions, "FullyApplied"),
      ];
      const suspended = suspensionsOf(binding.spec);
      // Copies that cannot be made, and members that reject theirs, are different members. Pods of a rollout also wait
      // for members to which dispatching is suspended, as intended.
      const isHeld = dispatched?.reason === "RolloutHeld" && suspended.length > 0;
      const undispatched = dispatched?.status === "False" && !isHeld ? textOf(dispatched) : undefined;
      if (undispatched !== undefined) note("binding not applied", binding, undispatched);
      if (refused.length > 0) note("binding not applied", binding, refusedText(refused));
      else if (undispatched === undefined && applied?.status === "False" && suspended.length === 0)
        note("binding not applied", binding, unappliedText(binding) ?? textOf(applied));
      if (suspended.length > 0) note("binding suspended", binding, suspended.join(", "));
      for (const { problem, text } of noticesOf(binding)) {
        const { kind, namespace, name } = binding.spec.resource;
        note(problem, { kind, metadata: { namespace, name } }, text);
      }
    },
    unhealthy: ({ problem, kind, namespace, name }, reason) =>
      note(problem, { kind, metadata: { namespace, name } }, reason),
    work(work) {
      const applied = findCondition(work.status?.conditions, "Applied");
      const { annotations, deletionTimestamp } = work.metadata;
      // The binding of other Works reports the same.
      const isOwn = deletionTimestamp !== undefined || !BINDING_NAMES.some((name) => annotations?.[name] !== undefined);
      if (applied?.status === "False" && isOwn)
        note(applied.reason === TERMINATING ? "Work waiting for a deletion" : "Work failed", work, textOf(applied));
    },
    manifestWork(work) {
      const { conditions, resourceStatus } = work.status ?? {};
      const applied = findCondition(conditions, "Applied");
      if (applied?.status === "False" && applied.reason !== WITHHELD) {
        const first = resourceStatus?.manifests
          ?.flatMap((manifest) => findCondition(manifest.conditions, "Applied") ?? [])
          .find(({ status }) => status === "False");
        note("ManifestWork failed", work, textOf(first ?? applied).replace(APPLY_FAILED, ""));
      }
    },
    policy(policy) {
      const [problem] = ownProblemsOf(policy);
      if (problem) note("policy failed", policy, problem.text);
    },
    placement(placement) {
      const [wrong, satisfied] = [
        findCondition(placement.status?.conditions, "PlacementMisconfigured"),
        findCondition(placement.status?.conditions, "PlacementSatisfied"),
      ];
      if (wrong?.status === "True") note("Placement unsatisfied", placement, textOf(wrong));
      else if (satisfied?.status === "False") note("Placement unsatisfied", placement, textOf(satisfied));
    },
    replicaSet(set) {
      const [verified, rolledOut] = [
        findCondition(set.status?.conditions, "PlacementVerified"),
        findCondition(set.status?.conditions, "PlacementRolledOut"),
      ];
      if (verified?.status === "False" && verified.reason !== "PlacementDecisionEmpty")
        note("rollout stopped", set, textOf(verified));
      // A rollout in progress has no message.
      else if (rolledOut?.status === "False" && rolledOut.message) note("rollout stopped", set, textOf(rolledOut));
    },
    result() {
      for (const { kind, namespace, name, reason } of lost.take())
        note("policy without members", { kind, metadata: { namespace, name } }, reason);
      return {
        counts: Object.fromEntries([...counts].toSorted(([a], [b]) => RANKS[a] - RANKS[b])),
        worst: someOfEach(
          [...found.values()].flatMap((objects) => [...objects.values()]),
          MAX_WORST,
        ),
      };
    },
  };
}

/** The messages of members, each once. */
const MAX_MESSAGES = 3;

function refusedText(refused: readonly { clusterName: string; appliedMessage: string }[]): string {
  const byMessage = Map.groupBy(refused, ({ appliedMessage }) => appliedMessage);
  const causes = Array.from(
    byMessage,
    ([message, members]) => `${nameMembers(members.map(({ clusterName }) => clusterName))}: ${message}`,
  );
  return joinCauses(
    refused.map(({ clusterName }) => clusterName),
    causes,
    MAX_MESSAGES,
  );
}

/** The targets that have neither applied their copy nor said why; undefined if there are none. */
function unappliedText({ spec, status }: DeepReadonly<ResourceBinding>): string | undefined {
  const applied = new Set(status?.aggregatedStatus?.flatMap((item) => (item.applied ? [item.clusterName] : [])));
  const waiting = copiesOf(spec)
    .map(({ name }) => name)
    .filter((name) => !applied.has(name));
  return waiting.length === 0
    ? undefined
    : `${nameMembers(waiting)} ${waiting.length === 1 ? "has" : "have"} not reported that it is applied`;
}

/** It has no cluster, so nothing runs because of it. */
const WITHOUT_POLICY =
  "no policy selects its object any longer, and the binding remains; 'flotilla why' shows how to remove it";

const textOf = ({ reason = "", message }: Said): string => (message || reason).replaceAll(/\s+/g, " ").trim();

/**
 * The first ones up to a limit, most important first, but at least one per problem: a problem that is only counted
 * cannot be fixed.
 */
export function someOfEach(objects: readonly UnhealthyObject[], limit: number): UnhealthyObject[] {
  const byRank = (a: UnhealthyObject, b: UnhealthyObject): number => RANKS[a.problem] - RANKS[b.problem];
  const sorted = objects.toSorted(byRank);
  const first = new Set(sorted.filter(({ problem }, index) => sorted[index - 1]?.problem !== problem));
  const others = sorted.filter((object) => !first.has(object)).slice(0, Math.max(0, limit - first.size));
  return [...[...first].slice(0, limit), ...others].toSorted(byRank);
}
