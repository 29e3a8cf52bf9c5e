/** Orders what matches a search: every word must occur; a hit at the start of a word counts more. Pure. */
export function rankMatches<T>(text: string, items: readonly T[], textOf: (item: T) => string): T[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return [...items];
  const ranked: { item: T; score: number; index: number }[] = [];
  for (const [index, item] of items.entries()) {
    const whole = textOf(item).toLowerCase();
    let score = 0;
    for (const word of words) {
      const at = whole.indexOf(word);
      if (at < 0) {
        score = -1;
        break;
      }
      score += at === 0 ? 3 : /[^a-z0-9]/.test(whole[at - 1] ?? "") ? 2 : 1;
    }
    if (score > 0) ranked.push({ item, score, index });
  }
  return ranked.sort((a, b) => b.score - a.score || a.index - b.index).map(({ item }) => item);
}
