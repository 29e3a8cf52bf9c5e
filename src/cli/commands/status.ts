/** `flotilla status`: the fleet at a glance, from the hub's point of view. */
import { Cluster, ResourceBinding } from "../../api/index.ts";
import { UsageError } from "../../base/index.ts";
import type { DeepReadonly, Json } from "../../base/index.ts";
import { findCondition, formatAge } from "../../machinery/index.ts";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory, kubeconfigPath } from "../data-directory.ts";
import { renderTable } from "../output.ts";

export const statusCommand = defineCommand({
  name: "status",
  summary: "show the members of the fleet and where workloads run",
  example: ["flotilla status", "flotilla status --data ./fleet", "flotilla status --kubeconfig hub.kubeconfig -o json"],
  args: [],
  flags: {
    kubeconfig: { type: "string", value: "FILE", description: "kubeconfig of the hub (default: the data directory's, else $KUBECONFIG)" },
    data: { type: "string", value: "DIR", description: "data directory of the fleet (default ~/.flotilla)" },
  },
  async run({ flags, output, signal, clock, connect, environment }) {
    const file = flags.kubeconfig ?? (flags.data === undefined && environment["KUBECONFIG"] ? environment["KUBECONFIG"] : kubeconfigPath(flags.data ?? defaultDataDirectory(environment), "hub"));
    if (file.includes(":") && !flags.kubeconfig) throw new UsageError("$KUBECONFIG names several files; say which is the hub's with --kubeconfig FILE");
    const { client, server, close } = await connect(file);
    try {
      const [clusters, bindings] = await Promise.all([client.list(Cluster, { cluster: "hub", signal }), client.list(ResourceBinding, { cluster: "hub", signal })]);
      const status = summarise(server, clusters.items, bindings.items, clock.now());
      output.result(status as unknown as Json, () => renderStatus(status));
    } finally {
      await close();
    }
  },
});

export interface FleetStatus {
  server: string;
  members: { name: string; ready: string; version: string; nodes: string; age: string }[];
  workloads: { namespace: string; name: string; kind: string; desired: number | undefined; ready: number; applied: string; placement: string }[];
}

export function summarise(server: string, clusters: readonly DeepReadonly<Cluster>[], bindings: readonly DeepReadonly<ResourceBinding>[], nowMs: number): FleetStatus {
  return {
    server,
    members: clusters.map(({ metadata, status }) => ({
      name: metadata.name,
      ready: findCondition(status?.conditions ?? [], "Ready")?.status ?? "Unknown",
      version: status?.kubernetesVersion ?? "",
      nodes: `${status?.nodeSummary?.readyNum ?? 0}/${status?.nodeSummary?.totalNum ?? 0}`,
      age: formatAge(nowMs - Date.parse(metadata.creationTimestamp ?? "")),
    })),
    workloads: bindings.map(({ metadata, spec, status }) => ({
      namespace: spec.resource.namespace ?? "",
      name: spec.resource.name,
      kind: spec.resource.kind,
      desired: desiredOf(spec),
      ready: (status?.aggregatedStatus ?? []).reduce((sum, item) => sum + readyOf(item.status), 0),
      applied: appliedOf(status?.conditions ?? [], metadata.deletionTimestamp !== undefined),
      placement: (spec.clusters ?? []).map(({ name, replicas }) => (replicas === undefined ? name : `${name}=${replicas}`)).join(" "),
    })),
  };
}

/** A dispatch that fails comes first: the members then run what was applied before it. */
function appliedOf(conditions: DeepReadonly<NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>>, isDeleting: boolean): string {
  const dispatched = findCondition(conditions, "Dispatched");
  if (dispatched?.status === "False") return dispatched.reason;
  return findCondition(conditions, "FullyApplied")?.status ?? (isDeleting ? "Deleting" : "Unknown");
}

/** Over all members: each of them runs everything when replicas are duplicated. Undefined for what runs no replicas. */
function desiredOf({ replicas, clusters = [] }: DeepReadonly<ResourceBinding>["spec"]): number | undefined {
  if (replicas === undefined) return undefined;
  return clusters.length === 0 ? replicas : clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0);
}

function readyOf(status: unknown): number {
  const ready = (status as { readyReplicas?: unknown } | undefined)?.readyReplicas;
  return typeof ready === "number" ? ready : 0;
}

export function renderStatus({ server, members, workloads }: FleetStatus): string {
  const memberTable = renderTable(["MEMBER", "READY", "VERSION", "NODES", "AGE"], members.map(({ name, ready, version, nodes, age }) => [name, ready, version, nodes, age]));
  const workloadTable = renderTable(
    ["NAMESPACE", "NAME", "KIND", "READY", "APPLIED", "PLACEMENT"],
    workloads.map(({ namespace, name, kind, desired, ready, applied, placement }) => [namespace, name, kind, desired === undefined ? "-" : `${ready}/${desired}`, applied, placement || "<not scheduled>"]),
  );
  return [
    `hub ${server}`,
    "",
    members.length > 0 ? memberTable : "No members yet.",
    "",
    workloads.length > 0 ? workloadTable : "No workloads are propagated yet: apply one together with a PropagationPolicy.",
  ].join("\n");
}
