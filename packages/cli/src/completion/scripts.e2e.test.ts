import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scripts } from "./scripts.ts";

/** A fake flotilla that prints the words it was called with: the scripts only pass words on and show the answer. */
const STAND_IN = `#!/bin/sh
shift
for word in "$@"; do printf '<%s>' "$word" >> "$ASKED"; done
printf '%b' "$ANSWER"
`;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-completion-"));
  writeFileSync(join(folder, "flotilla"), STAND_IN);
  chmodSync(join(folder, "flotilla"), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isInstalled = (shell: string): boolean => {
  const found = spawnSync(shell, ["-c", "exit 0"]).status === 0;
  if (!found) process.stdout.write(`skipped: ${shell} is not installed, so its completion is not run\n`);
  return found;
};

function run(
  shell: string,
  args: string[],
  answer: string,
  environment: Record<string, string> = {},
): { asked: string; shown: string[] } {
  const asked = join(folder, "asked");
  writeFileSync(asked, "");
  const { stdout, stderr, status } = spawnSync(shell, args, {
    encoding: "utf8",
    cwd: folder,
    env: {
      PATH: `${folder}${delimiter}${process.env["PATH"]}`,
      HOME: folder,
      ASKED: asked,
      ANSWER: answer,
      ...environment,
    },
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return {
    asked: spawnSync("cat", [asked], { encoding: "utf8" }).stdout,
    shown: stdout.split("\n").filter((line) => line !== ""),
  };
}

describe.runIf(isInstalled("bash"))("bash", () => {
  /**
   * Sets the variables that bash sets before completion; bash also splits words at `=` and `:`. The bar marks the
   * cursor.
   */
  const complete = (line: string, answer: string): ReturnType<typeof run> => {
    const point = line.indexOf("|");
    const typed = line.replace("|", "");
    const pieces = [...typed.matchAll(/[=:]+|[^\s=:]+/g)];
    const before = pieces.filter(({ index }) => index < point);
    const isNew = /\s$/.test(typed.slice(0, point));
    const words = isNew ? [...before.map(([text]) => text), ""] : before.map(([text]) => text);
    const script =
      `compopt() { echo "compopt $*"; }\n` +
      `source completion.bash\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})\nCOMP_CWORD=` +
      `${words.length - 1}\nCOMP_LINE='${typed}'\nCOMP_POINT=${point}\n_flotilla\nprintf '%s\\n' ` +
      `"\${COMPREPLY[@]}"`;
    writeFileSync(join(folder, "completion.bash"), scripts.bash);
    return run("bash", ["--norc", "-c", script], answer);
  };

  test("words are passed on, and candidates are shown without descriptions", () => {
    expect(complete("flotilla st|", "status\\tshow the members\\nsnapshot\\tsave\\n:4\\n")).toEqual({
      asked: "<st>",
      shown: ["status"],
    });
  });

  test("an unstarted word is passed on as an empty one", () => {
    expect(complete("flotilla  why  -n |", "default\\nshop\\n:4\\n")).toEqual({
      asked: "<why><-n><>",
      shown: ["default", "shop"],
    });
  });

  test("words that bash split are joined, and only the last part is replaced", () => {
    expect(complete("flotilla status --output=js|", "--output=json\\n:4\\n")).toEqual({
      asked: "<status><--output=js>",
      shown: ["json"],
    });
    expect(complete("flotilla status --output=|", "--output=json\\n--output=yaml\\n:4\\n")).toEqual({
      asked: "<status><--output=>",
      shown: ["json", "yaml"],
    });
  });

  test("text after the cursor is ignored", () => {
    expect(complete("flotilla sta|tus --all", "status\\n:4\\n")).toEqual({ asked: "<sta>", shown: ["status"] });
  });

  test("files and folders are completed by bash", () => {
    writeFileSync(join(folder, "web.yaml"), "");

    expect(complete("flotilla plan -f we|", ":0\\n").shown).toEqual(["compopt -o filenames", "web.yaml"]);
    expect(complete("flotilla plan --filename=we|", ":0\\n").shown).toEqual(["compopt -o filenames", "web.yaml"]);
    expect(complete("flotilla up --data we|", ":16\\n").shown).toEqual(["compopt -o filenames"]);
  });

  test("nospace suppresses the trailing space", () => {
    expect(complete("flotilla get -o j|", "jsonpath=\\n:6\\n").shown).toEqual(["compopt -o nospace", "jsonpath="]);
  });

  test("a flotilla that prints nothing offers nothing", () => {
    expect(complete("flotilla st|", "").shown).toEqual([]);
  });
});

describe.runIf(isInstalled("zsh"))("zsh", () => {
  const complete = (words: string[], answer: string): ReturnType<typeof run> => {
    writeFileSync(join(folder, "_flotilla"), scripts.zsh);
    const script =
      "compdef() { :; }\n" +
      `_describe() { echo "describe $*"; print -rl -- "\${described[@]}"; }\n` +
      `_files() { echo "files $*"; }\n` +
      "compset() { :; }\n" +
      "source ./_flotilla\n" +
      `words=(flotilla ${words.map((word) => `'${word}'`).join(" ")})\nCURRENT=${words.length + 1}\n_flotilla`;
    return run("zsh", ["-f", "-c", script], answer);
  };

  test("candidates are described", () => {
    expect(complete(["st"], "status\\tshow: the members\\na:b\\n:4\\n")).toEqual({
      asked: "<st>",
      shown: ["describe -V flotilla described", "status:show: the members", "a\\:b"],
    });
  });

  test("an unstarted word is passed on as an empty one", () => {
    expect(complete(["why", "-n", ""], "shop\\n:4\\n")).toEqual({
      asked: "<why><-n><>",
      shown: ["describe -V flotilla described", "shop"],
    });
  });

  test("files and folders are completed by zsh", () => {
    expect([complete(["plan", "-f", ""], ":0\\n").shown, complete(["up", "--data", ""], ":16\\n").shown]).toEqual([
      ["files "],
      ["files -/"],
    ]);
  });
});

describe.runIf(isInstalled("fish"))("fish", () => {
  const complete = (line: string, answer: string): ReturnType<typeof run> => {
    writeFileSync(join(folder, "flotilla.fish"), scripts.fish);
    return run("fish", ["--no-config", "-c", `source flotilla.fish; complete -C '${line}'`], answer);
  };

  test("candidates are shown with descriptions", () => {
    expect(complete("flotilla st", "status\\tshow the members\\n:4\\n")).toEqual({
      asked: "<st>",
      shown: ["status\tshow the members"],
    });
  });

  test("an unstarted word is passed on as an empty one", () => {
    expect(complete("flotilla why -n ", "shop\\n:4\\n")).toEqual({ asked: "<why><-n><>", shown: ["shop"] });
  });

  test("files are completed by fish", () => {
    writeFileSync(join(folder, "web.yaml"), "");

    expect(complete("flotilla plan -f we", ":0\\n").shown).toEqual(["web.yaml"]);
  });
});

describe.runIf(isInstalled("pwsh"))("powershell", () => {
  const complete = (line: string, answer: string): ReturnType<typeof run> => {
    writeFileSync(join(folder, "flotilla.ps1.txt"), scripts.powershell);
    const script =
      `Get-Content -Raw flotilla.ps1.txt | Invoke-Expression; (TabExpansion2 '${line}' ` +
      `${line.length}).CompletionMatches | ForEach-Object { "$($_.CompletionText) $($_.ToolTip)" }`;
    return run("pwsh", ["-NoProfile", "-NonInteractive", "-c", script], answer);
  };

  test("candidates are shown with descriptions", () => {
    expect(complete("flotilla st", "status\\tshow the members\\n:4\\n")).toEqual({
      asked: "<st>",
      shown: ["status show the members"],
    });
  });

  test("an unstarted word is passed on as an empty one", () => {
    expect(complete("flotilla why -n ", "shop\\n:4\\n")).toEqual({ asked: "<why><-n><>", shown: ["shop shop"] });
  });
});

test("the script of PowerShell registers both names, and passes the words to __complete", () => {
  expect(scripts.powershell).toContain(
    "Register-ArgumentCompleter -Native -CommandName flotilla, kubectl-flotilla -ScriptBlock {",
  );
  expect(scripts.powershell).toContain("& $program __complete @words 2>$null");
  expect(scripts.powershell).toContain('$line -split "`t", 2');
});
