/** The steps that follow the one that a plan shows. Pure. */
import { objectTitle } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetPlan, MemberChange, TemplatePlan } from "@flotilla/flotilla";
import { clusterNameOf } from "@flotilla/karmada";
import { LEAVING_ORDINALS, movingOrdinals, openRollout, steppedReturn } from "@flotilla/openkruise";
import { counted } from "../text-layout.ts";

type Object = DeepReadonly<KubernetesObject>;

/** Later steps that a plan cannot show, because they depend on what members report about the first. */
export function firstSteps({ templates }: FleetPlan, changes: readonly MemberChange[]): string[] {
  const changing = new Set(changes.map(({ object: { kind, namespace = "", name } }) => `${kind} ${namespace}/${name}`));
  return templates.flatMap(({ template, binding, works }) => {
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
            `${objectTitle(template)}: the first step ends the pods with the ordinals ${moving.join(", ")}` +
              takenOver(movingOrdinals(template, sharesAfter(binding, works.after))),
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

/** Which members start the pods that end on others, and when. */
function takenOver(moving: ReturnType<typeof movingOrdinals>): string {
  if (moving.length === 0) return "";
  const byMember = Map.groupBy(moving, ({ to }) => to);
  const parts = Array.from(byMember, ([to, from]) => `${from.map(({ ordinals }) => ordinals).join(",")} on ${to}`);
  return `; when they are gone, they start again as ${parts.join(", ")}`;
}

/** Each member with the copy that it gets first. One that leaves keeps its copy until nothing of it runs there. */
function sharesAfter(
  binding: TemplatePlan["binding"],
  works: TemplatePlan["works"]["after"],
): Parameters<typeof movingOrdinals>[1] {
  const copies = new Map(
    works.map(({ metadata, spec }) => [
      clusterNameOf(metadata.namespace ?? "") ?? "",
      spec.workload?.manifests?.[0] as unknown as Object | undefined,
    ]),
  );
  const targets = binding?.spec.clusters ?? [];
  const names = new Set(targets.map(({ name }) => name));
  return [
    ...targets.map(({ name, replicas = 0 }) => ({ cluster: name, replicas, copy: copies.get(name) })),
    ...[...copies].flatMap(([cluster, copy]) =>
      names.has(cluster) ? [] : [{ cluster, replicas: 0, leaving: true as const, copy }],
    ),
  ];
}
