/** Reports workloads that cannot be scheduled, or whose works cannot be created. */
import { Cluster, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import type { Condition, Kind } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, formatAge, referenceTitle } from "@flotilla/apimachinery";
import { runsOnce } from "@flotilla/flotilla";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding, Moment } from "../doctor-check.ts";
import { isStuck, renderRecent } from "../../health/lasting-failures.ts";
import { createLostTargets, isLeftByPolicy } from "../../health/lost-targets.ts";
import type { PolicyRef } from "../../health/lost-targets.ts";
import { leftBehind, noticesOf } from "../../health/notices.ts";
import { suspensionsOf } from "../../health/suspensions.ts";
import { counted } from "../../text-layout.ts";

/** Bindings without a policy that are named; more are counted. */
const MAX_NAMED = 3;

type Binding = DeepReadonly<ResourceBinding>;

interface BindingFacts {
  bindings: readonly Binding[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
}

export const bindingsCheck = defineCheck<BindingFacts>({
  name: "bindings",
  summary: "every workload is scheduled, and every member's copy can be created",
  reports:
    "A problem for each binding with `Scheduled=False` (no member fits, or there is too little capacity) " +
    "or `Dispatched=False` (an override, a division, Works that the hub itself rejects, or a waiting rollout) for longer than `--stuck-after`, " +
    "and for bindings that were never scheduled; one problem for all bindings whose objects no policy " +
    "selects any longer, at once; a problem for each binding whose object the hub does not have " +
    "(`TemplateFound`). It is reported at once if no member fits for a reason that waiting does not " +
    "remove, such as the policy's cluster affinity, or if a copy cannot be made or stored. Others are counted until " +
    "then. A warning for each binding whose scheduling or dispatching is suspended, whose template names " +
    "pods that no member has (`PodsFound`), whose raised partition does not roll pods back " +
    "(`PodsRolledBack`), or of which a user's rule divides or reports numbers differently from the kind " +
    "(`DividedOverFleet`, `StatusComplete`). Running workloads stay unchanged.",
  async gather({ lists }) {
    const [bindings, clusterBindings, clusters] = await Promise.all([
      lists.all(ResourceBinding),
      lists.all(ClusterResourceBinding as unknown as Kind<ResourceBinding>),
      lists.all(Cluster),
    ]);
    return {
      bindings: [...bindings, ...clusterBindings],
      joined: new Set(clusters.map(({ metadata }) => metadata.name)),
    };
  },
  judge({ bindings, joined }, moment) {
    const { nowMs, stuckAfterMs } = moment;
    let recent = 0;
    const lost = createLostTargets((name) => joined.has(name));
    const unselected: Binding[] = [];
    const own = bindings.flatMap((binding) => {
      const { metadata, spec, status } = binding;
      if (isExempt(binding)) return undispatchedFindings(binding, moment);
      const left = leftBehind(binding);
      if (left)
        return [
          {
            ...findingOf(binding, left.seen),
            fix: runsOnce(spec.resource)
              ? "Delete the binding, which deletes the copies on members; a new object of this name runs when they are finished or deleted."
              : "Delete the binding, which deletes the copies on members, or apply the object again, which takes them over.",
            commands: [left.command],
          },
        ];
      const isLeft = isLeftByPolicy(binding);
      if (isLeft) unselected.push(binding);
      const scheduled = findCondition(status?.conditions, "Scheduled");
      const isNew = nowMs - Date.parse(metadata.creationTimestamp ?? "") <= stuckAfterMs;
      const { failed = [], fresh = [] } = Object.groupBy(
        [isLeft ? undefined : scheduled, findCondition(status?.conditions, "Dispatched")].flatMap((condition) =>
          condition?.status === "False" ? [condition] : [],
        ),
        (condition) => (isStuck(condition, moment) ? "failed" : "fresh"),
      );
      if (isUnscheduled(binding, moment) && lost.see(binding)) return [];
      if (failed.length > 0) return failed.map((condition) => failureFinding(binding, condition, moment));
      if (fresh.length > 0 || (scheduled === undefined && isNew && !isLeft)) recent += 1;
      // The check `finalizers` reports the object itself.
      const notices = noticesOf(binding).filter(({ problem }) => problem !== "object waiting for a finalizer");
      if (notices.length > 0)
        return notices.map(({ text }) => ({ ...findingOf(binding, `${text}.`), severity: "warning" as const }));
      const suspended = suspensionsOf(spec);
      if (suspended.length > 0 && !isNew)
        return [
          {
            ...findingOf(binding, `${suspended.join("; ")}.`),
            severity: "warning" as const,
            fix: "Resume it in spec.suspension of the policy, or of the binding, if it is no longer intended.",
          },
        ];
      return scheduled === undefined && !isNew && !isLeft ? [findingOf(binding, "It was never scheduled.")] : [];
    });
    const misdirected = lost.take();
    const findings: DoctorFinding[] = [
      ...misdirected.map(({ kind, namespace, name, reason }) => ({
        severity: "problem" as const,
        about: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
        seen: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`,
        fix: "Correct the names in the policy, or join the clusters.",
        commands: [`kubectl edit ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ""}`],
      })),
      ...unselectedFindings(unselected),
      ...own,
    ];
    const objects = misdirected.reduce((sum, { objects: { length } }) => sum + length, own.length);
    const withoutPolicy = unselected.length === 0 ? "" : `, ${unselected.length} without a policy`;
    return {
      seen: `${counted(bindings.length, "binding")}, ${objects} not scheduled or not dispatched${withoutPolicy}${renderRecent(recent, moment)}`,
      findings,
    };
  },
});

/** Dependencies follow their dependents and are never scheduled themselves. */
const isExempt = ({ metadata, spec }: Binding): boolean =>
  metadata.deletionTimestamp !== undefined || (spec.requiredBy ?? []).length > 0;

function isUnscheduled({ status }: Binding, moment: Moment): boolean {
  const scheduled = findCondition(status?.conditions, "Scheduled");
  return scheduled?.status === "False" && isStuck(scheduled, moment);
}

/** A dependency follows its dependents, and its copies may still fail. */
function undispatchedFindings(binding: Binding, moment: Moment): DoctorFinding[] {
  const condition = findCondition(binding.status?.conditions, "Dispatched");
  const isDeleting = binding.metadata.deletionTimestamp !== undefined;
  return !isDeleting && condition?.status === "False" && isStuck(condition, moment)
    ? [failureFinding(binding, condition, moment)]
    : [];
}

const failureFinding = (
  binding: Binding,
  { type, reason, message, lastTransitionTime }: DeepReadonly<Condition>,
  { nowMs }: Moment,
): DoctorFinding =>
  findingOf(
    binding,
    `${message} (${type}=False, ${reason}, for ${formatAge(nowMs - Date.parse(lastTransitionTime ?? ""))})`,
  );

/** The policies that this check reports because they name only clusters that are not members. */
export function misdirectingPolicies({ bindings, joined }: BindingFacts, moment: Moment): PolicyRef[] {
  const lost = createLostTargets((name) => joined.has(name));
  for (const binding of bindings) if (!isExempt(binding) && isUnscheduled(binding, moment)) lost.see(binding);
  return lost.take();
}

/** One deleted policy usually leaves several bindings: they are one finding. */
function unselectedFindings(bindings: readonly Binding[]): DoctorFinding[] {
  const [first] = bindings;
  if (!first) return [];
  const names = bindings.slice(0, MAX_NAMED).map(({ spec: { resource } }) => referenceTitle(resource));
  const more = bindings.length > MAX_NAMED ? ` and ${bindings.length - MAX_NAMED} more` : "";
  const withCopies = bindings.filter(hasCopies).length;
  const isOne = bindings.length === 1;
  const remaining = isOne
    ? "No policy selects it any longer, and its binding remains."
    : `No policy selects these objects any longer, and their bindings remain: ${names.join(", ")}${more}.`;
  const copies =
    withCopies > 0
      ? ` Members keep the copies${isOne ? "" : ` of ${withCopies}`}, and changed replicas do not reach them.`
      : "";
  return [
    {
      severity: "problem",
      about: isOne ? referenceTitle(first.spec.resource) : `${bindings.length} bindings without a policy`,
      seen: `${remaining}${copies}`,
      fix: `Apply a policy that selects ${isOne ? "it" : "them"} again, or delete the binding${isOne ? "" : "s"}, which deletes copies on members.`,
      commands: bindings.slice(0, MAX_NAMED).map((binding) => {
        // Copies that run are not to be deleted by a command that is copied from a list.
        if (hasCopies(binding)) return whyCommand(binding);
        const { namespace, name } = binding.metadata;
        return `kubectl delete ${binding.kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ""}`;
      }),
    },
  ];
}

const hasCopies = ({ spec }: Binding): boolean => Boolean(spec.clusters?.length);

function findingOf(binding: Binding, seen: string): DoctorFinding {
  return {
    severity: "problem",
    about: referenceTitle(binding.spec.resource),
    seen,
    fix: "`flotilla why` lists the members, the reason for each, and what to change.",
    commands: [whyCommand(binding)],
  };
}

function whyCommand({ spec: { resource } }: Binding): string {
  const { namespace, name } = resource;
  return `flotilla why ${wordOf(resource)}/${name}${namespace ? ` -n ${namespace}` : ""}`;
}
