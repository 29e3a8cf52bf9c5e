/**
 * What the demo observes: pods of the members and objects of the hub. Read with our own client, which is fast enough
 * for polling.
 */
import { CloneSet } from "@flotilla/openkruise";
import { Cluster, ResourceBinding } from "@flotilla/karmada";
import { ManifestWork } from "@flotilla/ocm";
import { Pod } from "@flotilla/kubernetes";
import { HUB, isConditionTrue } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";

export interface PodView {
  member: string;
  uid: string;
  image: string;
  ready: boolean;
}

interface Rollout {
  /** The members have reported status for the newest generation. */
  isCurrent: boolean;
  replicas: number;
  ready: number;
  updated: number;
}

/** Replicas by member, sorted by name. */
export type Shares = Readonly<Record<string, number>>;

export interface FleetView {
  readyMembers(): Promise<string[]>;
  /** The pods of these members that are not terminating. */
  pods(members: readonly string[], namespace: string): Promise<PodView[]>;
  /** How the hub divides the CloneSet. */
  shares(): Promise<Shares>;
  /** Copies being evicted from a member. */
  leaving(): Promise<string[]>;
  /** The CloneSet status that the hub reports. */
  rollout(): Promise<Rollout>;
  /** The status of a member's ManifestWork. */
  work(member: string): Promise<{
    isApplied: boolean;
    isAvailable: boolean;
    feedback: Readonly<Record<string, number | string | undefined>>;
  }>;
}

const NAMESPACE = "shop";

export function createFleetView(client: Client, signal: AbortSignal): FleetView {
  const binding = (): Promise<DeepReadonly<ResourceBinding> | undefined> =>
    find(client, ResourceBinding, { cluster: HUB, namespace: NAMESPACE, name: "web-cloneset" }, { signal });
  return {
    async readyMembers() {
      const { items } = await client.list(Cluster, { cluster: HUB, signal });
      return items
        .filter(({ status }) => isConditionTrue(status?.conditions ?? [], "Ready"))
        .map(({ metadata }) => metadata.name);
    },
    async pods(members, namespace) {
      const lists = await Promise.all(
        members.map(async (member) =>
          (await client.list(Pod, { cluster: member, namespace, labelSelector: "app=web", signal })).items
            .filter(({ metadata }) => !metadata.deletionTimestamp)
            .map((pod) => viewOf(member, pod)),
        ),
      );
      return lists.flat();
    },
    shares: async () => sharesOf((await binding())?.spec.clusters ?? []),
    leaving: async () => ((await binding())?.spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster),
    async rollout() {
      const { metadata, status } = await client.get(
        CloneSet,
        { cluster: HUB, namespace: NAMESPACE, name: "web" },
        { signal },
      );
      return {
        isCurrent: status?.observedGeneration === metadata.generation,
        replicas: status?.replicas ?? 0,
        ready: status?.readyReplicas ?? 0,
        updated: status?.updatedReplicas ?? 0,
      };
    },
    async work(member) {
      const { status } = await client.get(ManifestWork, { cluster: HUB, namespace: member, name: "web" }, { signal });
      const values = (status?.resourceStatus?.manifests ?? []).flatMap(
        (manifest) => manifest.statusFeedback?.values ?? [],
      );
      const feedback = Object.fromEntries(
        values.map(({ name, fieldValue }) => [name, fieldValue.integer ?? fieldValue.string]),
      );
      return {
        isApplied: isConditionTrue(status?.conditions ?? [], "Applied"),
        isAvailable: isConditionTrue(status?.conditions ?? [], "Available"),
        feedback,
      };
    },
  };
}

function sharesOf(clusters: readonly { readonly name: string; readonly replicas?: number | undefined }[]): Shares {
  return Object.fromEntries(
    clusters.map(({ name, replicas = 0 }) => [name, replicas] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function viewOf(member: string, { metadata, spec, status }: DeepReadonly<Pod>): PodView {
  return {
    member,
    uid: metadata.uid ?? "",
    image: spec.containers[0]?.image ?? "",
    ready: isConditionTrue(status?.conditions ?? [], "Ready"),
  };
}

/** `member1 5, member2 3, member3 2` */
export function showShares(shares: Shares): string {
  return (
    Object.entries(shares)
      .map(([member, replicas]) => `${member} ${replicas}`)
      .join(", ") || "nowhere"
  );
}

export const isSame = (a: Shares, b: Shares): boolean => showShares(a) === showShares(b);

/** Matching pods per member; members without any are included. */
export function countPods(
  pods: readonly PodView[],
  members: readonly string[],
  fits: (pod: PodView) => boolean = ({ ready }) => ready,
): Shares {
  return Object.fromEntries(
    members.map((member) => [member, pods.filter((pod) => pod.member === member && fits(pod)).length]),
  );
}
