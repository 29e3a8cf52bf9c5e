/** Finds two policies that match an object equally. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { fieldOf, withoutField } from "../field-of-message.ts";
import { itemsAt, numberAt, textAt, valueAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf, selects } from "../selectors.ts";

export const policiesTie = defineRule({
  id: "policies-tie",
  severity: "warning",
  summary: "two policies select the same object with equal precedence",
  why:
    "With the same priority and equally specific selectors, the policy whose name sorts first claims the object, " +
    "and a policy that has claimed it keeps it. The other policy is ignored.",
  fix: "Give the intended policy a higher `priority`, or make the selectors disjoint.",
  *check({ policies, selectedBy, isUnserved, answers }) {
    /** The competitors of each policy, by name. */
    const known = new Map<LintManifest, Set<string>>();
    function* report(policy: LintManifest, competitor: LintManifest, path: FieldPath, what: string) {
      if (competitor === policy) return;
      known.set(policy, (known.get(policy) ?? new Set()).add(competitor.name));
      yield { manifest: policy, path, message: `${competitor.title} ${what}, with the same priority` };
    }

    const claims = new Map<LintManifest, Map<string, LintManifest>>();
    for (const policy of policies) {
      const seen = new Set<object>();
      for (const { manifest, selector } of selectedBy(policy)) {
        if (seen.has(manifest)) continue;
        seen.add(manifest);
        const item = itemsAt(policy.object, "spec", "resourceSelectors")[Number(selector.at(-1))]?.item ?? {};
        const rank = [policy.kind, priorityOf(policy), selects(item, policy, manifest)].join(" ");
        const claimed = claims.get(manifest) ?? new Map<string, LintManifest>();
        const competitor = claimed.get(rank) ?? policy;
        yield* report(policy, competitor, selector, `also selects ${manifest.title}`);
        claims.set(manifest, claimed.set(rank, competitor));
      }
    }

    // Of objects that are not among the manifests.
    const first = new Map<string, LintManifest>();
    for (const policy of policies) {
      for (const { item, path } of itemsAt(policy.object, "spec", "resourceSelectors")) {
        if (isUnserved(policy, path)) continue;
        const selection = selectionOf(policy, item);
        const competitor = first.get(selection) ?? policy;
        first.set(selection, competitor);
        if (!known.get(policy)?.has(competitor.name))
          yield* report(policy, competitor, path, "selects the same objects");
      }
    }

    // With policies of the hub.
    for (const policy of policies) {
      for (const warning of (answers.of(policy)?.warnings ?? []).filter(isAboutTie)) {
        const path = fieldOf(warning);
        const [message = ""] = withoutField(warning, path).split("; ");
        const [, competitor = ""] = message.split(" ");
        if (!known.get(policy)?.has(competitor)) yield { manifest: policy, path, message };
      }
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutTie = (warning: string): boolean => / also selects .* with the same priority; /.test(warning);

const priorityOf = ({ object }: LintManifest): number => numberAt(object, "spec", "priority") ?? 0;

/** Selectors with the same text select the same objects with the same precedence. */
function selectionOf(policy: LintManifest, selector: JsonObject): string {
  const { group } = parseApiVersion(textAt(selector, "apiVersion"));
  const namespace = policy.kind === "PropagationPolicy" ? namespaceOf(policy) : textAt(selector, "namespace");
  const name = textAt(selector, "name");
  // A name makes the labels irrelevant.
  const labels = name === "" ? (valueAt(selector, "labelSelector") ?? null) : null;
  const kind = textAt(selector, "kind");
  return JSON.stringify([policy.kind, priorityOf(policy), group, kind, namespace, name, labels]);
}
