/**
 * Notices that a member serves other kinds the moment its definitions change. Members are asked for their kinds now and
 * then; where the hub carries definitions, it watches them on the member anyway, and what waits for a kind need not
 * wait for the next question.
 */
import { CustomResourceDefinition } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { isConditionTrue } from "../machinery/index.ts";
import type { Informers } from "../runtime/index.ts";

type Definition = DeepReadonly<CustomResourceDefinition>;

/**
 * The same informers; `onChange` is called when a definition that they show begins or ends to be served. Opens none by
 * itself.
 */
export function followDefinitions(informers: Informers, onChange: () => void): Informers {
  const followed = new Set<object>();
  return {
    of(kind) {
      const informer = informers.of(kind);
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
 * The versions that it serves, once the member has accepted it. Members are strangers: what has another shape serves
 * nothing.
 */
function servedBy(object: DeepReadonly<KubernetesObject>): string {
  const { spec, status } = object as Partial<Definition>;
  if (!isConditionTrue(status?.conditions, "Established") || !Array.isArray(spec?.versions)) return "";
  return spec.versions.flatMap(({ name, served }) => (served ? [name] : [])).join();
}
