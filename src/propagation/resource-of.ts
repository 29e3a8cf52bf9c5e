/** The object that a binding is about, as far as an Event about it must name it. */
import type { KubernetesObject, ResourceBinding } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

export function resourceOf({ spec: { resource } }: DeepReadonly<ResourceBinding>): KubernetesObject {
  const { apiVersion, kind, namespace, name, uid } = resource;
  return { apiVersion, kind, metadata: { namespace: namespace || undefined, name, uid: uid || undefined } };
}
