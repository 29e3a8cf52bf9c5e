/**
 * Holds what a command printed against the `text` block of a page: each line of the page must be found, in order. Runs
 * of blanks are equal, empty lines do not count, and `…` stands for anything; a line that is `…` alone says that lines
 * may come between. Pure.
 *
 * Lines of the output that the page leaves out are allowed: pages show what matters of a long answer.
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
  // A blank beside … belongs to it, so that `5s …` also stands for a line that ends there.
  const parts = text.split("…").map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`);
}
