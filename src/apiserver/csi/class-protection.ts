/** The finalizer that keeps a VolumeAttributesClass while volumes use it. */
import { writesKind, type Plugin } from "../plugin.ts";
import { withFinalizer } from "../write/metadata.ts";

export const attributesClassProtection: Plugin = {
  name: "AttributesClassProtection",
  group: "storage.k8s.io",
  concerns: (context, operation) =>
    operation === "CREATE" && writesKind(context, "storage.k8s.io", "VolumeAttributesClass"),
  mutate: ({ object }) => withFinalizer(object, "kubernetes.io/vac-protection"),
};
