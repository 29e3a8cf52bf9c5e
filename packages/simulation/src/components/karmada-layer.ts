/**
 * The objects that an installation of Karmada shows on its hub: workloads that represent the parts of this process,
 * under the names of Karmada's programs.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import { deploymentObjects } from "./deployment-objects.ts";
import type { LayerOptions } from "./kruise-layer.ts";
import { standInDeployment } from "./stand-in.ts";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";

/** The names that guides use with `kubectl logs`. */
export const KARMADA_CONTROLLER_MANAGER = "karmada-controller-manager";
export const KARMADA_SCHEDULER = "karmada-scheduler";
/** Guides look for errors of interpreter scripts in its log. */
export const KARMADA_WEBHOOK = "karmada-webhook";
const COMPONENTS = ["karmada-aggregated-apiserver", KARMADA_CONTROLLER_MANAGER, KARMADA_SCHEDULER, KARMADA_WEBHOOK];
/** What the hub's controllers do; the others are parts of the API server. */
export const KARMADA_CONTROLLERS: readonly string[] = [KARMADA_CONTROLLER_MANAGER, KARMADA_SCHEDULER];
/** The release whose behavior the controllers implement. */
const VERSION = "v1.18.1";
/** The hub has no nodes; its pods need a node name. */
const HUB_NODE = "hub";

export function karmadaLayer({ nowMs }: Pick<LayerOptions, "nowMs">): KubernetesObject[] {
  const time = formatTime(nowMs);
  return COMPONENTS.flatMap((name) =>
    deploymentObjects(
      standInDeployment({
        namespace: KARMADA_SYSTEM_NAMESPACE,
        name,
        image: `karmada/${name}:${VERSION}`,
        component: name,
      }),
      { node: HUB_NODE, index: 0, time },
    ),
  );
}
