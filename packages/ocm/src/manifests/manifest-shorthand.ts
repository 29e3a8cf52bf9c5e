/** Expands short forms of OpenKruise's kinds in the manifests of a work, which the hub accepts and members do not. */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { expandShorthand } from "@flotilla/openkruise";

type Read = DeepReadonly<JsonObject>;

/**
 * Expands the manifests of the work whose spec is at the path; returns the same object when there are no short forms.
 */
export function expandManifests(object: Read, path: readonly string[], warn: (text: string) => void): Read {
  return changeAt(object, [...path, "workload", "manifests"], (manifests) => {
    if (!Array.isArray(manifests)) return manifests;
    const plain = manifests.map((manifest: DeepReadonly<Json>, index) =>
      isObject(manifest)
        ? expandShorthand(manifest, (text) => warn(`${path.join(".")}.workload.manifests[${index}].${text}`))
        : manifest,
    );
    return plain.every((manifest, index) => manifest === manifests[index]) ? manifests : plain;
  });
}

function changeAt(
  object: Read,
  [step = "", ...rest]: readonly string[],
  edit: (value: DeepReadonly<Json>) => DeepReadonly<Json>,
): Read {
  const before = object[step];
  if (before === undefined || before === null) return object;
  const after = rest.length === 0 ? edit(before) : isObject(before) ? changeAt(before, rest, edit) : before;
  return after === before ? object : { ...object, [step]: after };
}
