/**
 * Sets of completion indexes as ascending intervals: a Job of a hundred thousand indexes keeps a few numbers, and its
 * status a short text such as `1,3-5,7`.
 */
interface Interval {
  readonly first: number;
  readonly last: number;
}
export type Indexes = readonly Interval[];

export const NO_INDEXES: Indexes = [];

/**
 * Invalid entries are skipped, and indexes beyond the completions are ignored: an elastic Job may have been scaled
 * down.
 */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const intervals: Interval[] = [];
  for (const part of text ? text.split(",") : []) {
    const [first, last = first, ...more] = part
      .split("-")
      .map((number) => (/^\d{1,10}$/.test(number) ? Number(number) : undefined));
    if (first === undefined || last === undefined || more.length > 0) continue;
    if (first >= completions) break;
    intervals.push({ first, last: Math.min(last, completions - 1) });
  }
  return unite(intervals, NO_INDEXES);
}

/** Two neighbors are listed, three become a range. */
export function formatIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => (last === first ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`))
    .join(",");
}

export function countIndexes(indexes: Indexes): number {
  let count = 0;
  for (const { first, last } of indexes) count += last - first + 1;
  return count;
}

export function hasIndex(indexes: Indexes, index: number): boolean {
  let low = 0;
  let high = indexes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((indexes[middle]?.last ?? 0) >= index) high = middle;
    else low = middle + 1;
  }
  const found = indexes[low];
  return found !== undefined && found.first <= index;
}

export function withIndexes(indexes: Indexes, more: Iterable<number>): Indexes {
  const added = Array.from(new Set(more)).toSorted((a, b) => a - b);
  return added.length === 0
    ? indexes
    : unite(
        indexes,
        added.map((index) => ({ first: index, last: index })),
      );
}

export function unite(a: Indexes, b: Indexes): Indexes {
  const result: { first: number; last: number }[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    const next = left && (!right || left.first < right.first) ? left : right;
    if (next === left) i++;
    else j++;
    if (!next) break;
    const before = result.at(-1);
    if (!before || next.first > before.last + 1) result.push({ ...next });
    else before.last = Math.max(before.last, next.last);
  }
  return result;
}

/** The first `count` indexes below `completions` that are not in the set. */
export function firstMissing(indexes: Indexes, count: number, completions: number): number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && missing.length < count; candidate++) missing.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}

/** How many indexes are in both. */
export function countCommon(a: Indexes, b: Indexes): number {
  let common = 0;
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (!left || !right) return common;
    common += Math.max(0, Math.min(left.last, right.last) - Math.max(left.first, right.first) + 1);
    if (left.last <= right.last) i++;
    if (right.last <= left.last) j++;
  }
}
