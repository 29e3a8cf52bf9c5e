/** Finds SidecarSets that match other namespaces than intended. */
import { NAMESPACE_NAME_LABEL } from "@flotilla/kubernetes";
import { labelsAt, objectAt, textAt, valueAt } from "../fields.ts";
import { matchesLabels } from "@flotilla/apimachinery";
import { SIDECAR_SET } from "../rollouts.ts";
import { defineRule } from "../rule.ts";
import { readSelector } from "../selectors.ts";

export const sidecarsetNamespaces = defineRule({
  id: "sidecarset-namespaces",
  severity: "warning",
  summary: "a SidecarSet matches other namespaces than it seems to",
  why:
    "A SidecarSet is cluster-scoped: `metadata.namespace` is ignored, and without `spec.namespace` or " +
    "`spec.namespaceSelector` pods of every namespace get the sidecar. Labels that a `namespaceSelector` " +
    "requires must be on the namespace of each member; namespaces are propagated from the hub with their " +
    "labels.",
  fix: "Set `spec.namespace`, or a `spec.namespaceSelector` whose labels the Namespace on the hub has.",
  *check({ of }) {
    const namespaces = of("/Namespace");
    for (const manifest of of(SIDECAR_SET)) {
      const isBounded =
        textAt(manifest.object, "spec", "namespace") !== "" ||
        valueAt(manifest.object, "spec", "namespaceSelector") !== undefined;
      if (manifest.namespace !== "" && !isBounded)
        yield {
          manifest,
          path: ["metadata", "namespace"],
          message: `${manifest.namespace} is ignored, and the sidecar is injected into matching pods of all namespaces`,
        };
      const selector =
        valueAt(manifest.object, "spec", "namespaceSelector") === undefined
          ? undefined
          : readSelector(objectAt(manifest.object, "spec", "namespaceSelector"));
      // Reported only if the files contain namespaces; the server adds the label with their name.
      const fits = namespaces.some(
        ({ name, object }) =>
          selector &&
          matchesLabels(selector, { [NAMESPACE_NAME_LABEL]: name, ...labelsAt(object, "metadata", "labels") }),
      );
      if (selector && namespaces.length > 0 && !fits)
        yield {
          manifest,
          path: ["spec", "namespaceSelector"],
          message: `no Namespace among the files (${namespaces
            .map(({ name }) => name)
            .slice(0, 5)
            .join(", ")}) has these labels`,
        };
    }
  },
});
