/**
 * Sets of ordinals as spans, in the format of an Advanced StatefulSet's reserved ordinals. Never expanded: a user may
 * reserve millions.
 */
import { DivideError } from "../divide/divide-error.ts";

/** Both ends are inclusive. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Ascending, without overlapping or adjacent spans. */
export type Spans = readonly Span[];

/** Ordinals are 32-bit. */
const MAX_ORDINAL = 2_147_483_647;

/** Throws DivideError for an entry that is neither an ordinal nor a range. */
export function parseSpans(entries: readonly (number | string)[]): Spans {
  return joinSpans(
    entries.map((entry) => {
      const span = parseSpan(entry);
      if (!span)
        throw new DivideError(`reading reserved ordinals: ${JSON.stringify(entry)} is neither an ordinal nor a range`);
      return span;
    }),
  );
}

/** Reads a list as members do: one invalid entry makes the whole list invalid, and it is treated as empty. */
export function readSpans(entries: readonly (number | string)[]): Spans {
  const spans = entries.map(parseSpan);
  return spans.every((span) => span !== undefined) ? joinSpans(spans) : [];
}

function parseSpan(entry: number | string): Span | undefined {
  const [, start, end = start] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(String(entry)) ?? [];
  const span = { first: Number(start), last: Number(end) };
  return start !== undefined && span.first <= span.last && span.last <= MAX_ORDINAL ? span : undefined;
}

export function joinSpans(spans: readonly Span[]): Spans {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.first - b.first)) {
    const last = joined.at(-1);
    if (last && span.first <= last.last + 1)
      joined[joined.length - 1] = { first: last.first, last: Math.max(last.last, span.last) };
    else joined.push(span);
  }
  return joined;
}

/** `ordinals` are ascending. */
export function spansOf(ordinals: readonly number[]): Spans {
  return joinSpans(ordinals.map((ordinal) => ({ first: ordinal, last: ordinal })));
}

/** The ordinals between `start` and the last of the ascending ordinals that are not in the list. */
export function gapsIn(ordinals: readonly number[], start: number): Spans {
  const gaps: Span[] = [];
  let next = start;
  for (const ordinal of ordinals) {
    if (ordinal > next) gaps.push({ first: next, last: ordinal - 1 });
    next = Math.max(next, ordinal + 1);
  }
  return gaps;
}

/** The ordinals outside the spans, ascending from `start`, without end. */
export function* outside(spans: Spans, start: number): Generator<number, never> {
  let index = 0;
  for (let ordinal = start; ; ordinal++) {
    for (let span = spans[index]; span && span.last < ordinal; span = spans[index]) index++;
    const span = spans[index];
    if (span && span.first <= ordinal) ordinal = span.last + 1;
    yield ordinal;
  }
}

export function spansInclude(spans: Spans, ordinal: number): boolean {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.last ?? 0) < ordinal) low = middle + 1;
    else high = middle;
  }
  return (spans[low]?.first ?? Number.POSITIVE_INFINITY) <= ordinal;
}

/** In API format: a single ordinal as a number, a range as `"3-7"`. */
export function formatSpans(spans: Spans): (number | string)[] {
  return spans.map(({ first, last }) => (first === last ? first : `${first}-${last}`));
}
