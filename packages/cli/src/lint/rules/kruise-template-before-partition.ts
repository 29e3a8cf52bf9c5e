/** Finds new templates that are applied before their partition. */
import { shown } from "../fields.ts";
import { equalJson } from "@flotilla/base";
import { keepsSome, partitionOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";
import { successorsIn } from "../successors.ts";

export const kruiseTemplateBeforePartition = defineRule({
  id: "kruise-template-before-partition",
  severity: "warning",
  summary: "a new template is applied before its partition",
  why: "The files contain the workload first with a new template and then with a partition. Between the two every pod may be updated.",
  fix: 'Change the template and the partition in one manifest; start a release with `partition: "100%"`.',
  *check({ of }) {
    for (const [before, next, later] of successorsIn(of(...REPLICATED))) {
      if (!later || equalJson(before.object["spec"], next.object["spec"])) continue;
      const isRelease = !equalJson(templateOf(before), templateOf(next)) && !keepsSome(partitionOf(next));
      if (isRelease && equalJson(templateOf(next), templateOf(later)) && keepsSome(partitionOf(later)))
        yield {
          manifest: next,
          path: ["spec", "template"],
          message:
            "the template is new and no partition holds it back; the partition " +
            `${shown(partitionOf(later)?.value)} follows in ${later.file}:${later.lineOf([])}`,
        };
    }
  },
});

const templateOf = ({ object }: Parameters<typeof partitionOf>[0]): unknown =>
  (object["spec"] as { template?: unknown } | undefined)?.template;
