/**
 * Addresses of pods: no two pods of a member share one, and nobody routes them. An address follows from the pod's UID
 * where it is free, so that a run with the same seed gives the same addresses.
 */
import { Pod } from "../../api/index.ts";
import { fnv1a32 } from "../../machinery/index.ts";
import type { Informers } from "../../runtime/index.ts";

export interface PodAddresses {
  /** An address that no other pod of the member has; asking again for the same pod gives the same one. */
  of(cluster: string, uid: string): string;
}

/** 10.128.0.0/9, which leaves the lower half of 10/8 to Services. */
const BITS = 23;
const SIZE = 2 ** BITS;

/** To be called once for a set of informers. */
export function createPodAddresses(informers: Informers): PodAddresses {
  /** By member: whose each address is. */
  const members = new Map<string, Map<number, string>>();
  const takenIn = (cluster: string): Map<number, string> => {
    let taken = members.get(cluster);
    if (!taken) members.set(cluster, (taken = new Map()));
    return taken;
  };
  /**
   * By pod UID: addresses that were given out and are on no pod yet. A pod may go before its address is written down.
   */
  const promised = new Map<string, number>();

  informers.of(Pod).subscribe(({ cluster, object: { metadata, status, spec }, deleted, old }) => {
    if (spec.hostNetwork || (old && !deleted && old.status?.podIP === status?.podIP)) return;
    const uid = metadata.uid ?? "";
    const number = parse(status?.podIP ?? "") ?? (deleted ? promised.get(uid) : undefined);
    if (number === undefined) return;
    promised.delete(uid);
    const taken = takenIn(cluster);
    if (!deleted) taken.set(number, uid);
    else if (taken.get(number) === uid) taken.delete(number);
    if (taken.size === 0) members.delete(cluster);
  });
  return {
    of(cluster, uid) {
      const taken = takenIn(cluster);
      let number = promised.get(uid) ?? fnv1a32(uid) % SIZE;
      // Seldom more than a step or two: a member has some thousand pods and eight million addresses.
      for (let steps = 0; steps < SIZE && !isFree(number, taken.get(number), uid); steps++)
        number = (number + 1) % SIZE;
      taken.set(number, uid);
      promised.set(uid, number);
      return `10.${128 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    },
  };
}

/** Not those that look like a network or a broadcast. */
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
