/**
 * The line-by-line difference of two texts, as Kubernetes appends it to a rejected update of a pod: unified, three
 * lines of context. It matches the longest common run first and recurses on both sides of it. Like upstream's library
 * it does not match by very frequent lines, so that the same texts produce the same difference.
 */
const CONTEXT = 3;
/** Longer differences are not readable, and computing them takes quadratic time. */
const MAX_LINES = 2000;
/** From this length on, lines that make up more than a hundredth of the text are too frequent to match by. */
const COMMON_FROM_LINES = 200;

interface Run {
  left: number;
  right: number;
  size: number;
}

interface Step {
  kind: "equal" | "delete" | "insert" | "replace";
  left: [number, number];
  right: [number, number];
}

/** Empty when the texts are equal, or too long to compare. */
export function unifiedDiff(before: string, after: string): string {
  const left = splitLines(before);
  const right = splitLines(after);
  if (left.length > MAX_LINES || right.length > MAX_LINES) return "";
  let text = "";
  for (const group of groupsOf(stepsOf(left, right))) text += hunk(group, left, right);
  return text;
}

/** Lines with their line ends; the last line gets one, too. */
const splitLines = (text: string): string[] => text.split("\n").map((line) => `${line}\n`);

function hunk(group: readonly Step[], left: readonly string[], right: readonly string[]): string {
  const first = group[0];
  const last = group.at(-1);
  if (!first || !last) return "";
  const lines = [`@@ -${range(first.left[0], last.left[1])} +${range(first.right[0], last.right[1])} @@\n`];
  for (const {
    kind,
    left: [from, to],
    right: [start, end],
  } of group) {
    if (kind === "equal") lines.push(...left.slice(from, to).map((line) => ` ${line}`));
    if (kind === "replace" || kind === "delete") lines.push(...left.slice(from, to).map((line) => `-${line}`));
    if (kind === "replace" || kind === "insert") lines.push(...right.slice(start, end).map((line) => `+${line}`));
  }
  return lines.join("");
}

function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return `${from + 1}`;
  return `${length === 0 ? from : from + 1},${length}`;
}

/** Steps with at most the context around changes; longer equal runs separate groups. */
function groupsOf(steps: Step[]): Step[][] {
  const groups: Step[][] = [];
  let group: Step[] = [];
  for (const [index, step] of steps.entries()) {
    let {
      left: [from, to],
      right: [start, end],
    } = step;
    const { kind } = step;
    if (kind === "equal") {
      if (index === 0) [from, start] = [Math.max(from, to - CONTEXT), Math.max(start, end - CONTEXT)];
      else if (index === steps.length - 1) [to, end] = [Math.min(to, from + CONTEXT), Math.min(end, start + CONTEXT)];
      else if (to - from > 2 * CONTEXT) {
        group.push({
          kind,
          left: [from, Math.min(to, from + CONTEXT)],
          right: [start, Math.min(end, start + CONTEXT)],
        });
        groups.push(group);
        group = [];
        [from, start] = [Math.max(from, to - CONTEXT), Math.max(start, end - CONTEXT)];
      }
    }
    group.push({ kind, left: [from, to], right: [start, end] });
  }
  if (group.length > 0 && !(group.length === 1 && group[0]?.kind === "equal")) groups.push(group);
  return groups;
}

function stepsOf(left: readonly string[], right: readonly string[]): Step[] {
  const steps: Step[] = [];
  let i = 0;
  let j = 0;
  for (const run of runsOf(left, right)) {
    const kind =
      i < run.left && j < run.right ? "replace" : i < run.left ? "delete" : j < run.right ? "insert" : undefined;
    if (kind) steps.push({ kind, left: [i, run.left], right: [j, run.right] });
    i = run.left + run.size;
    j = run.right + run.size;
    if (run.size > 0) steps.push({ kind: "equal", left: [run.left, i], right: [run.right, j] });
  }
  return steps;
}

/** Matching runs in order, with adjacent runs joined; the last one is empty and marks the end. */
function runsOf(left: readonly string[], right: readonly string[]): Run[] {
  const places = placesOf(right);
  const found: Run[] = [];
  const todo: [number, number, number, number][] = [[0, left.length, 0, right.length]];
  for (let part = todo.pop(); part; part = todo.pop()) {
    const [from, to, start, end] = part;
    const run = longestRun(left, right, places, part);
    if (run.size === 0) continue;
    found.push(run);
    if (from < run.left && start < run.right) todo.push([from, run.left, start, run.right]);
    if (run.left + run.size < to && run.right + run.size < end)
      todo.push([run.left + run.size, to, run.right + run.size, end]);
  }
  found.sort((a, b) => a.left - b.left);
  const joined: Run[] = [];
  for (const run of found) {
    const last = joined.at(-1);
    if (last && last.left + last.size === run.left && last.right + last.size === run.right) last.size += run.size;
    else joined.push({ ...run });
  }
  return [...joined, { left: left.length, right: right.length, size: 0 }];
}

function placesOf(lines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  if (lines.length >= COMMON_FROM_LINES) {
    const limit = Math.floor(lines.length / 100) + 1;
    for (const [line, indices] of places) if (indices.length > limit) places.delete(line);
  }
  return places;
}

function longestRun(
  left: readonly string[],
  right: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [from, to, start, end]: [number, number, number, number],
): Run {
  let best: Run = { left: from, right: start, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = from; i < to; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(left[i] ?? "") ?? []) {
      if (j < start) continue;
      if (j >= end) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { left: i - size + 1, right: j - size + 1, size };
    }
    lengths = next;
  }
  // Frequent lines do not start a run, but they extend one.
  let { left: i, right: j, size } = best;
  while (i > from && j > start && left[i - 1] === right[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < to && j + size < end && left[i + size] === right[j + size]) size += 1;
  return { left: i, right: j, size };
}
