/**
 * Plans the objects of Open Cluster Management among the manifests: what ManifestWorks change on their members. The
 * hub tries the manifests inside a work in a dry run of their own, so that mistakes show before a member rejects them.
 */
import { ApiError, gvkOf, HUB, isAnsweredElsewhere, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { manifestsOf, planWorkChanges } from "@flotilla/flotilla";
import type { MemberChange } from "@flotilla/flotilla";
import { Namespace } from "@flotilla/kubernetes";
import { ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { isForbidden } from "../members/members-places.ts";
import type { Applied } from "./apply-input.ts";
import { createDryRunClient } from "./dry-run-client.ts";
import type { PlanProblem } from "./own-changes.ts";

type Object = DeepReadonly<KubernetesObject>;
type Work = DeepReadonly<ManifestWork>;

export interface OcmChanges {
  changes: MemberChange[];
  problems: PlanProblem[];
  notes: string[];
  /** Changed objects whose effect on members is not planned. */
  unplanned: string[];
}

const TRIED = { fieldManager: "kubectl", force: true, fieldValidation: "Strict" } as const;

export async function planOcmChanges(
  client: Client,
  applied: readonly Applied[],
  signal: AbortSignal,
): Promise<OcmChanges> {
  const planned: OcmChanges = { changes: [], problems: [], notes: [], unplanned: [] };
  const changed = applied.filter(({ outcome }) => outcome !== "unchanged");
  const works = changed.filter(({ object }) => isOf(ManifestWork, object));
  const kinds = await kindsOf(
    client,
    works.flatMap(({ before, object }) => [...manifestsIn(before), ...manifestsIn(object)]),
  );
  for (const { before, object } of works) {
    const { changes, notes } = planWorkChanges(
      before as Work | undefined,
      object as Work,
      (manifest) => kinds.get(idOf(manifest))?.plural,
    );
    planned.changes.push(...changes);
    planned.notes.push(...notes);
    planned.problems.push(...(await tryManifests(client, object, kinds, signal)));
  }
  planned.unplanned = changed
    .filter(({ object }) => isOf(ManifestWorkReplicaSet, object) || isOf(OcmPlacement, object))
    .map(({ object }) => titleOf(object));
  for (const title of planned.unplanned)
    planned.notes.push(`${title}: the plan does not cover the ManifestWorks that follow from it`);
  return planned;
}

/** What the hub rejects of the manifests inside a work. Manifests that the hub cannot check are left to the member. */
async function tryManifests(
  client: Client,
  work: Object,
  kinds: ReadonlyMap<string, AnyKind>,
  signal: AbortSignal,
): Promise<PlanProblem[]> {
  const dry = createDryRunClient(client, signal);
  const manifests = manifestsIn(work);
  const namespaces = new Set(manifests.flatMap(({ metadata }) => metadata.namespace || []));
  const attempt = async (kind: Kind, object: Object): Promise<PlanProblem[]> => {
    try {
      await dry.apply(kind, HUB, object, { ...TRIED, signal });
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return isForbidden(error) || isNotFound(error) || isAnsweredElsewhere(error)
        ? []
        : [{ resource: titleOf(work), message: `${titleOf(object)}: ${messageOf(error)}` }];
    }
  };
  // The hub may lack namespaces that the member has.
  await Promise.all(
    [...namespaces].map((name) => attempt(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } })),
  );
  const tried = manifests.map((object) => {
    const kind = kinds.get(idOf(object));
    return kind ? attempt(kind, object) : Promise.resolve([]);
  });
  return (await Promise.all(tried)).flat();
}

/** By apiVersion and kind; without kinds that the hub does not serve. */
async function kindsOf(client: Client, objects: readonly Object[]): Promise<Map<string, AnyKind>> {
  const resolver = createKindResolver({ client, cluster: HUB });
  const found = new Map<string, AnyKind>();
  for (const object of new Map(objects.map((each) => [idOf(each), each])).values()) {
    try {
      found.set(idOf(object), await resolver.resolve(object));
    } catch (error) {
      if (!(error instanceof UnknownKindError)) throw error;
    }
  }
  return found;
}

/** As the member gets them, without manifests that are not objects. */
const manifestsIn = (work: Object | undefined): Object[] =>
  (work ? manifestsOf(work as Work) : []).flatMap(({ object, problem }) => (problem === undefined ? [object] : []));

const idOf = ({ apiVersion, kind }: Object): string => `${apiVersion}/${kind}`;
const isOf = ({ group, kind }: { group: string; kind: string }, object: Object): boolean =>
  object.kind === kind && gvkOf(object).group === group;
const titleOf = ({ kind, metadata: { namespace, name } }: Object): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
