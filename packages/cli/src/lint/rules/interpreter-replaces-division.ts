/** Finds scripts that replace Flotilla's own division. */
import { createInterpreter } from "@flotilla/flotilla";
import { objectAt, textAt, valueAt } from "../fields.ts";
import { CUSTOMIZATION } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { targetIn } from "./interpreter-operations.ts";

export const interpreterReplacesDivision = defineRule({
  id: "interpreter-replaces-division",
  severity: "warning",
  summary: "a script replaces Flotilla's fleet-wide division",
  why:
    "For this kind Flotilla divides partition, budgets, ordinals or subsets along with the replicas. A " +
    "custom ReviseReplica creates each member's copy separately; unless it creates exactly the copies that " +
    "Flotilla would, the other numbers apply to each cluster separately again.",
  fix: "Remove `replicaRevision` from the customization; the other operations may stay.",
  *check({ of }) {
    const own = createInterpreter();
    for (const manifest of of(CUSTOMIZATION)) {
      const rules = objectAt(manifest.object, "spec", "customizations");
      const field = ["replicaRevision", "reviseReplica", "scale"].find((name) => valueAt(rules, name) !== undefined);
      if (field === undefined || own.levelOf("divide", targetIn(manifest)) === undefined) continue;
      // A script that sets only spec.replicas equals the built-in rule, so Flotilla keeps dividing.
      if (isPlain(textAt(rules, field, "luaScript"), valueAt(rules, field, "luaScript") === undefined)) continue;
      yield {
        manifest,
        path: ["spec", "customizations", field],
        message: `${textAt(manifest.object, "spec", "target", "kind")} is divided by Flotilla itself`,
      };
    }
  },
});

const isPlain = (script: string, isShorthand: boolean): boolean =>
  isShorthand ||
  /^\s*function\s+ReviseReplica\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\1\.spec\.replicas\s*=\s*\2\s*;?\s*return\s+\1\s*;?\s*end\s*$/.test(
    script,
  );
