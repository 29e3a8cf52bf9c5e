/** The object of a binding, with the fields that an Event needs. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

export function resourceOf({ spec: { resource } }: DeepReadonly<ResourceBinding>): KubernetesObject {
  const { apiVersion, kind, namespace, name, uid } = resource;
  return { apiVersion, kind, metadata: { namespace: namespace || undefined, name, uid: uid || undefined } };
}
