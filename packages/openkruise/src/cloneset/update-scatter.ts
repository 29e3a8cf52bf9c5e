/**
 * `scatterStrategy`: pods with a certain label are spread over the update instead of being updated one after the other.
 *
 * Matched and unmatched pods alternate in blocks in the ratio of both. The last matched pod is kept for the end, so
 * that the update begins and ends with one. Pure.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";

export interface ScatterTerm {
  readonly key: string;
  readonly value: string;
}

/** `all` are all pods of the set: if the candidates have a larger share of unmatched pods, the surplus comes first. */
export function scatter(
  candidates: readonly ReadonlyPod[],
  all: readonly ReadonlyPod[],
  terms: readonly ScatterTerm[],
): ReadonlyPod[] {
  if (candidates.length <= 2) return [...candidates];
  const matches = (term: ScatterTerm) => (pod: ReadonlyPod) => pod.metadata.labels?.[term.key] === term.value;
  const ordered = terms
    .map((term) => ({ term, count: candidates.filter(matches(term)).length }))
    .toSorted((a, b) => b.count - a.count);
  return ordered.reduce((pods, { term }) => scatterBy(pods, all, matches(term)), [...candidates]);
}

function scatterBy(
  candidates: ReadonlyPod[],
  all: readonly ReadonlyPod[],
  matches: (pod: ReadonlyPod) => boolean,
): ReadonlyPod[] {
  const matched = candidates.filter(matches);
  const unmatched = candidates.filter((pod) => !matches(pod));
  if (matched.length <= 1 || unmatched.length <= 1) return candidates;

  const last = matched.splice(-1);
  const matchedInAll = all.filter(matches).length - 1;
  const blocks = planBlocks(matched.length, unmatched.length, matchedInAll, all.length - 1 - matchedInAll);
  const result = unmatched.splice(0, blocks.unmatchedFirst);
  for (let block = 0; block < blocks.count; block++)
    result.push(...matched.splice(0, blocks.matched), ...unmatched.splice(0, blocks.unmatched));
  return [...result, ...matched, ...unmatched, ...last];
}

interface Blocks {
  count: number;
  matched: number;
  unmatched: number;
  unmatchedFirst: number;
}

function planBlocks(matched: number, unmatched: number, matchedInAll: number, unmatchedInAll: number): Blocks {
  if (unmatchedInAll / matchedInAll >= unmatched / matched) return evenBlocks(matched, unmatched);
  const usual = evenBlocks(matchedInAll, unmatchedInAll);
  const count = Math.min(Math.floor(matched / usual.matched), Math.floor(unmatched / usual.unmatched));
  return { ...usual, count, unmatchedFirst: unmatched - count * usual.unmatched };
}

function evenBlocks(matched: number, unmatched: number): Blocks {
  const count = Math.min(matched, unmatched);
  return { count, matched: Math.round(matched / count), unmatched: Math.round(unmatched / count), unmatchedFirst: 0 };
}
