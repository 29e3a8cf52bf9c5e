/**
 * Shows the components that the controllers embody as not ready while no controllers run, on a hub whose controllers are
 * processes of their own.
 *
 * Reads: the Leases of the controllers.
 * Writes: the status of these components' Deployments, ReplicaSets and Pods, when it changes.
 *
 * The Lease is judged by when it was seen to change, not by the clock of the process that wrote it.
 */
import { HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, formatTime, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { Deployment, Lease, Pod, ReplicaSet } from "@flotilla/kubernetes";
import { controllerComponents } from "@flotilla/simulation";
import { controllerUnits } from "@flotilla/flotilla";
import { CONTROLLERS_LEASE_KEY } from "./controllers-lease.ts";
import type { Part } from "./process-parts.ts";

const POLL_MS = 2_000;
const CONTROLLERS_NAMESPACE = { cluster: CONTROLLERS_LEASE_KEY.cluster, namespace: CONTROLLERS_LEASE_KEY.namespace };
/** A leader stops when it could not renew for this long. */
const RENEWED_WITHIN_MS = 10_000;

export interface ReadinessOptions {
  client: Client;
  clock: Clock;
  log: Log;
}

export function createComponentReadiness({ client, clock, log }: ReadinessOptions): Part {
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();

  async function follow(signal: AbortSignal): Promise<void> {
    /** By name: when a renewal was last seen. */
    const seen = new Map<string, { renewTime: string | undefined; atMs: number }>();
    let shown: boolean | undefined;
    const isRenewed = ({ metadata: { name }, spec }: DeepReadonly<Lease>): boolean => {
      const { holderIdentity, renewTime } = spec ?? {};
      const before = seen.get(name);
      if (!before || before.renewTime !== renewTime)
        // After a start nothing was seen yet: the time in the Lease is all that is known.
        seen.set(name, { renewTime, atMs: before ? clock.now() : Date.parse(renewTime ?? "") });
      return Boolean(holderIdentity) && clock.now() - (seen.get(name)?.atMs ?? 0) < RENEWED_WITHIN_MS;
    };
    while (!signal.aborted) {
      try {
        const { items } = await client.list(Lease, { ...CONTROLLERS_NAMESPACE, signal });
        const renewed = items.filter(isRenewed);
        const isRunning = controllerUnits(items).every(({ lease }) => lease !== undefined && renewed.includes(lease));
        if (isRunning !== shown) await showComponents(client, isRunning, { nowMs: clock.now(), signal });
        shown = isRunning;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("readiness of components not written, retrying", { error });
      }
      await sleep(clock, POLL_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  return {
    start(signal) {
      ended = follow(AbortSignal.any([signal, stopping.signal]));
    },
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Writes the status of every component that the controllers embody, where it differs. */
export async function showComponents(
  client: Client,
  isReady: boolean,
  { nowMs, signal }: { nowMs: number; signal?: AbortSignal },
): Promise<void> {
  const time = formatTime(nowMs);
  for (const { namespace, names } of controllerComponents) {
    const isOne = ({ metadata }: DeepReadonly<KubernetesObject>): boolean => names.has(metadata.labels?.["app"] ?? "");
    const show = async <T extends KubernetesObject & { status?: unknown }>(
      kind: Kind<T>,
      plan: (status: JsonStatus) => JsonStatus,
    ): Promise<void> => {
      const { items } = await client.list(kind, { cluster: HUB, namespace, signal });
      for (const object of items.filter(isOne)) {
        const before = (object.status ?? {}) as JsonStatus;
        const status = plan(before);
        if (!equalJson(before, status)) await client.updateStatus(kind, HUB, { ...object, status }, { signal });
      }
    };
    await show(Pod, (status) => planPodStatus(status, isReady, time));
    await show(ReplicaSet, (status) => planCounts(status, isReady));
    await show(Deployment, (status) => planDeploymentStatus(status, isReady, time));
  }
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}
type JsonStatus = {
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly object[];
} & Record<string, unknown>;

const NOT_RUNNING = {
  reason: "ControllersNotRunning",
  message: "no 'flotilla controllers' process renews one of the Leases karmada-system/flotilla-controllers…",
};

const planCounts = (status: JsonStatus, isReady: boolean): JsonStatus => ({
  ...status,
  readyReplicas: isReady ? 1 : 0,
  availableReplicas: isReady ? 1 : 0,
});

function planDeploymentStatus(status: JsonStatus, isReady: boolean, time: string): JsonStatus {
  const said = isReady
    ? { reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : NOT_RUNNING;
  return {
    ...planCounts(status, isReady),
    unavailableReplicas: isReady ? undefined : 1,
    conditions: withConditions(status.conditions, ["Available"], isReady, { ...said, lastUpdateTime: time }, time),
  };
}

function planPodStatus(status: JsonStatus, isReady: boolean, time: string): JsonStatus {
  return {
    ...status,
    conditions: withConditions(
      status.conditions,
      ["Ready", "ContainersReady"],
      isReady,
      isReady ? {} : NOT_RUNNING,
      time,
    ),
    containerStatuses: status.containerStatuses?.map((container) => ({ ...container, ready: isReady })),
  };
}

function withConditions(
  conditions: readonly Condition[] = [],
  types: readonly string[],
  isTrue: boolean,
  more: object,
  lastTransitionTime: string,
): Condition[] {
  const status = isTrue ? "True" : "False";
  return conditions.map((condition) => {
    if (!types.includes(condition.type) || condition.status === status) return condition;
    const { reason: _reason, message: _message, ...rest } = condition;
    return { ...rest, status, lastTransitionTime, ...more };
  });
}
