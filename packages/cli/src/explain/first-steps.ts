/** The steps that follow the one that a plan shows. Pure. */
import { objectTitle } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetPlan, MemberChange } from "@flotilla/flotilla";
import { clusterNameOf } from "@flotilla/karmada";
import { LEAVING_ORDINALS, openRollout, steppedReturn } from "@flotilla/openkruise";
import { counted } from "../text-layout.ts";

type Object = DeepReadonly<KubernetesObject>;

/** Later steps that a plan cannot show, because they depend on what members report about the first. */
export function firstSteps({ templates }: FleetPlan, changes: readonly MemberChange[]): string[] {
  const changing = new Set(changes.map(({ object: { kind, namespace = "", name } }) => `${kind} ${namespace}/${name}`));
  return templates.flatMap(({ template, works }) => {
    if (!changing.has(`${template.kind} ${template.metadata.namespace ?? ""}/${template.metadata.name}`)) return [];
    const copiesIn = ({ spec }: (typeof works.after)[number]): Object[] =>
      (spec.workload?.manifests ?? []) as unknown as Object[];
    const open = openRollout(works.after.flatMap(copiesIn));
    const returns = works.after.flatMap((work) => {
      const pods = copiesIn(work).flatMap((copy) => steppedReturn(copy) ?? [])[0];
      const cluster = clusterNameOf(work.metadata.namespace ?? "");
      return pods === undefined || cluster === undefined ? [] : [`${counted(pods, "pod")} on ${cluster}`];
    });
    const moving = works.after.flatMap((work) => {
      const ordinals = leavingOrdinals(copiesIn(work));
      const cluster = clusterNameOf(work.metadata.namespace ?? "");
      const isNew = !works.before.some((old) => leavingOrdinals(copiesIn(old)) === ordinals);
      return ordinals !== undefined && cluster !== undefined && isNew ? [`${ordinals} on ${cluster}`] : [];
    });
    return [
      ...(moving.length > 0
        ? [
            `${objectTitle(template)}: the first step ends the pods with the ordinals ${moving.join(", ")}; the members ` +
              "that take them over, by the new shares, start them when they are gone",
          ]
        : []),
      ...(open
        ? [
            `${objectTitle(template)}: this is the first step, which updates ${open.updated} of ${open.demanded} pods; the others follow as members report`,
          ]
        : []),
      ...(returns.length > 0
        ? [
            `${objectTitle(template)}: this rolls back ${returns.join(", ")} to the templates that the pods ` +
              "ran before; pods of several earlier templates run there, so the first step only counts them, " +
              "and the other steps follow as members report",
          ]
        : []),
    ];
  });
}

/** The ordinals that a member releases, such as `1-2`; without the generation of its object. */
const leavingOrdinals = (copies: readonly Object[]): string | undefined =>
  copies[0]?.metadata.annotations?.[LEAVING_ORDINALS]?.split("@")[0];
