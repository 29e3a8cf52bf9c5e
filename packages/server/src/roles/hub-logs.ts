/** `kubectl logs` for the components that the hub's pods represent: Karmada's and Open Cluster Management's. */
import type { Clock, Log } from "@flotilla/base";
import type { Simulation } from "@flotilla/simulation";
import type { HubExtensions } from "./hub-extensions.ts";
import { createKarmadaLogs } from "./karmada-logs.ts";
import { createOcmLogs } from "./ocm-logs.ts";

export interface HubLogs {
  /** Also keeps the lines of the hub's controllers for their components. */
  keepOfHub(log: Log): Log;
  /** Also keeps the lines of agents for the components of their members. */
  keepOfAgents(log: Log): Log;
  /** For the hub, which runs nothing else. */
  hubRuntime: ReturnType<NonNullable<HubExtensions["runtimeOf"]>>;
  /** For members: their workloads, and the agent. */
  around(runtime: Simulation["runtime"]): Simulation["runtime"];
  forget(cluster: string): void;
}

export function createHubLogs(clock: Clock): HubLogs {
  const [karmada, ocm] = [createKarmadaLogs(clock), createOcmLogs(clock)];
  return {
    keepOfHub: (log) => karmada.keep(ocm.keep(log)),
    keepOfAgents: ocm.keep,
    hubRuntime: {
      hasNodes: false,
      logs: (target) => karmada.hubRuntime.logs(target) ?? ocm.hubRuntime.logs(target),
    },
    around: ocm.around,
    forget: ocm.forget,
  };
}
