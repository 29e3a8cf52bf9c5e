/**
 * Removes the finalizers that the API server adds to volumes, claims and volume attributes classes, once a deleted one
 * is no longer used. As the protection controllers of a kube-controller-manager.
 *
 * Reads: PersistentVolumeClaim, PersistentVolume, VolumeAttributesClass; Pod, once per namespace while deleted
 * claims wait there.
 * Writes: the protection finalizer of the first three; nothing else.
 *
 * Nothing on the hub uses a template: the members protect their copies. Simulated members that run pods have controllers
 * of volumes, which also protect them.
 */
import { VolumeAttributesClass } from "../../csi/volume-attributes-class.ts";
import { PersistentVolume } from "../../persistentvolume/persistentvolume-kind.ts";
import { PersistentVolumeClaim } from "../../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import {
  CLAIM_PROTECTION_FINALIZER,
  CLASS_PROTECTION_FINALIZER,
  VOLUME_PROTECTION_FINALIZER,
} from "../../well-known-names.ts";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject, find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import {
  defineKeyedController,
  done,
  idOfKey,
  keyOf,
  unlessChanged,
  yieldToOtherControllers,
} from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource } from "../watch-source.ts";
import { createSharedClaimUses } from "./shared-claim-uses.ts";

type Dependencies = Pick<
  SystemDependencies,
  "client" | "clock" | "log" | "home" | "isManagedElsewhere" | "runsVolumes"
>;

/** How soon it looks again at what still uses a deleted object; its users are not watched. */
const RECHECK_AFTER_MS = 5_000;

interface Protection<T extends KubernetesObject> {
  name: string;
  kind: Kind<T>;
  finalizer: string;
  isUsed(object: DeepReadonly<T>, key: ObjectKey, signal: AbortSignal): Promise<boolean>;
  /** What was seen of objects that wait, before `isUsed` is asked. */
  seen?: {
    waits(object: DeepReadonly<T>): void;
    gone(object: DeepReadonly<T>): void;
    /** Events may have been missed; what still waits is seen again. */
    reset(): void;
  };
}

export function createStorageProtectionControllers(deps: Dependencies): Controller<ObjectKey>[] {
  const { client, home, isManagedElsewhere, runsVolumes } = deps;
  // A controller manager beside the hub's templates need not have these controllers: that of Karmada has none of them.
  const isTaken = (cluster: string): boolean => cluster !== home && (isManagedElsewhere?.(cluster) ?? false);
  const isForeign = (cluster: string): boolean => runsVolumes?.(cluster) ?? false;
  const uses = createSharedClaimUses(deps);
  const claims = createProtection(deps, {
    name: "claim-protection",
    kind: PersistentVolumeClaim,
    finalizer: CLAIM_PROTECTION_FINALIZER,
    isUsed: (claim, { cluster }, signal) => uses.isUsed(cluster, claim, signal),
    seen: uses,
  });
  const volumes = createProtection(deps, {
    name: "volume-protection",
    kind: PersistentVolume,
    finalizer: VOLUME_PROTECTION_FINALIZER,
    isUsed: ({ status }) => Promise.resolve(status?.phase === "Bound"),
  });
  const classes = createProtection(deps, {
    name: "volume-attributes-class-protection",
    kind: VolumeAttributesClass,
    finalizer: CLASS_PROTECTION_FINALIZER,
    isUsed: (_, key, signal) => isClassUsed(client, key, signal),
  });
  return [
    yieldToOtherControllers(claims, { isTaken, isForeign }),
    yieldToOtherControllers(volumes, { isTaken, isForeign }),
    // The controllers of simulated members leave these out.
    yieldToOtherControllers(classes, { isTaken }),
  ];
}

async function isClassUsed(client: Client, { cluster, name }: ObjectKey, signal: AbortSignal): Promise<boolean> {
  for await (const { spec } of eachObject(client, PersistentVolume, { cluster, signal }))
    if (spec?.volumeAttributesClassName === name) return true;
  for await (const { spec, status } of eachObject(client, PersistentVolumeClaim, { cluster, signal })) {
    const names = [
      spec?.volumeAttributesClassName,
      status?.currentVolumeAttributesClassName,
      status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    ];
    if (names.includes(name)) return true;
  }
  return false;
}

function createProtection<T extends KubernetesObject>(
  { client, clock, log, home }: Dependencies,
  { name, kind, finalizer, isUsed, seen }: Protection<T>,
): Controller<ObjectKey> {
  const source = createWatchSource<T, ObjectKey>({
    client,
    clock,
    log,
    kind,
    map({ cluster, object, deleted }) {
      if (deleted) seen?.gone(object);
      if (deleted || !waits(object, finalizer)) return [];
      seen?.waits(object);
      return [keyOf(cluster, object)];
    },
    // A watch that starts again begins with the existing objects.
    afterGap() {
      seen?.reset();
      return [];
    },
  });
  return defineKeyedController<ObjectKey>({
    name,
    writes: [kind],
    sources: [{ source }],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const object = await find(client, kind, key, { signal });
      if (!object || !waits(object, finalizer)) return done;
      if (key.cluster !== home && (await isUsed(object, key, signal))) return { requeueAfterMs: RECHECK_AFTER_MS };
      const { metadata } = object as DeepReadonly<KubernetesObject>;
      const finalizers = metadata.finalizers?.filter((item) => item !== finalizer);
      await unlessChanged(
        client.update(kind, key.cluster, { ...object, metadata: { ...metadata, finalizers } }, { signal }),
      );
      return done;
    },
  });
}

const waits = <T extends KubernetesObject>(object: DeepReadonly<T>, finalizer: string): boolean => {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
};
