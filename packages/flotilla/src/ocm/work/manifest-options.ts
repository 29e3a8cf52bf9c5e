/** The options of a work for one of its manifests. */
import type { ManifestConfigOption } from "@flotilla/ocm";
import type { ManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { withoutTimeToLive } from "../../interpreter/prune.ts";

type Object = DeepReadonly<KubernetesObject>;

export type ManifestOptions = Pick<
  DeepReadonly<ManifestConfigOption>,
  "conditionRules" | "feedbackRules" | "updateStrategy" | "feedbackScrapeType"
>;

/** Each option comes from the first matching config that sets it; undefined if none matches. */
export function optionsOf(
  meta: DeepReadonly<ManifestResourceMeta>,
  configs: readonly DeepReadonly<ManifestConfigOption>[] = [],
): ManifestOptions | undefined {
  const matching = configs.filter(({ resourceIdentifier }) => matches(meta, resourceIdentifier));
  const conditionRules = matching.find((option) => option.conditionRules?.length)?.conditionRules;
  const feedbackRules = matching.find((option) => option.feedbackRules?.length)?.feedbackRules;
  const updateStrategy = matching.find((option) => option.updateStrategy)?.updateStrategy;
  if (!conditionRules && !feedbackRules && !updateStrategy) return undefined;
  const feedbackScrapeType = matching.find((option) => option.feedbackScrapeType)?.feedbackScrapeType;
  return { conditionRules, feedbackRules, updateStrategy, feedbackScrapeType };
}

/**
 * What a member gets of a manifest. A copy that its member deleted after `ttlSecondsAfterFinished` would be created, and
 * run, again; unless the rule `Complete` ends updates.
 */
export function deliveredObject(object: Object, options: ManifestOptions | undefined): Object {
  const ends = options?.conditionRules?.some(({ condition }) => condition === "Complete") ?? false;
  return ends ? object : withoutTimeToLive(object);
}

function matches(
  { group = "", resource = "", namespace = "", name = "" }: DeepReadonly<ManifestResourceMeta>,
  of: DeepReadonly<ManifestConfigOption>["resourceIdentifier"],
): boolean {
  return (
    group === (of.group ?? "") &&
    resource === of.resource &&
    matchesPattern(namespace, of.namespace ?? "") &&
    matchesPattern(name, of.name)
  );
}

/**
 * `*` matches any text. Patterns come from users, so they are matched piece by piece and not as a regular expression.
 */
function matchesPattern(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
