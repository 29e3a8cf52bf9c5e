import { expect, test } from "vitest";
import { splitCommands } from "./split-commands.ts";

const cases: Record<string, { block: string; want: string[] }> = {
  "treats every line as a command": { block: "one\ntwo", want: ["one", "two"] },
  "skips empty lines and comment lines": {
    block: "# first\none\n\n  # second\ntwo\n",
    want: ["one", "two"],
  },
  "joins lines that end in a backslash": { block: "one \\\n  --flag\ntwo", want: ["one \\\n  --flag", "two"] },
  "joins lines that end in an operator": {
    block: "one |\n  two\nthree &&\n  four # and a comment\nfive",
    want: ["one |\n  two", "three &&\n  four # and a comment", "five"],
  },
  "keeps a here-document with its command": {
    block: "cat <<'YAML'\na: 1\n# no comment\n\nYAML\ntwo",
    want: ["cat <<'YAML'\na: 1\n# no comment\n\nYAML", "two"],
  },
  "supports here-documents without quotes, with tabs, and after a pipe": {
    block: "cat <<-END | wc\n\tone\n\tEND\ntwo",
    want: ["cat <<-END | wc\n\tone\n\tEND", "two"],
  },
  "treats <<< as a here-string and not as a here-document": {
    block: "cat <<<hello\ntwo",
    want: ["cat <<<hello", "two"],
  },
  "keeps multi-line quotes together": {
    block: "echo 'one\n# two'\nthree \"a\nb\"\nfour",
    want: ["echo 'one\n# two'", 'three "a\nb"', "four"],
  },
  "keeps loops and conditionals together": {
    block: "for a in 1 2; do\n  echo $a\ndone\nif true; then\n  one\nfi\ntwo",
    want: ["for a in 1 2; do\n  echo $a\ndone", "if true; then\n  one\nfi", "two"],
  },
  "treats the keywords of a loop as plain words elsewhere": {
    block: "echo for\nwhy is this done\nkubectl wait --for=condition=Ready",
    want: ["echo for", "why is this done", "kubectl wait --for=condition=Ready"],
  },
  "keeps brackets together": {
    block: "(\n  cd a\n  one\n)\nx=$(one |\n  two)\nthree",
    want: ["(\n  cd a\n  one\n)", "x=$(one |\n  two)", "three"],
  },
  "leaves quoted JSON and JSONPath alone": {
    block: "kubectl get -o jsonpath='{.items[*]}'\nkubectl patch -p '{\"a\":{}}'",
    want: ["kubectl get -o jsonpath='{.items[*]}'", "kubectl patch -p '{\"a\":{}}'"],
  },
  "passes an unterminated command to the shell unchanged": {
    block: "cat <<'YAML'\na: 1",
    want: ["cat <<'YAML'\na: 1"],
  },
};
for (const [behaviour, { block, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const commands = splitCommands(block.split("\n"));

    expect(commands.map(({ text }) => text)).toEqual(want);
  });
}

test("returns the line of the block on which a command starts", () => {
  const commands = splitCommands(["# comment", "one \\", "  more", "", "two"]);

  expect(commands.map(({ line }) => line)).toEqual([1, 4]);
});

test("reads the expected exit code from the comment after a command", () => {
  const commands = splitCommands([
    "one",
    "two # exit 1",
    "three # blue; exit code 3",
    "four <<E # exit 2",
    "exit 7",
    "E",
    "echo '# exit 1'",
    "five # it will exit 1 some day",
  ]);

  expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 1, 3, 2, 0, 0]);
});

test("recognises commands that run until stopped by their comment", () => {
  const commands = splitCommands(["flotilla agent --cluster-name a   # Ctrl-C stops", "flotilla status"]);

  expect(commands.map(({ staysUp }) => staysUp)).toEqual([true, false]);
});
