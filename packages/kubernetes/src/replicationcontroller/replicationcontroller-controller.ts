/** ReplicationController runs like a ReplicaSet; its selector is a map of labels. */
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import { createReplicasController } from "../replicaset/replicaset-controller.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { ReplicationController } from "./replicationcontroller-kind.ts";

export function createReplicationControllerController(deps: WorkloadDependencies): Controller<ObjectKey> {
  return createReplicasController(deps, {
    name: "replicationcontroller",
    kind: ReplicationController,
    component: "replication-controller",
    asReplicaSet: ({ spec, ...object }) => ({
      ...object,
      spec: { ...spec, selector: { matchLabels: spec?.selector ?? {} } },
    }),
    countsTerminating: false,
  });
}
