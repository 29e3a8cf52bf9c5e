/**
 * Says whether definitions are served. A name belongs to the first definition of its group that asked for it; whoever
 * comes later waits until it is free. A definition whose names are all accepted is established, and stays so: its
 * objects are there.
 *
 * Reads: the definitions of a cluster, in one group.
 * Writes: their status (accepted names, conditions), as a write of its own, like the controllers of the real server.
 */
import { APPROVAL, approvalOf, isProtectedGroup } from "../../api/index.ts";
import { equalJson, formatTime, invariant } from "../../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../../base/index.ts";
import { isNotFound } from "../../machinery/index.ts";
import type { Cache } from "../../store/index.ts";
import type { ClusterRegistry, LogicalCluster } from "../clusters/clusters.ts";
import { ACCEPTED, CRD_GROUP, CRD_PLURAL, ESTABLISHED, conditionOf } from "./crd.ts";
import type { Definition, DefinitionCondition, DefinitionNames } from "./crd.ts";
import { isOfLayer } from "../clusters/layer.ts";
import { isMarker } from "../clusters/objects.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../read/render.ts";
import { clusterOfKey } from "../clusters/resources.ts";

export interface DefinitionStatus {
  /**
   * Looks at the names of a group's definitions and writes what changed. Resolves when everything that can be served
   * is.
   */
  settle(cluster: LogicalCluster, group: string): Promise<void>;
  /** The same for every definition that a crash kept from getting its status. */
  settleAll(): Promise<void>;
}

interface Dependencies {
  cache: Cache;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  /** Changes the status of a definition. */
  writeStatus(cluster: LogicalCluster, name: string, change: (definition: JsonObject) => JsonObject): Promise<void>;
}

type Status = NonNullable<Definition["status"]>;

interface Present {
  definition: DeepReadonly<Definition>;
  /** Written by the cluster itself, not given with its profile. */
  isOwn: boolean;
}

/** Far more than names can go round among the definitions of a group. */
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
      }))
      .filter(({ definition }) => definition.spec.group === group);
  };

  const statusAmong = (definition: DeepReadonly<Definition>, present: readonly Present[]): Status => {
    const others = present
      .filter((other) => other.definition.metadata.name !== definition.metadata.name)
      .map((other) => other.definition);
    return statusOf(definition, others, formatTime(clock.now()));
  };

  /** The name of the first definition whose status is not what it should be. */
  const findStale = (cluster: LogicalCluster, group: string): string | undefined => {
    const present = read(cluster, group);
    return present.find(
      ({ definition, isOwn }) => isOwn && !equalJson(statusAmong(definition, present), definition.status),
    )?.definition.metadata.name;
  };

  const settle = async (cluster: LogicalCluster, group: string): Promise<void> => {
    // A name that is given up may be what others wait for, so everybody is looked at again after each change.
    let writesLeft = MAX_WRITES;
    for (let name = findStale(cluster, group); name !== undefined; name = findStale(cluster, group)) {
      invariant(writesLeft-- > 0, `the definitions of group ${group} come to rest`);
      try {
        await writeStatus(cluster, name, (definition) => ({
          ...definition,
          status: statusAmong(definition as unknown as Definition, read(cluster, group)) as unknown as JsonObject,
        }));
      } catch (error) {
        // Gone meanwhile: its names are free, and the next look sees that.
        if (!isNotFound(error)) throw error;
      }
    }
  };

  return {
    settle,
    async settleAll() {
      // Only what is stored, in one pass and by its bytes: the definitions of profiles have their status, and there may
      // be many clusters.
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

function statusOf(
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

/** Each name is accepted or not on its own; the last conflict is the one that is told. */
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
      ...(singular && { singular }),
      ...(shortNames?.length && { shortNames: [...shortNames] }),
      kind,
      ...(listKind && { listKind }),
      ...(names.categories?.length && { categories: [...names.categories] }),
    },
    naming,
  };
}

/** Groups of the Kubernetes project say whether somebody approved the kind. */
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
