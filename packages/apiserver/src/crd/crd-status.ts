/**
 * Decides whether CRDs are served. A name belongs to the first CRD of its group that requested it; a later CRD waits
 * until the name is free. A CRD whose names are all accepted is established, and stays so, because its objects exist.
 *
 * Reads: the CRDs of a cluster, in one group.
 * Writes: their status (accepted names, conditions), in a separate write, like Kubernetes' controllers.
 */
import { APPROVAL, approvalOf, isProtectedGroup } from "@flotilla/kubernetes";
import { equalJson, formatTime, invariant } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { isNotFound } from "@flotilla/apimachinery";
import type { Cache } from "../store/cache.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { ACCEPTED, CRD_GROUP, CRD_PLURAL, ESTABLISHED, conditionOf } from "../resources/definition.ts";
import type { Definition, DefinitionCondition, DefinitionNames } from "../resources/definition.ts";
import { isOfLayer } from "../clusters/layer.ts";
import { isMarker } from "../clusters/objects.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey } from "../resources/resources.ts";

export interface DefinitionStatus {
  /**
   * Checks the names of a group's CRDs and writes what changed. Resolves when every CRD that can be served is served.
   */
  settle(cluster: LogicalCluster, group: string): Promise<void>;
  /** The same for every CRD that has no status because of a crash. */
  settleAll(): Promise<void>;
}

interface Dependencies {
  cache: Cache;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  /** Updates the status of a CRD. */
  writeStatus(cluster: LogicalCluster, name: string, change: (definition: JsonObject) => JsonObject): Promise<void>;
}

type Status = NonNullable<Definition["status"]>;

interface Present {
  definition: DeepReadonly<Definition>;
  /** Written by the cluster itself, not part of its profile. */
  isOwn: boolean;
  revision: number;
}

/** Far more writes than names can move among the CRDs of a group. */
const MAX_WRITES = 10_000;

export function createDefinitionStatus({ cache, store, clusters, clock, writeStatus }: Dependencies): DefinitionStatus {
  const read = (cluster: LogicalCluster, group: string): Present[] => {
    const definitions = cluster.table.resource(CRD_GROUP, CRD_PLURAL);
    if (!definitions) return [];
    return store
      .list(cluster, definitions)
      .filter(({ key }) => key.endsWith(`.${group}`))
      .map((entry) => ({
        definition: objectIn(entry, definitions.storage) as unknown as DeepReadonly<Definition>,
        isOwn: !isOfLayer(entry, cluster),
        revision: entry.revision,
      }))
      .filter(({ definition }) => definition.spec.group === group);
  };

  const statusAmong = (definition: DeepReadonly<Definition>, present: readonly Present[]): Status => {
    const others = present
      .filter((other) => other.definition.metadata.name !== definition.metadata.name)
      .map((other) => other.definition);
    return statusOf(definition, others, formatTime(clock.now()));
  };

  /**
   * The name of the CRD with an outdated status that was written first: it requested its names before the others. Every
   * server that sees a CRD sees all that were written before it, so several servers of one store decide alike.
   */
  const findStale = (cluster: LogicalCluster, group: string): string | undefined => {
    const present = read(cluster, group);
    return present
      .toSorted((a, b) => a.revision - b.revision)
      .find(({ definition, isOwn }) => isOwn && !equalJson(statusAmong(definition, present), definition.status))
      ?.definition.metadata.name;
  };

  const settle = async (cluster: LogicalCluster, group: string): Promise<void> => {
    // Other CRDs may wait for a released name, so all are checked again after each change.
    let writesLeft = MAX_WRITES;
    for (let name = findStale(cluster, group); name !== undefined; name = findStale(cluster, group)) {
      invariant(writesLeft-- > 0, `the status of the CRDs of group ${group} must converge`);
      try {
        await writeStatus(cluster, name, (definition) => ({
          ...definition,
          status: statusAmong(definition as unknown as Definition, read(cluster, group)) as unknown as JsonObject,
        }));
      } catch (error) {
        // Deleted in the meantime: its names are free, and the next check sees that.
        if (!isNotFound(error)) throw error;
      }
    }
  };

  return {
    settle,
    async settleAll() {
      // Only stored CRDs, in one pass and by their bytes: CRDs of profiles have their status, and there may be many
      // clusters.
      const waiting = cache
        .list(`/${CRD_GROUP}/${CRD_PLURAL}/`)
        .filter((entry) => !isMarker(entry) && !Buffer.from(entry.value).includes('"NamesAccepted"'));
      for (const entry of waiting) {
        const cluster = clusters.get(clusterOfKey(entry.key));
        const definitions = cluster?.table.resource(CRD_GROUP, CRD_PLURAL);
        if (cluster && definitions)
          await settle(cluster, (objectIn(entry, definitions.storage) as unknown as Definition).spec.group);
      }
    },
  };
}

/** The status of a CRD among the other CRDs of its group. Pure. */
export function statusOf(
  definition: DeepReadonly<Definition>,
  others: readonly DeepReadonly<Definition>[],
  now: string,
): Status {
  const { status } = definition;
  const { acceptedNames, naming } = acceptNames(definition, others);
  const conditions = (status?.conditions ?? []).map((condition) => ({ ...condition }));
  const set = (condition: DefinitionCondition): void => {
    const current = conditions.find(({ type }) => type === condition.type);
    if (!current)
      conditions.push({
        type: condition.type,
        status: condition.status,
        lastTransitionTime: now,
        reason: condition.reason ?? "",
        message: condition.message ?? "",
      });
    else Object.assign(current, condition, current.status !== condition.status && { lastTransitionTime: now });
  };
  set(naming);
  const isEstablished = conditionOf(definition, "Established")?.status === "True";
  if (!isEstablished && naming.status === "True") set(ESTABLISHED);
  else if (!isEstablished && !conditionOf(definition, "Established"))
    set({ type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" });
  const approval = approvalCondition(definition);
  if (approval) set(approval);
  return { ...(status as Status | undefined), conditions, acceptedNames };
}

/** Each name is accepted or rejected separately; the last conflict is reported. */
function acceptNames(
  { spec: { names }, status }: DeepReadonly<Definition>,
  others: readonly DeepReadonly<Definition>[],
): { acceptedNames: DefinitionNames; naming: DefinitionCondition } {
  const before: DeepReadonly<DefinitionNames> = status?.acceptedNames ?? { plural: "", kind: "" };
  const words = new Set<string>();
  const kinds = new Set<string>();
  for (const { status: other } of others) {
    const { plural = "", singular = "", shortNames = [], kind = "", listKind = "" } = other?.acceptedNames ?? {};
    for (const word of [plural, singular, ...shortNames]) words.add(word);
    for (const word of [kind, listKind]) kinds.add(word);
  }
  let naming: DefinitionCondition = ACCEPTED;
  const refuse = (reason: string, taken: readonly string[]): void => {
    const texts = taken.map((name) => `${JSON.stringify(name)} is already in use`);
    naming = {
      type: "NamesAccepted",
      status: "False",
      reason,
      message: texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`,
    };
  };
  const choose = (wanted: string, current: string, used: ReadonlySet<string>, reason: string): string => {
    if (wanted === current || !used.has(wanted)) return wanted;
    refuse(reason, [wanted]);
    return current;
  };
  const plural = choose(names.plural, before.plural, words, "PluralConflict");
  const singular = choose(names.singular ?? "", before.singular ?? "", words, "SingularConflict");
  const taken = (names.shortNames ?? []).filter((name) => !before.shortNames?.includes(name) && words.has(name));
  if (taken.length > 0) refuse("ShortNamesConflict", taken);
  const shortNames = taken.length > 0 ? before.shortNames : names.shortNames;
  const kind = choose(names.kind, before.kind, kinds, "KindConflict");
  const listKind = choose(names.listKind ?? "", before.listKind ?? "", kinds, "ListKindConflict");
  return {
    acceptedNames: {
      plural,
      singular: singular || undefined,
      shortNames: shortNames?.length ? [...shortNames] : undefined,
      kind,
      listKind: listKind || undefined,
      categories: names.categories?.length ? [...names.categories] : undefined,
    },
    naming,
  };
}

/** CRDs in groups of the Kubernetes project report whether they are approved. */
function approvalCondition(definition: DeepReadonly<Definition>): DefinitionCondition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined;
  const value = definition.metadata.annotations?.[APPROVAL] ?? "";
  const condition = (status: "True" | "False", reason: string, message: string): DefinitionCondition => ({
    type: "KubernetesAPIApprovalPolicyConformant",
    status,
    reason,
    message,
  });
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  switch (approvalOf(definition)) {
    case "approved":
      return condition("True", "ApprovedAnnotation", `approved in ${value}`);
    case "bypassed":
      return condition("False", "UnapprovedAnnotation", `not approved: ${JSON.stringify(value)}`);
    case "missing":
      return condition(
        "False",
        "MissingAnnotation",
        `protected groups must have approval annotation "${APPROVAL}", ${see}`,
      );
    default:
      return condition(
        "False",
        "InvalidAnnotation",
        `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${see}`,
      );
  }
}
