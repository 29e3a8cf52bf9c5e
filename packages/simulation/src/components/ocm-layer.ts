/**
 * The objects that an installation of Open Cluster Management shows: its controllers on the hub, and its agent on every
 * running member. The pods represent parts of this process, named by an annotation, and are objects of a profile: all
 * members share them, and none is stored.
 */
import { OCM_AGENT_NAMESPACE, OCM_HUB_NAMESPACE } from "@flotilla/ocm";
import type { Deployment } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import { planNodes } from "../nodes/nodes.ts";
import { deploymentObjects } from "./deployment-objects.ts";
import type { LayerOptions } from "./kruise-layer.ts";
import { standInDeployment } from "./stand-in.ts";

/** The names that guides use with `kubectl logs`. */
export const CLUSTER_MANAGER = "cluster-manager";
export const KLUSTERLET = "klusterlet";
/** The release whose behavior the controllers implement. */
const VERSION = "v1.3.1";

/** Each with its upstream image. */
export const HUB_COMPONENTS: readonly (readonly [name: string, image: string])[] = [
  [CLUSTER_MANAGER, "registration-operator"],
  ["cluster-manager-registration-controller", "registration"],
  ["cluster-manager-placement-controller", "placement"],
  ["cluster-manager-work-controller", "work"],
];

/** The hub has no nodes; its pods need a node name. */
const HUB_NODE = "hub";

export function clusterManagerLayer({ nowMs }: Pick<LayerOptions, "nowMs">): KubernetesObject[] {
  const time = formatTime(nowMs);
  return HUB_COMPONENTS.flatMap(([name, image]) =>
    deploymentObjects(standIn(OCM_HUB_NAMESPACE, name, image, CLUSTER_MANAGER), { node: HUB_NODE, index: 0, time }),
  );
}

/** Empty without nodes to run on. */
export function klusterletLayer({ nodes, nowMs }: LayerOptions): KubernetesObject[] {
  const [first] = planNodes({ count: nodes, nowMs });
  return first
    ? deploymentObjects(standIn(OCM_AGENT_NAMESPACE, KLUSTERLET, "registration-operator", KLUSTERLET), {
        node: first.metadata.name,
        index: 0,
        time: formatTime(nowMs),
      })
    : [];
}

const standIn = (namespace: string, name: string, image: string, component: string): Deployment =>
  standInDeployment({ namespace, name, image: `open-cluster-management/${image}:${VERSION}`, component });
