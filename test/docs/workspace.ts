/**
 * The environment of a page's reader: a separate home directory, a directory with the examples, `flotilla`, `kubectl`
 * and `helm` on the PATH, and the fleet's kubeconfig in the environment. Everything is removed afterwards.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GO_ENVIRONMENT } from "../programs/command-line.ts";
import { SHIPPED_BIN } from "../shipped.ts";

export const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

export interface Workspace {
  /** The working directory of commands, where the page's files are written. */
  folder: string;
  /** For files of the runner itself. */
  scratch: string;
  environment: Record<string, string>;
  remove(): void;
}

/** `programs` are put on the PATH under these names, before the machine's own. */
export function createWorkspace(programs: Readonly<Record<string, string>>): Workspace {
  const root = mkdtempSync(join(tmpdir(), "flotilla-docs-"));
  const [folder, scratch, home, path] = ["work", "scratch", "home", "programs"].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const name of [folder, scratch, home, path]) mkdirSync(name);
  for (const [name, file] of Object.entries(programs)) symlinkSync(file, join(path, name));
  // Pages for users with a checkout run bin/flotilla. The links are to files, because the script resolves paths next to
  // itself.
  mkdirSync(join(folder, "bin"));
  if (programs["flotilla"] !== undefined) symlinkSync(programs["flotilla"], join(folder, "bin", "flotilla"));
  symlinkSync(join(SHIPPED_BIN, "node24"), join(folder, "bin", "node24"));
  cpSync(join(CHECKOUT, "examples"), join(folder, "examples"), { recursive: true });
  return {
    folder,
    scratch,
    environment: {
      ...GO_ENVIRONMENT,
      PATH: `${path}:${process.env["PATH"] ?? ""}`,
      HOME: home,
      KUBECONFIG: join(home, ".flotilla", "hub.kubeconfig"),
      LANG: "C.UTF-8",
      TERM: "dumb",
      COLUMNS: "80",
      NO_COLOR: "1",
      // Node caches compiled code below this directory, which makes every command start much faster.
      TMPDIR: tmpdir(),
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
