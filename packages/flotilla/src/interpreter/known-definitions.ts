/** The kinds that Flotilla knows: everything that depends on a kind without being part of it reads this list. */
import { argoDefinitions } from "@flotilla/argo";
import { kubernetesDefinitions } from "@flotilla/kubernetes";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";

export const knownDefinitions: readonly AnyDefinition[] = [
  ...kubernetesDefinitions,
  ...kruiseDefinitions,
  ...argoDefinitions,
];
