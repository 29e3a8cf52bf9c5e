/**
 * Pod addresses: no two pods of a member share one, and no traffic is routed to them. An address is derived from the
 * pod's UID if it is free, so that runs with the same seed get the same addresses.
 */
import { Pod } from "@flotilla/kubernetes";
import { fnv1a32 } from "@flotilla/apimachinery";
import type { Informers } from "@flotilla/controller-runtime";

export interface PodAddresses {
  /** An address that no other pod of the member has; repeated calls for the same pod return the same address. */
  of(cluster: string, uid: string): string;
}

/** 10.128.0.0/9, which leaves the lower half of 10/8 to Services. */
const BITS = 23;
const SIZE = 2 ** BITS;

/** Call it once per set of informers. */
export function createPodAddresses(informers: Informers): PodAddresses {
  /** By member: the owner of each address. */
  const members = new Map<string, Map<number, string>>();
  const takenIn = (cluster: string): Map<number, string> => {
    let taken = members.get(cluster);
    if (!taken) members.set(cluster, (taken = new Map()));
    return taken;
  };
  /**
   * By pod UID: addresses that were assigned and are not on a pod yet. A pod may be deleted before its address is
   * written.
   */
  const assigned = new Map<string, number>();

  informers.of(Pod).subscribe(({ cluster, object: { metadata, status, spec }, deleted, old }) => {
    if (spec.hostNetwork || (old && !deleted && old.status?.podIP === status?.podIP)) return;
    const uid = metadata.uid ?? "";
    const number = parse(status?.podIP ?? "") ?? (deleted ? assigned.get(uid) : undefined);
    if (number === undefined) return;
    assigned.delete(uid);
    const taken = takenIn(cluster);
    if (!deleted) taken.set(number, uid);
    else if (taken.get(number) === uid) taken.delete(number);
    if (taken.size === 0) members.delete(cluster);
  });
  return {
    of(cluster, uid) {
      const taken = takenIn(cluster);
      let number = assigned.get(uid) ?? fnv1a32(uid) % SIZE;
      // Rarely more than one or two steps: a member has a few thousand pods and eight million addresses.
      for (let steps = 0; steps < SIZE && !isFree(number, taken.get(number), uid); steps++)
        number = (number + 1) % SIZE;
      taken.set(number, uid);
      assigned.set(uid, number);
      return `10.${128 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    },
  };
}

/** Excludes addresses that look like network or broadcast addresses. */
function isFree(number: number, owner: string | undefined, uid: string): boolean {
  const last = number & 255;
  return last !== 0 && last !== 255 && (owner === undefined || owner === uid);
}

function parse(address: string): number | undefined {
  const [, second = "", third = "", fourth = ""] = /^10\.(\d{3})\.(\d{1,3})\.(\d{1,3})$/.exec(address) ?? [];
  return second === "" || Number(second) < 128
    ? undefined
    : ((Number(second) - 128) << 16) | (Number(third) << 8) | Number(fourth);
}
