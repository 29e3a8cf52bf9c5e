/** Tables of the documents that describe the code, compared with the code. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pipeline } from "../../packages/flotilla/src/propagation/pipeline.ts";

const architecture = readFileSync("ARCHITECTURE.md", "utf8");
/** `| [name](path) | reads | writes |` */
const rows = Array.from(
  architecture.matchAll(/^\| \[([a-z-]+)\]\((packages\/[^)]+)\) \| (.*) \| (.*) \|$/gm),
  ([, name = "", path = "", reads = "", writes = ""]) => ({ name, path, reads, writes }),
);

describe("ARCHITECTURE.md", () => {
  test("lists every stage of the pipeline", () => {
    const listed = new Set(rows.map(({ name }) => name));

    expect(pipeline.map(({ name }) => name).filter((name) => !listed.has(name))).toEqual([]);
  });

  test("names every condition that a stage writes", () => {
    const missing = pipeline.flatMap(({ name, writes }) => {
      const row = rows.find((each) => each.name === name)?.writes ?? "";
      return writes
        .flatMap((field) => /\.status\.conditions\[(\w+)\]/.exec(field)?.[1] ?? [])
        .filter((condition) => !row.includes(`\`${condition}\``))
        .map((condition) => `${name}: ${condition}`);
    });

    expect(missing).toEqual([]);
  });

  test("links files that exist", () => {
    const links = Array.from(architecture.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g), ([, path = ""]) => path);

    expect(links.filter((path) => !existsSync(path))).toEqual([]);
  });
});

test("the head of every decision states whether it is accepted, in one form", () => {
  const pages = readdirSync("docs/adr").filter((file) => /^\d{4}-/.test(file));

  const others = pages.filter(
    (file) => !/^# \d{4} .+\n\n\*\*State:\*\* accepted\b/.test(readFileSync(join("docs/adr", file), "utf8")),
  );

  expect(pages.length).toBeGreaterThan(0);
  expect(others).toEqual([]);
});

/** A kind's folder is found by the name of the kind. */
const isKind = (folder: string, files: readonly string[]): boolean =>
  files.some((file) => file.endsWith("-kind.ts") || file === `${folder}.ts`);

describe("the README of a package", () => {
  for (const name of readdirSync("packages")) {
    test(`${name} names every folder that is not a kind`, () => {
      const readme = readFileSync(join("packages", name, "README.md"), "utf8");
      const source = join("packages", name, "src");
      const folders = readdirSync(source).filter((folder) => statSync(join(source, folder)).isDirectory());

      const missing = folders
        .filter((folder) => folder !== "testdata" && !isKind(folder, readdirSync(join(source, folder))))
        .filter((folder) => !new RegExp(`\`${folder}[/\`]`).test(readme));

      expect(missing).toEqual([]);
    });
  }
});
