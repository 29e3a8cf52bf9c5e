/** The size of a pattern with its repeats expanded: a short pattern may expand to many states. */
import type { PatternNode } from "./syntax.ts";

/** Patterns of real schemas are far smaller; larger ones are rejected. */
export const MAX_STATES = 20_000;
/** The states of the largest pattern, and the final state. */
export const MAX_PROGRAM_SIZE = MAX_STATES + 1;

/**
 * The maximum number of automaton states for the node, with repeats expanded. Nodes without states count too, because
 * they are visited.
 */
export function sizeOf(node: PatternNode): number {
  switch (node.kind) {
    case "sequence":
      return Math.max(
        1,
        node.parts.reduce((sum, part) => sum + sizeOf(part), 0),
      );
    case "choice":
      return node.options.reduce((sum, option) => sum + 1 + sizeOf(option), -1);
    case "repeat":
      return node.max === Infinity
        ? sizeOf(node.part) * Math.max(node.min, 1) + 2
        : Math.max(1, sizeOf(node.part) * node.max + node.max - node.min);
    default:
      return 1;
  }
}

/** Reports whether nested repeats make at most this many copies. Go rejects more, and so does this. */
export function repeatsAtMost(node: PatternNode, copies: number): boolean {
  switch (node.kind) {
    case "repeat": {
      const times = node.max === Infinity ? node.min : node.max;
      if (node.max === 0) return true;
      return times <= copies && repeatsAtMost(node.part, times > 0 ? Math.floor(copies / times) : copies);
    }
    case "sequence":
      return node.parts.every((part) => repeatsAtMost(part, copies));
    case "choice":
      return node.options.every((option) => repeatsAtMost(option, copies));
    default:
      return true;
  }
}

/** Reports whether the node can match the empty text. An assertion may hold anywhere, so it counts. */
export function matchesEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case "character":
      return false;
    case "sequence":
      return node.parts.every(matchesEmpty);
    case "choice":
      return node.options.some(matchesEmpty);
    case "repeat":
      return node.min === 0 || matchesEmpty(node.part);
    default:
      return true;
  }
}
