/** A copy of the program: of today's sources, or of those of an earlier commit. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(ROOT, "packages");
const MODULES = join(ROOT, "node_modules");
const ENTRY = "packages/server/src/main.ts";

/** Returns the entry point. */
export function copyProgram(folder: string): string {
  cpSync(PACKAGES, join(folder, "packages"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  return linkModules(folder);
}

/** Undefined where the history of the repository is not available, with the reason printed. */
export function earlierProgram(folder: string, commit: string, what: string): string | undefined {
  try {
    const archive = execFileSync("git", ["archive", commit, "packages", "package.json"], {
      cwd: ROOT,
      maxBuffer: 1024 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
  } catch {
    process.stdout.write(`skipped: ${what}: commit ${commit} is not in the history of this checkout\n`);
    return undefined;
  }
  return linkModules(folder);
}

/** Packages of others are linked, ours are those of the folder. */
function linkModules(folder: string): string {
  mkdirSync(join(folder, "node_modules/@flotilla"), { recursive: true });
  for (const name of readdirSync(MODULES))
    if (name !== "@flotilla") symlinkSync(join(MODULES, name), join(folder, "node_modules", name));
  for (const name of readdirSync(join(folder, "packages")))
    symlinkSync(join(folder, "packages", name), join(folder, "node_modules/@flotilla", name));
  return join(folder, ENTRY);
}
