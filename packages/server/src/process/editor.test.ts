import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { editorOf, editText } from "./editor.ts";

const folder = mkdtempSync(join(tmpdir(), "flotilla-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const { signal } = new AbortController();

describe("the editor", () => {
  const cases: Record<string, { environment: Record<string, string>; want: string }> = {
    "is $KUBE_EDITOR": { environment: { KUBE_EDITOR: "nano", EDITOR: "emacs" }, want: "nano" },
    "else $EDITOR": { environment: { KUBE_EDITOR: "", EDITOR: "emacs -nw" }, want: "emacs -nw" },
    "else vi": { environment: {}, want: "vi" },
  };
  for (const [name, { environment, want }] of Object.entries(cases))
    test.skipIf(process.platform === "win32")(name, () => {
      expect(editorOf(environment)).toBe(want);
    });

  test.skipIf(process.platform === "win32")(
    "gets a file that only the user can read, which is removed afterwards",
    async () => {
      const script = join(folder, "editor.sh");
      writeFileSync(
        script,
        `stat -c %a "$2" > ${folder}/mode; echo "$2" > ${folder}/path; echo "$1: $(cat "$2")" > "$2"\n`,
      );

      const saved = await editText(`sh ${script} added`, "text", signal);

      expect(saved).toBe("added: text\n");
      expect(readFileSync(join(folder, "mode"), "utf8").trim()).toBe("600");
      const path = readFileSync(join(folder, "path"), "utf8").trim();
      expect(existsSync(dirname(path))).toBe(false);
    },
  );

  test.skipIf(process.platform === "win32")("the editor that fails is reported", async () => {
    await expect(editText("exit 3;", "text", signal)).rejects.toThrow("the editor 'exit 3;' failed (exit code 3)");
  });
});
