/**
 * Ephemeral volumes: a pod with a claim template gets its own claim, which is deleted with it.
 *
 * Reads: Pod. Writes: PersistentVolumeClaim.
 */
import { PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { VolumeDependencies } from "./claim-controller.ts";

type ReadonlyPod = DeepReadonly<Pod>;

/** Pure: the claims of the pod's ephemeral volumes. */
function planEphemeralClaims({ metadata, spec }: ReadonlyPod): DeepReadonly<PersistentVolumeClaim>[] {
  return (spec.volumes ?? []).flatMap(({ name, ephemeral }) => {
    const template = ephemeral?.volumeClaimTemplate;
    if (!template) return [];
    const { labels, annotations } = template.metadata ?? {};
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: `${metadata.name}-${name}`,
        namespace: metadata.namespace || undefined,
        labels,
        annotations,
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Pod",
            name: metadata.name,
            uid: metadata.uid ?? "",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: template.spec,
    };
  });
}

export function createEphemeralVolumeController({
  client,
  informers,
  volumes: { claims },
  events,
}: VolumeDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const hasEphemeral = ({ spec }: ReadonlyPod): boolean => spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false;
  return defineKeyedController<ObjectKey>({
    name: "ephemeral-volumes",
    writes: [PersistentVolumeClaim],
    // Few pods have any, so only those are enqueued.
    sources: [
      watch(Pod, ({ cluster, object, deleted }) => (!deleted && hasEphemeral(object) ? [keyOf(cluster, object)] : [])),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || pod.metadata.deletionTimestamp) return done;
      for (const claim of planEphemeralClaims(pod)) {
        const found = claims.get({ ...key, name: claim.metadata.name });
        if (found) {
          const isOurs = found.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid);
          if (!isOurs)
            events?.record(key.cluster, pod, {
              type: "Warning",
              reason: "FailedBinding",
              message: `PVC ${key.namespace ?? ""}/${claim.metadata.name} was not created for pod ${key.namespace ?? ""}/${key.name} (pod is not owner)`,
            });
          continue;
        }
        try {
          await client.create(PersistentVolumeClaim, key.cluster, claim, { signal });
        } catch (error) {
          // Created before and not seen by the informer yet; its owner is checked once it is seen.
          if (!isAlreadyExists(error)) throw error;
        }
      }
      return done;
    },
  });
}
