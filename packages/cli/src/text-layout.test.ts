import { describe, expect, test } from "vitest";
import { displayWidth, padTo, shorten, wrapCommand, wrapLines, wrapWords } from "./text-layout.ts";

const widths: Record<string, { text: string; want: number }> = {
  "ASCII characters take one column each": { text: "member1", want: 7 },
  "Chinese, Japanese and Korean characters take two": { text: "东京とソウル서울", want: 16 },
  "accented letters take one": { text: "Malmö", want: 5 },
  "combining marks take none": { text: "Malmo\u0308", want: 5 },
  "emoji take two": { text: "🚢", want: 2 },
  "symbols that we print take one": { text: "✓ → …", want: 5 },
  "colours take none": { text: "\u001b[31mred\u001b[0m", want: 3 },
};
describe("the width of a text", () => {
  for (const [behaviour, { text, want }] of Object.entries(widths)) {
    test(behaviour, () => {
      expect(displayWidth(text)).toBe(want);
    });
  }
});

test("texts are padded by their display width", () => {
  expect([padTo("东京", 6), padTo("oslo", 6)]).toEqual(["东京  ", "oslo  "]);
});

const short: Record<string, { text: string; width: number; want: string }> = {
  "a text that fits is unchanged": { text: "member1", width: 7, want: "member1" },
  "a sentence is cut at its end": { text: "the server is out of reach", width: 12, want: "the server …" },
  "a name is cut in the middle and keeps its end": {
    text: "production-europe-west-member-17",
    width: 13,
    want: "producti…r-17",
  },
  "wide characters are not cut in half": { text: "东京都港区六本木", width: 8, want: "东京…木" },
};
describe("shortening:", () => {
  for (const [behaviour, { text, width, want }] of Object.entries(short)) {
    test(behaviour, () => {
      const seen = shorten(text, width);

      expect(seen).toBe(want);
      expect(displayWidth(seen)).toBeLessThanOrEqual(width);
    });
  }
});

test("words are wrapped, and continuation lines are indented", () => {
  expect(wrapWords("one two three four", 9, "  ")).toEqual(["one two", "  three", "  four"]);
});

test("a word that is wider than a line is not broken", () => {
  expect(wrapWords("see https://hub.example.com:6443/clusters now", 10)).toEqual([
    "see",
    "https://hub.example.com:6443/clusters",
    "now",
  ]);
});

test("a command is wrapped with backslashes, and stays on one line without a width", () => {
  expect(wrapCommand("flotilla join paris --wait 5", 20, "  ")).toBe(
    "  flotilla join \\\n      paris \\\n      --wait 5",
  );
  expect(wrapCommand("flotilla join paris --wait 5", undefined, "  ")).toBe("  flotilla join paris --wait 5");
});

test("lines of a text are wrapped at their own indentation, and only with a width", () => {
  const text = "short\n    a line that is too long";

  expect(wrapLines(text, 16)).toBe("short\n    a line that\n      is too\n      long");
  expect(wrapLines(text, undefined)).toBe(text);
});
