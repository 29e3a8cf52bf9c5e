/**
 * What `npm ci` installs is what was reviewed: every package of the lock file has a checksum and comes from the registry,
 * none runs a script when it is installed, and the versions of direct dependencies are exact.
 */
import { readFileSync } from "node:fs";

export interface LockFile {
  packages: Record<string, { integrity?: string; hasInstallScript?: boolean; link?: boolean; resolved?: string }>;
}
export interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

export function readSupplyChain(): string[] {
  const read = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
  return checkSupplyChain(read("package-lock.json") as LockFile, read("package.json") as Manifest);
}

export function checkSupplyChain(lock: LockFile, manifest: Manifest): string[] {
  const findings: string[] = [];
  for (const [path, { integrity, hasInstallScript, link, resolved }] of Object.entries(lock.packages)) {
    // Our own packages are in the repository.
    const isOurs = !path.includes("node_modules/") || link === true;
    if (isOurs) continue;
    if (!integrity) findings.push(`package-lock.json: ${path} has no checksum; run 'npm install' to record it`);
    // A checksum is worth nothing if the lock file also names where the package comes from.
    if (resolved !== undefined)
      findings.push(`package-lock.json: ${path} names its source (${resolved}); packages come from the registry`);
    if (hasInstallScript)
      findings.push(`package-lock.json: ${path} runs a script when it is installed; choose a package that does not`);
  }
  for (const list of [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies])
    for (const [name, version] of Object.entries(list ?? {}))
      if (!EXACT.test(version)) findings.push(`package.json: ${name} has the range ${version}; name one version`);
  return findings;
}
