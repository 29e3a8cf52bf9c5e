/** Which probes of a PodProbeMarker the daemons of the nodes run. Pure. */
import type { NodePodProbe, PodProbe } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isActive, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";

export type ReadonlyNodeProbe = DeepReadonly<NodePodProbe>;
type ReadonlyPodProbe = DeepReadonly<PodProbe>;
type ContainerProbe = NonNullable<ReadonlyPodProbe["probes"]>[number];

export const selects = ({ spec }: ReadonlyMarker, { metadata }: ReadonlyPod): boolean =>
  matchesLabels(labelSelectorOf(spec.selector), metadata.labels);

/** Pods whose init containers have finished. */
export const isProbed = (pod: ReadonlyPod): boolean =>
  isActive(pod) && Boolean(pod.spec.nodeName) && podCondition(pod, "Initialized")?.status === "True";

/** The probes of a NodePodProbe are named after their marker. */
const nameOf = ({ metadata }: ReadonlyMarker, probe: string): string => `${metadata.name}#${probe}`;

const isOf = ({ metadata }: ReadonlyMarker, { name }: ContainerProbe): boolean => name.startsWith(`${metadata.name}#`);

/** Returns the same object if it needs no change. `pods` are the probed pods of the node; none for a marker that ends. */
export function withProbes(
  nodeProbe: ReadonlyNodeProbe,
  marker: ReadonlyMarker,
  pods: readonly ReadonlyPod[],
): ReadonlyNodeProbe {
  const known = nodeProbe.spec?.podProbes ?? [];
  const wanted = new Map(pods.map((pod) => [pod.metadata.uid ?? "", pod]));
  const kept = known.flatMap((entry): ReadonlyPodProbe[] => {
    if (entry.namespace !== marker.metadata.namespace) return [entry];
    const pod = wanted.get(entry.uid);
    wanted.delete(entry.uid);
    const others = (entry.probes ?? []).filter((probe) => !isOf(marker, probe));
    const probes = pod ? inKnownOrder(entry.probes ?? [], [...others, ...probesOf(marker, pod)]) : others;
    return probes.length > 0 ? [{ ...entry, IP: pod?.status?.podIP ?? entry.IP, probes }] : [];
  });
  const added = [...wanted.values()].map((pod): ReadonlyPodProbe => ({
    name: pod.metadata.name,
    namespace: pod.metadata.namespace ?? "",
    uid: pod.metadata.uid ?? "",
    IP: pod.status?.podIP ?? "",
    probes: probesOf(marker, pod),
  }));
  const podProbes = [...kept, ...added];
  if (equalJson(podProbes, known)) return nodeProbe;
  return { ...nodeProbe, spec: { podProbes: podProbes.length > 0 ? podProbes : undefined } };
}

/** The order alone changes nothing. */
function inKnownOrder(known: readonly ContainerProbe[], next: readonly ContainerProbe[]): ContainerProbe[] {
  const place = (probe: ContainerProbe): number => {
    const index = known.findIndex(({ name }) => name === probe.name);
    return index < 0 ? known.length : index;
  };
  return next.toSorted((a, b) => place(a) - place(b));
}

/** A port that the container does not name cannot be probed. */
function probesOf(marker: ReadonlyMarker, pod: ReadonlyPod): ContainerProbe[] {
  return marker.spec.probes.flatMap(({ name, containerName, probe }): ContainerProbe[] => {
    const container = pod.spec.containers.find((one) => one.name === containerName);
    const portOf = (port: number | string): number | undefined =>
      typeof port === "number" ? port : container?.ports?.find((one) => one.name === port)?.containerPort;
    const { httpGet, tcpSocket } = probe;
    const [httpPort, tcpPort] = [httpGet && portOf(httpGet.port), tcpSocket && portOf(tcpSocket.port)];
    if ((httpGet && httpPort === undefined) || (tcpSocket && tcpPort === undefined)) return [];
    return [
      {
        name: nameOf(marker, name),
        containerName,
        probe: {
          ...probe,
          ...defined({
            httpGet: httpGet && httpPort !== undefined ? { ...httpGet, port: httpPort } : undefined,
            tcpSocket: tcpSocket && tcpPort !== undefined ? { ...tcpSocket, port: tcpPort } : undefined,
          }),
        },
      },
    ];
  });
}
