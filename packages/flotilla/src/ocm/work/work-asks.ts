/**
 * What users wrote and a ManifestWork is made from: its ManifestWorkReplicaSet, or else the work itself. Every version
 * that a user writes is another ask, so only changes of our own count as oscillations.
 */
import { REPLICA_SET_LABEL } from "@flotilla/ocm";
import type { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { Lister } from "@flotilla/controller-runtime";
import type { Ask } from "../../delivery/oscillations.ts";

export interface WorkAsks {
  of(work: DeepReadonly<ManifestWork>): Ask;
}

/** Without replica sets, as in an agent, every version of a work counts as written by a user. */
export function createWorkAsks({
  hub,
  replicaSets,
}: {
  hub: string;
  replicaSets: Lister<ManifestWorkReplicaSet> | undefined;
}): WorkAsks {
  return {
    of({ metadata }) {
      // A namespace has no dot. A long value is a hash, and names no set.
      const [, namespace, name] = /^([^.]+)\.(.+)$/.exec(metadata.labels?.[REPLICA_SET_LABEL] ?? "") ?? [];
      const set = namespace && name ? replicaSets?.get({ cluster: hub, namespace, name })?.metadata : undefined;
      return set
        ? {
            id: `${set.uid} ${set.generation}`,
            text: `ManifestWorkReplicaSet ${namespace}/${name} (generation ${set.generation})`,
          }
        : {
            id: `${metadata.uid} ${metadata.generation}`,
            text: `the ManifestWork (generation ${metadata.generation})`,
          };
    },
  };
}
