/**
 * EphemeralJob: adds ephemeral containers to running pods, a few at a time, and reports how they end.
 *
 * Reads: EphemeralJob, Pod.
 * Writes: the ephemeral containers of pods, EphemeralJob status and a finalizer; deletes the EphemeralJob after its
 * ttlSecondsAfterFinished.
 *
 * Kubernetes cannot remove an ephemeral container from a pod: those of a deleted job stay.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations, isActive, Pod, writeAll } from "@flotilla/kubernetes";
import type { ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { isEmptySelector } from "../api/template-rules.ts";
import { EphemeralJob } from "./ephemeraljob-kind.ts";
import type { ReadonlyEphemeralJob } from "./ephemeraljob-kind.ts";
import { containersOf, expiresInMs, planEphemeralJob } from "./plan-ephemeraljob.ts";

const FINALIZER = "apps.kruise.io/ephemeralcontainers-cleanup";

export function createEphemeralJobController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const jobs = informers.of(EphemeralJob);
  const pods = informers.of(Pod);
  const podsSeen = createExpectations(pods, clock);
  const events = deps.events?.("ephemeraljob-controller");

  function jobsOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const counts =
      deleted ||
      !old ||
      isActive(old) !== isActive(object) ||
      !equalJson(old.metadata.labels ?? {}, object.metadata.labels ?? {}) ||
      !equalJson(old.status?.ephemeralContainerStatuses ?? [], object.status?.ephemeralContainerStatuses ?? []);
    if (!counts) return [];
    return jobs
      .list({ cluster, namespace: object.metadata.namespace ?? "" })
      .filter((job) => job.status?.completionTime === undefined && selects(job, object))
      .map((job) => keyOf(cluster, job));
  }

  return defineController({
    name: "ephemeraljob",
    for: EphemeralJob,
    watches: [watch(Pod, jobsOfPod)],
    writes: [Pod, EphemeralJob],

    async reconcile(job, { key, signal }) {
      const { cluster, namespace = "" } = key;
      const { deletionTimestamp, finalizers = [], uid } = job.metadata;
      if (deletionTimestamp !== undefined || !finalizers.includes(FINALIZER)) {
        const others = finalizers.filter((one) => one !== FINALIZER);
        const next = deletionTimestamp === undefined ? [...others, FINALIZER] : others;
        if (next.length !== finalizers.length)
          await unlessChanged(
            client.patch(EphemeralJob, key, { metadata: { finalizers: next } }, { type: "merge", signal }),
          );
        return done; // The change reconciles it again.
      }
      const expiryMs = expiresInMs(job, clock.now());
      if (expiryMs !== undefined) {
        if (expiryMs > 0) return { requeueAfterMs: expiryMs };
        await unlessChanged(client.delete(EphemeralJob, key, { preconditions: { uid }, signal }));
        return done;
      }
      const owner = { cluster, uid: uid ?? "" };
      const waitMs = podsSeen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const matching = pods.list({ cluster, namespace }).filter((pod) => selects(job, pod));
      const plan = planEphemeralJob(job, matching, clock.now());
      if (!equalJson(plan.status, job.status ?? {}))
        await unlessChanged(client.updateStatus(EphemeralJob, cluster, { ...job, status: plan.status }, { signal }));
      try {
        await writeAll("ephemeral containers", plan.inject, async (pod) => {
          podsSeen.wrote(owner, await inject(job, pod, cluster, signal));
        });
      } catch (error) {
        events?.record(cluster, job, { type: "Warning", reason: "CreateFailed", message: messageOf(error) });
        throw error;
      }
      return plan.waitMs === undefined ? done : { requeueAfterMs: plan.waitMs };
    },
  });

  function inject(
    job: ReadonlyEphemeralJob,
    pod: ReadonlyPod,
    cluster: string,
    signal: AbortSignal,
  ): Promise<ReadonlyPod> {
    const ephemeralContainers = containersOf(job) as unknown as Json;
    return client.patch(
      Pod,
      keyOf(cluster, pod),
      { spec: { ephemeralContainers } },
      { type: "strategic", subresource: "ephemeralcontainers", signal },
    );
  }
}

/** An empty selector selects nothing. */
const selects = ({ spec }: ReadonlyEphemeralJob, { metadata }: ReadonlyPod): boolean =>
  spec.selector !== undefined &&
  !isEmptySelector(spec.selector) &&
  matchesLabels(labelSelectorOf(spec.selector), metadata.labels);
