/**
 * Objects that name another object which the hub then uses on their behalf: the Secret of a Cluster, the Service of an
 * interpreter webhook, the logical cluster behind a Cluster.
 *
 * The hub may read all of them, so without a check the writer of such a reference could use what it cannot read: it would
 * have the hub send the credentials of another member to its own server. The rule is the same everywhere: the writer of a
 * reference needs the permission to use the named object directly. It is checked again when the destination of what
 * the hub reads changes.
 */
import { field } from "@flotilla/apimachinery";
import type { AccessCheck, Admission, ClusterReader, FieldError, Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";

export interface NamedObject {
  /** The field that names it. */
  path: string;
  /** The permission that the writer needs. */
  access: AccessCheck;
}

export interface ReferenceRule<T extends KubernetesObject> {
  for: Kind<T>;
  named(object: DeepReadonly<T>, read: ClusterReader): readonly NamedObject[];
  /** Where the hub sends what it reads from the named objects. */
  destination?(object: DeepReadonly<T>): Json | undefined;
  /** Further conditions on a new or changed reference. */
  check?(object: DeepReadonly<T>, named: NamedObject, read: ClusterReader): FieldError | undefined;
}

/** References apply to the hub only; on members the kinds have no meaning. */
export function createReferenceAccess<T extends KubernetesObject>(hub: string, rule: ReferenceRule<T>): Admission<T> {
  return {
    name: `${rule.for.kind}References`,
    for: rule.for,
    on: ["CREATE", "UPDATE"],
    validate({ cluster, object, oldObject, subresource, user, allows, read }) {
      if (cluster !== hub || subresource !== undefined) return [];
      const leadsElsewhere =
        oldObject !== undefined &&
        !equalJson(rule.destination?.(object) ?? null, rule.destination?.(oldObject) ?? null);
      const before = oldObject && !leadsElsewhere ? rule.named(oldObject, read) : [];
      return rule.named(object, read).flatMap((named) => {
        if (before.some(({ access }) => equalJson({ ...access }, { ...named.access }))) return [];
        if (!allows(named.access)) return [field.forbidden(named.path, denial(user.name, named.access))];
        return rule.check?.(object, named, read) ?? [];
      });
    },
  };
}

function denial(user: string, check: AccessCheck): string {
  const { verb, group, resource, subresource, namespace, name } = check;
  const what = [`${resource}${group && `.${group}`}`, subresource].filter(Boolean).join("/");
  const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
  return `user "${user}" cannot ${verb} ${what} "${name}"${where}, and so cannot have the hub use it`;
}
