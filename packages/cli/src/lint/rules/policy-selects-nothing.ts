/** Finds propagation policies whose selectors match no object. */
import type { JsonObject } from "@flotilla/base";
import { formatPath, itemsAt, textAt } from "../fields.ts";
import type { LintManifest } from "../lint-manifest.ts";
import type { LintFleet } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";
import type { Report } from "../rule.ts";

export const policySelectsNothing = defineRule({
  id: "policy-selects-nothing",
  severity: "warning",
  summary: "a policy selects nothing among the files",
  why: "Kind, name, namespace or labels match no given manifest, so the policy would propagate nothing. Usually the selector is misspelt.",
  fix: "Fix the selector, or pass lint the files with the objects, too.",
  check: (fleet) => unusedSelectors(fleet, fleet.policies),
});

/** Selectors that match none of the given objects. If the files contain policies only, their objects are elsewhere. */
export function* unusedSelectors(fleet: LintFleet, policies: readonly LintManifest[]): Generator<Report> {
  const { selections } = fleet.answers;
  if (!selections && !fleet.manifests.some(isTemplate)) return;
  for (const policy of policies) {
    const used = new Set(fleet.selectedBy(policy).map(({ selector }) => formatPath(selector)));
    for (const { item, path } of itemsAt(policy.object, "spec", "resourceSelectors")) {
      if (used.has(formatPath(path)) || selections?.get(policy)?.has(formatPath(path)) || isBroughtByHub(item))
        continue;
      const name = textAt(item, "name");
      const similar = fleet.manifests.find(
        (other) => other.kind === textAt(item, "kind") && !other.inside && (name === "" || other.name === name),
      );
      yield {
        manifest: policy,
        path,
        message:
          `no ${textAt(item, "kind") || "object"}${name ? ` ${name}` : ""} of ${textAt(item, "apiVersion")} ` +
          "matches this " +
          `selector${similar ? `; ${similar.title} (${similar.object["apiVersion"] as string}) comes near` : ""}`,
      };
    }
  }
}

/** OpenKruise's CRDs, and those selected by labels, are on every hub. */
const isBroughtByHub = (selector: JsonObject): boolean =>
  textAt(selector, "kind") === "CustomResourceDefinition" &&
  /^$|\.kruise\.io$|\.argoproj\.io$/.test(textAt(selector, "name"));

/** An object that a policy could propagate. */
export const isTemplate = ({ group, kind, inside }: LintManifest): boolean =>
  !inside &&
  !group.endsWith("karmada.io") &&
  group !== "flotilla.dev" &&
  !group.endsWith("open-cluster-management.io") &&
  kind !== "Namespace" &&
  kind !== "CustomResourceDefinition";
