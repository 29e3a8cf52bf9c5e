/** What the demo looks at, read through kubectl's JSON. */

export interface PodView {
  member: string;
  name: string;
  uid: string;
  image: string;
  ready: boolean;
  restarts: number;
}

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { containers: { image: string }[] };
  status?: { conditions?: { type: string; status: string }[]; containerStatuses?: { restartCount: number }[] };
}

export type Kubectl = { kubectl(cluster: string, ...args: string[]): Promise<string> };

/** The pods of all members that are not on their way out. */
export async function podsOf(stage: Kubectl, members: readonly string[], selector: string): Promise<PodView[]> {
  const lists = await Promise.all(
    members.map(async (member) => {
      const { items } = JSON.parse(await stage.kubectl(member, "get", "pods", "-n", "shop", "-l", selector, "-o", "json")) as { items: Pod[] };
      return items.filter(({ metadata }) => !metadata.deletionTimestamp).map((pod) => viewOf(member, pod));
    }),
  );
  return lists.flat();
}

function viewOf(member: string, { metadata, spec, status }: Pod): PodView {
  return {
    member,
    name: metadata.name,
    uid: metadata.uid,
    image: spec.containers[0]?.image ?? "",
    ready: status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false,
    restarts: status?.containerStatuses?.[0]?.restartCount ?? 0,
  };
}

export function allReady(pods: readonly PodView[]): boolean {
  return pods.every(({ ready }) => ready);
}

/** `member1 5, member2 3, member3 2` */
export function summarisePods(pods: readonly PodView[], members: readonly string[]): string {
  return members.map((member) => `${member} ${pods.filter((pod) => pod.member === member && pod.ready).length}`).join(", ");
}

/** How many replicas the hub reports as ready. */
export async function readyOnHub(stage: Kubectl, workload: string): Promise<number> {
  return (await statusOnHub(stage, workload)).counters["readyReplicas"] ?? 0;
}

/** Whether the hub reports the newest version of a workload, and nothing else, as running with all its replicas. */
export async function isRolledOut(stage: Kubectl, workload: string, replicas: number): Promise<boolean> {
  const { isCurrent, counters } = await statusOnHub(stage, workload);
  return isCurrent && ["replicas", "updatedReplicas", "readyReplicas"].every((counter) => counters[counter] === replicas);
}

async function statusOnHub(stage: Kubectl, workload: string): Promise<{ isCurrent: boolean; counters: Record<string, number> }> {
  const { metadata, status = {} } = JSON.parse(await stage.kubectl("hub", "get", workload, "-n", "shop", "-o", "json")) as { metadata: { generation: number }; status?: Record<string, number> };
  return { isCurrent: status["observedGeneration"] === metadata.generation, counters: status };
}
