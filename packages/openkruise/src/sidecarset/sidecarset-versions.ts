/**
 * Converts SidecarSet between v1alpha1 and v1beta1. A namespace is a field in v1alpha1 and a selector in v1beta1, which
 * stays a selector when converted back; the custom version of a set is a label in v1alpha1 and a field in v1beta1.
 */
import { CUSTOM_VERSION_LABEL } from "../api/kruise-names.ts";
import { NAMESPACE_NAME_LABEL } from "@flotilla/kubernetes";
import { isObject, type JsonObject, defined } from "@flotilla/base";
import { changeObject, objectAt, withMap, without } from "../api/conversion.ts";

export function toStorage(object: JsonObject): JsonObject {
  // Without a spec there is no field for it.
  const version = isObject(object["spec"])
    ? objectAt(objectAt(object, "metadata"), "labels")[CUSTOM_VERSION_LABEL]
    : undefined;
  const unlabelled = version === undefined ? object : withMap(object, "labels", { [CUSTOM_VERSION_LABEL]: undefined });
  return changeObject({ ...unlabelled, apiVersion: "apps.kruise.io/v1beta1" }, "spec", ({ namespace, ...spec }) => ({
    ...spec,
    // The namespace wins over a selector.
    ...defined({
      namespaceSelector:
        typeof namespace === "string" && namespace !== ""
          ? { matchLabels: { [NAMESPACE_NAME_LABEL]: namespace } }
          : undefined,
      customVersion: typeof version === "string" && version !== "" ? version : undefined,
    }),
  }));
}

export function fromStorage(object: JsonObject): JsonObject {
  const version = isObject(object["spec"]) ? object["spec"]["customVersion"] : undefined;
  const labelled =
    typeof version === "string" && version !== ""
      ? withMap(object, "labels", { [CUSTOM_VERSION_LABEL]: version })
      : object;
  return changeObject({ ...labelled, apiVersion: "apps.kruise.io/v1alpha1" }, "spec", (spec) =>
    without(spec, "customVersion"),
  );
}
