/** Checks that the hub reaches its members. */
import { DRAIN_TAINT, refusesToken, SIMULATED_FAULT } from "@flotilla/flotilla";
import { ManagedCluster } from "@flotilla/ocm";
import { findCondition, formatAge } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import { isRecovering, isSilent, whyNotReady } from "../../health/member-readiness.ts";
import { CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT, CORDON_TAINT } from "@flotilla/karmada";
import { counted } from "../../text-layout.ts";

export interface MemberFacts {
  clusters: readonly DeepReadonly<Cluster>[];
  managed: readonly DeepReadonly<ManagedCluster>[];
}

const NOT_AVAILABLE = "ManagedClusterConditionAvailable";
/** Taints that the hub itself sets while a member is unreachable. */
const OWN_TAINTS = new Set([CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT]);

export const membersCheck = defineCheck<MemberFacts>({
  name: "members",
  summary: "push-mode members are ready",
  reports:
    "A problem for each member whose condition `Ready` (or, for a ManagedCluster without a Cluster, " +
    "`ManagedClusterConditionAvailable`) is not `True`, or that does not respond although it is still " +
    "`Ready`, with the hub's message. A warning for user-defined taints that keep workloads out. Workloads " +
    "on an unreachable member are not removed.",
  async gather(context) {
    const [clusters, managed] = await Promise.all([membersIn(context), context.lists.all(ManagedCluster)]);
    return { clusters, managed: managed.filter(({ metadata }) => !context.only || context.only.has(metadata.name)) };
  },
  judge({ clusters, managed }, { nowMs }) {
    const findings: DoctorFinding[] = [];
    // Pull-mode members are covered by the agents check.
    const pushed = clusters.filter(({ spec }) => spec.syncMode === "Push");
    for (const cluster of pushed) {
      const { name } = cluster.metadata;
      const ready = findCondition(cluster.status?.conditions, "Ready");
      if (isSilent(cluster))
        findings.push({
          severity: "problem",
          about: `member ${name}`,
          seen:
            `${refusesToken(whyNotReady(cluster)) ? "The hub cannot use it" : "It does not respond"}: ` +
            `${whyNotReady(cluster)}. Its workloads keep running; what the hub knows of them is from before.`,
          ...fixOf(cluster, whyNotReady(cluster) ?? ""),
        });
      else if (ready?.status !== "True")
        findings.push({
          severity: "problem",
          about: `member ${name}`,
          seen: `${readiness(cluster, nowMs)}. Its workloads keep running.`,
          ...fixOf(cluster, ready?.message ?? ""),
        });
      const taints = (cluster.spec.taints ?? []).filter(
        ({ key, effect }) => !OWN_TAINTS.has(key) && effect !== "PreferNoSchedule",
      );
      for (const { key, effect } of taints)
        findings.push({
          severity: "warning",
          about: `member ${name}`,
          seen:
            `It has the taint ${key}:${effect}, so that nothing new is placed there` +
            `${effect === "NoExecute" ? ` and ${key === DRAIN_TAINT ? "workloads" : "only workloads whose policy has failover.cluster"} leave it` : ""}.`,
          fix: "Remove the taint if it is no longer needed.",
          commands: [
            key === CORDON_TAINT || key === DRAIN_TAINT
              ? `flotilla uncordon ${name}`
              : `flotilla taint ${name} ${key}-`,
          ],
        });
    }
    const known = new Set(clusters.map(({ metadata }) => metadata.name));
    for (const {
      metadata: { name },
      spec,
      status,
    } of managed) {
      const available = findCondition(status?.conditions, NOT_AVAILABLE);
      if (known.has(name) || spec.hubAcceptsClient !== true || available?.status === "True") continue;
      findings.push({
        severity: "problem",
        about: `member ${name}`,
        seen: `It is not available: ${available?.message ?? "its agent has not reported"}.`,
        fix: "Check its agent.",
        commands: [`kubectl get managedcluster ${name} -o yaml`],
      });
    }
    const notReady = pushed.filter(
      (cluster) => isSilent(cluster) || findCondition(cluster.status?.conditions, "Ready")?.status !== "True",
    );
    return {
      seen:
        pushed.length === 0
          ? "no push-mode member"
          : notReady.length === 0
            ? `${counted(pushed.length, "member")} ready`
            : `${notReady.length} of ${pushed.length} not ready: ${listed(notReady.map(({ metadata }) => metadata.name))}`,
      findings,
    };
  },
});

function fixOf(cluster: DeepReadonly<Cluster>, message: string): Pick<DoctorFinding, "fix" | "commands"> {
  const {
    metadata: { name, annotations },
    spec,
  } = cluster;
  if (annotations?.[SIMULATED_FAULT] !== undefined)
    return {
      fix: "It is made unreachable on purpose, by an annotation; remove the annotation.",
      commands: [`kubectl annotate clusters.cluster.karmada.io ${name} ${SIMULATED_FAULT}-`],
    };
  if (isRecovering(cluster))
    return {
      fix: "It recovers: wait until the hub reports it ready.",
      commands: [`kubectl wait --for=condition=Ready clusters.cluster.karmada.io/${name}`],
    };
  // The hub's credentials are in order, and so is its trust.
  if (/server's certificate (?:has expired|is not valid yet)/.test(message))
    return {
      fix: "Renew the certificate of its API server, or synchronize the clocks; the hub then recovers by itself.",
      commands: [`curl -kv ${spec.apiEndpoint ?? "ADDRESS"}/readyz`, "flotilla doctor --only clocks"],
    };
  if (/token|Unauthorized|certificate/i.test(message))
    return {
      fix: "Join it again under the same name, which renews the hub's credentials.",
      commands: [`flotilla join ${name} --cluster-kubeconfig FILE`],
    };
  return {
    fix: "Restore its API server, or the connection to it; the hub then recovers by itself. If it is lost for good, unjoin it.",
    commands: [`curl -k ${spec.apiEndpoint ?? "ADDRESS"}/readyz`, `flotilla unjoin ${name} --force`],
  };
}

function readiness(cluster: DeepReadonly<Cluster>, nowMs: number): string {
  const ready = findCondition(cluster.status?.conditions, "Ready");
  if (!ready) return "The hub has not reported yet whether it is ready";
  const age = formatAge(nowMs - Date.parse(ready.lastTransitionTime));
  return `Ready is ${ready.status} for ${age}: ${whyNotReady(cluster)}`;
}
