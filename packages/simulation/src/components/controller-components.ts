/** The components of a hub that its controllers embody, by the label `app` of their objects. */
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { OCM_HUB_NAMESPACE } from "@flotilla/ocm";
import { KARMADA_CONTROLLERS } from "./karmada-layer.ts";
import { HUB_COMPONENTS } from "./ocm-layer.ts";

export const controllerComponents: readonly { namespace: string; names: ReadonlySet<string> }[] = [
  { namespace: KARMADA_SYSTEM_NAMESPACE, names: new Set(KARMADA_CONTROLLERS) },
  { namespace: OCM_HUB_NAMESPACE, names: new Set(HUB_COMPONENTS.map(([name]) => name)) },
];
