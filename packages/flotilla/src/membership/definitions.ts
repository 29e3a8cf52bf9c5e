/**
 * Detects changes of a member's served kinds as soon as its CRDs change. Discovery runs periodically; where the hub
 * propagates CRDs, it already watches them on the member, so Works that wait for a kind need not wait for the next
 * discovery.
 */
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { isConditionTrue } from "@flotilla/apimachinery";
import type { Informers } from "@flotilla/controller-runtime";

type Definition = DeepReadonly<CustomResourceDefinition>;

/**
 * The same informers; `onChange` is called when a CRD in them starts or stops being served. Opens no watch by itself.
 */
export function followDefinitions(informers: Informers, onChange: () => void): Informers {
  const followed = new Set<object>();
  return {
    of(kind, lifetime) {
      const informer = informers.of(kind, lifetime);
      if (
        kind.group !== CustomResourceDefinition.group ||
        kind.kind !== CustomResourceDefinition.kind ||
        followed.has(informer)
      )
        return informer;
      followed.add(informer);
      informer.subscribe(({ object, old, deleted }) => {
        const now = deleted ? "" : servedBy(object);
        if (now !== (old ? servedBy(old) : "")) onChange();
      });
      return informer;
    },
  };
}

/**
 * The versions that it serves, once the member has accepted it. Member data is untrusted: an object of another shape
 * serves nothing.
 */
function servedBy(object: DeepReadonly<KubernetesObject>): string {
  const { spec, status } = object as Partial<Definition>;
  if (!isConditionTrue(status?.conditions, "Established") || !Array.isArray(spec?.versions)) return "";
  return spec.versions.flatMap(({ name, served }) => (served ? [name] : [])).join();
}
