/**
 * Compares a command's output with the `text` block of a page: each line of the page must be found, in order. Runs of
 * blanks are equal, empty lines are ignored, and `…` matches anything; a line with only `…` allows lines in between.
 * Pure.
 *
 * The page may omit lines of the output: pages show the relevant part of a long output.
 */

export type Match = { ok: true } | { ok: false; missing: string };

export function matchOutput(expected: readonly string[], output: string): Match {
  const lines = output.split("\n").map(normalise);
  let from = 0;
  for (const wanted of expected) {
    const text = normalise(wanted);
    if (text === "" || text === "…") continue;
    const pattern = patternOf(text);
    const found = lines.findIndex((line, index) => index >= from && pattern.test(line));
    if (found < 0) return { ok: false, missing: wanted.trimEnd() };
    from = found + 1;
  }
  return { ok: true };
}

function normalise(line: string): string {
  return line.replaceAll(/\s+/g, " ").trim();
}

function patternOf(text: string): RegExp {
  // A blank next to … belongs to it, so that `5s …` also matches a line that ends there.
  const parts = text.split("…").map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`);
}
