/**
 * Pods that fit on no node, and when to retry them. A change that could make room wakes all waiting pods of a member,
 * in order of priority; further changes within a second wake them once. So a thousand leaving pods do not cause a
 * thousand rounds over ten thousand waiting ones.
 */
import type { Clock, Timer } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { Source } from "@flotilla/controller-runtime";

interface WaitingPod {
  key: ObjectKey;
  priority: number;
  /** The pod has affinity to other pods, so new pods may help as well. */
  hasPodAffinity: boolean;
}

export interface Waiting {
  readonly source: Source<ObjectKey>;
  add(pod: WaitingPod): void;
  remove(key: ObjectKey): void;
  /** A change could help: more room, or only new pods that affinity may match. */
  wake(cluster: string, what: "room" | "company"): void;
}

const ROUND_MS = 1_000;

interface Member {
  pods: Map<string, WaitingPod>;
  companions: number;
  nextMs: number;
  timer?: Timer;
}

export function createWaiting(clock: Clock): Waiting {
  const members = new Map<string, Member>();
  let enqueue: ((key: ObjectKey) => void) | undefined;

  const round = (member: Member): void => {
    delete member.timer;
    member.nextMs = clock.now() + ROUND_MS;
    const order = [...member.pods.values()].sort((a, b) => b.priority - a.priority);
    for (const { key } of order) enqueue?.(key);
  };
  return {
    source: {
      start(add, signal) {
        enqueue = add;
        signal.addEventListener("abort", () => {
          enqueue = undefined;
          for (const member of members.values()) member.timer?.cancel();
          members.clear();
        });
      },
      isQuiet: () => true,
    },
    add(pod) {
      const { cluster } = pod.key;
      let member = members.get(cluster);
      if (!member) members.set(cluster, (member = { pods: new Map(), companions: 0, nextMs: 0 }));
      const id = idOfKey(pod.key);
      if (member.pods.get(id)?.hasPodAffinity) member.companions--;
      if (pod.hasPodAffinity) member.companions++;
      member.pods.set(id, pod);
    },
    remove(key) {
      const member = members.get(key.cluster);
      const id = idOfKey(key);
      const pod = member?.pods.get(id);
      if (!member || !pod) return;
      member.pods.delete(id);
      if (pod.hasPodAffinity) member.companions--;
      if (member.pods.size > 0) return;
      member.timer?.cancel();
      members.delete(key.cluster);
    },
    wake(cluster, what) {
      const member = members.get(cluster);
      if (!member || member.timer || (what === "company" && member.companions === 0)) return;
      const inMs = member.nextMs - clock.now();
      if (inMs <= 0) round(member);
      else member.timer = clock.after(inMs, () => round(member));
    },
  };
}
