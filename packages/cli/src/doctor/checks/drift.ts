/** Reports objects that were changed on members. */
import { findCondition, formatAge } from "@flotilla/apimachinery";
import { clusterNameOf, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

/** A recent change may happen again; repairs older than this are ignored. */
const RECENT_MS = 3_600_000;

export const driftCheck = defineCheck<readonly DeepReadonly<Work>[]>({
  name: "drift",
  summary: "members' copies match the hub's desired state",
  reports:
    "A warning for each Work with `Drifted=True` (the object was changed on the member, and " +
    "`flotilla.dev/drift: report` keeps the change), for fields that were repaired within the last hour, " +
    "and for unmanaged objects (`flotilla.dev/unmanaged`).",
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
            fix: "Add the change to the template, or let the hub revert it.",
            commands: [`kubectl annotate ${template} flotilla.dev/drift=repair --overwrite`],
          },
        ];
      if (drifted?.reason === "Repaired" && age < RECENT_MS)
        return [
          {
            severity: "warning",
            about: `Work ${work.metadata.name} on ${member}`,
            seen: `Reverted ${formatAge(age)} ago: ${drifted.message}`,
            fix: "Find the client that changes it on the member, or add the value to the template or an override.",
            commands: [`flotilla why ${template.replace(" ", "/")}`],
          },
        ];
      if (managed?.status === "False")
        return [
          {
            severity: "warning",
            about: `Work ${work.metadata.name} on ${member}`,
            seen: `It is unmanaged: ${(managed.message || managed.reason).replace(/\.$/, "")}. Changes on the hub are not applied to it.`,
            fix: "To manage it again, remove the annotation from its template.",
            commands: [`kubectl annotate ${template} flotilla.dev/unmanaged-`],
          },
        ];
      return [];
    });
    return { seen: `${counted(works.length, "Work")}, ${findings.length} changed on members`, findings };
  },
});

/** As in kubectl: `deployment web -n shop`. */
function templateOf({ spec }: DeepReadonly<Work>): string {
  const {
    apiVersion = "",
    kind = "TYPE",
    metadata,
  } = (spec.workload?.manifests?.[0] ?? {}) as {
    apiVersion?: string;
    kind?: string;
    metadata?: { namespace?: string; name?: string };
  };
  return `${wordOf({ apiVersion, kind })} ${metadata?.name ?? "NAME"}${metadata?.namespace ? ` -n ${metadata.namespace}` : ""}`;
}
