/** Checks that the members' Kubernetes versions are close to each other and to the hub's API. */
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { KUBERNETES_VERSION } from "../../version.ts";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import { counted } from "../../text-layout.ts";

/** Kubernetes serves an API for at least three minor versions after deprecating it. */
const MAX_BEHIND = 4;
const MAX_APART = 3;

export const versionsCheck = defineCheck<readonly DeepReadonly<Cluster>[]>({
  name: "versions",
  summary: "the members' Kubernetes versions are close to the hub's and to each other",
  reports:
    "A warning for a member that is more than four minor versions older, or newer, than the Kubernetes API " +
    "that the hub serves, and when the oldest and the newest member are more than three apart: an API that " +
    "one serves may be removed in the other. Members that never reported a version are not checked.",
  gather: membersIn,
  judge(clusters) {
    const hub = minorOf(KUBERNETES_VERSION);
    const known = clusters.flatMap(({ metadata: { name }, status }) => {
      const minor = minorOf(status?.kubernetesVersion ?? "");
      return minor === undefined ? [] : [{ name, minor, version: status?.kubernetesVersion ?? "" }];
    });
    const findings: DoctorFinding[] = [];
    for (const { name, minor, version } of known) {
      if (hub === undefined || (minor <= hub && hub - minor <= MAX_BEHIND)) continue;
      findings.push({
        severity: "warning",
        about: `member ${name}`,
        seen: `It runs Kubernetes ${version}; the hub serves the API of ${KUBERNETES_VERSION}.`,
        fix:
          minor > hub
            ? "Use a newer Flotilla on the hub."
            : "Upgrade the member, or use only API versions that both serve.",
        commands: [`flotilla doctor --only apis --clusters ${name}`],
      });
    }
    const [oldest, newest] = [
      known.toSorted((a, b) => a.minor - b.minor)[0],
      known.toSorted((a, b) => b.minor - a.minor)[0],
    ];
    if (oldest && newest && newest.minor - oldest.minor > MAX_APART)
      findings.push({
        severity: "warning",
        about: `members ${oldest.name} and ${newest.name}`,
        seen: `They run Kubernetes ${oldest.version} and ${newest.version}.`,
        fix: "Upgrade the older one, so that one template fits both.",
        commands: ["flotilla status"],
      });
    const silent = clusters
      .filter(({ status }) => minorOf(status?.kubernetesVersion ?? "") === undefined)
      .map(({ metadata }) => metadata.name);
    const versions = [...new Set(known.map(({ version }) => version))].toSorted();
    return {
      seen:
        known.length === 0
          ? "no member has reported its version"
          : `${counted(known.length, "member")} with ${listed(versions, 3)}`,
      findings,
      unseen: silent.map((name) => `${name} has not reported its version`),
    };
  },
});

function minorOf(version: string): number | undefined {
  const [, minor] = /^v?1\.(\d+)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(minor);
}
