/** Writes the status of a pod and the annotation of OpenKruise's daemon, and emits the events of the change. */
import { RUNTIME_CONTAINERS_ANNOTATION } from "@flotilla/openkruise";
import { Pod } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { planContainersMeta, takesPart } from "./container-meta.ts";
import type { ContainerHashes } from "./container-meta.ts";
import { planPodEvents } from "./events.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface PodStatusWriterDependencies {
  client: Client;
  hashes?: ContainerHashes | undefined;
  events?: EventRecorder | undefined;
}

interface NewPodStatus {
  status: DeepReadonly<Pod["status"]> & object;
  mountProblem?: string | undefined;
}

export interface PodStatusWriter {
  /** Returns the pod with this status, or undefined if another client changed it in the meantime. */
  write(pod: ReadonlyPod, cluster: string, change: NewPodStatus, signal: AbortSignal): Promise<ReadonlyPod | undefined>;
}

export function createPodStatusWriter({ client, hashes, events }: PodStatusWriterDependencies): PodStatusWriter {
  return {
    async write(pod, cluster, { status, mountProblem }, signal) {
      // The daemon's annotation is written together with the status: one write.
      const note = hashes && takesPart(pod) ? planContainersMeta(pod, status, hashes) : undefined;
      const isNoted = note === undefined || pod.metadata.annotations?.[RUNTIME_CONTAINERS_ANNOTATION] === note;
      if (isNoted && equalJson(status, pod.status)) return pod;
      const metadata = isNoted
        ? pod.metadata
        : { ...pod.metadata, annotations: { ...pod.metadata.annotations, [RUNTIME_CONTAINERS_ANNOTATION]: note } };
      const written = await unlessChanged(client.updateStatus(Pod, cluster, { ...pod, metadata, status }, { signal }));
      if (written && events)
        for (const event of planPodEvents(pod, status, mountProblem)) events.record(cluster, pod, event);
      return written;
    },
  };
}
