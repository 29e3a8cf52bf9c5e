/**
 * Overriders that find nothing to change: Karmada looks for containers in a few kinds, and ignores other kinds and
 * unknown containers without an error. Pure.
 */
import type { Overriders } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { OverridePolicy } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { isImageTag, parseApiVersion, parseImageReference } from "@flotilla/apimachinery";
import { containersOf, KINDS_WITH_CONTAINERS } from "./overriders/containers.ts";

type Rule = DeepReadonly<Overriders>;

const SEARCHED = [...KINDS_WITH_CONTAINERS].join(", ");
/** No kind has its pod template deeper than this. */
const MAX_DEPTH = 8;

/** What of a rule changes nothing in an object that has containers, with what to write instead. */
export function blindOverriders(object: JsonObject, rule: Rule): string[] {
  const known = containersOf(object);
  const path = known.length > 0 ? undefined : containersPath(object["spec"], "/spec");
  const kind = typeof object["kind"] === "string" ? object["kind"] : "";
  const images = (rule.imageOverrider ?? []).filter(({ predicate }) => !predicate);
  const named = [...(rule.commandOverrider ?? []), ...(rule.argsOverrider ?? [])];
  if (path !== undefined)
    return [
      ...(images.length > 0
        ? [`its imageOverrider finds no image in a ${kind}; set predicate.path, for example ${path}/0/image`]
        : []),
      ...(named.length > 0
        ? [`its overriders of commands and arguments find no container in a ${kind}; use plaintext below ${path}`]
        : []),
    ];
  const tags = images.flatMap((each) =>
    each.component === "Tag" && each.operator === "add" ? [each.value ?? ""] : [],
  );
  const untagged = known.flatMap(({ container: { image } }) =>
    typeof image === "string" && parseImageReference(image)?.tag === "" && !image.includes("@") ? [image] : [],
  );
  const names = new Set(known.map(({ container }) => container["name"]));
  const absent = new Set(named.map(({ containerName }) => containerName).filter((name) => !names.has(name)));
  return known.length === 0
    ? []
    : [
        ...[...absent].map((name) => `it names the container ${name}, which does not exist`),
        ...tags.flatMap((tag) =>
          untagged
            .filter(() => !isImageTag(tag))
            .map(
              (image) =>
                `it adds ${tag} to the tag of ${image}, which has none and so means latest; write the tag in the image, or replace it`,
            ),
        ),
      ];
}

/** The pointer of the first list of containers. */
function containersPath(value: Json | undefined, at: string): string | undefined {
  if (!isObject(value) || at.split("/").length > MAX_DEPTH) return undefined;
  for (const [key, child] of Object.entries(value)) {
    if (key === "containers" && Array.isArray(child)) return `${at}/${key}`;
    const found = containersPath(child, `${at}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Kinds with pods that are not searched. */
const hasOtherPods = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean =>
  !KINDS_WITH_CONTAINERS.has(kind) && (kind === "CronJob" || parseApiVersion(apiVersion).group === "apps.kruise.io");

/** Warnings for the writer of a policy. */
export function blindRules({ spec }: DeepReadonly<Pick<OverridePolicy, "spec">>): string[] {
  const kinds = [...new Set((spec.resourceSelectors ?? []).filter(hasOtherPods).map(({ kind }) => kind))];
  if (kinds.length === 0) return [];
  const rules: [at: string, rule: Rule | undefined][] = [
    ["spec.overriders", spec.overriders],
    ...(spec.overrideRules ?? []).map(({ overriders }, index): [string, Rule] => [
      `spec.overrideRules[${index}].overriders`,
      overriders,
    ]),
  ];
  const without = `has no effect on ${kinds.join(", ")}: containers are found only in ${SEARCHED}`;
  return rules.flatMap(([at, rule]) => [
    ...(rule?.imageOverrider ?? []).flatMap(({ predicate }, index) =>
      predicate ? [] : [`${at}.imageOverrider[${index}]: ${without}; set predicate.path`],
    ),
    ...(["commandOverrider", "argsOverrider"] as const).flatMap((name) =>
      rule?.[name]?.length ? [`${at}.${name}: ${without}; use plaintext`] : [],
    ),
  ]);
}
