/** Texts of the page: YAML that is read back as it was, lines of errors, control characters, ages, ranks, translations. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { zh } from "../ui/zh.ts";
import { lineOfMessage } from "./error-line.ts";
import { formatAgo, formatBytes, formatShare, quoteWord } from "./format.ts";
import { withoutControls } from "./plain-text.ts";
import { rankMatches } from "./rank.ts";
import { formatYaml } from "./yaml.ts";

test("YAML of an object is read back as the same object", () => {
  const object = {
    metadata: {
      name: "web",
      labels: { a: "yes", b: "1", c: "", "x/y": "1.0" },
      annotations: { json: '{"a": [1]}', long: "a\nb\n\n  c\n", odd: "\ttab\n# no" },
    },
    spec: { list: [{ a: 1, b: [] }, { c: {} }, "text", [1, 2]], nothing: null, on: true, number: 1.5, empty: {} },
  };

  expect(load(formatYaml(object))).toEqual(object);
});

test("an error of the hub marks the line of its field", () => {
  const text = "apiVersion: apps/v1\nmetadata:\n  name: web\nspec:\n  replica: 3\n";

  expect(lineOfMessage('unknown field "spec.replica"', text)).toBe(5);
  expect(lineOfMessage("the editor is not valid YAML near line 2", text)).toBe(2);
  expect(lineOfMessage("something else", text)).toBe(1);
});

test("control characters of log lines become visible, and colours are dropped", () => {
  expect(withoutControls("\u001b[31mred\u001b[0m a\u202eb\u0007")).toBe("red a·b·");
});

test("ages, bytes, shares and words of a shell", () => {
  const nowMs = Date.parse("2026-01-02T00:00:00Z");

  expect(["2026-01-01T23:59:50Z", "2026-01-01T22:00:00Z", "x"].map((at) => formatAgo(at, nowMs))).toEqual([
    "10s",
    "2h",
    "",
  ]);
  expect([512, 1536, 2 ** 40].map(formatBytes)).toEqual(["512 B", "1.5 KiB", "1 TiB"]);
  expect([formatShare(-1, -1), formatShare(-1, 3), formatShare(2, 3)]).toEqual(["–", "0/3", "2/3"]);
  expect([quoteWord("web:2.0"), quoteWord("it's")]).toEqual(["web:2.0", String.raw`'it'\''s'`]);
});

test("every word of a search must occur, and starts of words count more", () => {
  const items = ["shop/web CloneSet", "pay/cobweb", "shop/cart"];

  expect(rankMatches("web", items, (item) => item)).toEqual(["shop/web CloneSet", "pay/cobweb"]);
  expect(rankMatches("shop web", items, (item) => item)).toEqual(["shop/web CloneSet"]);
});

test("every text of the page has a Chinese translation, with the same values", () => {
  const folder = join(import.meta.dirname, "../ui");
  const used = globSync("**/*.{ts,tsx}", { cwd: folder }).flatMap((file) =>
    Array.from(
      readFileSync(join(folder, file), "utf8").matchAll(/\bt\(\s*"((?:[^"\\]|\\.)+)"/g),
      ([, text = ""]) => text,
    ),
  );
  const valuesIn = (text = ""): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

  expect(used.filter((text) => zh[text] === undefined)).toEqual([]);
  expect(Object.keys(zh).filter((text) => !used.includes(text))).toEqual([]);
  expect(used.filter((text) => JSON.stringify(valuesIn(text)) !== JSON.stringify(valuesIn(zh[text])))).toEqual([]);
});
