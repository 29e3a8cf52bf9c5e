/** Reports Works that members reject. */
import { findCondition, formatAge } from "@flotilla/apimachinery";
import { clusterNameOf, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { isStuck, renderRecent } from "../../health/lasting-failures.ts";
import { ANSWER_PENDING, MEMBER_UNREACHABLE, NO_ANSWER, OSCILLATING, RELEASE_STOPPED } from "@flotilla/flotilla";
import { counted } from "../../text-layout.ts";

export const worksCheck = defineCheck<readonly DeepReadonly<Work>[]>({
  name: "works",
  summary: "members accept the objects sent to them",
  reports:
    "A problem for each Work with `Applied=False` for longer than `--stuck-after`: the member rejected it, " +
    "does not serve its kind, has an unmanaged object of that name, or did not respond. It is reported at " +
    "once if the member's admission denies the object, or if the hub has stopped writing it, such as a " +
    "release that a Retain rule widens (`ReleaseStopped`); others are counted until then. The fix depends " +
    "on the cause.",
  gather: async ({ lists, only }) =>
    (await lists.all(Work)).filter(({ metadata }) => !only || only.has(clusterNameOf(metadata.namespace ?? "") ?? "")),
  judge(works, moment) {
    let recent = 0;
    const findings = works.flatMap((work): DoctorFinding[] => {
      const applied = findCondition(work.status?.conditions, "Applied");
      if (applied?.status !== "False" || work.metadata.deletionTimestamp !== undefined) return [];
      if (!isStuck(applied, moment)) {
        recent += 1;
        return [];
      }
      const member = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      return [
        {
          severity: "problem",
          about: `${objectIn(work)} on ${member}`,
          seen: `${applied.message} (${applied.reason}, for ${formatAge(moment.nowMs - Date.parse(applied.lastTransitionTime))})`,
          ...fixOf(work, member, applied),
        },
      ];
    });
    return {
      seen: `${counted(works.length, "Work")}, ${findings.length} not applied${renderRecent(recent, moment)}`,
      findings,
    };
  },
});

type Manifest = { apiVersion?: string; kind?: string; metadata?: { namespace?: string; name?: string } };

const manifestOf = ({ spec }: DeepReadonly<Work>): Manifest => spec.workload?.manifests?.[0] ?? {};

/** The object that a Work delivers. */
export function objectIn(work: DeepReadonly<Work>): string {
  const { kind, metadata } = manifestOf(work);
  return kind === undefined
    ? `Work ${work.metadata.name}`
    : `${kind} ${metadata?.namespace ? `${metadata.namespace}/` : ""}${metadata?.name ?? ""}`;
}

function fixOf(
  work: DeepReadonly<Work>,
  member: string,
  { reason, message }: { reason: string; message: string },
): Pick<DoctorFinding, "fix" | "commands"> {
  const { apiVersion = "", kind = "", metadata } = manifestOf(work);
  const word = wordOf({ apiVersion, kind });
  const [name, namespace] = [metadata?.name ?? "NAME", metadata?.namespace ? ` -n ${metadata.namespace}` : ""];
  if (reason === "KindNotServed")
    return {
      fix: "Propagate its CRD to the member.",
      commands: [`flotilla doctor --only apis --clusters ${member}`],
    };
  if (reason === MEMBER_UNREACHABLE || reason === NO_ANSWER || reason === ANSWER_PENDING)
    return {
      fix: "Restore the member; the Work is then applied.",
      commands: [`flotilla doctor --only members --clusters ${member}`],
    };
  if (reason === RELEASE_STOPPED)
    return {
      fix:
        "The hub does not send the release. Remove the field from the Retain rule, set it on the member, or, if " +
        "the members should decide, remove the partition from the template.",
      commands: [`flotilla why ${word}/${name}${namespace}`],
    };
  if (reason === OSCILLATING)
    return {
      fix:
        "The hub no longer writes the object. Correct the rule or policy that gives another result each time; " +
        "writing continues when the template, a policy or a rule of its kind changes.",
      commands: [`flotilla why ${word}/${name}${namespace}`],
    };
  if (/already exist|not managed|not.*ours|conflict/i.test(message))
    return {
      fix:
        "The member has an object of this name that Flotilla did not create. Adopt it, which changes no pod, or " +
        "set conflictResolution: Overwrite in the policy.",
      commands: [`flotilla adopt ${word}/${name}${namespace} --from ${member} --dry-run`],
    };
  return {
    fix: "The message is from the member: change the template, or an override for this member, so that the member accepts it.",
    commands: [`flotilla why ${word}/${name}${namespace}`],
  };
}
