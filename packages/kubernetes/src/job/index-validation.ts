/** Sets of indexes in the format that Jobs store: `1,3-5,7`, increasing, below the number of completions. */

/** Returns the number of indexes, or an error message. */
export function indexProblem(text: string, completions: number): number | string {
  if (text === "") return 0;
  let total = 0;
  let last: number | undefined;
  for (const part of text.split(",")) {
    const interval = intervalOf(part, completions);
    if (typeof interval === "string") return interval;
    const [from, to] = interval;
    if (last !== undefined && last >= from) return `non-increasing order, previous: ${last}, current: ${from}`;
    total += to - from + 1;
    last = to;
  }
  return total;
}

function intervalOf(text: string, completions: number): [from: number, to: number] | string {
  const parts = text.split("-");
  if (parts.length > 2)
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^[+-]?\d{1,18}$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
    if (Number(part) >= completions) return `too large index: ${JSON.stringify(part)}`;
    numbers.push(Number(part));
  }
  const [from = 0, to = from] = numbers;
  return numbers.length === 2 && from >= to ? `non-increasing order, previous: ${from}, current: ${to}` : [from, to];
}

/** The first index in both sets; malformed parts are skipped. */
export function firstCommonIndex(a: string, b: string, completions: number): number | undefined {
  if (a === "" || b === "") return undefined;
  const read = (text: string): [number, number][] =>
    text
      .split(",")
      .map((part) => intervalOf(part, completions))
      .filter((interval) => typeof interval !== "string");
  const [left, right] = [read(a), read(b)];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const [from, to] = left[i] ?? [0, 0];
    const [start, end] = right[j] ?? [0, 0];
    if (from <= end && start <= to) return Math.max(from, start);
    if (from <= start) i += 1;
    else j += 1;
  }
  return undefined;
}
