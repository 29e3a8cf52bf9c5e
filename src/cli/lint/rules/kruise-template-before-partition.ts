/** A new template that goes out before the partition that should hold it. */
import { shown } from "../fields.ts";
import { equalJson } from "../../../base/index.ts";
import { keepsSome, partitionOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";
import { successorsIn } from "../successors.ts";

export const kruiseTemplateBeforePartition = defineRule({
  id: "kruise-template-before-partition",
  severity: "warning",
  summary: "a new template is applied without the partition that comes later",
  why: "The files have the workload with a new template first and with a partition afterwards. Between the two every pod may be updated.",
  fix: 'Change the template and the partition in one manifest; begin a release with `partition: "100%"`.',
  *check({ of }) {
    for (const [before, next, later] of successorsIn(of(...REPLICATED))) {
      if (!later || equalJson(before.object["spec"], next.object["spec"])) continue;
      const isRelease = !equalJson(templateOf(before), templateOf(next)) && !keepsSome(partitionOf(next));
      if (isRelease && equalJson(templateOf(next), templateOf(later)) && keepsSome(partitionOf(later)))
        yield {
          manifest: next,
          path: ["spec", "template"],
          message: `the template is new and nothing holds it; the partition ${shown(partitionOf(later)?.value)} comes in ${later.file}:${later.lineOf([])}`,
        };
    }
  },
});

const templateOf = ({ object }: Parameters<typeof partitionOf>[0]): unknown =>
  (object["spec"] as { template?: unknown } | undefined)?.template;
