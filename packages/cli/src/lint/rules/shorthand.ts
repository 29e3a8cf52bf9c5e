/** Reports forms that the hub accepts and stores in another form. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";
import { isAboutUnservedKind } from "./crd-not-on-members.ts";
import { isAboutIgnoredSpread } from "./ignored-spread.ts";
import { isAboutInertTaint } from "./taints-move-nothing.ts";
import { isAboutTie } from "./policies-tie.ts";
import { isAboutUnknownKind } from "./unknown-kind.ts";
import { isAboutUnknownMember } from "./unknown-member.ts";
import { isAboutRetain } from "./interpreter-retains-release.ts";

/** Warnings that have rules of their own. */
const OF_OTHER_RULES = [
  isAboutRetain,
  isAboutUnknownKind,
  isAboutUnknownMember,
  isAboutUnservedKind,
  isAboutIgnoredSpread,
  isAboutInertTaint,
  isAboutTie,
];

export const shorthand = defineRule({
  id: "shorthand",
  severity: "warning",
  summary: "the hub accepts the manifest with a warning",
  why:
    "A part of it has no effect, or is written in a form that Flotilla accepts but that Karmada or Open Cluster " +
    "Management would reject or interpret differently.",
  fix: "Do what the message says: remove the part without effect, or write the canonical form.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const message of answers.of(manifest)?.warnings ?? []) {
        if (OF_OTHER_RULES.some((isAbout) => isAbout(message))) continue;
        const path = fieldOf(message);
        yield { manifest, message: withoutField(message, path), path };
      }
    }
  },
});
