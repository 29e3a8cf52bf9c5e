/** Parses the links of a page, and the anchors that GitHub derives from its headings. Pure. */

export interface Link {
  line: number;
  /** The file, relative to the page; empty for the page itself. */
  path: string;
  anchor: string;
}

/** Links into the repository; links to the web are not checked. */
export function linksOf(markdown: string): Link[] {
  return prose(markdown).flatMap(({ line, text }) =>
    [...text.matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => {
        const [path = "", anchor = ""] = target.split("#");
        return { line, path, anchor };
      }),
  );
}

export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text } of prose(markdown)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const name = anchorOf(heading);
    let anchor = name;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
}

/** Lines outside of code blocks. */
export function prose(markdown: string): { line: number; text: string }[] {
  const lines: { line: number; text: string }[] = [];
  let fence = "";
  for (const [index, text] of markdown.split("\n").entries()) {
    const ticks = /^\s*(`{3,})/.exec(text)?.[1] ?? "";
    if (fence !== "") {
      if (text.trim() === fence) fence = "";
    } else if (ticks !== "") {
      fence = ticks;
    } else {
      lines.push({ line: index + 1, text });
    }
  }
  return lines;
}
