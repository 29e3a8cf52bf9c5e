/** Reports workloads that do not run on their members: pods that wait or crash, rollouts that make no progress, failed Jobs. */
import { Cluster, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import type { Kind } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { candidateOfBinding, candidatesOfWork, copiesOf, judgeCandidate } from "../../health/candidates.ts";
import type { Candidate, Moment } from "../../health/candidates.ts";
import { renderRecent } from "../../health/lasting-failures.ts";
import { findKeptValues, mayKeep } from "../../health/kept-values.ts";
import { lookAtPods } from "../../health/look-at-pods.ts";
import type { CopyReports } from "../../health/look-at-pods.ts";
import { placeOf } from "../../members/members-places.ts";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

export interface WorkloadFacts {
  bindings: readonly DeepReadonly<ResourceBinding>[];
  works: readonly DeepReadonly<ManifestWork>[];
  /** The names of all members. */
  members: ReadonlySet<string>;
  /** Members to check; undefined means all. */
  only: ReadonlySet<string> | undefined;
  /** What the members have, for the workloads that are not healthy. */
  reports: CopyReports;
  /** What rules keep from members. */
  ruled: Awaited<ReturnType<typeof findKeptValues>>;
}

export const workloadsCheck = defineCheck<WorkloadFacts>({
  name: "workloads",
  summary: "the pods of workloads run on their members",
  reports:
    "A problem for each workload whose condition `Healthy` has been `False` for longer than " +
    "`--stuck-after`: pods that are not ready, a rollout that makes no progress or is paused midway, a " +
    "failed Job, a CronJob or AdvancedCronJob whose last run failed. The same for manifests of " +
    "ManifestWorks that are degraded or not up to date, and for ManifestWorks that no agent applies. It is " +
    "reported at once if a pod has an error, such as `ImagePullBackOff`, `CreateContainerConfigError` or " +
    "`CrashLoopBackOff`, or if a Secret or ConfigMap of its volumes is missing; others are counted until " +
    "then. Also for a release that a Retain rule keeps from the members, and for replicas that one holds " +
    "below those that the members were given. The pods of these workloads, and of runs, are read from the " +
    "members, and warnings about pods whose containers are not created; the pods of ready workloads are not.",
  async gather({ client, clock, signal, lists, only }) {
    const [bindings, clusterBindings, works, clusters, managed] = await Promise.all([
      lists.all(ResourceBinding),
      lists.all(ClusterResourceBinding as unknown as Kind<ResourceBinding>),
      lists.all(ManifestWork),
      lists.all(Cluster),
      lists.all(ManagedCluster),
    ]);
    const members = new Set([...clusters, ...managed].map(({ metadata }) => metadata.name));
    const facts = { bindings: [...bindings, ...clusterBindings], works, members, only };
    const reports = await lookAtPods(copiesOf(candidatesIn(facts, { nowMs: clock.now() })), {
      client,
      clock,
      signal,
      places: clusters.map(placeOf),
    });
    return { ...facts, reports, ruled: await findKeptValues(facts.bindings.filter(mayKeep), client, signal) };
  },
  judge(facts, { nowMs, stuckAfterMs }) {
    const { bindings, works, reports, ruled } = facts;
    let recent = 0;
    const unhealthy = candidatesIn(facts, { nowMs, graceMs: stuckAfterMs }).flatMap((candidate): DoctorFinding[] => {
      const reason = judgeCandidate(candidate, reports);
      if (reason === undefined && !candidate.runsToCompletion) recent += 1;
      return reason === undefined ? [] : [findingOf(candidate, reason)];
    });
    const findings = [...unhealthy, ...ruled.kept.map((kept) => findingOf(kept, kept.reason))];
    return {
      seen:
        `${counted(bindings.length, "binding")}, ${counted(works.length, "ManifestWork")}, ${findings.length} ` +
        `unhealthy${renderRecent(recent, { stuckAfterMs })}`,
      findings,
      unseen: [...reports.unseen, ...ruled.unseen],
    };
  },
});

/** Failed rules are reported by the check of interpreters. */
function candidatesIn(
  { bindings, works, members, only }: Omit<WorkloadFacts, "reports" | "ruled">,
  moment: Moment,
): Candidate[] {
  return [
    ...bindings.flatMap((binding) => candidateOfBinding(binding, moment) ?? []),
    ...works.flatMap((work) => candidatesOfWork(work, { ...moment, members })),
  ].filter(
    ({ problem, copies }) => problem !== "rule failed" && (!only || copies.some(({ cluster }) => only.has(cluster))),
  );
}

function findingOf(
  { apiVersion, kind, namespace, name }: Pick<Candidate, "apiVersion" | "kind" | "namespace" | "name">,
  seen: string,
): DoctorFinding {
  const where = namespace ? ` -n ${namespace}` : "";
  return {
    severity: "problem",
    about: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
    seen,
    fix: "`flotilla why` shows each member, and what to do.",
    commands: [`flotilla why ${wordOf({ apiVersion, kind })}/${name}${where}`],
  };
}
