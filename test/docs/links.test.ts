import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { anchorsOf, linksOf } from "./links.ts";
import { listPages, readPage } from "./pages.ts";
import { CHECKOUT } from "./workspace.ts";

describe("parsing links", () => {
  test("finds links into the repository outside of code blocks, with their line", () => {
    const links = linksOf("see [a](b.md#c) and [web](https://example.com)\n```text\n[no](d.md)\n```\n[e](#f)");

    expect(links).toEqual([
      { line: 1, path: "b.md", anchor: "c" },
      { line: 5, path: "", anchor: "f" },
    ]);
  });

  test("derives anchors from headings as GitHub does", () => {
    const anchors = anchorsOf(
      "# One member, two apis\n## `flotilla up`: it's *on*\n## Why\n## Why\n```sh\n# no heading\n```",
    );

    expect([...anchors]).toEqual(["one-member-two-apis", "flotilla-up-its-on", "why", "why-1"]);
  });
});

describe("the pages", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: CHECKOUT }).toSorted();
  const file = (path: string): string => join(CHECKOUT, path);

  test("every row of the threat model but the operator's names tests, and they exist", () => {
    const [, callers = ""] = readPage("docs/security.md").split("## Who may talk to the hub");
    const rows =
      callers
        .split("\n## ")[0]
        ?.split("\n")
        .filter((line) => /^\| (?!caller|operator|-)/.test(line)) ?? [];
    const named = rows.map((row) => [...row.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = ""]) => path));

    expect(rows.filter((_row, index) => named[index]?.length === 0)).toEqual([]);
    expect(named.flat().filter((path) => !existsSync(file(path)))).toEqual([]);
    expect(rows.length).toBeGreaterThan(10);
  });

  for (const page of pages) {
    test(`every link of ${page} resolves`, () => {
      const broken = linksOf(readPage(page)).filter(({ path, anchor }) => {
        const target = path === "" ? page : normalize(join(dirname(page), path));
        if (!existsSync(file(target))) return true;
        return (
          anchor !== "" &&
          !statSync(file(target)).isDirectory() &&
          target.endsWith(".md") &&
          !anchorsOf(readFileSync(file(target), "utf8")).has(anchor)
        );
      });

      expect(broken).toEqual([]);
    });
  }

  test("the docs index links every page", () => {
    const index = linksOf(readPage("docs/README.md")).map(({ path }) => normalize(join("docs", path)));

    const missing = listPages("docs/**/*.md").filter((page) => page !== "docs/README.md" && !index.includes(page));

    expect(missing).toEqual([]);
  });
});
