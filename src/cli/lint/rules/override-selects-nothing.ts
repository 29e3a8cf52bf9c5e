/** Selectors of override policies without an object. */
import { defineRule } from "../rule.ts";
import { unusedSelectors } from "./policy-selects-nothing.ts";

export const overrideSelectsNothing = defineRule({
  id: "override-selects-nothing",
  severity: "warning",
  summary: "an override policy selects nothing among the files",
  why: "Kind, name, namespace or labels fit no manifest that was given, so the override changes nothing and nobody is told.",
  fix: "Correct the selector, or give lint the files with the objects, too.",
  check: (fleet) => unusedSelectors(fleet, fleet.overrides),
});
