/** Assembles the simulated members: nodes and kubelets, workload controllers, OpenKruise, and their metrics. */
import type { ApiServer } from "@flotilla/apiserver";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { createManager, yieldToOtherControllers } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Manager, SharedInformers } from "@flotilla/controller-runtime";
import {
  createComponentLogs,
  createKruiseInstallController,
  createSimulation,
  MANAGER as KRUISE_COMPONENT,
} from "@flotilla/simulation";
import type { KubeletTimes, Simulation } from "@flotilla/simulation";
import { containerHashes } from "@flotilla/openkruise";
import { KRUISE_MANAGER } from "./foreign-programs.ts";
import type { Part } from "./process-parts.ts";
import { createWorkloadControllerGroups } from "./workload-controllers.ts";
import type { FeatureGates } from "@flotilla/openkruise";

export interface MemberControllersOptions {
  /** The logical clusters, of which some are simulated members. */
  clusters: Pick<ApiServer, "profileOf" | "isManagedElsewhere" | "onManagedElsewhere" | "onServed" | "onClusterGone">;
  client: Client;
  /** Informers of the simulated members only; one set serves them all. */
  informers: SharedInformers;
  clock: Clock;
  random: Random;
  log: Log;
  events: EventRecorders;
  /** False for members that store objects but run nothing. */
  haveNodes: boolean;
  runsKruise(cluster: string): boolean;
  gates?: FeatureGates;
  times?: Partial<KubeletTimes>;
}

export interface MemberControllers extends Part {
  manager: Manager;
  simulation: Simulation;
}

export function createMemberControllers(options: MemberControllersOptions): MemberControllers {
  const {
    clusters: server,
    client,
    informers,
    clock,
    random,
    log,
    events,
    haveNodes,
    runsKruise,
    gates,
    times,
  } = options;
  // An empty cluster waits for external controllers, and a cluster with its own controllers is left to them.
  const isForeign = (cluster: string): boolean => server.profileOf(cluster) === "empty";
  const componentLogs = createComponentLogs({
    clock,
    componentOf: (controller) => (kruiseControllers.has(controller) ? KRUISE_COMPONENT : undefined),
  });
  server.onClusterGone((cluster) => componentLogs.forget(cluster));
  const manager = createManager({ client, informers, clock, log: componentLogs.keep(log) });
  const simulation = createSimulation({
    client,
    informers,
    clock,
    hashes: containerHashes,
    componentLogs,
    events,
    times,
    isManagedElsewhere: (cluster) => server.isManagedElsewhere(cluster),
    onManagedElsewhere: (listener) =>
      server.onManagedElsewhere((cluster, program) => {
        if (program === "controller-manager" && !isForeign(cluster)) listener(cluster);
      }),
  });
  const kruiseControllers = new Set<string>();
  const role: MemberControllers = { manager, simulation, start: manager.start, stop: manager.stop };
  // Without nodes, the informers of the workload controllers would only cost memory.
  if (!haveNodes) return role;

  const workloads = createWorkloadControllerGroups({
    client,
    informers,
    clock,
    random,
    events,
    usage: simulation,
    gates,
  });
  for (const { name } of workloads.kruise) kruiseControllers.add(name);
  const install = createKruiseInstallController({
    client,
    isInstalled: (cluster) => server.profileOf(cluster) === "member-bare" && runsKruise(cluster),
    onServed: server.onServed,
  });
  /** Leaves clusters with a program of their own to it. */
  const unlessRun = (program: Parameters<typeof server.isManagedElsewhere>[1], controllers: Controller<ObjectKey>[]) =>
    controllers.map((controller) =>
      yieldToOtherControllers(controller, {
        isForeign,
        isTaken: (cluster) => server.isManagedElsewhere(cluster, program),
      }),
    );
  const { scheduler, kubelets, controllerManager } = simulation.parts;
  manager.add(
    install,
    ...unlessRun("controller-manager", [...workloads.kubernetes, ...controllerManager]),
    ...unlessRun("scheduler", scheduler),
    ...unlessRun(KRUISE_MANAGER, workloads.kruise),
    // No other program is there for these.
    ...[...workloads.argo, ...kubelets].map((controller) => yieldToOtherControllers(controller, { isForeign })),
    simulation.heartbeat,
  );
  return role;
}
