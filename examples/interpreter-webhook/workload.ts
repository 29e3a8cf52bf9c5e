/**
 * Interprets a Workload: its replicas, how they are divided, which fields members own, its status and its dependencies.
 * Replace this file with one for your kind.
 */
import { CannotAnswer } from "./protocol.ts";
import type { Answer, Question } from "./protocol.ts";

interface Container {
  name: string;
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
}

interface Workload {
  metadata: { name: string; namespace?: string };
  spec?: { replicas?: number; paused?: boolean; template?: { spec?: { containers?: Container[] } } };
  status?: WorkloadStatus;
}

interface WorkloadStatus {
  readyReplicas?: number;
}

type Asked = Question<Workload, WorkloadStatus>;

const rules: Record<string, (asked: Asked) => Answer> = {
  InterpretReplica: ({ object }) => ({ replicas: replicasOf(object) }),

  InterpretComponent: ({ object }) => ({ components: [{ name: "main", replicas: replicasOf(object) }] }),

  ReviseReplica: ({ replicas = 0 }) => ({ patch: [{ op: "add", path: "/spec/replicas", value: replicas }] }),

  // A user on the member may pause a Workload; the hub leaves it paused there.
  Retain({ observedObject }) {
    const paused = observedObject?.spec?.paused;
    return paused === undefined ? {} : { patch: [{ op: "add", path: "/spec/paused", value: paused }] };
  },

  AggregateStatus({ object, aggregatedStatus = [] }) {
    const readyReplicas = aggregatedStatus.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
    return { patch: [{ op: "add", path: "/status", value: { ...object.status, readyReplicas } }] };
  },

  InterpretStatus: ({ object }) => ({ rawStatus: { readyReplicas: object.status?.readyReplicas ?? 0 } }),

  InterpretHealth: ({ object }) => ({ healthy: (object.status?.readyReplicas ?? 0) === replicasOf(object) }),

  // ConfigMaps and Secrets that its containers read their environment from are propagated with it.
  InterpretDependency({ object }) {
    const { namespace = "" } = object.metadata;
    const sources = (object.spec?.template?.spec?.containers ?? []).flatMap(({ envFrom = [] }) => envFrom);
    return {
      dependencies: sources.flatMap(({ configMapRef, secretRef }) => [
        ...(configMapRef ? [{ apiVersion: "v1", kind: "ConfigMap", namespace, name: configMapRef.name }] : []),
        ...(secretRef ? [{ apiVersion: "v1", kind: "Secret", namespace, name: secretRef.name }] : []),
      ]),
    };
  },
};

function replicasOf({ spec }: Workload): number {
  return spec?.replicas ?? 1;
}

export function interpretWorkload(asked: Asked): Answer {
  const rule = Object.hasOwn(rules, asked.operation) ? rules[asked.operation] : undefined;
  if (!rule)
    throw new CannotAnswer(400, `this webhook does not support the operation ${JSON.stringify(asked.operation)}`);
  if (asked.kind.kind !== "Workload")
    throw new CannotAnswer(400, `this webhook interprets Workloads, not ${asked.kind.kind}`);
  return rule(asked);
}
