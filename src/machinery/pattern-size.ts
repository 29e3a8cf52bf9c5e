/** How large a pattern is once its repeats are written out: a short one may stand for very much. */
import type { PatternNode } from "./pattern-parser.ts";

/** Patterns of real schemas are far below; beyond it a pattern is refused. */
export const MAX_STATES = 20_000;

/**
 * How many states an automaton for the node has at most, with repeats written out. What needs none counts too: it is
 * visited.
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
        ? sizeOf(node.part) * Math.max(node.min, 1) + 1
        : Math.max(1, sizeOf(node.part) * node.max + node.max - node.min);
    default:
      return 1;
  }
}

/**
 * Whether repeats, and repeats in them, make no more than so many copies of what they repeat. Go refuses more, and so
 * does this.
 */
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
