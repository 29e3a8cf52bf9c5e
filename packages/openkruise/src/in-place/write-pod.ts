/**
 * Writes the pod changes of OpenKruise's controllers: status, CPU and memory resources, and the rest, in this order,
 * because traffic must stop before anything else changes. Unchanged parts are not written.
 */
import { omitZero } from "@flotilla/base";
import { Pod } from "@flotilla/kubernetes";
import type { Expectations, Owner, ReadonlyPod } from "@flotilla/kubernetes";
import type { Client } from "@flotilla/client";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { Applied } from "./apply.ts";

/** A pod and its new state. */
export interface PodStep {
  pod: ReadonlyPod;
  after: ReadonlyPod;
  resize?: Applied["resize"];
}

/** The pod after the write; undefined on a conflict, whose event triggers the owner's next reconcile. */
export type WritePod = (owner: Owner, step: PodStep, signal: AbortSignal) => Promise<ReadonlyPod | undefined>;

export function createWritePod({ client, podsSeen }: { client: Client; podsSeen: Expectations }): WritePod {
  return async (owner, { pod, after, resize }, signal) => {
    let base: ReadonlyPod | undefined = pod;
    if (after.status !== pod.status)
      base = await unlessChanged(client.updateStatus(Pod, owner.cluster, after, { signal }));
    if (base && resize)
      base = await unlessChanged(
        client.patch(Pod, keyOf(owner.cluster, base), resizePatch(base, resize), {
          type: "strategic",
          subresource: "resize",
          signal,
        }),
      );
    // Labels and annotations are written with the status: one write instead of two.
    const isWritten =
      after.status !== pod.status &&
      after.spec === pod.spec &&
      after.metadata.finalizers === pod.metadata.finalizers &&
      after.metadata.ownerReferences === pod.metadata.ownerReferences;
    if (base && !isWritten && (after.metadata !== pod.metadata || after.spec !== pod.spec)) {
      const { resourceVersion } = base.metadata;
      const spec = resize ? { ...after.spec, containers: withAmounts(after, base) } : after.spec;
      base = await unlessChanged(
        client.update(
          Pod,
          owner.cluster,
          { ...after, metadata: { ...after.metadata, ...omitZero({ resourceVersion }) }, spec },
          { signal },
        ),
      );
    }
    if (base && base !== pod) podsSeen.wrote(owner, base);
    return base;
  };
}

function resizePatch(
  { spec }: ReadonlyPod,
  resize: NonNullable<Applied["resize"]>,
): {
  spec: {
    containers: { name: string; resources: { limits?: Record<string, string>; requests?: Record<string, string> } }[];
  };
} {
  const containers = spec.containers.flatMap(({ name }) => {
    const { limits, requests } = resize[name] ?? {};
    return limits || requests
      ? [
          {
            name,
            resources: { limits: limits ? { ...limits } : undefined, requests: requests ? { ...requests } : undefined },
          },
        ]
      : [];
  });
  return { spec: { containers } };
}

/** The desired containers with the resources written by `resize`: only that subresource may change them. */
function withAmounts({ spec }: ReadonlyPod, { spec: { containers } }: ReadonlyPod): ReadonlyPod["spec"]["containers"] {
  return spec.containers.map((container) => {
    const resources = containers.find(({ name }) => name === container.name)?.resources;
    return resources ? { ...container, resources } : container;
  });
}
