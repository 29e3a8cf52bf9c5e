/** Objects on members that somebody changed there. */
import { clusterNameOf, Work } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { findCondition, formatAge } from "../../../machinery/index.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";

/** Whoever changed it once may do so again; what was put back longer ago is history. */
const RECENT_MS = 3_600_000;

export const driftCheck = defineCheck<readonly DeepReadonly<Work>[]>({
  name: "drift",
  summary: "members' copies are as the hub wants them",
  tells:
    "A warning for each Work with `Drifted=True` (somebody changed the object on the member, and `flotilla.dev/drift: report` leaves it so), for fields that were put back within the last hour, and for objects that were let go (`flotilla.dev/unmanaged`).",
  gather: async ({ lists, only }) =>
    (await lists.all(Work)).filter(({ metadata }) => !only || only.has(clusterNameOf(metadata.namespace ?? "") ?? "")),
  judge(works, { nowMs }) {
    const findings = works.flatMap((work): DoctorFinding[] => {
      const member = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      const drifted = findCondition(work.status?.conditions, "Drifted");
      const managed = findCondition(work.status?.conditions, "Managed");
      const template = templateOf(work);
      const age = nowMs - Date.parse(drifted?.lastTransitionTime ?? "");
      if (drifted?.status === "True")
        return [
          {
            severity: "warning",
            about: `Work ${work.metadata.name} on ${member}`,
            seen: `Changed on the member ${formatAge(age)} ago: ${drifted.message}`,
            fix: "Take the change into the template, or let the hub put it back.",
            commands: [`kubectl annotate ${template} flotilla.dev/drift=repair --overwrite`],
          },
        ];
      if (drifted?.reason === "Repaired" && age < RECENT_MS)
        return [
          {
            severity: "warning",
            about: `Work ${work.metadata.name} on ${member}`,
            seen: `Put back ${formatAge(age)} ago: ${drifted.message}`,
            fix: "Find who changes it on the member, or put the value into the template or an override.",
            commands: [`flotilla why ${template.replace(" ", "/")}`],
          },
        ];
      if (managed?.status === "False")
        return [
          {
            severity: "warning",
            about: `Work ${work.metadata.name} on ${member}`,
            seen: `It was let go: ${managed.message || managed.reason}. Changes on the hub do not reach it.`,
            fix: "If that is over, take the annotation off its template.",
            commands: [`kubectl annotate ${template} flotilla.dev/unmanaged-`],
          },
        ];
      return [];
    });
    return { seen: `${counted(works.length, "Work")}, ${findings.length} changed on members`, findings };
  },
});

/** As kubectl names it: `deployment web -n shop`. */
function templateOf({ spec }: DeepReadonly<Work>): string {
  const { kind = "TYPE", metadata } = (spec.workload?.manifests?.[0] ?? {}) as {
    kind?: string;
    metadata?: { namespace?: string; name?: string };
  };
  return `${kind.toLowerCase()} ${metadata?.name ?? "NAME"}${metadata?.namespace ? ` -n ${metadata.namespace}` : ""}`;
}
