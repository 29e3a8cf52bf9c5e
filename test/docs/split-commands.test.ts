import { expect, test } from "vitest";
import { splitCommands } from "./split-commands.ts";

const cases: Record<string, { block: string; want: string[] }> = {
  "takes every line for a command": { block: "one\ntwo", want: ["one", "two"] },
  "leaves out empty lines and lines that are comments": {
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
  "knows here-documents without quotes, with tabs, and behind a pipe": {
    block: "cat <<-END | wc\n\tone\n\tEND\ntwo",
    want: ["cat <<-END | wc\n\tone\n\tEND", "two"],
  },
  "takes <<< for a text and not for a document": { block: "cat <<<hello\ntwo", want: ["cat <<<hello", "two"] },
  "keeps quotes over several lines": {
    block: "echo 'one\n# two'\nthree \"a\nb\"\nfour",
    want: ["echo 'one\n# two'", 'three "a\nb"', "four"],
  },
  "keeps loops and conditions whole": {
    block: "for a in 1 2; do\n  echo $a\ndone\nif true; then\n  one\nfi\ntwo",
    want: ["for a in 1 2; do\n  echo $a\ndone", "if true; then\n  one\nfi", "two"],
  },
  "takes the words of a loop for plain words elsewhere": {
    block: "echo for\nwhy is this done\nkubectl wait --for=condition=Ready",
    want: ["echo for", "why is this done", "kubectl wait --for=condition=Ready"],
  },
  "keeps brackets whole": {
    block: "(\n  cd a\n  one\n)\nx=$(one |\n  two)\nthree",
    want: ["(\n  cd a\n  one\n)", "x=$(one |\n  two)", "three"],
  },
  "leaves JSON and JSONPath in quotes alone": {
    block: "kubectl get -o jsonpath='{.items[*]}'\nkubectl patch -p '{\"a\":{}}'",
    want: ["kubectl get -o jsonpath='{.items[*]}'", "kubectl patch -p '{\"a\":{}}'"],
  },
  "gives what is not ended to the shell as it is": { block: "cat <<'YAML'\na: 1", want: ["cat <<'YAML'\na: 1"] },
};
for (const [behaviour, { block, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const commands = splitCommands(block.split("\n"));

    expect(commands.map(({ text }) => text)).toEqual(want);
  });
}

test("says on which line of the block a command starts", () => {
  const commands = splitCommands(["# comment", "one \\", "  more", "", "two"]);

  expect(commands.map(({ line }) => line)).toEqual([1, 4]);
});

test("reads from the comment behind a command what it ends with", () => {
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

test("knows commands that go on until they are stopped by their comment", () => {
  const commands = splitCommands(["flotilla agent --cluster-name a   # Ctrl-C stops", "flotilla status"]);

  expect(commands.map(({ staysUp }) => staysUp)).toEqual([true, false]);
});
