/** Why an object is not healthy on the hub while all of its members are, from what is seen on both. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { RETAIN_REPLICAS } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { whyUnhealthy } from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import { isLeftByPolicy, LEFT_COPIES } from "../health/lost-targets.ts";
import { nameMembers } from "../health/name-members.ts";
import { objectOf } from "@flotilla/base";

type Template = DeepReadonly<KubernetesObject>;
type Binding = DeepReadonly<ResourceBinding>;

export interface SeenCopy {
  cluster: string;
  /** Unset if the copy has none, or could not be read. */
  replicas?: number | undefined;
}

/** Rules of users that decide the status on the hub. */
const STATUS_RULES = [
  ["reflectStatus", "ReflectStatus"],
  ["aggregateStatus", "AggregateStatus"],
] as const;

/** The replicas that an object asks for; undefined for objects without replicas. */
export function replicasOf(object: object): number | undefined {
  const { replicas } = objectOf((object as JsonObject)["spec"]);
  return typeof replicas === "number" ? replicas : undefined;
}

const LEFT = `no policy selects it any longer: ${LEFT_COPIES}`;

/** Why members never get its replicas, whatever else they report: they changed after its policy was deleted. */
export function leftReason(template: Template, binding: Binding): string | undefined {
  const wanted = replicasOf(template);
  return isLeftByPolicy(binding) && wanted !== undefined && wanted !== binding.spec.replicas ? LEFT : undefined;
}

/** The causes that do not pass by themselves come first; what is left is a status that the hub has not written yet. */
export function unhealthyOnHub(
  template: Template,
  binding: Binding,
  copies: readonly SeenCopy[],
  interpreter: Pick<Interpreter, "ownerOf">,
): string {
  return (
    (isLeftByPolicy(binding) ? LEFT : undefined) ??
    unplacedReason(binding) ??
    otherReplicasReason(template, binding, copies, interpreter) ??
    ruleReason(binding, interpreter) ??
    laggingReason(template)
  );
}

/** Its members run what was placed before. */
function unplacedReason({ status }: Binding): string | undefined {
  const scheduled = findCondition(status?.conditions, "Scheduled");
  return (scheduled?.status === "False" && scheduled.message) || undefined;
}

/** The copies that have other replicas than were placed there. */
export function otherReplicas(
  { spec }: Pick<Binding, "spec">,
  copies: readonly SeenCopy[],
): { cluster: string; text: string }[] {
  const placed = new Map(spec.clusters?.map(({ name, replicas }) => [name, replicas]));
  return copies.flatMap(({ cluster, replicas }) => {
    const wanted = placed.get(cluster);
    return replicas === undefined || wanted === undefined || replicas === wanted
      ? []
      : [{ cluster, text: `${replicas} instead of ${wanted}` }];
  });
}

/** Retain rules, autoscalers on members and override policies decide the replicas of a copy after the hub. */
function otherReplicasReason(
  { metadata: { labels } }: Template,
  { spec }: Binding,
  copies: readonly SeenCopy[],
  { ownerOf }: Pick<Interpreter, "ownerOf">,
): string | undefined {
  const other = otherReplicas({ spec }, copies);
  if (other.length === 0) return undefined;
  const where = Array.from(
    Map.groupBy(other, ({ text }) => text),
    ([text, of]) => `${nameMembers(of.map(({ cluster }) => cluster))} ${of.length === 1 ? "has" : "have"} ${text}`,
  );
  const owner = ownerOf("retain", spec.resource);
  const cause =
    owner !== undefined
      ? `; the Retain rule of ${owner} decides what members keep`
      : labels?.[RETAIN_REPLICAS] === "true"
        ? `; the label ${RETAIN_REPLICAS} leaves them to the members`
        : "; an autoscaler on the member or an override policy may decide them";
  return `its members are healthy, but have other replicas than were placed there: ${where.join(", ")}${cause}`;
}

/**
 * A user's rule can report a status that never counts as healthy. The hub runs the rules of the version that the
 * binding names, not of the one that was read.
 */
function ruleReason({ spec: { resource } }: Binding, { ownerOf }: Pick<Interpreter, "ownerOf">): string | undefined {
  const users = STATUS_RULES.flatMap(([rule, operation]) => {
    const owner = ownerOf(rule, resource);
    return owner === undefined ? [] : [`the ${operation} rule of ${owner}`];
  });
  const judge = ownerOf("isHealthy", resource);
  const said = [
    ...(users.length > 0 ? [`the status comes from ${users.join(" and ")}`] : []),
    ...(judge === undefined ? [] : [`the InterpretHealth rule of ${judge} judges it`]),
  ];
  return said.length === 0
    ? undefined
    : `its members are healthy, but its status on the hub is not; ${said.join(", and ")}`;
}

/** What the status on the hub says, which may be from before its members became healthy. */
function laggingReason(template: Template): string {
  const wrong = whyUnhealthy(template, "Unhealthy")?.message;
  return `its members are healthy, but its status on the hub does not say so yet${wrong === undefined ? "" : `: ${wrong}`}`;
}
