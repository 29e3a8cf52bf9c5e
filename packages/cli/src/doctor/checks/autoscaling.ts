/** Reports autoscalers of the fleet that do not scale, and quotas that are exceeded or have no effect. */
import { Cluster, CronFederatedHpa, FederatedHpa, FederatedResourceQuota } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { reportAutoscaler, reportCron, targetOfAutoscaler, unreadMembers } from "../../health/autoscalers.ts";
import { reportQuota } from "../../health/federated-quotas.ts";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

interface ScalingFacts {
  autoscalers: readonly DeepReadonly<FederatedHpa>[];
  crons: readonly DeepReadonly<CronFederatedHpa>[];
  quotas: readonly DeepReadonly<FederatedResourceQuota>[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
}

export const autoscalingCheck = defineCheck<ScalingFacts>({
  name: "autoscaling",
  summary: "FederatedHPAs and CronFederatedHPAs scale their targets, and quotas are kept",
  reports:
    "A problem for each FederatedHPA that has not been able to scale its target for longer than " +
    "`--stuck-after`: the target or its policy does not exist, metrics are missing, or it was never " +
    "evaluated; and for each rule of a CronFederatedHPA whose last run failed. A warning for a " +
    "FederatedHPA that has been at its maximum for more than fifteen minutes, whose last evaluation did " +
    "not read all members, or whose target another one scales, too. A warning for each " +
    "FederatedResourceQuota whose namespace uses more than it allows, and a problem for one that assigns a " +
    "part to a cluster that is not a member.",
  async gather({ lists }) {
    const [autoscalers, crons, quotas, clusters] = await Promise.all([
      lists.all(FederatedHpa),
      lists.all(CronFederatedHpa),
      lists.all(FederatedResourceQuota),
      lists.all(Cluster),
    ]);
    return { autoscalers, crons, quotas, joined: new Set(clusters.map(({ metadata }) => metadata.name)) };
  },
  judge({ autoscalers, crons, quotas, joined }, { nowMs, stuckAfterMs }) {
    const byTarget = Map.groupBy(autoscalers, (each) => `${each.metadata.namespace ?? ""}/${targetOfAutoscaler(each)}`);
    const findings = [
      ...autoscalers.flatMap((each) => {
        const reports = reportAutoscaler(each, nowMs, stuckAfterMs);
        const unread = reports.length === 0 ? unreadMembers(each) : undefined;
        const [first, ...others] = byTarget.get(`${each.metadata.namespace ?? ""}/${targetOfAutoscaler(each)}`) ?? [];
        return [
          ...reports.map(({ problem, what, try: remedy }) =>
            findingOf(each, problem === "autoscaler failing" ? "problem" : "warning", what, remedy),
          ),
          ...(unread === undefined
            ? []
            : [findingOf(each, "warning", `its last evaluation did not read ${unread}`, "bring the members back")]),
          ...(first === each && others.length > 0
            ? [
                findingOf(
                  each,
                  "warning",
                  `${others.map(({ metadata }) => metadata.name).join(", ")} scale${others.length === 1 ? "s" : ""} ${targetOfAutoscaler(each)}, too`,
                  "keep one of them; it may have several metrics",
                ),
              ]
            : []),
        ];
      }),
      ...crons.flatMap((each) =>
        reportCron(each, nowMs).map(({ what, try: remedy }) => findingOf(each, "problem", what, remedy)),
      ),
      ...quotas.flatMap((each) =>
        reportQuota(each, (name) => joined.has(name)).map(({ problem, what, try: remedy }) =>
          findingOf(each, problem === "quota exceeded" ? "warning" : "problem", what, remedy),
        ),
      ),
    ];
    return {
      seen: `${counted(autoscalers.length, "FederatedHPA")}, ${counted(crons.length, "CronFederatedHPA")}, ${counted(quotas.length, "FederatedResourceQuota")}`,
      findings,
    };
  },
});

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function findingOf(
  object: DeepReadonly<KubernetesObject>,
  severity: DoctorFinding["severity"],
  seen: string,
  fix: string,
): DoctorFinding {
  const { kind, metadata } = object;
  const where = metadata.namespace ? ` -n ${metadata.namespace}` : "";
  return {
    severity,
    about: `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`,
    seen: sentence(seen),
    fix: sentence(fix),
    commands: [`kubectl describe ${wordOf(object)} ${metadata.name}${where}`],
  };
}
