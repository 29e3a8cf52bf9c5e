/** Finds override policies whose selectors match no object. */
import { defineRule } from "../rule.ts";
import { unusedSelectors } from "./policy-selects-nothing.ts";

export const overrideSelectsNothing = defineRule({
  id: "override-selects-nothing",
  severity: "warning",
  summary: "an override policy selects nothing among the files",
  why: "Kind, name, namespace or labels match no given manifest, so the override silently changes nothing.",
  fix: "Fix the selector, or pass lint the files with the objects, too.",
  check: (fleet) => unusedSelectors(fleet, fleet.overrides),
});
