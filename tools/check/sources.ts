/** The files that the checks read: everything git tracks or would track. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

export interface SourceFile {
  path: string;
  text: string;
}

export function listSources(): SourceFile[] {
  const names = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  return names
    .filter(
      (path) => /\.(tsx?|css|md|json|sh|tpl|ya?ml)$|^deploy\/.*\.txt$|^bin\/|^\.ci\//.test(path) && existsSync(path),
    )
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}
