/** Works that members refuse. */
import { clusterNameOf, Work } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { findCondition, formatAge } from "../../../machinery/index.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";

export const worksCheck = defineCheck<readonly DeepReadonly<Work>[]>({
  name: "works",
  summary: "members take what is sent to them",
  tells:
    "A problem for each Work with `Applied=False` for longer than `--patience`: the member refused it, does not serve its kind, has an object of that name which is not ours, or did not answer. The fix depends on which.",
  gather: async ({ lists, only }) =>
    (await lists.all(Work)).filter(({ metadata }) => !only || only.has(clusterNameOf(metadata.namespace ?? "") ?? "")),
  judge(works, { nowMs, patienceMs }) {
    const findings = works.flatMap((work): DoctorFinding[] => {
      const applied = findCondition(work.status?.conditions, "Applied");
      if (
        applied?.status !== "False" ||
        work.metadata.deletionTimestamp !== undefined ||
        nowMs - Date.parse(applied.lastTransitionTime) <= patienceMs
      )
        return [];
      const member = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      return [
        {
          severity: "problem",
          about: `${objectIn(work)} on ${member}`,
          seen: `${applied.reason} for ${formatAge(nowMs - Date.parse(applied.lastTransitionTime))}: ${applied.message}`,
          ...cureOf(work, member, applied),
        },
      ];
    });
    return { seen: `${counted(works.length, "Work")}, ${findings.length} not applied`, findings };
  },
});

type Manifest = { apiVersion?: string; kind?: string; metadata?: { namespace?: string; name?: string } };

const manifestOf = ({ spec }: DeepReadonly<Work>): Manifest => spec.workload?.manifests?.[0] ?? {};

function objectIn(work: DeepReadonly<Work>): string {
  const { kind, metadata } = manifestOf(work);
  return kind === undefined
    ? `Work ${work.metadata.name}`
    : `${kind} ${metadata?.namespace ? `${metadata.namespace}/` : ""}${metadata?.name ?? ""}`;
}

function cureOf(
  work: DeepReadonly<Work>,
  member: string,
  { reason, message }: { reason: string; message: string },
): Pick<DoctorFinding, "fix" | "commands"> {
  const { kind = "", metadata } = manifestOf(work);
  const [name, namespace] = [metadata?.name ?? "NAME", metadata?.namespace ? ` -n ${metadata.namespace}` : ""];
  if (reason === "KindNotServed")
    return {
      fix: "Bring its definition to the member.",
      commands: [`flotilla doctor --only apis --clusters ${member}`],
    };
  if (reason === "MemberUnreachable" || reason === "NoAnswer" || reason === "AnswerPending")
    return {
      fix: "Bring the member back; the Work is delivered then.",
      commands: [`flotilla doctor --only members --clusters ${member}`],
    };
  if (/already exist|not managed|not.*ours|conflict/i.test(message))
    return {
      fix: "The member has an object of this name that Flotilla did not make. Adopt it, which changes no pod, or let the policy say conflictResolution: Overwrite.",
      commands: [`flotilla adopt ${kind.toLowerCase()}/${name}${namespace} --from ${member} --dry-run`],
    };
  return {
    fix: "The message is the member's own: change the template, or an override for this member, so that it is taken.",
    commands: [`flotilla why ${kind.toLowerCase()}/${name}${namespace}`],
  };
}
