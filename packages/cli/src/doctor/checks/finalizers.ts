/** Reports objects that are stuck in deletion. */
import { AppliedManifestWork, ManagedCluster, ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { Cluster, clusterNameOf, ClusterResourceBinding, ResourceBinding, Work } from "@flotilla/karmada";
import { findCondition, formatAge, HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { capitalised } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { TERMINATING } from "@flotilla/flotilla";
import { remainingIn } from "../../health/deleted-namespaces.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import type { DoctorContext } from "../context.ts";
import { fixOf } from "../finalizer-owners.ts";
import type { Deleting } from "../finalizer-owners.ts";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import { counted } from "../../text-layout.ts";

/** The kinds that get stuck most often; the kinds of templates are added from the bindings. */
const KINDS: readonly Kind[] = [
  Namespace,
  Cluster,
  ManagedCluster,
  ResourceBinding,
  ClusterResourceBinding,
  Work,
  ManifestWork,
  ManifestWorkReplicaSet,
  AppliedManifestWork,
  CustomResourceDefinition,
] as readonly Kind[];

export interface DeletingFacts {
  looked: number;
  deleting: readonly Deleting[];
  unseen: readonly string[];
}

/** Twice the limit of `--stuck-after` is a problem. */
const PROBLEM_FACTOR = 2;

export const finalizersCheck = defineCheck<DeletingFacts>({
  name: "finalizers",
  summary: "no deletion is blocked by a finalizer",
  reports:
    "Reports Namespaces, Clusters, ManagedClusters, bindings, Works, ManifestWorks, CRDs and templates " +
    "whose deletion takes longer than `--stuck-after` (a warning) or twice as long (a problem): which " +
    "finalizer blocks it, which component removes the finalizer, and what to do.",
  async gather(context) {
    const unseen: string[] = [];
    const kinds = [...KINDS, ...(await templateKinds(context))];
    const lists = await Promise.all(
      kinds.map(async (kind) => {
        try {
          return (await context.lists.all(kind)).map((object) => ({ kind, object }));
        } catch (error) {
          context.signal.throwIfAborted();
          unseen.push(error instanceof Error ? error.message : String(error));
          return [];
        }
      }),
    );
    const all = lists.flat();
    return { looked: all.length, deleting: all.flatMap(({ kind, object }) => deletingOf(kind, object)), unseen };
  },
  judge({ looked, deleting, unseen }, { nowMs, stuckAfterMs }) {
    const stuck = deleting
      .filter(({ sinceMs }) => nowMs - sinceMs > stuckAfterMs)
      .toSorted((a, b) => a.sinceMs - b.sinceMs);
    const findings = stuck.map((object): DoctorFinding => {
      const { who, fix, commands } = fixOf(object);
      const held =
        object.finalizers.length > 0
          ? `held by ${object.finalizers.join(", ")}.${object.remaining ? ` ${object.remaining}` : ""} ${who}`
          : `held by no finalizer, and still present.${object.remaining ? ` ${object.remaining}` : ""}`;
      return {
        severity: nowMs - object.sinceMs > PROBLEM_FACTOR * stuckAfterMs ? "problem" : "warning",
        about: `${object.kind} ${object.namespace ? `${object.namespace}/` : ""}${object.name}`,
        seen: `It has been deleting for ${formatAge(nowMs - object.sinceMs)}, ${held}`,
        fix,
        commands,
      };
    });
    return {
      seen: `${counted(looked, "object")} checked, ${deleting.length} being deleted, ${stuck.length} of them stuck`,
      findings,
      unseen,
    };
  },
});

/** The kinds that are propagated: a template with a finalizer blocks its binding and its works. */
async function templateKinds({ client, lists }: DoctorContext): Promise<Kind[]> {
  const resolver = createKindResolver({ client, cluster: HUB });
  const refs = new Map(
    (await lists.all(ResourceBinding)).map(({ spec: { resource } }) => [
      `${resource.apiVersion}/${resource.kind}`,
      resource,
    ]),
  );
  const found = await Promise.all(
    [...refs.values()].map(async ({ apiVersion, kind }) => {
      try {
        return [await resolver.resolve({ apiVersion, kind })];
      } catch (error) {
        if (error instanceof UnknownKindError) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

interface Said {
  type: string;
  status: string;
  message?: string;
}

/** What holds the object of a Work on its member, or the Works of a binding on the hub. */
const HOLDING: ReadonlyMap<string, string> = new Map([
  [Work.kind, "Applied"],
  [ResourceBinding.kind, "Dispatched"],
  [ClusterResourceBinding.kind, "Dispatched"],
]);

function heldBy(kind: Kind, conditions: readonly Said[] | undefined): string {
  const condition = findCondition(conditions, HOLDING.get(kind.kind) ?? "");
  return condition?.status === "False" && condition.message ? `${capitalised(condition.message)}.` : "";
}

/** Which object a finalizer holds on the member, as for `flotilla get`. */
function heldThere(kind: Kind, object: DeepReadonly<KubernetesObject>): string | undefined {
  if (kind.kind !== Work.kind || kind.group !== Work.group) return undefined;
  const { spec, status } = object as DeepReadonly<Work>;
  const [copy] = (spec.workload?.manifests ?? []) as unknown as readonly DeepReadonly<KubernetesObject>[];
  if (!copy || findCondition(status?.conditions, "Applied")?.reason !== TERMINATING) return undefined;
  const { group } = parseApiVersion(copy.apiVersion);
  const { namespace, name } = copy.metadata;
  return `${copy.kind.toLowerCase()}${group ? `.${group}` : ""}/${name}${namespace ? ` -n ${namespace}` : ""}`;
}

function deletingOf(kind: Kind, object: DeepReadonly<KubernetesObject>): Deleting[] {
  const { deletionTimestamp, finalizers = [], namespace, name } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  const { spec, status } = object as {
    spec?: { finalizers?: readonly string[] };
    status?: { conditions?: readonly Said[] };
  };
  const isNamespace = kind.group === "" && kind.kind === "Namespace";
  const remaining = isNamespace ? remainingIn(status?.conditions) : heldBy(kind, status?.conditions);
  const member = clusterNameOf(namespace ?? "") ?? (kind.kind === "ManifestWork" ? namespace : undefined);
  return [
    {
      type: `${kind.plural}${kind.group ? `.${kind.group}` : ""}`,
      kind: kind.kind,
      namespace,
      name,
      sinceMs: Date.parse(deletionTimestamp),
      finalizers: isNamespace && finalizers.length === 0 ? (spec?.finalizers ?? []) : finalizers,
      remaining: remaining !== "" ? remaining : undefined,
      heldThere: heldThere(kind, object),
      member,
    },
  ];
}
