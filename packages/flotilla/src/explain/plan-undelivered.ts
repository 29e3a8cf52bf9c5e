/**
 * Names the copies that a plan leaves as they are and that their members have not applied: nothing changes, and the
 * member does not have what the hub asks for. Pure.
 */
import { findCondition } from "@flotilla/apimachinery";
import { clusterNameOf } from "@flotilla/karmada";
import { deliveryProblem } from "./delivery-problem.ts";
import type { MemberChange } from "./plan-fleet.ts";
import { listOf } from "./plan-template.ts";
import type { TemplatePlan } from "./plan-template.ts";

/** `changes` are those of the plan: what a member says about the copy before does not apply to the next one. */
export function undeliveredProblems(
  { template, works }: Pick<TemplatePlan, "template" | "works">,
  changes: readonly MemberChange[],
): string[] {
  const { apiVersion, kind, metadata } = template;
  const { name, namespace } = metadata;
  const isOwn = ({ object }: MemberChange): boolean =>
    object.kind === kind && object.name === name && (object.namespace ?? "") === (namespace ?? "");
  const changing = new Set(changes.filter(isOwn).map(({ cluster }) => cluster));
  const found = works.before.flatMap((work) => {
    const cluster = clusterNameOf(work.metadata.namespace ?? "");
    const applied = findCondition(work.status?.conditions ?? [], "Applied");
    if (cluster === undefined || changing.has(cluster) || applied?.status !== "False") return [];
    const { reason, message } = applied;
    // An unreachable member gets its copy when it is back: that is not a problem of the resource.
    const problem = deliveryProblem(
      { apiVersion, kind, namespace: namespace || undefined, name },
      { cluster, applied: false, reason, message },
      true,
    );
    return problem ? [{ cluster, text: message ?? reason, what: problem.what }] : [];
  });
  // Members usually say the same.
  return Array.from(Map.groupBy(found, ({ text }) => text).values(), (same) => {
    const [first] = same;
    if (!first || same.length === 1) return first?.what ?? "";
    return `${listOf(same.map(({ cluster }) => cluster))}: ${first.text}`;
  });
}
