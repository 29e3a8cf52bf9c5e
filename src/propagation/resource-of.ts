/** The object of a binding, with the fields that an Event needs. */
import type { KubernetesObject, ResourceBinding } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

export function resourceOf({ spec: { resource } }: DeepReadonly<ResourceBinding>): KubernetesObject {
  const { apiVersion, kind, namespace, name, uid } = resource;
  return { apiVersion, kind, metadata: { namespace: namespace || undefined, name, uid: uid || undefined } };
}
