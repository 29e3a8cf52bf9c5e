/**
 * `kubectl logs` for Open Cluster Management's components: the lines of the controllers in this process that do their
 * work.
 */
import { OCM_AGENT_NAMESPACE, OCM_HUB_NAMESPACE } from "@flotilla/ocm";
import type { Clock } from "@flotilla/base";
import {
  CLUSTER_MANAGER,
  componentsAlone,
  createComponentLogs,
  KLUSTERLET,
  withComponentLogs,
} from "@flotilla/simulation";
import type { ComponentLogs, Simulation } from "@flotilla/simulation";

/** Controllers that an agent runs on a member; their keys start with the hub, followed by the member. */
const OF_AGENTS: ReadonlySet<string> = new Set([
  "ocm-work",
  "ocm-work-ttl",
  "ocm-managed-namespaces",
  "managed-cluster",
  "managed-cluster-lease",
]);

export interface OcmLogs extends Pick<ComponentLogs, "keep" | "forget"> {
  /** For the hub, which runs nothing else. */
  hubRuntime: ReturnType<typeof componentsAlone>;
  /** For members: their workloads, and the agent. */
  around(runtime: Simulation["runtime"]): Simulation["runtime"];
}

export function createOcmLogs(clock: Clock): OcmLogs {
  const logs = createComponentLogs({
    clock,
    componentOf: (controller) =>
      OF_AGENTS.has(controller) ? KLUSTERLET : controller.startsWith("ocm-") ? CLUSTER_MANAGER : undefined,
    // `hub/m1/web` is a work of m1, `hub//m1` the cluster itself.
    clusterOf(component, key) {
      const [, namespace, name] = key.split("/");
      return component === KLUSTERLET ? namespace || name : undefined;
    },
  });
  return {
    ...logs,
    hubRuntime: componentsAlone(logs, OCM_HUB_NAMESPACE),
    around: (runtime) => withComponentLogs(runtime, logs, OCM_AGENT_NAMESPACE),
  };
}
