/**
 * Which of upstream's end-to-end tests are held against Flotilla. `tests.json` names those that pass on a real
 * kube-apiserver without a kubelet and without workload controllers; names there carry no tags, because tags come and
 * go between releases.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface CatalogueEntry {
  /** The name without tags, as `plainName` makes it. */
  name: string;
  /** What it is counted under; of OpenKruise the file without its suffix, which a name needs beside it to be unique. */
  suite: string;
  /** What Flotilla does not have yet and the test is about; such a test runs only on demand. */
  needs?: string;
  /** How long pods have to take to start and restart, when the test looks at what is between. */
  startMs?: number;
}

export interface Test extends CatalogueEntry {
  /** The name as the suite spells it, which is what selects it. */
  fullName: string;
  /** Changes what all tests share, such as nodes, so nothing else may run beside it. */
  serial: boolean;
}

/**
 * Tags such as [Serial] or [FeatureGate:X] and the full stop at the end say nothing about the behaviour; [sig-…] names
 * the area.
 */
export function plainName(fullName: string): string {
  return fullName
    .replaceAll(/ ?\[(?!sig-)[^\]]*\]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/\.$/, "");
}

export function readCatalogue(): CatalogueEntry[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "tests.json"), "utf8")) as CatalogueEntry[];
}

/** All tests that the suite has, by plain name. */
export function listTests(binary: string): Map<string, string> {
  const listing = execFileSync(binary, ["--list-tests"], {
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return parseListing(listing);
}

export function parseListing(listing: string): Map<string, string> {
  const tests = new Map<string, string>();
  for (const line of listing.split("\n")) {
    const fullName = /^\s+\S+\.go:\d+: (.*)$/.exec(line)?.[1];
    if (fullName !== undefined) tests.set(plainName(fullName), fullName);
  }
  return tests;
}

/**
 * The catalogue's tests, or with `focus` every test of the suite whose name matches. Throws when the suite lacks one of
 * them.
 */
export function selectTests(
  catalogue: readonly CatalogueEntry[],
  suite: ReadonlyMap<string, string>,
  focus?: RegExp,
): Test[] {
  const known = new Map(catalogue.map((entry) => [entry.name, entry]));
  const wanted = focus
    ? [...suite]
        .filter((names) => names.some((name) => focus.test(name)))
        .map(([name]) => known.get(name) ?? { name, suite: "other" as const })
    : catalogue;
  return wanted.map((entry) => {
    const fullName = suite.get(entry.name);
    if (fullName === undefined)
      throw new Error(`this e2e.test has no test '${entry.name}'; the list is for Kubernetes 1.36`);
    return { ...entry, fullName, serial: fullName.includes("[Serial]") };
  });
}
