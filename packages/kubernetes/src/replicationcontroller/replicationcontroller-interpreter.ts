/** ReplicationController: like a ReplicaSet, except that every member gets all replicas, as in Karmada. */
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import type { Workload } from "../interpreter/workload.ts";
import { replicaSetInterpreter } from "../replicaset/replicaset-interpreter.ts";

const { replicas: _replicas, reviseReplicas: _reviseReplicas, ...rules } = replicaSetInterpreter;

export const replicationControllerInterpreter: KindInterpreter<Workload> = {
  ...rules,
  group: "",
  kind: "ReplicationController",
};
