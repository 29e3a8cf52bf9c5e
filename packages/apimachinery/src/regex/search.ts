/**
 * Finds matches of a pattern in a text, as Go's regular expressions do: the leftmost match, and of those the one that
 * the pattern prefers. All alternatives advance together, one character at a time, so the time is bounded by text times
 * pattern for untrusted patterns too. `Automaton` is faster for testing whether a text matches at all.
 */
import { edgeOf, holds, type Edge } from "./edges.ts";
import { ASSERTION, CHARACTER, MATCH, type PatternProgram, SPLIT } from "./program.ts";
import { room, type StateSet } from "./state-set.ts";
import type { Assertion } from "./syntax.ts";
import type { PatternWork } from "./pattern-work.ts";

export interface Found {
  readonly start: number;
  readonly end: number;
}

/** The first match at or after a position. */
export function findMatch(program: PatternProgram, text: string, from: number, work: PatternWork): Found | undefined {
  const { kinds, next: following, other, classes, entry } = program;
  let { current, next } = room;
  current.clear();
  next.clear();
  let found: Found | undefined;
  for (let position = from; ;) {
    // A match that starts here is worse than any that started before.
    if (!found) enter(program, current, entry, position, position, text);
    if (current.size === 0 && found) return found;
    const code = text.codePointAt(position);
    const width = code === undefined ? 0 : code > 0xffff ? 2 : 1;
    if (code !== undefined) classes.look(code);
    for (let index = 0; index < current.size; index++) {
      const id = current.members[index] as number;
      const start = current.starts[index] as number;
      if (kinds[id] === MATCH) {
        found = { start, end: position };
        // Later members of the set are less preferred.
        break;
      }
      if (kinds[id] === CHARACTER && code !== undefined && classes.has(other[id] as number))
        enter(program, next, following[id] as number, start, position + width, text);
    }
    if (code === undefined) return found;
    work.spend(1 + current.visited + classes.steps);
    [current, next] = [next, current];
    next.clear();
    position += width;
  }
}

/** All non-overlapping matches, at most `limit` unless that is negative. */
export function* findMatches(
  program: PatternProgram,
  text: string,
  limit: number,
  work: PatternWork,
): Generator<string> {
  let position = 0;
  let previousEnd = -1;
  let count = 0;
  while (position <= text.length && count !== limit) {
    const match = findMatch(program, text, position, work);
    if (!match) return;
    const isEmptyHere = match.end === position;
    const isFresh = !isEmptyHere || match.start !== previousEnd;
    position = isEmptyHere ? position + ((text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1) : match.end;
    previousEnd = match.end;
    if (!isFresh) continue;
    count += 1;
    yield text.slice(match.start, match.end);
  }
}

/** Adds a state and those that are reachable from it without consuming a character, most preferred first. */
function enter(
  { kinds, next, other, assertions }: PatternProgram,
  set: StateSet,
  entry: number,
  start: number,
  position: number,
  text: string,
): void {
  const { open } = room;
  let count = 0;
  open[count++] = entry;
  while (count > 0) {
    const id = open[--count] as number;
    if (!set.visit(id)) continue;
    const kind = kinds[id];
    if (kind === SPLIT) {
      open[count++] = other[id] as number;
      open[count++] = next[id] as number;
    } else if (kind !== ASSERTION) set.push(id, start);
    else if (holds(assertions[other[id] as number] as Assertion, edgeBefore(text, position), edgeAfter(text, position)))
      open[count++] = next[id] as number;
  }
}

const edgeBefore = (text: string, position: number): Edge =>
  position === 0 ? "none" : edgeOf(text.charCodeAt(position - 1));
const edgeAfter = (text: string, position: number): Edge =>
  position === text.length ? "none" : edgeOf(text.charCodeAt(position));
