/**
 * The upstream end-to-end tests that run against Flotilla. `tests.json` lists those that pass on a real kube-apiserver
 * without a kubelet and workload controllers; names there have no tags, because tags change between releases.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface CatalogueEntry {
  /** The name without tags, as `plainName` returns it. */
  name: string;
  /** The suite it is counted under; for OpenKruise the file without its suffix, which makes the name unique. */
  suite: string;
  /** A feature that the test needs and Flotilla lacks; such a test only runs on demand. */
  needs?: string;
  /** How long pods have to take to start and restart, if the test checks intermediate states. */
  startMs?: number;
  /** Runs alone, because it shares objects of fixed names with others. */
  serial?: boolean;
}

export interface Test extends CatalogueEntry {
  /** The name as the suite spells it, which selects it. */
  fullName: string;
  /** Changes shared objects such as nodes, so nothing else may run in parallel. */
  serial: boolean;
}

/**
 * Tags such as [Serial] or [FeatureGate:X] and the final full stop do not describe the behaviour; [sig-…] names the
 * area.
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

/** All tests of the suite, by plain name. */
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
 * The catalogue's tests, or with `focus` every test of the suite whose name matches. Throws if the suite lacks one of
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
