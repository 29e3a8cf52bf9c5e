/** Nodes and kubelets of simulated members: one set of controllers serves all of them. */
import type { Clock } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import type { Controller, Informers } from "../runtime/index.ts";
import { createKubeletController } from "./kubelet.ts";
import type { KubeletTimes } from "./kubelet.ts";
import { createNodeUsage } from "./node-usage.ts";
import { ensureNodes } from "./nodes.ts";
import type { NodeOptions } from "./nodes.ts";
import { createSimulatedRuntime } from "./logs.ts";
import type { SimulatedRuntime } from "./logs.ts";
import { createPlacementController } from "./placement.ts";

export type { KubeletTimes } from "./kubelet.ts";
export type { NodeOptions } from "./nodes.ts";

export interface SimulationDependencies {
  client: Client;
  /** Of the member clusters, without the hub. */
  informers: Informers;
  clock: Clock;
  times?: Partial<KubeletTimes>;
}

export interface Simulation {
  controllers: Controller<ObjectKey>[];
  /** What runs the containers, as far as logs and commands can tell. */
  runtime: SimulatedRuntime;
  /** Creates the nodes that a member lacks. */
  ensureNodes(cluster: string, count: number, options?: NodeOptions, signal?: AbortSignal): Promise<void>;
}

/** To be called once for a set of informers, because it adds indexes to them. */
export function createSimulation(deps: SimulationDependencies): Simulation {
  const usage = createNodeUsage(deps.informers);
  return {
    controllers: [createPlacementController({ ...deps, usage }), createKubeletController(deps)],
    runtime: createSimulatedRuntime(deps),
    ensureNodes: (cluster, count, options, signal) => ensureNodes(deps, cluster, count, options, signal),
  };
}
