/** Whether something can be installed on a cluster, and what of it. Pure. */
import { VERSION } from "@flotilla/base";
import { installedKinds } from "@flotilla/flotilla";
import type { WorkloadProject } from "@flotilla/flotilla";
import type { ClusterFacts } from "./cluster-facts.ts";

/** The first version with admission policies. */
const LEAST_MINOR = 30;

export interface InstallCheck {
  /** Why nothing can be installed; each says what to do. */
  problems: string[];
  /** What is left out, and what that means. */
  notes: string[];
  /** The projects whose kinds are installed. */
  projects: WorkloadProject[];
}

export function checkInstall(facts: ClusterFacts, wanted: readonly WorkloadProject[], version = VERSION): InstallCheck {
  const problems: string[] = [];
  const notes: string[] = [];
  const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)/.exec(facts.version) ?? [];
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < LEAST_MINOR))
    problems.push(
      `the cluster runs Kubernetes ${facts.version || "of an unknown version"}; 1.${LEAST_MINOR} or later is needed, for admission policies`,
    );
  if (facts.isHub)
    problems.push(
      "another API server already serves Clusters of cluster.karmada.io: this is a hub of Flotilla or of Karmada, and needs no installation",
    );
  const theirs = (project?: WorkloadProject): string[] =>
    namesOf(project).filter((name) => facts.definitions.get(name)?.isOurs === false);
  const foreign = theirs();
  if (foreign.length > 0)
    problems.push(
      "the cluster has CustomResourceDefinitions of another installation of Karmada or Open Cluster " +
        `Management: ${listed(foreign)}; two control planes would write the same objects. Remove that one, ` +
        "or use another cluster",
    );
  const projects = wanted.filter((project) => {
    const found = theirs(project);
    if (found.length > 0)
      notes.push(
        `the cluster has definitions of ${project} (${listed(found)}); they stay as they are, and their own webhooks keep checking them`,
      );
    return found.length === 0;
  });
  if (!facts.hasFrontProxy)
    notes.push(
      "the API server has no --requestheader-client-ca-file, so it cannot pass on requests: Clusters have " +
        "no proxy ('flotilla get', 'logs' and 'karmadactl --operation-scope members' need it), and 'flotilla " +
        "why' has no explanations",
    );
  const skew = skewProblem(facts.installed, version);
  if (skew !== undefined) problems.push(skew);
  return { problems, notes, projects };
}

/** One minor version up or down at once: definitions of a release read what the one before and the one after stored. */
export function skewProblem(installed: string | undefined, version: string): string | undefined {
  if (installed === undefined) return undefined;
  const [before, now] = [installed, version].map((text) => {
    const [, major = "0", minor = "0"] = /^(\d+)\.(\d+)/.exec(text) ?? [];
    return { major: Number(major), minor: Number(minor) };
  });
  if (!before || !now) return undefined;
  if (before.major === now.major && Math.abs(before.minor - now.minor) <= 1) return undefined;
  const isUpgrade = now.major > before.major || (now.major === before.major && now.minor > before.minor);
  return (
    `version ${installed} is installed, and ${version} is ` +
    `${isUpgrade ? "more than one minor version newer" : "more than one minor version older"}; install the ` +
    "versions in between one after the other"
  );
}

const namesOf = (project: WorkloadProject | undefined): string[] => {
  const hub = new Set(installedKinds([]));
  return installedKinds(project ? [project] : [])
    .filter((kind) => project === undefined || !hub.has(kind))
    .map(({ plural, group }) => `${plural}.${group}`);
};

const MAX_LISTED = 3;
const listed = (names: readonly string[]): string =>
  names.length <= MAX_LISTED
    ? names.join(", ")
    : `${names.slice(0, MAX_LISTED).join(", ")} and ${names.length - MAX_LISTED} more`;
