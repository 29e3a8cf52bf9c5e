/**
 * The ordinals of an Advanced StatefulSet's pods, given the start and the reserved ordinals.
 *
 * Reserved ordinals are kept as ranges, never one by one: a user may reserve millions. Pure.
 */
import type { IntOrPercent } from "../int-or-percent.ts";

/** Both ends are inclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The reserved ordinals: ascending, without overlaps. */
export type Reserved = readonly Span[];

export interface OrdinalRange {
  start: number;
  /** The first ordinal after the last pod. */
  end: number;
  reserved: Reserved;
}

const MAX_ORDINAL = 2_147_483_647;

/** Upstream ignores the whole list if one entry is invalid. */
export function reservedOf(entries: readonly IntOrPercent[] = []): Reserved {
  const spans: Span[] = [];
  for (const entry of entries) {
    const span = typeof entry === "number" ? { from: entry, to: entry } : parseSpan(entry);
    if (!span) return [];
    spans.push(span);
  }
  return merged(spans.toSorted((a, b) => a.from - b.from));
}

function parseSpan(text: string): Span | undefined {
  const [, first, last] = /^(\+?\d+)-(\+?\d+)$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const span = { from: Number(first), to: Number(last) };
  return Number.isSafeInteger(span.to) && span.from <= span.to ? span : undefined;
}

function merged(ascending: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of ascending) {
    const last = result.at(-1);
    if (last && span.from <= last.to + 1)
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else result.push(span);
  }
  return result;
}

/** Long enough for this many pods besides the reserved ordinals. */
export function rangeOf(start: number, replicas: number, reserved: Reserved): OrdinalRange {
  let end = start + replicas;
  for (const { from, to } of reserved) {
    if (to >= start && from < end) end += to - Math.max(from, start) + 1;
  }
  return { start, end, reserved };
}

function isReserved(reserved: Reserved, ordinal: number): boolean {
  let low = 0;
  let high = reserved.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reserved[middle]?.to ?? 0) < ordinal) low = middle + 1;
    else high = middle;
  }
  const span = reserved[low];
  return span !== undefined && span.from <= ordinal;
}

export const isInRange = ({ start, end, reserved }: OrdinalRange, ordinal: number): boolean =>
  ordinal >= start && ordinal < end && !isReserved(reserved, ordinal);

/** The desired ordinals of pods, ascending. */
export function* ordinalsIn({ start, end, reserved }: OrdinalRange): Generator<number> {
  let ordinal = start;
  for (const { from, to } of reserved) {
    for (; ordinal < Math.min(from, end); ordinal++) yield ordinal;
    ordinal = Math.max(ordinal, to + 1);
  }
  for (; ordinal < end; ordinal++) yield ordinal;
}

/** `web-3` is number 3 of `web`. The ordinal is -1 if there is none that fits into 32 bits. */
export function parsePodName(name: string): { parent: string; ordinal: number } {
  const [, parent, digits] = /^(.*)-(\d+)$/.exec(name) ?? [];
  if (parent === undefined || digits === undefined) return { parent: "", ordinal: -1 };
  const ordinal = Number(digits);
  return { parent, ordinal: ordinal <= MAX_ORDINAL ? ordinal : -1 };
}
