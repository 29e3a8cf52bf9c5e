/** Suggests a known word for an unknown one. Pure. */

/** Longer words are not commands, flags, types or members. */
const MAX_WORD = 64;
/** Shorter prefixes match too many words. */
const MIN_BEGINNING = 2;

/** ` (did you mean 'pods'?)`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const nearest = nearestOf(word, [...known]);
  return nearest === undefined ? "" : ` (did you mean '${nearest}'?)`;
}

/**
 * The nearest known word: at most a third of its letters differ, or it starts with what was typed. Undefined when none
 * is near, or several of one length are
 * equally near.
 */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const typed = word.toLowerCase();
  let best: { candidate: string; distance: number; isTied: boolean } | undefined;
  for (const candidate of known) {
    const limit = Math.max(1, Math.floor(candidate.length / 3));
    if (candidate.length > MAX_WORD || Math.abs(candidate.length - typed.length) > limit) continue;
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance > limit) continue;
    if (distance < (best?.distance ?? Infinity)) best = { candidate, distance, isTied: false };
    // Numbered names are equally near, so each is a guess. Another length is another form, such as a plural.
    else if (distance === best?.distance && candidate.length === best.candidate.length)
      best.isTied ||= !isSameWord(candidate, best.candidate);
  }
  if (best?.isTied) return undefined;
  return (
    best?.candidate ??
    (typed.length >= MIN_BEGINNING ? known.find((candidate) => candidate.toLowerCase().startsWith(typed)) : undefined)
  );
}

const isSameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The number of insertions, deletions, substitutions and swaps of neighbouring letters. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, current];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
