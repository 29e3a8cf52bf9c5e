/**
 * OpenKruise's own end-to-end suite, `kruise-e2e.test`. `kruise-tests.json` lists the specs that pass with the real
 * controllers on simulated nodes; specs of kinds that Flotilla does not serve yet have `needs`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { standardStorageClass } from "@flotilla/simulation";
import type { CatalogueEntry, Test } from "./catalogue.ts";
import type { SuiteMember, UpstreamSuite } from "./kubernetes.ts";
import { bareNodes, makeNodes } from "./nodes.ts";
import { escapePattern } from "./suite.ts";

/** The feature gates of upstream's own test installation. */
export const GATES = "AllAlpha=true,AllBeta=true,EnableExternalCerts=false,TemplateNoDefaults=false";

export const kruiseSuite: UpstreamSuite = {
  programs: ["kruise-e2e.test", "kubectl"],
  binary: "kruise-e2e.test",
  upFlags: ["--kruise-gates", GATES],
  nodes: 3,
  // Some wait for minutes by themselves.
  limitSeconds: 400,
  prepare: async (member) => {
    prepareMember(member);
    return async () => {};
  },
  select: (bin, focus) => selectSpecs(readKruiseCatalogue(), listSpecs(join(bin, "kruise-e2e.test")), focus),
  flagsOf: ({ fullName, suite }, { kubeconfig, limitMs }) => [
    `--kubeconfig=${kubeconfig}`,
    `--ginkgo.focus-file=${suite}.go`,
    `--ginkgo.focus=${escapePattern(fullName)}$`,
    `--ginkgo.timeout=${Math.ceil(limitMs / 1000)}s`,
    "--ginkgo.grace-period=5s",
    "--delete-namespace=true",
  ],
};

/**
 * Prerequisites of the specs from upstream's test cluster: a node of this name, and storage classes with and without
 * expansion.
 */
export function prepareMember({ bin, kubeconfig }: Pick<SuiteMember, "bin" | "kubeconfig">): void {
  const kubectl = join(bin, "kubectl");
  makeNodes(kubectl, kubeconfig, bareNodes(["ci-testing-worker"]));
  execFileSync(kubectl, ["--kubeconfig", kubeconfig, "create", "-f", "-"], {
    input: JSON.stringify(storageClasses()),
    stdio: ["pipe", "ignore", "inherit"],
  });
}

function storageClasses(): object {
  const make = (name: string, allowVolumeExpansion: boolean): object => ({
    ...standardStorageClass(),
    metadata: { name },
    allowVolumeExpansion,
  });
  return {
    apiVersion: "v1",
    kind: "List",
    items: [make("allow-volume-expansion", true), make("disallow-volume-expansion", false)],
  };
}

export function readKruiseCatalogue(): CatalogueEntry[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "kruise-tests.json"), "utf8")) as CatalogueEntry[];
}

interface SpecReport {
  ContainerHierarchyTexts: string[] | null;
  LeafNodeText: string;
  LeafNodeLocation: { FileName: string };
}

/** Every spec of the suite, by file and name. */
function listSpecs(binary: string): CatalogueEntry[] {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-conformance-"));
  try {
    const report = join(folder, "specs.json");
    execFileSync(binary, ["--ginkgo.dry-run", `--ginkgo.json-report=${report}`], { stdio: "ignore" });
    const [suite] = JSON.parse(readFileSync(report, "utf8")) as { SpecReports: SpecReport[] }[];
    return (suite?.SpecReports ?? []).map(specOf);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function specOf({ ContainerHierarchyTexts, LeafNodeText, LeafNodeLocation: { FileName } }: SpecReport): CatalogueEntry {
  const [, suite = ""] = /\/e2e\/(.*)\.go$/.exec(FileName) ?? [];
  return { suite, name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ") };
}

/**
 * The catalogue's specs, or with `focus` every spec whose file and name match. Throws if the suite lacks one of them.
 */
export function selectSpecs(
  catalogue: readonly CatalogueEntry[],
  specs: readonly CatalogueEntry[],
  focus?: RegExp,
): Test[] {
  const idOf = ({ suite, name }: CatalogueEntry): string => `${suite} ${name}`;
  const known = new Map(catalogue.map((entry) => [idOf(entry), entry]));
  const present = new Set(specs.map(idOf));
  const missing = catalogue.find((entry) => !present.has(idOf(entry)));
  if (missing) throw new Error(`this kruise-e2e.test has no spec '${idOf(missing)}'; the list is for OpenKruise 1.9.1`);
  const wanted = focus
    ? specs.filter((spec) => focus.test(idOf(spec))).map((spec) => known.get(idOf(spec)) ?? spec)
    : catalogue;
  return wanted.map((entry) => ({ ...entry, fullName: entry.name, serial: entry.serial ?? false }));
}
