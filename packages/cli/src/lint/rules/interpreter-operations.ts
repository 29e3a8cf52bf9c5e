/** Finds customizations that define only one of two paired operations. */
import { equalJson } from "@flotilla/base";
import { createInterpreter } from "@flotilla/flotilla";
import type { Rule } from "@flotilla/kubernetes";
import { objectAt, textAt, valueAt } from "../fields.ts";
import { CUSTOMIZATION } from "../kind-names.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";

const PAIRS: readonly { has: readonly string[]; lacks: readonly string[]; rule: Rule; what: string }[] = [
  {
    has: ["replicaResource", "replicas"],
    lacks: ["replicaRevision", "reviseReplica", "scale"],
    rule: "reviseReplicas",
    what: "counts replicas and has no replicaRevision: a divided workload gets no copies (`DivideFailed`), because every member would run all replicas",
  },
  {
    has: ["replicaRevision", "reviseReplica", "scale"],
    lacks: ["replicaResource", "replicas"],
    rule: "replicas",
    what: "sets replicas and has no replicaResource: replicas are not counted, so nothing is divided and the script is never called",
  },
  {
    has: ["statusReflection"],
    lacks: ["statusAggregation"],
    rule: "aggregateStatus",
    what: "selects members' statuses and has no statusAggregation: the object on the hub shows none of them",
  },
];

export const interpreterOperations = defineRule({
  id: "interpreter-operations",
  severity: "warning",
  summary: "an interpreter lacks an operation that another one needs",
  why:
    "Operations work in pairs: counting replicas needs setting them, selecting a status needs aggregating it. " +
    "With only one of the two, the kind is not divided, or its status stays empty.",
  fix: "Add the missing operation; `flotilla interpret --show-doc` has an example of each.",
  *check({ of }) {
    const own = createInterpreter();
    const all = of(CUSTOMIZATION);
    for (const manifest of all) {
      const rules = objectAt(manifest.object, "spec", "customizations");
      const others = all
        .filter((other) => sameTarget(other, manifest))
        .map(({ object }) => objectAt(object, "spec", "customizations"));
      for (const { has, lacks, rule, what } of PAIRS) {
        const field = has.find((name) => valueAt(rules, name) !== undefined);
        if (field === undefined || others.some((each) => lacks.some((name) => valueAt(each, name) !== undefined)))
          continue;
        // The built-in rule is the counterpart.
        if (own.levelOf(rule, targetIn(manifest)) !== undefined) continue;
        yield { manifest, path: ["spec", "customizations", field], message: `it ${what}` };
      }
    }
  },
});

const sameTarget = (a: LintManifest, b: LintManifest): boolean => equalJson(targetIn(a), targetIn(b));

/** The target kind of a customization. */
export const targetIn = ({ object }: LintManifest): { apiVersion: string; kind: string } => ({
  apiVersion: textAt(object, "spec", "target", "apiVersion"),
  kind: textAt(object, "spec", "target", "kind"),
});
