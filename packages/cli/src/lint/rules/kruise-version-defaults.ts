/** Finds fields whose meaning depends on the version of OpenKruise. */
import { listAt, numberAt, textAt, valueAt } from "../fields.ts";
import { ADVANCED_STATEFUL_SET, CLONE_SET, copyText, severalPropagation } from "../rollouts.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";
import type { FieldPath } from "../fields.ts";

export const kruiseVersionDefaults = defineRule({
  id: "kruise-version-defaults",
  severity: "warning",
  summary: "a field depends on the version or feature gates of each member's OpenKruise",
  why:
    "Members with different versions of OpenKruise treat the same spec differently: the reuse of volume " +
    "claims is on in v1alpha1 and off in v1beta1, OnDelete is rejected by v1alpha1, and the start of " +
    "ordinals needs a feature gate.",
  fix: "Set the value instead of relying on the default, and run `flotilla doctor --only openkruise` to see the members' versions.",
  *check(fleet) {
    for (const manifest of fleet.of(CLONE_SET, ADVANCED_STATEFUL_SET)) {
      const found = dependsOnVersion(manifest);
      const propagation = found && severalPropagation(fleet, manifest);
      if (found && propagation)
        yield { manifest, path: found.path, message: `${found.message}; ${copyText(propagation)}` };
    }
  },
});

function dependsOnVersion({ object, kind, version }: LintManifest): { path: FieldPath; message: string } | undefined {
  if (kind === "StatefulSet") {
    const path = ["spec", "ordinals", "start"];
    return (numberAt(object, ...path) ?? 0) > 0
      ? { path, message: "ordinals.start needs the gate StatefulSetStartOrdinal on every member" }
      : undefined;
  }
  if (version === "v1alpha1" && textAt(object, "spec", "updateStrategy", "type") === "OnDelete")
    return { path: ["spec", "updateStrategy", "type"], message: "OnDelete is rejected by v1alpha1" };
  const reuse = version === "v1alpha1" ? "disablePVCReuse" : "enablePVCReuse";
  const isOpen =
    listAt(object, "spec", "volumeClaimTemplates").length > 0 &&
    valueAt(object, "spec", "scaleStrategy", reuse) === undefined;
  return isOpen
    ? {
        path: ["spec", "volumeClaimTemplates"],
        message: `${reuse} is not set, and its default differs between versions`,
      }
    : undefined;
}
