/**
 * Collects the problems beside the objects: clusters that did not respond, types and names that were not found. Pure.
 */
import { didYouMean, FlotillaError, UsageError } from "@flotilla/base";
import { failureLine } from "./each-place.ts";
import type { Failure, Gathered } from "./each-place.ts";
import type { Place } from "./members-places.ts";
import type { PlaceAnswer } from "./read-objects.ts";
import type { Target } from "./targets.ts";
import { knownNames } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";

const MAX_NAMED = 10;

/** `member1, member2 and 3 more` */
export function named(names: readonly string[]): string {
  return names.length <= MAX_NAMED
    ? names.join(", ")
    : `${names.slice(0, MAX_NAMED).join(", ")} and ${names.length - MAX_NAMED} more`;
}

/** What was not found for `web-1` or `deployment/web`: the object, or pods of it. */
export function missingText(what: string, hasOwner: boolean): string {
  if (!what.includes("/")) return `pod ${what}`;
  return hasOwner ? `pod of ${what}` : what;
}

/** The message for something that was found nowhere: which clusters responded, and which did not. */
export function nowhere(
  what: string,
  where: string,
  asked: readonly Place[],
  failures: readonly Failure[],
): FlotillaError {
  const failed = failures.map(({ place }) => place.name);
  const answered = asked.map(({ name }) => name).filter((name) => !failed.includes(name));
  if (answered.length === 0)
    return new FlotillaError(
      "NoAnswer",
      `looking for ${what}: no cluster responded; run 'flotilla status' to check them`,
    );
  return new FlotillaError(
    "NotFound",
    `there is no ${what}${where} on ${named(answered)}${failed.length > 0 ? `; no response from ${named(failed)}` : ""}`,
  );
}

interface Asked {
  targets: readonly Target[];
  /** Clusters were named explicitly, so each of them must serve the type. */
  areNamed: boolean;
  namespace?: string;
  known(): readonly ServedType[];
}

/** Lines for standard error. Any of them except notes means exit code 1. */
interface Problems {
  lines: string[];
  /** Expected conditions worth knowing: unreachable pull-mode members that were not named. */
  notes: string[];
  /** Names that were not found. */
  missing: string[];
}

/** Throws when no cluster serves a type. */
export function problemsOf(
  { answers, failures }: Gathered<PlaceAnswer>,
  { targets, areNamed, namespace, known }: Asked,
): Problems {
  const isExpected = ({ isOutOfReach = false }: Failure): boolean => isOutOfReach && !areNamed && answers.length > 0;
  const lines = failures.filter((failure) => !isExpected(failure)).map(failureLine);
  for (const word of new Set(targets.flatMap(({ words }) => words))) {
    const without = answers.filter(({ answer }) => answer.unserved.includes(word)).map(({ place }) => place.name);
    if (without.length === 0) continue;
    const isNowhere = without.length === answers.length;
    if (isNowhere && failures.length === 0)
      throw new UsageError(
        `${named(without)} ${without.length === 1 ? "does" : "do"} not serve the resource type ` +
          `'${word}'${didYouMean(word, knownNames(known()))}; run 'kubectl api-resources' to list those of the ` +
          "hub",
      );
    if (isNowhere)
      lines.push(
        `no cluster that responded serves the resource type '${word}'${didYouMean(word, knownNames(known()))}`,
      );
    else if (areNamed) lines.push(...without.map((name) => `${name}: it does not serve the resource type '${word}'`));
  }
  return {
    lines,
    notes: failures.filter(isExpected).map(failureLine),
    missing: targets.flatMap(({ words, names }) => names.flatMap((name) => missingOf(answers, words, name, namespace))),
  };
}

/** A name that no cluster serving the type has. */
function missingOf(
  answers: Gathered<PlaceAnswer>["answers"],
  words: readonly string[],
  name: string,
  namespace: string | undefined,
): string[] {
  const asked = answers
    .map(({ place, answer }) => ({ place, found: answer.found.filter(({ word }) => words.includes(word)) }))
    .filter(({ found }) => found.length > 0);
  const isThere = asked.some(({ found }) => found.some(({ missing }) => !missing.includes(name)));
  if (isThere || asked.length === 0) return [];
  return [
    `${words.join(" or ")} ${name}${namespace === undefined ? "" : ` in namespace ${namespace}`} not found on ${named(asked.map(({ place }) => place.name))}`,
  ];
}
