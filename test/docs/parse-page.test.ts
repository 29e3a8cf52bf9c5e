import { expect, test } from "vitest";
import { parsePage } from "./parse-page.ts";

/** A page, with ~~~ for the fences so that they can be written here. */
const page = (...lines: string[]): string => lines.join("\n").replaceAll("~~~", "```");

test("a shell block is split into its commands, with their line numbers", () => {
  const { steps } = parsePage(page("# Title", "", "~~~sh", "one", "two # exit 1", "~~~"));

  expect(steps).toEqual([
    {
      type: "commands",
      line: 4,
      commands: [
        { text: "one", line: 0, exitCode: 0, staysUp: false },
        { text: "two # exit 1", line: 1, exitCode: 1, staysUp: false },
      ],
    },
  ]);
});

test("a text block directly after commands is the output of the last one", () => {
  const { steps } = parsePage(page("~~~sh", "one", "~~~", "", "~~~text", "A", "B", "~~~"));

  expect(steps).toMatchObject([{ type: "commands", expected: ["A", "B"] }]);
});

test("a text block after prose is not compared", () => {
  const { steps } = parsePage(page("~~~sh", "one", "~~~", "A picture:", "~~~text", "A", "~~~"));

  expect(steps).toHaveLength(1);
  expect(steps[0]).not.toHaveProperty("expected");
});

test("a block with a file name is written as a file, whatever its language", () => {
  const { steps } = parsePage(page("~~~yaml web.yaml", "a: 1", "~~~", "~~~lua rules/x.lua", "return 1", "~~~"));

  expect(steps).toEqual([
    { type: "file", line: 1, name: "web.yaml", text: "a: 1\n" },
    { type: "file", line: 4, name: "rules/x.lua", text: "return 1\n" },
  ]);
});

test("a yaml block without a name is an illustration, and other languages are ignored", () => {
  const { steps } = parsePage(page("~~~yaml", "a: 1", "~~~", "~~~ts", "const a = 1;", "~~~", "~~~", "plain", "~~~"));

  expect(steps).toEqual([{ type: "illustration", line: 1, text: "a: 1\n" }]);
});

test("the indentation of a block in a list is removed", () => {
  const { steps } = parsePage(page("- first", "  ~~~yaml a.yaml", "  a:", "    b: 1", "  ~~~"));

  expect(steps).toMatchObject([{ name: "a.yaml", text: "a:\n  b: 1\n" }]);
});

test("a longer fence may contain a shorter one", () => {
  const { steps } = parsePage(
    page("~~~~text", "~~~sh", "one", "~~~", "~~~~".replaceAll("~", "`")).replaceAll("```~", "````"),
  );

  expect(steps).toEqual([]);
});

test("a skipped block has a reason, and the block after it is not compared", () => {
  const { steps } = parsePage(
    page("<!-- not run: needs a real cluster -->", "~~~sh", "one", "~~~", "~~~text", "A", "~~~"),
  );

  expect(steps).toEqual([{ type: "skipped", line: 2, reason: "needs a real cluster" }]);
});

test("a page specifies its fleet, or that it needs none", () => {
  const plain = parsePage("# Title");
  const small = parsePage("<!-- fleet: --members 1 --nodes 0 -->\n# Title");
  const none = parsePage("<!-- fleet: none -->\n# Title");

  expect([plain.fleet, small.fleet, none.fleet]).toEqual([
    ["--members", "3"],
    ["--members", "1", "--nodes", "0"],
    undefined,
  ]);
});

const mistakes: Record<string, { text: string; line: number; message: RegExp }> = {
  "an unterminated block": { text: page("text", "~~~sh", "one"), line: 2, message: /does not end/ },
  "commands in a language that is not run": { text: page("~~~console", "$ one", "~~~"), line: 1, message: /sh blocks/ },
  "commands in a text block": { text: page("~~~text", "$ one", "~~~"), line: 1, message: /sh blocks/ },
  "a file outside of the reader's directory": {
    text: page("~~~yaml ../web.yaml", "a: 1", "~~~"),
    line: 1,
    message: /not in the reader's folder/,
  },
  "a skipped block without a reason": {
    text: page("<!-- not run -->", "~~~sh", "one", "~~~"),
    line: 2,
    message: /not why/,
  },
  "a directive without a block": {
    text: page("<!-- not run: because -->", "some text", "~~~sh", "one", "~~~"),
    line: 1,
    message: /of no block/,
  },
  "a fleet directive that comes too late": {
    text: page("~~~sh", "one", "~~~", "<!-- fleet: none -->"),
    line: 4,
    message: /after its first block/,
  },
};
for (const [what, { text, line, message }] of Object.entries(mistakes)) {
  test(`${what} is an error of the page`, () => {
    const page = parsePage(text);

    expect(page.mistakes).toEqual([{ line, message: expect.stringMatching(message) }]);
  });
}
