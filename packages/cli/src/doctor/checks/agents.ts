/** Checks that the agents of pull-mode members report. */
import { ManagedCluster } from "@flotilla/ocm";
import { Lease } from "@flotilla/kubernetes";
import { findCondition, formatAge } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import { renewalsOf } from "../../health/renewals.ts";
import type { Renewal } from "../../health/renewals.ts";
import { counted } from "../../text-layout.ts";

export interface AgentFacts {
  /** Pull-mode members. */
  clusters: readonly DeepReadonly<Cluster>[];
  /** When each agent last renewed its lease, and how long the lease is valid. */
  renewals: ReadonlyMap<string, Pick<Renewal, "atMs" | "holdsMs">>;
  /** Members with an Open Cluster Management agent, which applies works but does not serve policies. */
  managed: ReadonlySet<string>;
}

export const agentsCheck = defineCheck<AgentFacts>({
  name: "agents",
  summary: "the agents of pull-mode members report",
  reports:
    "A problem for each member with `syncMode: Pull` whose agent has not renewed its lease within the " +
    "lease duration (40 seconds by default), or whose agent reports that the member is not ready. The " +
    "workloads of such a member keep running unchanged; changes are delayed.",
  async gather(context) {
    const [clusters, leases, managed] = await Promise.all([
      membersIn(context),
      context.lists.all(Lease),
      context.lists.all(ManagedCluster),
    ]);
    return {
      clusters: clusters.filter(({ spec }) => spec.syncMode === "Pull"),
      renewals: renewalsOf(leases),
      managed: new Set(managed.map(({ metadata }) => metadata.name)),
    };
  },
  judge({ clusters, renewals, managed }, { nowMs }) {
    const findings = clusters.flatMap((cluster): DoctorFinding[] => {
      const { name } = cluster.metadata;
      const last = renewals.get(name);
      const ready = findCondition(cluster.status?.conditions, "Ready");
      const start = {
        fix: "Start the agent on the member, or check its log there.",
        commands: [`flotilla agent --cluster-name ${name} --hub-kubeconfig FILE`],
      };
      if (!last)
        return managed.has(name) && ready === undefined
          ? []
          : [{ severity: "problem", about: `member ${name}`, seen: "Its agent has never renewed a lease.", ...start }];
      // The hub sets Unknown when the agent is silent, which may be before the longer of two leases ends.
      if (nowMs - last.atMs > last.holdsMs || ready?.status === "Unknown")
        return [
          {
            severity: "problem",
            about: `member ${name}`,
            seen:
              `Its agent last renewed its lease ${formatAge(nowMs - last.atMs)} ago. The member keeps its ` +
              "workloads, and gets changes when the agent is back.",
            ...start,
          },
        ];
      if (ready && ready.status !== "True" && ready.reason !== "ClusterStatusNeverUpdated")
        return [
          {
            severity: "problem",
            about: `member ${name}`,
            seen: `Its agent reports: ${ready.message || ready.reason}.`,
            fix: "Restore the member's API server.",
            commands: [`kubectl get clusters.cluster.karmada.io ${name} -o yaml`],
          },
        ];
      return [];
    });
    return {
      seen:
        clusters.length === 0
          ? "no member uses pull mode"
          : findings.length === 0
            ? `${counted(clusters.length, "agent")} reporting`
            : `${findings.length} of ${clusters.length} unhealthy: ${listed(findings.map(({ about }) => about.replace("member ", "")))}`,
      findings,
    };
  },
});
