/** Opens a text in the user's editor, as a temporary file that only the user can read. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FlotillaError } from "@flotilla/base";

const DEFAULT_EDITOR = process.platform === "win32" ? "notepad" : "vi";

/** As kubectl: `$KUBE_EDITOR`, else `$EDITOR`; both may have arguments. */
export const editorOf = (environment: Readonly<Record<string, string | undefined>>): string =>
  environment["KUBE_EDITOR"] || environment["EDITOR"] || DEFAULT_EDITOR;

/** Returns what was saved. The file is removed in every case. */
export async function editText(editor: string, text: string, signal: AbortSignal): Promise<string> {
  // The folder is created with mode 0700, so a backup that the editor writes beside the file is private, too.
  const folder = await mkdtemp(join(tmpdir(), "flotilla-edit-"));
  const file = join(folder, "object.yaml");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const code = await runEditor(editor, file);
    signal.throwIfAborted();
    if (code !== 0)
      throw new FlotillaError(
        "Editor",
        `the editor '${editor}' failed (${code === null ? "ended by a signal" : `exit code ${code}`}); choose another with KUBE_EDITOR`,
      );
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A shell splits the editor's arguments. It is not stopped by a signal: the terminal also sends Ctrl-C to the editor. */
function runEditor(editor: string, file: string): Promise<number | null> {
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true })
      : spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
}
