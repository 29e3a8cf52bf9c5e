/**
 * ContainerRecreateRequest: passes what the daemon of the node needs to know about the pod, makes the pod unready
 * before its containers stop, and ends requests that nothing answers.
 *
 * Reads: ContainerRecreateRequest, Pod.
 * Writes: ContainerRecreateRequest (labels, annotations, a finalizer, and the status when it ends the request); the gate
 * KruisePodReady in the status of the pod; deletes the request after its ttlSecondsAfterFinished.
 * After: the daemon stops the containers and reports in the status.
 */
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Result } from "@flotilla/controller-runtime";
import { Pod, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { addNotReadyMessage, removeNotReadyMessage } from "../pod/pod-ready.ts";
import type { NotReadyMessage } from "../pod/pod-ready.ts";
import { ContainerRecreateRequest } from "./containerrecreaterequest-kind.ts";
import type { ReadonlyRecreateRequest } from "./containerrecreaterequest-kind.ts";
import { ACTIVE_LABEL, CONTAINERS_ANNOTATION, POD_UID_LABEL, UNREADY_ACQUIRED } from "./recreate-names.ts";

const BY_POD = "recreate-request-pod";
/** A daemon that has not answered by then does not run. */
const RESPONSE_TIMEOUT_MS = 60_000;

export function createRecreateRequestController({
  client,
  informers,
  clock,
}: WorkloadDependencies): Controller<ObjectKey> {
  const requests = informers.of(ContainerRecreateRequest);
  const pods = informers.of(Pod);
  requests.addIndex(BY_POD, ({ metadata, spec }, cluster) => [podId(cluster, metadata.namespace, spec.podName)]);

  return defineController({
    name: "containerrecreaterequest",
    for: ContainerRecreateRequest,
    watches: [
      watch(Pod, ({ cluster, object: { metadata } }) =>
        requests
          .by(BY_POD, podId(cluster, metadata.namespace, metadata.name))
          .map((request) => keyOf(cluster, request)),
      ),
    ],
    writes: [ContainerRecreateRequest, Pod],

    async reconcile(request, { key, signal }) {
      const pod = pods.get({ ...key, name: request.spec.podName });
      const { deletionTimestamp, finalizers = [] } = request.metadata;
      if (deletionTimestamp ?? request.status?.completionTime) {
        if (finalizers.includes(UNREADY_ACQUIRED)) {
          if (pod) await setReady(pod, key, removeNotReadyMessage(pod, messageOf(request), clock.now()), signal);
          await patch(key, { finalizers: finalizers.filter((one) => one !== UNREADY_ACQUIRED) }, signal);
          return done;
        }
        return deletionTimestamp ? done : expire(request, key, signal);
      }
      const problem = whyOver(request, pod, clock);
      if (problem !== undefined) {
        const status = {
          ...request.status,
          phase: "Completed",
          completionTime: formatTime(clock.now()),
          message: problem,
        };
        await unlessChanged(
          client.updateStatus(ContainerRecreateRequest, key.cluster, { ...request, status }, { signal }),
        );
        return done;
      }
      if (pod && request.status?.phase === "Recreating") await informDaemon(request, pod, key, signal);
      return againAt(request, clock);
    },
  });

  async function patch(key: ObjectKey, metadata: JsonObject, signal: AbortSignal): Promise<void> {
    await unlessChanged(client.patch(ContainerRecreateRequest, key, { metadata }, { type: "merge", signal }));
  }

  async function setReady(pod: ReadonlyPod, key: ObjectKey, after: ReadonlyPod, signal: AbortSignal): Promise<void> {
    if (after !== pod && !pod.metadata.deletionTimestamp)
      await client.updateStatus(Pod, key.cluster, after, { signal });
  }

  async function informDaemon(
    request: ReadonlyRecreateRequest,
    pod: ReadonlyPod,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<void> {
    const { annotations = {}, finalizers = [] } = request.metadata;
    const containers = JSON.stringify(restartedContainers(request, pod));
    const changed: Record<string, string> = {};
    if (annotations[CONTAINERS_ANNOTATION] !== containers) changed[CONTAINERS_ANNOTATION] = containers;
    if (request.spec.strategy?.unreadyGracePeriodSeconds !== undefined && !annotations[UNREADY_ACQUIRED]) {
      const unready = addNotReadyMessage(pod, messageOf(request), clock.now());
      // The finalizer comes first: nothing else would make the pod ready again.
      if (unready !== pod && !finalizers.includes(UNREADY_ACQUIRED))
        await patch(key, { finalizers: [...finalizers, UNREADY_ACQUIRED] }, signal);
      await setReady(pod, key, unready, signal);
      changed[UNREADY_ACQUIRED] = formatTime(clock.now());
    }
    if (!equalJson(changed, {})) await patch(key, { annotations: changed }, signal);
  }

  async function expire(request: ReadonlyRecreateRequest, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const { labels, uid } = request.metadata;
    if (labels?.[ACTIVE_LABEL] !== undefined) {
      await patch(key, { labels: { [ACTIVE_LABEL]: null } }, signal);
      return done;
    }
    const { ttlSecondsAfterFinished } = request.spec;
    if (ttlSecondsAfterFinished === undefined) return done;
    const leftMs = timeMs(request.status?.completionTime) + ttlSecondsAfterFinished * 1000 - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await unlessChanged(client.delete(ContainerRecreateRequest, key, { preconditions: { uid }, signal }));
    return done;
  }
}

const podId = (cluster: string, namespace: string | undefined, name: string): string =>
  `${cluster}/${namespace ?? ""}/${name}`;

const messageOf = ({ metadata }: ReadonlyRecreateRequest): NotReadyMessage => ({
  userAgent: "ContainerRecreateRequest",
  key: `${metadata.namespace ?? ""}/${metadata.name}`,
});

/** Why the request ends without the daemon. */
function whyOver(
  request: ReadonlyRecreateRequest,
  pod: ReadonlyPod | undefined,
  clock: Pick<Clock, "now">,
): string | undefined {
  if (!pod || pod.metadata.deletionTimestamp || pod.metadata.uid !== request.metadata.labels?.[POD_UID_LABEL])
    return "pod has gone";
  const [responseLeftMs, deadlineLeftMs] = timesLeft(request, clock);
  if (responseLeftMs !== undefined && responseLeftMs <= 0) return "daemon has not responded for a long time";
  return deadlineLeftMs !== undefined && deadlineLeftMs <= 0
    ? "recreating has exceeded the activeDeadlineSeconds"
    : undefined;
}

function timesLeft(
  { metadata, spec, status }: ReadonlyRecreateRequest,
  clock: Pick<Clock, "now">,
): [responseMs: number | undefined, deadlineMs: number | undefined] {
  const ageMs = clock.now() - timeMs(metadata.creationTimestamp);
  const { activeDeadlineSeconds } = spec;
  return [
    status?.phase ? undefined : RESPONSE_TIMEOUT_MS - ageMs,
    activeDeadlineSeconds === undefined ? undefined : activeDeadlineSeconds * 1000 - ageMs,
  ];
}

function againAt(request: ReadonlyRecreateRequest, clock: Pick<Clock, "now">): Result {
  const waits = timesLeft(request, clock).filter((wait) => wait !== undefined);
  return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
}

/** The containers that started after the request. */
function restartedContainers({ metadata, spec }: ReadonlyRecreateRequest, { status }: ReadonlyPod): object[] {
  const sinceMs = timeMs(metadata.creationTimestamp);
  return spec.containers.flatMap(({ name }) => {
    const container = status?.containerStatuses?.find((one) => one.name === name);
    const startedAt = container?.state?.running?.startedAt;
    if (!container || !startedAt || timeMs(startedAt) < sinceMs) return [];
    const { ready, restartCount, containerID } = container;
    return [{ name, ready, restartCount, containerID }];
  });
}
