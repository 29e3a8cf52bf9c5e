/**
 * The code blocks of the two guides in `guide/`, which are verbatim copies of the originals. A block is named by its
 * file, its heading and its number below the heading: `001 Deploying CloneSet 2`. Pure.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface GuideBlock {
  name: string;
  language: string;
  text: string;
  /** The first characters of the text's SHA-256. */
  hash: string;
}

const HASH_LENGTH = 8;

export function readGuide(file: "000" | "001"): string {
  return readFileSync(new URL(`./guide/${file}.txt`, import.meta.url), "utf8");
}

export function guideBlocks(file: "000" | "001"): GuideBlock[] {
  const blocks: GuideBlock[] = [];
  let heading = "";
  let count = 0;
  let open: { indent: string; language: string; lines: string[] } | undefined;
  for (const line of readGuide(file).split("\n")) {
    const [, indent = "", language = ""] = /^(\s*)```(\w*)/.exec(line) ?? [];
    const isFence = line.trimStart().startsWith("```");
    if (open && isFence) {
      const text = `${open.lines.join("\n")}\n`;
      const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
      blocks.push({ name: `${file} ${heading} ${++count}`, language: open.language, text, hash });
      open = undefined;
    } else if (open) open.lines.push(line.slice(open.indent.length));
    else if (isFence) open = { indent, language, lines: [] };
    else if (/^#+ /.test(line)) [heading, count] = [line.replace(/^#+ /, ""), 0];
  }
  return blocks;
}
