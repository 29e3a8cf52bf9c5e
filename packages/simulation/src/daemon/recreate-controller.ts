/**
 * OpenKruise's daemon on every simulated node: stops the containers that ContainerRecreateRequests name.
 *
 * Reads: ContainerRecreateRequest, Pod, Node.
 * Writes: the containers of a pod's status, when they stop; ContainerRecreateRequest status.
 * After: the kubelet restarts the containers, if the pod restarts any.
 */
import { equalJson } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers } from "@flotilla/controller-runtime";
import { createExpectations, Node, Pod } from "@flotilla/kubernetes";
import { ContainerRecreateRequest } from "@flotilla/openkruise";
import type { ReadonlyRecreateRequest } from "@flotilla/openkruise";
import { stoppedStatus } from "../kubelet/pod-status.ts";
import { isLost } from "../nodes/lifecycle-controller.ts";
import { planRecreate } from "./plan-recreate.ts";

export interface RecreateDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
}

const BY_POD = "daemon-recreate-pod";
/** As after SIGTERM, and after SIGKILL where there is no time for the former. */
const ENDED = 0;
const KILLED = 137;

export function createRecreateController({ client, informers, clock }: RecreateDependencies): Controller<ObjectKey> {
  const requests = informers.of(ContainerRecreateRequest);
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const seen = createExpectations(requests, clock);
  requests.addIndex(BY_POD, ({ metadata, spec }, cluster) => [idOfKey({ ...metadata, cluster, name: spec.podName })]);
  const requestsOf = (key: ObjectKey): readonly ReadonlyRecreateRequest[] => requests.by(BY_POD, idOfKey(key));

  /** By pod: its requests are served one after the other. */
  return defineKeyedController<ObjectKey>({
    name: "kruise-daemon-recreate",
    writes: [Pod, ContainerRecreateRequest],
    sources: [
      watch(ContainerRecreateRequest, ({ cluster, object: { metadata, spec }, deleted }) =>
        deleted ? [] : [{ cluster, namespace: metadata.namespace, name: spec.podName }],
      ),
      watch(Pod, ({ cluster, object: { metadata } }) => {
        const key = { cluster, namespace: metadata.namespace, name: metadata.name };
        return requestsOf(key).length > 0 ? [key] : [];
      }),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const owner = { cluster: key.cluster, uid: idOfKey(key) };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const pod = pods.get(key);
      const node = nodes.get({ cluster: key.cluster, name: pod?.spec.nodeName ?? "" });
      if (!pod || pod.metadata.deletionTimestamp || !node || isLost(node)) return done;
      const plan = planRecreate(pod, requestsOf(key), clock.now());
      if (plan.stop.length > 0 && !(await stop(pod, plan.stop, graceOf(plan.report), signal))) return done;
      for (const { request, status } of plan.report) {
        if (equalJson(status, request.status ?? {})) continue;
        const written = await unlessChanged(
          client.updateStatus(ContainerRecreateRequest, key.cluster, { ...request, status }, { signal }),
        );
        if (written) seen.wrote(owner, written);
      }
      return plan.waitMs === undefined ? done : { requeueAfterMs: plan.waitMs };

      /** False if the pod changed in the meantime: the event triggers another reconcile. */
      async function stop(
        before: DeepReadonly<Pod>,
        names: readonly string[],
        graceSeconds: number | undefined,
        until: AbortSignal,
      ): Promise<boolean> {
        const status = stoppedStatus(before, names, clock.now(), graceSeconds === 0 ? KILLED : ENDED);
        if (equalJson(status, before.status)) return true;
        const written = await unlessChanged(
          client.updateStatus(Pod, key.cluster, { ...before, status }, { signal: until }),
        );
        return written !== undefined;
      }
    },
  });
}

const graceOf = (report: readonly { request: ReadonlyRecreateRequest }[]): number | undefined =>
  report.at(-1)?.request.spec.strategy?.terminationGracePeriodSeconds;
